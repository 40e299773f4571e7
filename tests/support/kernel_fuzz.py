"""Calls of kernels with what they do not expect: `python tests/support/kernel_fuzz.py SEED CALLS`.

The calls run in a process of their own, which writes down what it is about to call, so that a crash says what
it was, and the same seed repeats it.
"""

import copy
import gc
import importlib
import os
import pickle
import random
import re
import sys
import warnings

import numpy as np
from kernel_arguments import disclosing, scan, scorer, separator, tables
from kernel_recipes import RECIPES
from kernel_world import World, ints, longs, words

import nbcfast
from nbcfast import (
    _classes,
    _codes,
    _coins,
    _columns,
    _count,
    _groups,
    _interior,
    _margin,
    _noise,
    _response,
    _roots,
    _skyline,
    _solve,
    _worlds,
    skyline,
)

MEMORY = 6 << 30  # bytes of address space: what asks for more gets a MemoryError

NUMBERS = [
    -1, 0, 1, 2, 3, 64, 255, 256, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 32, (1 << 62) - 1, 1 << 62,
    (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, -2, -(1 << 31), -(1 << 62), -(1 << 63),
]  # fmt: skip
FLOATS = [0.0, -0.0, 1e-320, 1.0, -1.0, 1e300, -1e300, float("inf"), float("-inf"), float("nan")]
THINGS = [None, "x", b"x", (), [], {}, object(), 1.5, True, np.float64(2), np.zeros(3), type]


def wrong_array(rng, array, others):
    """An array that is almost as good."""
    array = np.asarray(array)
    if array.dtype.kind not in "iuf":
        return array.tolist()
    change = rng.randrange(13)
    if change == 0:
        return array.astype(
            rng.choice([np.int8, np.int32, np.int64, np.uint8, np.uint32, np.float64, object])
        )
    if change == 1:
        return array.astype(array.dtype.newbyteorder())
    if change == 2:
        return array.reshape(*array.shape, 1) if rng.random() < 0.5 else array.reshape(-1)
    if change == 3:
        return np.array(7, array.dtype)
    if change == 4 and array.ndim:
        return array[: rng.randint(0, len(array))]
    if change == 5 and array.ndim:
        return np.concatenate([array, array[:1], array[:1]])
    if change == 6 and array.ndim:
        return np.repeat(array, 2, axis=0)[::2] if rng.random() < 0.5 else array[::-1]
    if change == 7:
        frozen = array.copy()
        frozen.flags.writeable = False
        return frozen
    if change == 8:
        return array.tolist()
    if change == 9:  # the memory of another argument
        other = rng.choice(others)
        if other.dtype != object and other.flags.c_contiguous:
            seen = other.reshape(-1).view(np.uint8)
            n = seen.size // array.itemsize * array.itemsize
            if n >= array.nbytes > 0:
                return seen[: array.nbytes].view(array.dtype).reshape(array.shape)
            return seen[:n].view(array.dtype)
        return other
    if change == 10:
        return np.empty((0,) * array.ndim, array.dtype)
    changed = array.copy()
    scribble(rng, changed)
    return changed


def scribble(rng, array, numbers=NUMBERS):
    """Write something else to some places."""
    if not array.size or not array.flags.writeable or not array.flags.c_contiguous:
        return
    flat = array.reshape(-1)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(flat.size)
        if array.dtype.kind == "f":
            flat[place] = rng.choice(FLOATS)
        elif array.dtype.kind in "iu":
            info = np.iinfo(array.dtype)
            flat[place] = min(max(rng.choice([*numbers, int(info.max), int(info.min)]), info.min), info.max)


def wrong(rng, value, arguments, world):
    """Something else in the place of an argument."""
    if rng.random() < 0.1:
        return rng.choice(THINGS)
    if isinstance(value, np.ndarray):
        return wrong_array(rng, value, [other for other in arguments if isinstance(other, np.ndarray)])
    if isinstance(value, (bool, int)):
        return rng.choice([value + 1, value - 1, *NUMBERS])
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, bytes):
        return value[: rng.randrange(40)]
    if isinstance(value, (list, tuple)) and value:
        changed = list(value)
        place = rng.randrange(len(changed))
        if rng.random() < 0.2:
            del changed[place]
        elif rng.random() < 0.2:
            changed.append(changed[place])
        else:
            changed[place] = wrong(rng, changed[place], changed, world)
        return type(value)(changed) if rng.random() < 0.9 else tuple(changed)
    if value is None:
        return rng.choice([longs(1, 2), *THINGS])
    same = [made for made in world.held.values() if type(made) is type(value)]
    for other in world.strangers:
        same += [made for made in other if type(made) is type(value)]
    return rng.choice(same) if rng.random() < 0.8 and same else rng.choice(THINGS)


