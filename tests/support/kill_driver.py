"""Kills verbs at many moments of their own, and says what they leave: `python kill_driver.py ROOT HOW..`.

No clock has a say: the moments are counted. A first run counts every call of a function of the package, and
every call that touches a file, before and after; each later one, a fork of the same process, so that all are
alike, sends itself its signal at one of these. HOW is one of `MOMENTS`, with "-plain" behind it where no file
can be without a name, which comes after all others. Prints JSON: of each HOW what is wrong of each verb.
"""

import contextlib
import csv
import gc
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import nbcfast
from nbcfast._core import files as _writing
from nbcfast._core import threads as _threads
from nbcfast.cli import main

MARK = "Rumpelstiltskin"  # in the private rows, in a column that is never published
MOMENTS = {"every": (13, 7), "some": (6, 2), "few": (3, 1)}  # at which a file is touched, and others
# They write one file, all by the same way: where not every moment is tried, few will do.
ONE_FILE = {"init", "init again", "export again", "report again", "plot", "predict again", "points again"}
SIGNALS = ("KILL", "TERM", "HUP", "INT")
TOUCHING = {
    *(
        "open",
        "link",
        "rename",
        "replace",
        "mkdir",
        "rmdir",
        "unlink",
        "remove",
        "chmod",
        "fsync",
        "renameat2",
    ),
    *("pwrite", "write", "flush", "close", "truncate", "readinto", "pread"),
}
ENDING = {"INT": 130, "TERM": 143, "HUP": 129}
PACKAGE = str(Path(nbcfast.__file__).parent)

ANYHOW = ("publish", "--accept-answers")  # what shows is no matter here

# In out/ is what is published, in old/ what is replaced; none of it, and nothing else, may be private.
CLASSIFIER = ("private.csv", "--class", "ill", "--columns", "job")
GROUPS = ("private.csv", "--by", "age,job", "--sensitive", "ill", "--k", "5")
VERBS = {
    "publish": (*ANYHOW, *CLASSIFIER, "--amplification", "4", "--out", "out/made"),
    "publish deep": (*ANYHOW, *CLASSIFIER, "--amplification", "4", "--out", "out/new/deep/made"),
    "publish dataset": (
        *(*ANYHOW, *CLASSIFIER, "--amplification", "4", "--out", "out/made", "--dataset", "out/made.csv"),
    ),
    "publish again": (*ANYHOW, *CLASSIFIER, "--amplification", "4", "--out", "old/release", "--overwrite"),
    "publish both again": (
        *(*ANYHOW, *CLASSIFIER, "--amplification", "4", "--out", "old/release", "--overwrite"),
        *("--dataset", "old/x.csv"),
    ),
    "publish by a policy": (*ANYHOW, "private.csv", "--policy", "../policy.toml", "--out", "out/made"),
    "init": ("init", "private.csv", "--class", "ill", "--out", "out/made.toml"),
    "init again": ("init", "private.csv", "--class", "ill", "--out", "old/x.toml", "--overwrite"),
    "anonymize": ("skyline", "anonymize", *GROUPS, "--out", "out/made"),
    "anonymize csv": ("skyline", "anonymize", *GROUPS, "--no-attack", "--out", "out/made.csv"),
    "anonymize csv again": (
        *("skyline", "anonymize", *GROUPS, "--no-attack", "--out", "old/x.csv", "--overwrite"),
    ),
    "anonymize on disk": (
        *("skyline", "anonymize", *GROUPS, "--memory-limit", "1GiB", "--spill", "spill", "--out", "out/made"),
    ),
    "anonymize on disk, in tmp": (
        *("skyline", "anonymize", *GROUPS, "--memory-limit", "1GiB", "--out", "out/made.parquet"),
    ),
    "disclose": (
        *(
            "templates",
            "disclose",
            "private.csv",
            "--columns",
            "age,job,ill",
            "--template",
            "job -> ill=gout <= 40%",
        ),
        *("--no-attack", "--out", "out/made"),
    ),
    "disguise": (
        *(
            "response",
            "disguise",
            "private.csv",
            "--theta",
            "0.8",
            "--groups",
            "ill",
            "--k-ary",
            "--keep",
            "job",
        ),
        *("--seed", "1", "--out", "out/made"),
    ),
    "closeness": (
        *("closeness", *CLASSIFIER, "--prior", "cold=0.4,flu=0.3,gout=0.3", "--r", "20", "--out", "out/made"),
    ),
    "export again": ("export", "old/release", "--out", "old/x.csv", "--overwrite"),
    "report again": ("report", "old/release", "--out", "out/facts.html"),
    "plot": (
        *("skyline", "find", "private.csv", "--by", "job", "--sensitive", "ill", "--confidence", "0.95"),
        *("--plot", "out/made.png"),
    ),
    # Of what is in old/, which is there for those that are run again.
    "predict again": ("predict", "old/release", "old/x.csv", "--out", "out/made.csv"),
    "points again": ("points", "old/release", "--out", "out/made.md"),
}


