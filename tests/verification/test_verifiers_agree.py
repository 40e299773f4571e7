"""The two verifiers say the same of every file, and nothing raw: thousands of mutated folders of all kinds.

The mutants are those of `mutants`, each of a number; what neither verifier refuses is judged once more by
`plain_judge`, which shares no line with them. NBCFAST_MUTANTS says how many the thorough profile tries.
"""

import contextlib
import io
import json
import operator
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import mutant_corpus
import mutants
import plain_judge
import pytest
from both_verifiers import in_both

import nbcfast
from nbcfast import verify_release
from nbcfast._wire.json_entries import canonical_json
from nbcfast._wire.kinds import KINDS
from nbcfast.published.document import text_of
from nbcfast.published.wire import strata_document

# Most changes leave the answers as they are, and what is made again of these is the same.

pytestmark = pytest.mark.apart

FAST = 500
THOROUGH = int(os.environ.get("NBCFAST_MUTANTS", "20000"))
LONGEST = 60  # seconds of work for one mutant, which takes some milliseconds: what takes that long is a hang
SAID = {"yes": True, "NO": False, "?": None}
WORDS = ("--", verify_release.NOTE, verify_release.WARNING)

# What only one of the verifiers checks, or leaves open, and why. The script prints a "?" where the library
# alone checks, so that it never leaves with 0 where that leaves with 1.
LIBRARY_ALONE = {
    "counts": "of a canonical release, made again from its points",
    "points": "of a canonical release, made again from their answers",
}
OPEN_IN_SCRIPT = {
    "advice": "takes a solver, to say how many bits a weight there are",
    "canonical": "takes a solver, to make the release again",
    "parquet": "takes pyarrow, and has the right sha256",
    "scorecard": "of large domains, and of lists",
}
OPEN_IN_LIBRARY = {
    "advice": "of answers beyond what it solves",
    "canonical": "of other versions, of lists, of answers that rounding changed",
    "scorecard": "of points that its kernels do not add up, and of lists",
}
# The script goes on where counts are those of no table, or points decide otherwise; the library does not.
AFTER_A_FAULT = {
    "positive": ("advice", "amplification", "closeness", "canonical", "scorecard"),
    "realistic": ("advice", "amplification", "closeness", "canonical", "scorecard"),
    "scorecard": ("canonical",),
}
# What `load` takes, though `verify` does not: simulations, which say so, and what it does not look at.
LOADED = {*LIBRARY_ALONE, "advice", "canonical", "coins", "folder", "hidden", "parquet"}


CHECKS = (
    *(
        "advice",
        "amplification",
        "canonical",
        "closeness",
        "cuts",
        "diversity",
        "file",
        "folder",
        "groups",
        "hidden",
        "k",
    ),
    *(
        "parquet",
        "point",
        "policy",
        "positive",
        "privacy",
        "realistic",
        "rows",
        "scheme",
        "scorecard",
        "table",
    ),
    *("template", "untouched", "words"),
)


class Verdict:
    """What one of them found: the exit code, (name, verdict) of each check, claims, words, and all it says.

    Words are notes, warnings, and what was ignored; `policy` is what the library says when it is given one.
    """

    def __init__(self, code, checks, claims, words, text):
        self.code, self.checks, self.claims, self.words, self.text = code, checks, claims, words, text
        self.policy = []

    def of(self, name):
        return [holds for one, holds in self.checks if one == name]


def by_script(folder, ignore_extra=False):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = verify_release.main([str(folder), *(["--ignore-extra"] if ignore_extra else [])])
    return printed(code, out.getvalue(), err.getvalue())


def printed(code, out, err):
    """The verdict that the script printed."""
    checks, claims, words = [], [], []
    for line in out.split("\n"):
        said, _, rest = line.partition(" ")
        if said in SAID and rest.startswith(" "):
            checks.append((rest.strip().split("  ")[0], SAID[said]))
        elif line.startswith(verify_release.CLAIMED):
            claims.append(line.removeprefix(verify_release.CLAIMED).strip())
        elif said in WORDS:
            words.append((said, rest.strip().removeprefix("folder").strip()))
    return Verdict(code, checks, claims, words, out + err)


