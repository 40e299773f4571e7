"""The dynamic program over placements, compiled as our kernels are: what `check` is measured against."""

import ctypes
import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nbcfast.groups.groups import Groups

HERE = Path(__file__).resolve().parent
FLAGS = [
    "-O3",
    "-g0",
    "-DNDEBUG",
    "-std=c11",
    "-Wall",
    "-Wno-unused-function",
    "-fno-math-errno",
]  # of setup.py


@cache
def _compiled() -> Any:
    settings = (HERE.parents[1] / "setup.py").read_text(encoding="utf-8")
    for flag in FLAGS:
        if f'"{flag}"' not in settings:
            raise AssertionError(f"setup.py does not compile with {flag}")
    compiler = (sysconfig.get_config_var("CC") or "cc").split()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "skyline_dp.so"
        source = str(HERE / "skyline_dp.c")
        include = ["-I", str(HERE.parents[1] / "src")]
        subprocess.run(
            [*compiler, *FLAGS, "-fwrapv", "-fPIC", "-shared", *include, source, "-o", str(library)],
            check=True,
        )
        function = ctypes.CDLL(str(library)).dp_odds
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 5
    return function


def odds(groups: Groups, l: int, k: int, m: int) -> float:
    """The least odds over all placements, in floats."""
    arrays = [groups.offsets, groups.values, groups.counts, groups.sizes]
    pointers = [np.ascontiguousarray(array).ctypes.data for array in arrays]
    least = float(_compiled()(*pointers, groups.n_groups, groups.n_values, l, k, m))
    if least < 0:
        raise ValueError(f"k and m are too many for this program: {k}, {m}")
    return least


def breach(groups: Groups, l: int, k: int, m: int) -> float:
    return 1 / (1 + odds(groups, l, k, m))