def described(value):
    if isinstance(value, np.ndarray):
        held = "" if value.size > 20 else f" {value.tolist()}"
        return f"{value.dtype}{list(value.shape)}{'' if value.flags.c_contiguous else ' strided'}{held}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(described, value[:12])) + "]"
    return re.sub(r" at 0x\w+", "", repr(value))[:80]


def one_call(rng, world, name):
    """Call one entry point; what it said."""
    function, arguments = RECIPES[name](world)
    arguments = list(arguments)
    if rng.random() < 0.75:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            if arguments:
                place = rng.randrange(len(arguments))
                arguments[place] = wrong(rng, arguments[place], arguments, world)
        if rng.random() < 0.03:
            arguments = arguments[:-1] if rng.random() < 0.5 else [*arguments, None]
    if world.given and rng.random() < 0.1:
        # Small numbers: what is written behind the back of an object may make it wrong, but never unsafe.
        scribble(rng, rng.choice(world.given), [-3, -1, 0, 1, 5, 50])
    sys.stderr.write(f"{name}({', '.join(map(described, arguments))})\n")
    try:
        function(*arguments)
    except SystemError:
        raise
    except Exception as error:
        if "Out of bounds on buffer access" in str(error):
            raise  # a debug build sees that a kernel leaves an array: others would go on
        return type(error)
    return None


def half_made(rng, name, world):
    """Objects that never were: no arguments, made twice, copied, pickled, of a class of one's own."""
    owner = getattr(importlib.import_module(f"nbcfast.{name.split('.')[0]}"), name.split(".")[1])
    if not isinstance(owner, type):
        return
    sys.stderr.write(f"half made {name}\n")
    attempts = [
        lambda: owner.__new__(owner),
        lambda: object.__new__(owner),
        lambda: owner.__new__(owner, None),
    ]
    attempts.append(lambda: type("Own", (owner,), {})())
    for made in list(world.held.values()):
        attempts += [lambda made=made: copy.copy(made), lambda made=made: pickle.dumps(made)]
        attempts.append(lambda made=made: made.__setstate__(None))
    for attempt in attempts:
        try:
            made = attempt()
            made.__init__(1, 2)
        except SystemError:
            raise
        except Exception:
            continue


def fuzz(seed, calls):
    """Make so many calls; exits with 0, or crashes, or raises where an answer is wrong afterwards."""
    rng = random.Random(seed)
    names = sorted(RECIPES)
    world = World(rng)
    world.strangers = []
    said = {}
    expected = known_answers()
    warnings.simplefilter("ignore")
    lost = []
    sys.unraisablehook = lambda error: lost.append(error.exc_value)  # where no Python code can be told
    for call in range(calls):
        if call % 100 == 99:
            world.strangers = [*world.strangers[-3:], list(world.held.values())]
            world.held, world.given = {}, []
            gc.collect()
        # One module at a time for a while: objects meet more often.
        if call % 20 == 0:
            module = rng.choice(sorted({name.split(".")[0] for name in names}))
            some = [name for name in names if name.startswith(f"{module}.")] if rng.random() < 0.8 else names
        name = names[call] if call < len(names) else rng.choice(some)
        try:
            result = one_call(rng, world, name)
        except ValueError:  # a recipe whose objects others have spoiled
            world.held, result = {}, None
        said[result] = said.get(result, 0) + 1
        assert not lost, lost
        if call % 50 == 0:
            half_made(rng, name, world)
        if call % 500 == 499 and known_answers() != expected:
            raise AssertionError(f"after call {call} of seed {seed} a kernel gives another answer")
    assert known_answers() == expected
    print(*(f"{getattr(kind, '__name__', 'returned')} {n}" for kind, n in sorted(said.items(), key=str)))