def by_library(folder, ignore_extra=False):
    try:
        found = nbcfast.verify(folder, ignore_extra=ignore_extra)
    except OSError as error:
        return Verdict(2, [], [], [], verify_release.printable(str(error))), None
    checks = [(check.name, check.passed) for check in found.checks]
    claims = [verify_release.printable(text).strip() for text in found.claims]
    ignored = [verify_release.ignored_text(list(found.ignored))] if found.ignored else []
    words = [
        (said, verify_release.printable(text).strip())
        for said, texts in zip(WORDS, (ignored, found.notes, found.warnings), strict=True)
        for text in texts
    ]
    return Verdict(found.exit_code, checks, claims, words, repr(found)), found


def disagreements(script, library):
    """Sentences about what one says and the other does not."""
    if 2 in (script.code, library.code):
        if script.code != library.code:
            yield f"the script leaves with {script.code}, the library with {library.code}"
        return
    left_out = {
        name for fault, names in AFTER_A_FAULT.items() if False in library.of(fault) for name in names
    }
    for name in dict.fromkeys(name for name, _ in [*script.checks, *library.checks]):
        if not script.of(name):
            if name not in LIBRARY_ALONE or None not in script.of("canonical"):
                yield f"only the library checks {name!r}"
        elif not library.of(name):
            if name not in left_out:
                yield f"only the script checks {name!r}"
        else:
            for one, other in zip_longest(script.of(name), library.of(name), fillvalue="nothing"):
                unsaid = (one is None and name in OPEN_IN_SCRIPT) or (
                    other is None and name in OPEN_IN_LIBRARY
                )
                if one is not other and not unsaid:
                    yield f"{name}: {one} says the script, {other} the library"
    for verdict in (script, library):
        given = verify_release.outcome(holds for _, holds in verdict.checks)
        if verify_release.VERDICTS[given][1] != verdict.code:
            yield f"{verdict.code} is not what the checks give: {verdict.checks}"
    codes = {script.code, library.code}
    if codes == {0, 1}:
        yield f"the script leaves with {script.code}, the library with {library.code}"
    if not script.of("canonical") and 1 not in codes and script.claims != library.claims:
        yield f"the script prints the claims {script.claims}, the library {library.claims}"
    if not script.of("canonical") and 1 not in codes and script.words != library.words:
        yield f"the script prints {script.words}, the library {library.words}"


def raw(text):
    """Lines that a terminal does not show as they are, or that are forged."""
    for line in text.split("\n"):
        if not line.isprintable():
            yield f"prints {line!r}"
        if line.lstrip().startswith("yes  audited"):
            yield f"lets a file say {line!r}"


def own(made, found, folder):
    """What of a folder that verify does not refuse is another way than the library would write it."""
    if found.kind is None:  # numbers that are too long to be looked at: then nothing is said of anything
        if found.published is not None or [check.name for check in found.checks] != ["file"]:
            yield f"something is said of what was not read: {found}"
        return
    fields = json.loads(made.files[mutants.CERTIFICATE])
    if found.strata is not None:
        text = canonical_json(strata_document(found.strata)) + "\n"
        if text.encode() != made.files[mutants.CERTIFICATE]:
            yield "the library would write another certificate"
        return
    if found.release is not None:
        if text_of(found.release).encode() != made.files[mutants.CERTIFICATE]:
            yield "the library would write another certificate"
        return
    # With ignored extras a table.parquet may lie there that the certificate does not name.
    options, parquet = {}, fields.get("parquet_sha256") is not None
    if found.kind != "disguised":
        options = {"weights": fields["weights"], "parquet": parquet}
    found.published.save(folder, **options)
    again = json.loads(Path(folder, mutants.CERTIFICATE).read_bytes())
    free = {"version", "sha256"}  # of who wrote it, and of all that
    if fields.get("order") == "shuffled":
        free |= {"order", "seeded", "table_sha256"}
    if found.kind in ("partition", "disclosure"):
        free |= set() if parquet else {"parquet_sha256"}
    other = [name for name in again if name not in free and again[name] != fields[name]]
    if other:
        yield f"the library would write another {', '.join(other)}"