POLICY = """\
[release]
class = "ill"
columns = ["job"]
amplification = 4
[limits]
undeclared_columns = "none"
accept_answers = true
"""
INPUTS = ("cwd", "tmp", "cwd/out", "cwd/old", "cwd/spill", "cwd/private.csv", "policy.toml", "kinds")


def people(path):
    rng = random.Random(4)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "job", "ill", "name"])
        for number in range(200):
            age, job, ill = rng.randrange(20, 26), rng.choice("abc"), rng.choice(["flu", "cold", "gout"])
            writer.writerow([age, job, ill, f"{MARK}{number}"])


def prepared(root, again):
    """An empty place for one run."""
    shutil.rmtree(root, ignore_errors=True)
    for name in ("cwd", "tmp", "cwd/out", "cwd/old", "cwd/spill"):
        (root / name).mkdir(parents=True)
    people(root / "cwd" / "private.csv")
    (root / "policy.toml").write_text(POLICY)
    if again:
        shutil.copytree(root.parents[1] / "old", root / "cwd" / "old", dirs_exist_ok=True)


def child(root, arguments, moment, number):
    """Run the verb, and send it the signal at the moment; without one, write down which moments there are."""
    seen, begun, over, kinds = 0, False, False, bytearray()

    def profiled(frame, event, argument):
        nonlocal seen, begun, over
        begun = begun or frame.f_code.co_name == "_code_of"  # from then on signals are handled
        over = over or frame.f_code.co_name == "give_back"  # what it leaves with is settled, all is written
        if not begun or over:
            return
        touching = event in ("c_call", "c_return") and argument.__name__ in TOUCHING
        if not touching and not (event == "call" and frame.f_code.co_filename.startswith(PACKAGE)):
            return
        if moment is None:
            kinds.append(touching)
        elif seen == moment:
            sys.setprofile(None)
            signal.raise_signal(number)  # to this thread, and not to one of pyarrow's, some time
        seen += 1

    os.chdir(root / "cwd")
    os.environ["TMPDIR"], tempfile.tempdir = str(root / "tmp"), None
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    code = 99
    sys.setprofile(profiled)
    try:
        main(arguments)
    except SystemExit as left:
        code = left.code
    finally:
        sys.setprofile(None)
        if moment is None:
            (root / "kinds").write_bytes(kinds)
        os._exit(code)


def warmed(root, arguments, again):
    """Run the verb here: what is imported or remembered at its first use is then there in all forks alike."""
    prepared(root, again)
    here, said = os.getcwd(), os.dup(1)
    os.chdir(root / "cwd")
    os.dup2(2, 1)
    with contextlib.suppress(SystemExit):
        main(arguments)
    os.dup2(said, 1)
    os.chdir(here)


def run(root, arguments, again, moment=None, number=0):
    """The status of a fork that runs the verb."""
    prepared(root, again)
    process = os.fork()
    if not process:
        child(root, arguments, moment, number)
    return os.waitpid(process, 0)[1]


