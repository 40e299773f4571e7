"""Every entry point of every kernel, called with what it does not expect: it returns or raises, and lives.

Each entry point has a recipe that makes valid arguments; most calls then change some of them, swap objects
between calls, or come in another order. `kernel_fuzz` makes them in a process of their own, so that a crash
ends that process alone.
"""

import importlib
import inspect
import os
import pkgutil
import random
import re
import subprocess
import sys
import threading
from pathlib import Path

import kernel_fuzz
import numpy as np
from kernel_recipes import RECIPES
from kernel_world import World

import nbcfast
from nbcfast import _coins

CALLS_A_PROCESS = 2_500


def entry_points():
    """All that the kernels export: functions, classes, and what classes have that others do not."""
    found = set()
    for module in pkgutil.iter_modules(nbcfast.__path__):
        path = importlib.util.find_spec(f"nbcfast.{module.name}").origin
        if not path.endswith((".so", ".pyd")) or module.name == "_cython":  # Cython's own, and tried by it
            continue
        exported = vars(importlib.import_module(f"nbcfast.{module.name}"))
        for name, value in exported.items():
            if name.startswith("__") or inspect.ismodule(value) or not callable(value):
                continue
            if value.__module__ == "math":  # imported, and tried by Python's own tests
                continue
            found.add(f"{module.name}.{name}")
            if isinstance(value, type):
                for attribute in vars(value):
                    # Half of these are Cython's: how objects are copied and pickled is tried by `half_made`.
                    if attribute == "__len__" or not attribute.startswith("__"):
                        found.add(f"{module.name}.{name}.{attribute}")
    return found


def test_every_entry_point_has_a_recipe():
    assert set(RECIPES) == entry_points()


def test_kernels_are_those_of_the_sources():
    sources = Path(__file__).resolve().parents[2] / "src"
    if sources.is_dir():
        assert {path.stem for path in sources.glob("_*.pyx")} == {name.split(".")[0] for name in RECIPES}


def test_recipes_are_right():
    """Without a wrong argument nothing is refused, but for another order and objects of other sizes."""
    rng = random.Random(3)
    fine = set()
    for name in sorted(RECIPES):
        for _ in range(500):
            function, arguments = RECIPES[name](World(rng))
            try:
                function(*arguments)
            except (ValueError, RuntimeError, TypeError):
                continue
            fine.add(name)
            break
    assert set(RECIPES) == fine


def test_wrong_calls_do_no_harm():
    from hypothesis import settings

    calls = 1_000 if settings().max_examples < 1_000 else 10_000
    # An empty entry would be the current folder, and the sources there that are not compiled.
    entries = [str(Path(kernel_fuzz.__file__).parent), os.environ.get("PYTHONPATH")]
    path = os.pathsep.join(filter(None, entries))
    for seed in range(0, calls, CALLS_A_PROCESS):
        n = min(CALLS_A_PROCESS, calls - seed)
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", kernel_fuzz.__file__, str(seed), str(n)],
            capture_output=True, text=True, errors="replace", timeout=1_800,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        last = "\n".join(line[:2_000] for line in done.stderr.splitlines()[-60:])
        assert done.returncode == 0, f"seed {seed}, {n} calls: exit {done.returncode}, after\n{last}"
        counts = dict(re.findall(r"(\w+) (\d+)", done.stdout))
        assert int(counts["returned"]) > n // 10
        assert int(counts["ValueError"]) > n // 10


def test_two_threads_never_get_the_same_coins():
    """A second thread is refused, so that all words, put together, are those of one stream."""
    key = bytes(range(32))
    stream = np.empty(1 << 20, np.uint64)
    _coins.Coins(key).words(stream)
    for _ in range(5):
        shared, drawn, refused = _coins.Coins(key), [], []
        start = threading.Barrier(4)

        def draw(shared=shared, drawn=drawn, refused=refused, start=start):
            start.wait()
            for _ in range(40):
                out = np.empty(5_000, np.uint64)
                try:
                    shared.words(out)
                    drawn.append(out)
                except RuntimeError as error:
                    refused.append(str(error))

        threads = [threading.Thread(target=draw) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        n = sum(map(len, drawn))
        assert np.array_equal(np.sort(np.concatenate(drawn)), np.sort(stream[:n]))
        assert set(refused) <= {"this Coins is in use by another call: give each thread one of its own"}