def of_policy(made, library, folder, ignore_extra):
    """What is wrong with the check of a policy, of which the library alone knows."""
    found = nbcfast.verify(folder, ignore_extra=ignore_extra, policy=mutant_corpus.POLICY)
    checks = [(check.name, check.passed) for check in found.checks]
    others = [check for check in checks if check[0] != "policy"]
    if others != library.checks:
        yield f"with a policy the checks are {checks}"
    held = library.policy = [holds for name, holds in checks if name == "policy"]
    if None in held or len(held) != (found.kind is not None):
        yield f"of the policy is said {held}"
    if found.kind not in ("release", "strata") or False in library.of("positive") + library.of("realistic"):
        if True in held:
            yield "it is kept by what is no sound release"
    elif held:
        fields, policy = json.loads(made.files[mutants.CERTIFICATE]), mutant_corpus.POLICY
        kept = plain_judge.policy_kept(fields, policy.class_name, policy.amplification, policy.sha256)
        if kept is not None and kept is not held[0]:
            yield f"the policy is kept: {held[0]}, and judged plainly: {kept}"


def faults(made, place):
    """What is wrong with the verdicts on a mutant, which is written to a place; and both of them."""
    folder, again = Path(place, "mutant"), Path(place, "again")
    for one in (folder, again):
        one.mkdir(exist_ok=True)
        mutants.clear(one)
    mutants.write(made, folder)
    ignore_extra = len(made.steps) % 3 == 2
    script = by_script(folder, ignore_extra)
    library, found = by_library(folder, ignore_extra)
    wrong = [*raw(script.text), *raw(library.text), *disagreements(script, library)]
    for verdict in (script, library):
        if verdict.code in (0, 3):
            wrong += plain_judge.faults(made.files, verdict.checks)
    for name in ("published", "published.demands", "release.certificate", "release.views"):
        with contextlib.suppress(AttributeError):
            wrong += raw(repr(operator.attrgetter(name)(found)))
    if library.code in (0, 3):
        wrong += own(made, found, again)
    if found is not None and "wide" not in made.kind:  # of which all that takes the answers takes long
        wrong += of_policy(made, library, folder, ignore_extra)
    try:
        loaded = nbcfast.load(folder) is not None
    except OSError:
        loaded = None
    except ValueError as error:
        loaded, text = False, str(error)
        wrong += [f"load: {text}" for _ in [0] if not text]
    refused = any(holds is False and name not in LOADED for name, holds in library.checks)
    refused = refused or None in library.of("file")  # what was not read is not loaded
    if loaded is not (None if library.code == 2 else not refused):
        wrong.append(f"verify says {library.checks}, load gives {loaded}")
    return wrong, script, library


class HangsError(Exception):
    """A verifier takes too long. A TimeoutError is an OSError, which verifiers say in words."""


@contextlib.contextmanager
def limited(seconds):
    """Fail after so many seconds of work, or ten times as many of waiting; nothing here comes near.

    The clock of the process: on a busy machine that of the wall would stop what does no more than it should.
    """
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(number, frame):
        raise HangsError(f"a verifier takes more than {seconds} s")

    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, seconds),
        signal.SIGALRM: (signal.ITIMER_REAL, 10 * seconds),
    }
    before = {number: signal.signal(number, stop) for number in timers}
    for timer, most in timers.values():
        signal.setitimer(timer, most)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


@pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="no timers on this system")
@pytest.mark.parametrize("hangs", [lambda: time.sleep(30), lambda: sum(i % 7 for i in range(10**9))])
def test_what_hangs_is_stopped(hangs):
    """That waits, or works, and takes an OSError for bad input."""
    with pytest.raises(HangsError), limited(0.05), contextlib.suppress(OSError):
        hangs()


def judged(numbers, folders, place):
    """The verdicts on the mutants of these numbers; AssertionError at the first that is wrong."""
    for number in numbers:
        made = mutants.mutant(folders, number)
        try:
            with limited(LONGEST):
                wrong, script, library = faults(made, place)
        except Exception as error:
            raise AssertionError(f"mutant {number}, {made}: {type(error).__name__}: {error}") from error
        assert not wrong, f"mutant {number}, {made}: {'; '.join(wrong)}"
        yield made, script, library


@pytest.fixture(scope="module")
def folders():
    return mutant_corpus.corpus()


@pytest.mark.parametrize("name", mutant_corpus.MAKERS)
def test_the_folders_that_are_changed_hold(name, folders, tmp_path):
    made = mutants.Mutant(name, folders[name], None, folders)
    wrong, script, library = faults(made, tmp_path)
    assert not wrong
    assert (script.code, library.code) in ((0, 0), (3, 0), (3, 3)), script.text + library.text


# Of a kind the list that has a value, or a number, at its end: what is too long there is not looked at.
ENDS = {
    "est": lambda fields: fields["attributes"][0]["values"],
    "canonical": lambda fields: fields["attributes"][-1]["values"],
    "strata": lambda fields: fields["strata"][-1]["release"]["attributes"][0]["values"],
    "partition points": lambda fields: fields["columns"][0]["cells"][-1][1],
    "disclosure": lambda fields: fields["columns"][0]["cells"][-1],
    "disguised": lambda fields: fields["scheme"]["domains"]["ill"],
}


@pytest.mark.parametrize("name", ENDS)
def test_what_is_too_long_is_not_read_and_what_was_changed_is_refused(name, folders, tmp_path):
    made = mutants.Mutant(name, folders[name], None, folders)
    ENDS[name](made.fields)[-1] = ["interval", None, f"{mutant_corpus.LONG}/1"]
    text = mutant_corpus.signed(made.fields)
    changed = canonical_json(made.fields) + "\n"  # with the sha256 of before
    spaced = json.dumps(json.loads(text), sort_keys=True) + "\n"
    for certificate, holds in ((text, None), (changed, False), (spaced, False), (text[:-1], False)):
        made.files[mutants.CERTIFICATE] = certificate.encode()
        wrong, script, library = faults(made, tmp_path)
        assert not wrong
        assert script.checks == library.checks == [("file", holds)], script.text + library.text
        with pytest.raises(ValueError, match="too long|bits" if holds is None else "sha256|canonical|trunc"):
            nbcfast.load(tmp_path / "mutant")


@pytest.mark.parametrize("count", [0, 1])
def test_a_stratum_that_is_of_no_table_keeps_no_policy(count, folders, tmp_path):
    made = mutants.Mutant("strata policed", folders["strata policed"], None, folders)
    release = made.fields["strata"][1]["release"]
    release["attributes"][0]["counts"][0][0] = count
    release["sha256"] = verify_release.digest(release)
    made.files[mutants.CERTIFICATE] = mutant_corpus.signed(made.fields).encode()
    wrong, script, library = faults(made, tmp_path)
    assert not wrong
    assert (script.code, library.code, library.policy) == (1, 1, [False])


def test_mutants_are_those_of_their_numbers(folders):
    for number in range(50):
        one, other = (mutants.mutant(folders, number) for _ in range(2))
        assert (one.files, one.links, str(one)) == (other.files, other.links, str(other))
    assert len({str(mutants.mutant(folders, number)) for number in range(50)}) > 40