def files_in(root):
    """Files and folders that are not inputs: relative names and bytes (None for folders)."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if name not in INPUTS:
            found[name] = path.read_bytes() if path.is_file() else None
    return found


def spread(places, n):
    """So many of a list, evenly, the first and the last among them, or the middle."""
    if n == 1:
        return [places[len(places) // 2]]
    return [places[(len(places) - 1) * i // (n - 1)] for i in range(n)]


def is_part(name):
    return any(part.startswith(".") and part.endswith((".part", ".old")) for part in name.split("/"))


def faults(left, before, after, killed, random_names):
    """What is wrong with what is left; `before` and `after` are what there may be."""

    def same(name, data, other):
        if name in random_names and data is not None and other is not None:
            return len(data.splitlines()) == len(other.splitlines()) and data.endswith(b"\n")
        return data == other

    for name, data in left.items():
        if data is not None and MARK.encode() in data:
            yield f"{name} holds what is private"
    whole = {name: data for name, data in left.items() if not is_part(name)}
    parts = {name: data for name, data in left.items() if is_part(name)}
    if not killed:
        alike = [
            kept
            for kept in (before, after)
            if whole.keys() == kept.keys()
            and all(same(name, data, kept[name]) for name, data in whole.items())
        ]
        if not alike or parts:
            yield f"left: {sorted(left)}"
        return
    for name, data in whole.items():
        if not any(name in kept and same(name, data, kept[name]) for kept in (before, after)):
            yield f"{name} is not whole"
    # A folder is there as it was, as it will be, or not at all.
    for top in {"/".join(name.split("/")[:3]) for name in (*before, *after)}:
        names = {name for name in whole if f"{name}/".startswith(f"{top}/")}
        if names and names not in [
            {n for n in kept if f"{n}/".startswith(f"{top}/")} for kept in (before, after)
        ]:
            yield f"{top} is not whole: {sorted(names)}"
    published = [data for kept in (before, after) for data in kept.values() if data is not None]
    for name, data in parts.items():
        if not name.startswith(("cwd/out/", "cwd/old/")):
            yield f"{name} is in another folder"
        if data and not random_names and not any(whole.startswith(data) for whole in published):
            yield f"{name} holds something else than what is published"


def judged(root, name, how):
    """What is wrong of one verb, and how often it was killed."""
    arguments, again = list(VERBS[name]), name.endswith("again")
    place = root / "run"
    status = run(place, arguments, again)
    if status:
        return [f"without a signal it leaves with {os.waitstatus_to_exitcode(status)}"], 0
    prepared(root / "before", again)
    before, after = files_in(root / "before"), files_in(place)
    kinds = (place / "kinds").read_bytes()
    random_names = {path for path in after if "dataset" in name or "both" in name if path.endswith(".csv")}
    touching, others = MOMENTS["few" if how == "some" and name in ONE_FILE else how]
    moments = spread([i for i, kind in enumerate(kinds) if kind], touching)
    moments += spread([i for i, kind in enumerate(kinds) if not kind], others)
    found, tried = [], 0
    for turn, moment in enumerate(moments):
        for which in SIGNALS if how == "every" else [SIGNALS[turn % len(SIGNALS)]]:
            status = os.waitstatus_to_exitcode(
                run(place, arguments, again, moment, signal.Signals[f"SIG{which}"])
            )
            tried += 1
            expected = {-signal.SIGKILL} if which == "KILL" else {ENDING[which]}
            if (name, which) == ("disclose", "INT"):
                expected.add(0)  # it ends with the table so far
            wrong = list(faults(files_in(place), before, after, which == "KILL", random_names))
            if status not in expected:
                wrong.append(f"it leaves with {status}")
            found += [f"{which} at {moment} of {len(kinds)}: {text}" for text in wrong]
    return found, tried


def plain():
    """A file system without files that have no name, a system that exchanges no names."""
    if hasattr(os, "O_TMPFILE"):
        del os.O_TMPFILE
    tempfile._O_TMPFILE_WORKS = False
    _writing._exchanged = lambda *_: False


def main_driver(root, *hows):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    _threads.cores = lambda: 1  # how much other threads take of the work is up to the clock
    root = Path(root).resolve()
    old = root / "old"
    old.mkdir(parents=True)
    views = nbcfast.Viewset([2, 3], {"was": [[1, 2], [1, 1]]}, classes=["no", "yes"])
    nbcfast.canonical.release(views, 4).save(old / "release")
    (old / "x.csv").write_text("was,there\n1,2\n")
    (old / "x.toml").write_text("# was there\n")
    places = {name: root / name.replace(" ", "-") for name in VERBS}
    for name, place in places.items():
        warmed(place / "warm", list(VERBS[name]), name.endswith("again"))
    gc.freeze()  # a fork that collects would copy all that is imported
    found = {}
    for how in hows:
        often, _, system = how.partition("-")
        if system == "plain":
            plain()
        judgements = {name: judged(place, name, often) for name, place in places.items()}
        found[how] = {name: {"wrong": wrong, "tried": tried} for name, (wrong, tried) in judgements.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main_driver(*sys.argv[1:])
