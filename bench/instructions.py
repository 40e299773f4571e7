"""python bench/instructions.py [--record]: instructions of the hot jobs, against the stored numbers.

Instructions are counted by callgrind, on one thread, of the same input, with the seed of hashes fixed: of the
same machine code the numbers are the same, whatever else the machine does. It fails where one is over 3 %
above what bench/instructions.json stores; --record stores what it finds.

Of each job two numbers are compared: of the kernels alone, and of all that runs, the interpreter too. Kernels
of another compiler, or of another clone (valgrind has AVX2 and no AVX-512: that for x86-64-v3 runs), are
other machine code: then nothing is compared, and nothing fails. Where Python, NumPy or pyarrow are others
than when the numbers were stored, the kernels alone are compared. Either is said.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from nbcfast import _count

BENCH = Path(__file__).resolve().parent
STORED = BENCH / "instructions.json"
MOST = 1.03  # times what is stored; with the same machine code they differ by .1 % at most
COMPILED = ("compiler", "clone")
AROUND = ("Python", "numpy", "pyarrow")

Counts = dict[str, dict[str, int]]  # job -> "kernels", "all" -> instructions


class Judgement(NamedTuple):
    lines: list[str]
    failed: list[str]


def compiler(library: Path) -> str:
    """The compiler that made a library, as it signed it."""
    found = re.findall(rb"clang version [\d.]+|GCC: \([^)]*\) [\d.]+", library.read_bytes())
    own = [name for name in found if name.startswith(b"clang")] or found  # the system's parts are of GCC
    return re.sub(r"GCC: \([^)]*\)", "GCC", own[0].decode()) if own else "unknown"


def of_dump(text: str) -> tuple[int, int, set[str]]:
    """What a file of callgrind says: instructions of the kernels, of all, and the clones that ran."""
    names: dict[str, str] = {}
    clones = set(re.findall(r"\) nbc_\w+_(v\d)\b", text))
    kernels = total = 0
    in_kernel = called = False
    for line in text.splitlines():
        if line.startswith("ob="):
            number, _, name = line[3:].partition(" ")
            path = Path(names.setdefault(number, name))
            in_kernel = path.parent.name == "nbcfast" and path.name.startswith("_")
        elif line.startswith("cob="):
            number, _, name = line[4:].partition(" ")
            names.setdefault(number, name)
        elif line.startswith("calls="):
            called = True  # the next line has the instructions of what was called, which are counted there
        elif re.match(r"[\d+*-]", line):
            if not called:
                own = int(line.split()[1])
                total += own
                kernels += own if in_kernel else 0
            called = False
    return kernels, total, clones


def counted(folder: Path) -> tuple[Counts, set[str]]:
    """Run the jobs under callgrind; its files stay in the folder."""
    library = folder / "callgrind.so"
    command = (sysconfig.get_config_var("CC") or "cc").split()
    source = BENCH / "shared" / "callgrind.c"
    subprocess.run([*command, "-O1", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "0",
        "NBCFAST_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(BENCH), os.environ.get("PYTHONPATH", "")])),
    }
    options = ["--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no"]
    files = f"--callgrind-out-file={folder / 'job'}"
    run = [sys.executable, "-P", "-m", "shared.hot_jobs", str(library)]
    done = subprocess.run(
        ["valgrind", *options, files, *run], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"instructions.py: {done.stderr.strip().splitlines()[-1]}")
    jobs: Counts = {}
    clones: set[str] = set()
    for path in sorted(folder.glob("job.*"), key=lambda path: int(path.suffix[1:])):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE)
        if name is None:
            raise ValueError(f"{path}: expected a dump that a job asked for")
        kernels, total, ran = of_dump(text)
        jobs[name[1]] = {"kernels": kernels, "all": total}
        clones |= ran
    return jobs, clones


def measured(folder: Path) -> dict[str, Any]:
    """The numbers, and what they depend on."""
    jobs, clones = counted(folder)
    found = {
        "compiler": compiler(Path(_count.__file__)),
        "clone": ", ".join(sorted(clones)) or "none",
        "Python": platform.python_version(),
        **{name: version(name) for name in AROUND[1:]},
    }
    return {**found, "jobs": jobs}


def judged(stored: dict[str, Any], found: dict[str, Any]) -> Judgement:
    """What is said of the numbers, and which jobs take too many instructions."""
    other = [key for key in COMPILED + AROUND if found[key] != stored[key]]
    differences = "; ".join(f"{key} {found[key]}, stored with {stored[key]}" for key in other)
    lines, parts, failed = [], ["kernels", "all"], []
    if any(key in COMPILED for key in other):
        parts = []
        lines.append(f"other machine code than when stored, nothing is compared: {differences}")
    elif other:
        parts = ["kernels"]
        lines.append(f"other libraries than when stored, kernels alone are compared: {differences}")
    unlike = sorted(stored["jobs"].keys() ^ found["jobs"].keys())
    if unlike:
        failed.append(f"jobs that are stored or run, and not both: {', '.join(unlike)}; --record stores them")
    lines.append(f"{'':20}{'kernels':>14}{'':9}{'all':>16}")
    for name in (name for name in found["jobs"] if name in stored["jobs"]):
        line = f"{name:20}"
        for part, width in (("kernels", 14), ("all", 16)):
            now, before = found["jobs"][name][part], stored["jobs"][name][part]
            change = now / before - 1 if before else float(now > 0)
            line += f"{now:>{width},} {change:>+7.2%} "
            if part in parts and now > MOST * before:
                what = "of the kernels" if part == "kernels" else "of all that runs"
                failed.append(f"{name}: {now:,} instructions {what}, expected at most 3 % above {before:,}")
        lines.append(line.rstrip())
    return Judgement(lines, failed)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true", help="store the numbers")
    parser.add_argument("--stored", type=Path, default=STORED, help="by default bench/instructions.json")
    parser.add_argument("--keep", type=Path, help="a folder for the files of callgrind")
    given = parser.parse_args()
    for tool, where in (("valgrind", "Debian, Ubuntu: apt-get install valgrind"), ("cc", "a compiler of C")):
        if shutil.which(tool) is None:
            sys.exit(f"instructions.py: needs {tool} on the path ({where})")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        found = measured(folder)
        if given.keep is not None:
            shutil.copytree(folder, given.keep, dirs_exist_ok=True)
    if given.record:
        given.stored.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    stored = json.loads(given.stored.read_text(encoding="utf-8"))
    lines, failed = judged(stored, found)
    print("\n".join(lines))
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