def _agree(count, folders, place):
    """How often so many mutants give (check, verdict), and (exit codes of script and library)."""
    checks, codes = Counter(), Counter()
    for _, script, library in judged(range(count), folders, place):
        codes[script.code, library.code] += 1
        for name, holds in {*script.checks, *library.checks}:
            checks["point" if name.startswith("(") else name.rstrip(" 123456789"), holds] += 1
        checks.update(("policy", holds) for holds in library.policy)
    assert codes.total() == count
    return checks, codes


def test_they_agree(folders, tmp_path):
    checks, codes = _agree(FAST, folders, tmp_path)
    assert codes[0, 0] > FAST / 20
    assert codes[1, 1] > FAST / 20
    assert {"amplification", "table", "template", "privacy", "k", "point", "scorecard"} <= {
        name for name, _ in checks
    }
    assert checks["file", True] > FAST / 5
    assert checks["file", None]
    assert checks["policy", True]


@pytest.mark.thorough
def test_they_agree_on_thousands(folders, tmp_path):
    checks, codes = _agree(THOROUGH, folders, tmp_path)
    assert all(codes[pair] for pair in [(0, 0), (3, 0), (3, 3), (1, 1), (2, 2)]), codes
    # What has never been seen both ways has not been compared.
    for name in CHECKS:
        assert checks[name, True], (name, checks)
        assert checks[name, False], (name, checks)
    # Two are there where something is wrong, or open, and only there; a list of other strata has no form.
    assert {name for name, _ in checks} - set(LIBRARY_ALONE) == {*CHECKS, "coins", "strata", "version"}
    assert not checks["strata", False]
    assert checks["coins", False]
    assert checks["file", None]
    assert checks["version", None]
    assert not checks["version", True] + checks["version", False]


def _lie(name, value):
    """A change of both verifiers."""
    return lambda patch: in_both(patch, name, value)


def _of_the_library(where, name, value):
    """A change of what the library alone does."""
    return lambda patch: patch.setattr(where, name, value)


def _no_odds_are_off(patch):
    honest = verify_release.excess
    in_both(patch, "excess", lambda document, odds=None: (None, False) if odds else honest(document))


def _all_templates_hold(patch):
    def every_template(document, rows):
        return [
            verify_release.judge_rows(document, rows),
            *((f"template {number + 1}", True, "") for number in range(len(document.templates))),
        ]

    for kinds in (verify_release.KINDS, KINDS):
        patch.setitem(kinds, "disclosure", kinds["disclosure"]._replace(judge=every_template))