def known_answers():
    """What kernels say of arguments that are right, some of it known by other means."""
    rng = np.random.default_rng(1)
    answers = []
    codes = rng.integers(0, 3, 50).astype(np.uint8), rng.integers(0, 2, 50).astype(np.uint8)
    made = _columns.Columns(list(codes), [3, 2], 50)
    counted = np.zeros(6, np.int64)
    one = _count.Tally(made, longs(0, 1), longs(0))
    assert one.add(0, 50) == -1
    one.add_to(counted)
    joint = np.zeros((3, 2), np.int64)
    np.add.at(joint, codes, 1)
    assert counted.tolist() == joint.reshape(-1).tolist()
    for method in (_groups.DENSE, _groups.RADIX, _groups.HASH):
        groups = _groups.Grouper(made, method)
        groups.add(0, 50)
        found = groups.finish()
        assert found[2].tolist() == joint.reshape(-1).tolist()
        assert found[3].tolist() == joint.sum(axis=1).tolist()
    encoder, out = _codes.KeyEncoder(), np.empty(5, np.uint32)
    encoder.encode(longs(7, -7, 7, 1 << 60, -7), None, out)
    assert out.tolist() == [0, 1, 0, 2, 1]
    block = np.empty(16, np.uint32)  # RFC 8439, 2.3.2
    key = np.frombuffer(bytes(range(32)), np.uint32).copy()
    nonce = np.frombuffer(bytes.fromhex("000000090000004a00000000"), np.uint32).copy()
    _coins.chacha_block(key, 1, nonce, block)
    assert block[:2].tolist() == [0xE4E7F110, 0x15593BD1]
    drawn = np.empty(12, np.int64)
    assert _noise.laplace(_coins.Coins(bytes(range(32))), 6, 1, drawn) == len(drawn)
    assert drawn.tolist() == [-27, 1, -8, -3, 1, -11, -12, 4, 4, 0, 4, 33]
    mantissas, exponents, sure = np.empty((2, 1), np.uint64), np.empty(2, np.int64), np.empty(2, np.uint8)
    _roots.roots(words(4, 81), 1, 2, 53, mantissas, exponents, sure)
    assert [int(m[0]) * 2.0**e for m, e in zip(mantissas, exponents.tolist(), strict=True)] == [2.0, 9.0]
    sums = np.empty(4, np.int64)
    _margin.outer(longs(1, 10), longs(2, 3), sums)
    assert sums.tolist() == [3, 4, 12, 13]
    assert _margin.dominance(ints(0), ints(0), ints(2), longs(3), ints(1, 0), longs(5, 7)) == 3 * 12
    assert _response.ones(words(7, 1 << 63)) == 4
    kept = np.empty(3, np.uint8)
    _skyline.front(longs(0, 0, 1), longs(5, 6, 1), kept)
    assert kept.tolist() == [1, 0, 1]
    program_ = _solve.Program(np.ones(2), 2, 1e-12)
    program_.add(ints(0, 1).reshape(1, 2), np.ones((1, 2), np.int8))
    assert program_.solve(1e-12, 10, 10) == 0
    assert np.allclose(program_.weights(), 0.5)
    solved = _solve.System(longs(1, 1), ints(0, 1).reshape(1, 2), np.ones((1, 2), np.int8), 101)
    solved.start(longs(0, 0), longs(2))
    digits = np.empty((1, 3), np.int64)
    solved.digits(digits)
    assert digits.tolist() == [[1, 1, 1]]
    label = np.empty((1, 2), np.int8)
    _classes.labels(ints(1).reshape(1, 1), ints(0, 1).reshape(2, 1), 2, label)
    assert label.tolist() == [[1, 0]]
    values = np.empty(1)
    _interior.times(ints(0, 1).reshape(1, 2), np.array([[1, -1]], np.int8), np.array([5.0, 3.0]), values)
    assert values.tolist() == [2.0]
    shares, errors, states = np.empty((1, 2)), np.empty(1), np.empty(1, np.int8)
    _worlds.posteriors(longs(10, 10), np.full((1, 1, 2), 5), 1e6, shares, errors, states)
    assert np.allclose(shares, 0.5)
    world = World(random.Random(5))
    low = separator(world).separate(np.arange(7.0), 10.0, np.empty((7, 2, 2), np.int32))
    answers.append(low)
    answers.append(tables(world).breach(1, 1))
    answers.append(scan(world).add(0, 3))
    first = scorer(world)
    predicted = np.empty(40, np.uint8)
    answers += [first.predict(0, 40, predicted), predicted.tolist()]
    search = disclosing(world)
    while search.step():
        pass
    answers.append(search.steps)
    people = nbcfast.Table({"age": [1, 2, 3, 4, 5, 6, 7, 8], "ill": [0, 1, 0, 1, 0, 1, 0, 1]})
    split = skyline.anonymize(people, ["age"], "ill", k=4)
    answers.append([(interval.low, interval.high) for interval in split.boxes.domain("age")])
    return answers


if __name__ == "__main__":
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # it takes address space for its own book-keeping
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    fuzz(int(sys.argv[1]), int(sys.argv[2]))
