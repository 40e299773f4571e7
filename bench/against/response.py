"""Randomised response: flips, lies and estimates beside what one writes in NumPy, and limits of time."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from against.publishing import within
from shared.clock import Form, Row, medians, power, race, shown
from studies.response_experiment import THETAS, figures

from nbcfast import Table, response
from nbcfast.reference import response as plain
from nbcfast.response import KaryScheme, Scheme
from nbcfast.response.bits import Bits, bits_of
from nbcfast.table import Domain

ROWS, COLUMNS = 1_000_000, 10
VALUES = 41
NS_A_BIT, NS_A_VALUE = 0.1, 0.4
SECURE = 10  # times the time of the simulation generator
ESTIMATE_SECONDS, EXPERIMENT_SECONDS = 0.05, 2.0
FLIPS = {"numpy, 24 bits of p": 9, "numpy, u8 threshold": 14, "numpy, random() < p": 25, "numba": 80}
LIES = {"numpy": 25}


def anything(_: Any) -> None:
    """Random results agree in law, which the tests look at; here only the time is compared."""


def agree(a: Any, b: Any) -> bool:
    return bool(a == b)


def random_bits(rows: int, columns: int) -> Bits:
    """Packed columns with all bits beyond the last row 0."""
    rng = np.random.default_rng(7)
    n_words = -(-rows // 64)
    words = {}
    for number in range(columns):
        column = rng.integers(0, 2**64, n_words, np.uint64)
        if rows % 64:
            column[-1] &= np.uint64((1 << rows % 64) - 1)
        words[f"a{number}"] = column
    domain = Domain("int", [0, 1], (), True)
    return bits_of(rows, words, dict.fromkeys(words, domain))


def flips(rounds: int, rows: int) -> Iterator[Row]:
    bits = random_bits(rows, COLUMNS)
    scheme = Scheme.per_attribute("0.8", bits.names)
    rng = np.random.default_rng(1)
    ours = Form("bits, simulation", lambda: response.disguise(bits, scheme, rng), anything)
    dense = [
        np.unpackbits(words.view(np.uint8), count=rows, bitorder="little") for words in bits.words.values()
    ]
    fast = np.random.Generator(np.random.SFC64(1))
    usual = np.random.default_rng(1)
    threshold = int(0.2 * 2**24)

    def packed() -> list[Any]:
        """24 binary digits of p, one word of random bits each."""
        found = []
        for words in bits.words.values():
            ones = np.zeros_like(words)
            for digit in range(24):
                drawn = np.frombuffer(fast.bytes(8 * len(words)), np.uint64)
                ones = ones | drawn if threshold >> digit & 1 else ones & drawn
            found.append(words ^ ones)
        return found

    def bytes_below() -> list[Any]:
        """Bytes in bulk, and p rounded to 51/256: half the time of those that the target was set against."""
        return [column ^ (np.frombuffer(fast.bytes(rows), np.uint8) < 51) for column in dense]

    def compared(source: np.random.Generator, dtype: Any) -> list[Any]:
        return [column ^ (source.random(rows, dtype) < 0.2) for column in dense]

    peers = {
        "numpy, 24 bits of p": [Form("bit-packed, SFC64", packed, anything)],
        "numpy, u8 threshold": [Form("p = 51/256, SFC64", bytes_below, anything)],
        "numpy, random() < p": [
            Form("default_rng, f64", partial(compared, usual, np.float64), anything),
            Form("SFC64, f64", partial(compared, fast, np.float64), anything),
            Form("SFC64, f32", partial(compared, fast, np.float32), anything),
        ],
        **_numba(dense, rows),
    }
    job = f"flip {power(rows)} x {COLUMNS} bits"
    targets = FLIPS if rows >= ROWS else None
    yield from race(job, rows, ours, peers, agree, rounds, targets)
    runs: list[Callable[[], Any]] = [
        ours.run,
        lambda: response.disguise(bits, scheme),
        lambda: response.disguise(table, scheme, rng),
    ]
    table = bits.to_table()
    simulated, secure, coded = medians(runs, rounds)
    if rows >= ROWS:
        per_bit = simulated / rows / COLUMNS * 1e9
        yield Row(job, "a limit", f"{NS_A_BIT} ns/bit", f"{per_bit:.3f} ns/bit", NS_A_BIT / per_bit, 1)
    ratio = SECURE * simulated / secure
    yield Row(
        f"{job}, ChaCha20",
        "10x the simulation, a limit",
        shown(SECURE * simulated, rows),
        shown(secure, rows),
        ratio,
        1,
    )
    yield Row(
        f"{job}, u8 codes", "packed bits", shown(simulated, rows), shown(coded, rows), simulated / coded
    )


def _numba(dense: list[Any], rows: int) -> dict[str, list[Form]]:
    try:
        import numba
    except ImportError as error:
        print(f"numba: skipped, {error}", file=sys.stderr)
        return {}

    @numba.njit
    def flipped(columns: Any, out: Any) -> None:
        for c in range(columns.shape[0]):
            for i in range(columns.shape[1]):
                out[c, i] = columns[c, i] ^ (np.random.random() < 0.2)  # noqa: NPY002  # numba has no other

    columns = np.array(dense)
    out = np.empty_like(columns)
    flipped(columns[:, :8].copy(), out[:, :8].copy())
    return {"numba": [Form("a loop", lambda: flipped(columns, out), anything)]}


def lies(rounds: int, rows: int) -> Iterator[Row]:
    codes = np.random.default_rng(3).integers(0, VALUES, rows, np.uint8)
    table = Table({"a": codes}, domains={"a": range(VALUES)})
    scheme = KaryScheme("0.8", {"a": list(range(VALUES))})
    rng, fast = np.random.default_rng(4), np.random.Generator(np.random.SFC64(1))

    def numpy() -> Any:
        lie = fast.random(rows, np.float32) < 0.2
        return np.where(lie, (codes + fast.integers(1, VALUES, rows, np.uint8)) % VALUES, codes)

    ours = Form("k-ary, simulation", lambda: response.disguise(table, scheme, rng), anything)
    peers = {"numpy": [Form("where, integers", numpy, anything)]}
    job = f"k-ary, {power(rows)} of {VALUES} values"
    yield from race(job, rows, ours, peers, agree, rounds, LIES if rows >= ROWS else None)
    (seconds,) = medians([ours.run], rounds)
    if rows >= ROWS:
        per_value = seconds / rows * 1e9
        yield Row(job, "a limit", f"{NS_A_VALUE} ns", f"{per_value:.3f} ns", NS_A_VALUE / per_value, 1)


def estimates(rounds: int, rows: int) -> Iterator[Row]:
    bits = random_bits(rows, 16)
    class_name = "a15"
    scheme = Scheme("0.8", [list(bits.names[:-1])])
    # The reference agrees on some rows, Fraction for Fraction.
    some = random_bits(500, 4)
    few = Scheme("0.8", [["a0", "a1"], ["a2", "a3"]])
    found = response.estimate(some, few, "a3")
    told = list(zip(*(some.to_table().codes(name).tolist() for name in some.names), strict=True))
    groups = [(Fraction(4, 5), (0, 1)), (Fraction(4, 5), (2, 3))]
    for place, name in enumerate(found.attributes):
        for a in (0, 1):
            for c in (0, 1):
                expected = plain.proportion(told, groups, {place: a, 3: c})
                if found.raw.joint[name][a, c] != expected:
                    raise AssertionError(f"estimate of {name} differs from the reference")
    table = bits.to_table()

    def answer(estimate: Any) -> Any:
        return estimate.to_dict()

    ours = Form("packed bits", partial(response.estimate, bits, scheme, class_name), answer)
    theirs = [Form("u8 codes", partial(response.estimate, table, scheme, class_name, threads=1), answer)]
    yield from race(
        f"estimate {power(rows)} x 15 attributes", rows, ours, {"nbcfast.count": theirs}, agree, rounds
    )
    if rows >= 10_000_000:
        yield within(
            f"estimate {power(rows)} x 15 attributes", ESTIMATE_SECONDS, *medians([ours.run], rounds)
        )


def experiment(rounds: int) -> Iterator[Row]:
    folder = os.environ.get("NBCFAST_DATA")
    if not folder:
        print("Adult: skipped, NBCFAST_DATA is not set", file=sys.stderr)
        return
    adult = list(figures(Path(folder)))[-1]
    rng = np.random.default_rng(1)

    def run() -> list[Any]:
        return [adult.run(theta, rng) for theta in THETAS]

    yield within(
        "figure 2, 13 thetas x 100 repetitions",
        EXPERIMENT_SECONDS,
        *medians([run], rounds, time.perf_counter),
    )


def linear(rounds: int, most: int) -> Iterator[Row]:
    """Seconds against rows: the slope of a least-squares line through the sizes, and how well it fits."""
    sizes = [size for size in (100_000, 300_000, 1_000_000, 3_000_000) if size <= most * 3]
    for what in ("flips", "estimates"):
        runs = []
        for size in sizes:
            bits = random_bits(size, COLUMNS)
            scheme = Scheme("0.8", [list(bits.names[:-1])])
            if what == "flips":
                each = Scheme.per_attribute("0.8", bits.names)
                runs.append(partial(response.disguise, bits, each, np.random.default_rng(1)))
            else:
                runs.append(partial(response.estimate, bits, scheme, bits.names[-1]))
        seconds = medians(runs, rounds)
        slope, start = np.polyfit(sizes, seconds, 1)
        fit = np.corrcoef(sizes, seconds)[0, 1] ** 2
        print(
            f"{what}: {start * 1e3:.3f} ms + {slope * 1e9:.4f} ns a row, R^2 = {fit:.5f}, {len(sizes)} sizes"
        )
        yield Row(f"{what}, linear in rows", "a line, R^2", "1", f"{fit:.4f}", float(fit), 0.98)


def randomised_response(rounds: int, rows: list[int]) -> Iterator[Row]:
    some = [size for size in rows if size <= ROWS] or [ROWS]
    for size in some:
        yield from flips(rounds, size)
        yield from lies(rounds, size)
    for size in rows:
        yield from estimates(rounds, size)
    yield from experiment(rounds)
    yield from linear(rounds, max(rows))