ALWAYS = (True, "")
# What is made to lie, of which folders it is noticed, and how.
LIES = {
    "Lambda by the library": (
        "release",
        [_of_the_library(nbcfast.verification.checks, "lambda_kept", lambda *_: True)],
    ),
    "Lambda by both": ("release", [_lie("excess", lambda *_: (None, False))]),
    "odds by the library": (
        "est",
        [_of_the_library(nbcfast.verification.checks, "odds_kept", lambda *_: True)],
    ),
    "odds by both": ("est", [_no_odds_are_off]),
    "sums": ("release", [_lie("unrealistic", lambda *_: None)]),
    "scorecard": ("canonical", [_lie("_places_in_halves", lambda *_: ([], []))]),
    "strata": ("strata", [_lie("_other", lambda *_: None)]),
    "diversity": ("partition", [_lie("_diverse", lambda *_: ALWAYS)]),
    "closeness": ("partition", [_lie("_close", lambda *_: ALWAYS)]),
    "points": ("partition", [_lie("GroupExtremes.judge", lambda *_: ALWAYS)]),
    "rows": ("disclosure", [_lie("judge_rows", lambda *_: ("rows", *ALWAYS))]),
    "templates": ("disclosure", [_all_templates_hold]),
    "exposed": ("disguised", [_lie("exposed", lambda *_: False)]),
    "too long": ("est", [_lie("LONGEST_PART", 1)]),
    "sha256": ("est", [_lie("digest", lambda fields: fields["sha256"])]),
    "epsilon": ("disguised", [_lie("DisguisedDocument.odds", lambda self: self.privacy)]),
    "names": ("disguised", [_lie("printable", lambda text: text)]),
    "a crash": ("partition", [_lie("_natural", lambda *_: 1 / 0)]),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_verifier_that_lies_is_found(lie, folders, tmp_path, monkeypatch):
    kind, changes = LIES[lie]
    for change in changes:
        change(monkeypatch)
    some = {name: files for name, files in folders.items() if name.startswith(kind)}
    with pytest.raises(AssertionError, match=r"mutant [0-9]+, ") as found:
        for _ in judged(range(4 * FAST), some, tmp_path):
            pass
    # Nothing but the lie: of the same mutant an honest verifier says nothing wrong.
    monkeypatch.undo()
    number = re.match(r"mutant ([0-9]+), ", str(found.value))[1]
    assert list(judged([int(number)], some, tmp_path))


def test_the_command_line_says_what_they_say(folders, tmp_path, in_full):
    """Of a sample: the same exit code and the same verdict, and nothing raw."""
    for number in range(0, FAST, 10):
        made = mutants.mutant(folders, number)
        folder = tmp_path / str(number)
        mutants.write(made, folder)
        library, found = by_library(folder)
        code, out, err = in_full("verify", folder)
        assert code == library.code, str(made)
        assert not [*raw(out), *raw(err)], str(made)
        assert (found is None) == (code == 2), str(made)
        if found is not None:
            assert verify_release.printable(found.conclusion) in out, str(made)
        code, out, err = in_full("verify", folder, "--json")
        assert code == library.code, str(made)
        assert not [*raw(out), *raw(err)], str(made)


EACH = """
import io, json, runpy, sys
script = runpy.run_path(sys.argv[1])
found = []
for folder in sys.argv[2:]:
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    try:
        code = script["main"]([folder])
    except BaseException as error:
        code = repr(error)
    found.append((code, sys.stdout.getvalue(), sys.stderr.getvalue()))
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
print(json.dumps(found))
"""


def other_pythons():
    """The newest of each version from 3.8 on that pyenv has here, and this one."""
    found = {Path(sys.executable).name: sys.executable}
    for version in range(8, 20):
        for python in sorted(Path.home().glob(f".pyenv/versions/3.{version}.*/bin/python")):
            found[f"3.{version}"] = str(python)
    return found


@pytest.fixture(scope="module")
def judged_here(folders, tmp_path_factory):
    """Places of folders and mutants, and the verdict of the script on each."""
    place = tmp_path_factory.mktemp("mutants")
    places, expected = [], []
    for number in range(-len(folders), 200):
        if number < 0:
            name = sorted(folders)[number]
            made = mutants.Mutant(name, folders[name], None, folders)
        else:
            made = mutants.mutant(folders, number)
        places.append(str(place / str(number)))
        mutants.write(made, places[-1])
        expected.append(by_script(places[-1]))
    return places, expected


@pytest.mark.parametrize("version", ["here", *(f"3.{number}" for number in range(8, 14))])
def test_the_script_says_the_same_on_every_python(version, judged_here):
    python = sys.executable if version == "here" else other_pythons().get(version)
    if python is None:
        pytest.skip(f"no Python {version} among pyenv's versions")
    places, expected = judged_here
    done = subprocess.run(
        [python, "-I", "-S", "-c", EACH, verify_release.__file__, *places],
        capture_output=True,
        check=True,
        timeout=300,
    )
    for place, (code, out, err), script in zip(places, json.loads(done.stdout), expected, strict=True):
        other = printed(
            code, out, err
        )  # what JSON and CSV are refused for, every version says in its own words
        assert (other.code, other.checks, other.claims) == (script.code, script.checks, script.claims), place
