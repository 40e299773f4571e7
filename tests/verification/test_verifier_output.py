"""What the verifiers print, whatever names a file holds, and how they leave, whatever stands in their way."""

import hashlib
import importlib
import inspect
import json
import os
import pkgutil
import signal
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import nbcfast
from nbcfast import (
    associations,
    attack,
    canonical,
    closeness,
    response,
    safety,
    skyline,
    transform,
    verify_release,
)
from nbcfast._core.errors import NoColumnError
from nbcfast._reading.hints import UnreadableError
from nbcfast._wire.messages import printable
from nbcfast.canonical.boxes.types import PairsBox
from nbcfast.frames import Frame
from nbcfast.ledger import Ledger
from nbcfast.response import DisguisedFrame
from nbcfast.streams import Window
from nbcfast.templates import Template, disclose, violations

HOSTILE = "x\nyes  audited by the Commission\r\x1b[31m\u202e\u200b\ufeff\u2028\x9b"
FORGED = "yes  audited"


def evil(text):
    return f"{text}{HOSTILE}"


PEOPLE = {
    evil("job"): [evil("cook"), evil("cook"), evil("clerk"), None, "a, b", evil("cook")] * 2,
    evil("share"): [0.5, 1.0, 0.5, 1.0, 0.5, 1.0] * 2,
    evil("ok"): [evil("n"), evil("y"), evil("y"), evil("y"), evil("n"), evil("n")] * 2,
    evil("ill"): [evil("no"), evil("yes"), evil("no"), evil("no"), evil("yes"), evil("no")] * 2,
}
JOB, SHARE, OK, ILL = PEOPLE


def views():
    return nbcfast.Viewset(
        [50, 90],
        {JOB: [[9, 70], [41, 20]], "sex\ud800": [[12, 30], [20, 20], [18, 40]]},
        classes=[evil("ill"), evil("well")],
        domains={JOB: [evil("a"), evil("b")], "sex\ud800": ["f\udfff", evil("m"), "x"]},
    )


def scheme():
    domains = {
        JOB: ["a, b", evil("clerk"), evil("cook"), None],
        SHARE: [0.5, 1.0],
        OK: [evil("n"), evil("y")],
    }
    return response.KaryScheme("2/3", domains, groups=[[JOB, SHARE], [OK]], lie="tuple")


PUBLISHED = {
    "safetytransform": lambda: nbcfast.safety_transform(views(), 4, class_name=evil("class")),
    "est": lambda: closeness.est(views(), {evil("ill"): "1/2", evil("well"): "1/2"}, 4),
    "canonical": lambda: canonical.release(views(), 4, class_name=evil("class")),
    "partition": lambda: skyline.anonymize(PEOPLE, [JOB, SHARE], ILL, [(0, 0, 0, 1)], k=2),
    "disclosure": lambda: disclose(nbcfast.Table(PEOPLE), [Template([JOB], (ILL, evil("yes")), "3/4")], OK),
    "disguised": lambda: response.disguise(PEOPLE, scheme()),
}


@pytest.fixture(scope="module")
def published():
    return {name: made() for name, made in PUBLISHED.items()}


def calm(text):
    """Whether a terminal shows these lines as they are, and none of them is forged."""
    lines = text.split("\n")
    assert all(line.isprintable() for line in lines), text
    assert not any(line.lstrip().startswith(FORGED) for line in lines), text
    return lines


@pytest.mark.parametrize("name", PUBLISHED)
class TestHostileNames:
    def test_neither_verifier_prints_them_raw(self, name, published, tmp_path, capsys, run):
        folder = tmp_path / evil("folder").replace("\r", "")
        published[name].save(folder)
        code = verify_release.main([str(folder)])
        out, err = capsys.readouterr()
        calm(out + err)
        assert code in (0, 3)
        code, out, err = run("verify", folder)
        calm(out + err)
        assert code in (0, 3)

    def test_nor_what_is_wrong_with_them(self, name, published, tmp_path, capsys, run):
        published[name].save(tmp_path)
        certificate = tmp_path / "certificate.json"
        text = certificate.read_text()
        for change in (
            lambda fields: fields.update({evil("field"): 1}),
            lambda fields: fields.update(kind=evil("kind")),
            lambda fields: fields.update(version=[evil("version")]),
            lambda fields: fields["warnings"].append(evil("warning")),
            lambda fields: fields.pop("notes"),
        ):
            fields = json.loads(text)
            change(fields)
            fields["sha256"] = verify_release.digest(fields)
            certificate.write_text(verify_release.canonical_json(fields) + "\n")
            verify_release.main([str(tmp_path)])
            calm("".join(capsys.readouterr()))
            calm("".join(run("verify", tmp_path)[1:]))
        certificate.write_text(text)
        if (tmp_path / "table.csv").exists():
            (tmp_path / "table.csv").write_bytes(b'"x\nyes  audited\x1b"\n1\n')
            fields = json.loads(text)
            fields["table_sha256"] = hashlib.sha256((tmp_path / "table.csv").read_bytes()).hexdigest()
            fields["sha256"] = verify_release.digest(fields)
            certificate.write_text(verify_release.canonical_json(fields) + "\n")
            assert verify_release.main([str(tmp_path)]) == 1
            calm("".join(capsys.readouterr()))

    def test_nor_do_objects_that_are_printed(self, name, published, tmp_path):
        made = published[name]
        made.save(tmp_path)
        for thing in (made, nbcfast.verify(tmp_path), nbcfast.load(tmp_path)):
            calm(repr(thing))
            calm(str(thing))


def printed_things(published, folder):
    """One object of every class that writes its own repr, of hostile names and values where it has any."""
    table, private = nbcfast.Table(PEOPLE), views()
    everybody = nbcfast.Table(
        {**PEOPLE, JOB: [evil("nobody") if one is None else one for one in PEOPLE[JOB]]}
    )
    counted = nbcfast.count(table, ILL)
    template = Template([JOB], (ILL, evil("yes")), "3/4")
    groups = skyline.group(table, by=[JOB, SHARE], sensitive=ILL)
    reports = skyline.check(groups, [(1, 1, 1, "1/2")])
    statistics = skyline.Statistics([0, 1])
    yield statistics
    statistics.update(groups)
    found = disclose(table, [template], OK)
    disguised = response.disguise(PEOPLE, scheme())
    binary = response.Scheme("2/3", [[OK, ILL]])
    bits = response.pack(table.select([OK, ILL]))
    estimated = response.estimate(disguised, scheme(), OK)
    learned = response.classifier(estimated)
    risk = associations.risk(PEOPLE, views=[(JOB, SHARE), (SHARE, ILL)], identity=JOB, attribute=ILL)
    splits = associations.advise(everybody, JOB, ILL, [SHARE, OK])
    made = canonical.release(private, 4, class_name=evil("class"))
    yield nbcfast.publish(PEOPLE, ILL, 4, columns=[JOB])
    card = made.scorecard()
    prior = {evil("ill"): "1/2", evil("well"): "1/2"}
    tilted = {evil("ill"): "9/10", evil("well"): "1/10"}
    filled = transform.fill_zeros(private)
    scaled = transform.scale(filled, 4)
    box = canonical.box(private)
    solution = canonical.solve(box)
    three = nbcfast.count(everybody, JOB)
    yield from (
        private.scorer(),
        table,
        table.head(),
        table.domain(JOB),
        table.column(JOB),
        table.column(JOB).domain,
        private,
        nbcfast.SUPPRESSED,
    )
    yield nbcfast.Interval(0, 1)
    yield from (
        groups,
        statistics,
        reports,
        reports[0],
        reports[0].attack,
        skyline.Point(1, 1, 1, Fraction(1, 2)),
    )
    yield from (skyline.frontier_table(skyline.find(groups, 1)), found.templates, *found.steps, found)
    yield skyline.SetGroups([0, 0, 1], [[evil("a")], [], [evil("b")]])
    yield from (template, *violations(table, [Template([JOB], (ILL, evil("yes")), "1/100")]))
    yield from (scheme(), scheme().privacy(), binary, binary.privacy(), bits, disguised, estimated, learned)
    yield response.accuracy(learned, disguised, scheme(), OK)
    yield from (risk, risk.worst(3), risk.of(evil("cook"), evil("yes")), splits, *splits)
    yield from (
        made,
        made.certificate,
        made.certificate.canonical,
        card,
        card.text(),
        card.markdown(),
        made.views,
    )
    yield from (box, canonical.box(three), canonical.box(three, tuples=[[0, 0, 0]]), solution)
    yield from (canonical.integers(box, solution), canonical.leak(private))
    yield PairsBox((2, 2), (0, 1), 3, "order", np.zeros((3, 2), np.int64), np.zeros((3, 2), np.int64))
    yield from (safety.amplification(private), safety.check(private, 4))
    yield from (closeness.achieved(private, prior), closeness.achieved(private, prior).definition5)
    yield from (closeness.lower_bound(private, tilted), closeness.best(private, prior))
    yield from (nbcfast.compare(private, private), nbcfast.margin(private))
    yield nbcfast.compare(
        private, nbcfast.safety_transform(private, 4, rows=30, allow_differences=True).views
    )
    yield from (filled, scaled, transform.adjust(scaled))
    yield from (attack.posterior(private, {JOB: evil("a")}), attack.worst(private), attack.worlds(counted))
    yield from (attack.breach(private, "1/10", "1/2"), attack.breach(private, "1/10", "999/1000"))
    yield from (attack.invert(made), attack.invert(private, truth=private))
    yield attack.membership(nbcfast.count(table, ILL), table, table.take([0, 1, 2, 3]), ILL)
    yield attack.definetti(table, found, ILL)
    shares = np.log([[3 / 5, 1 / 5, 1 / 5], [1 / 6, 2 / 6, 3 / 6]])
    plain_model = SimpleNamespace(class_log_prior_=np.log([2 / 5, 3 / 5]), feature_log_prob_=[shares])
    plain_model.feature_names_in_, plain_model.classes_ = [evil("job")], [evil("no"), evil("yes")]
    yield attack.model(plain_model, alpha=1)
    counts = nbcfast.count(table, ILL, [JOB, OK])
    compared = nbcfast.compare_releases({evil("an entry"): counts}, table, ILL)
    yield from (compared, *compared.entries)
    yield from (associations.Cost(100, 10**9), associations.TooCostlyError(associations.Cost(100, 10**9)))
    yield published["partition"].demands
    menu = {JOB: [list(dict.fromkeys(PEOPLE[JOB])), {"out": True}]}
    no_limits = dict.fromkeys(("max_bits", "max_found", "min_flip", "max_one_class"))
    advice = canonical.advise(table, ILL, menu, folds=0, **no_limits)
    yield from (advice, advice.best, advice.advised)
    strata = canonical.release_by(everybody, OK, ILL, 4, columns=[JOB])
    yield from (strata, strata.certificate)
    yield nbcfast.publish(everybody, OK, 4, columns=[JOB], by=ILL, accept_answers=True)
    public = {name: sorted(set(map(str, PEOPLE[name]))) for name in (OK, ILL)}
    yield nbcfast.publish({name: PEOPLE[name] for name in public}, ILL, 4, domains=public, dp={"epsilon": 1})
    made.save(folder / "made")
    yield nbcfast.gate(folder / "made", {"release": {"class": evil("other"), "amplification": 4}})
    yield nbcfast.reports.fact_sheet(folder / "made")
    plain = nbcfast.Viewset([2, 3], {"job": [[1, 2], [1, 1]]}, classes=["no", "yes"])
    exported = canonical.release(plain, 4).export(folder / "rule.csv")
    yield replace(exported, path=evil("a path"))
    yield UnreadableError(evil("a file"))
    window = Window(ILL, public, rows=2)
    window.add({name: PEOPLE[name] for name in public})
    ledger = Ledger(folder / "ledger")
    ledger.append(window.views, "0" * 64, window="week\u202e\u200b\ufeff\u2028\x9b")
    yield from (window, ledger, *ledger.lines)
    frame = Frame(pl.DataFrame({JOB: [1], ILL: [2]}), weights=ILL)
    told_by = response.KaryScheme("4/5", {JOB: [evil("cook"), evil("judge")]})
    yield from (frame, DisguisedFrame(evil("a folder"), told_by, 1, frame))
    with pytest.raises(nbcfast.Infeasible) as refused:
        skyline.anonymize(table, [JOB], ILL, [(1, 0, 0, "1/2")])
    yield refused.value
    with pytest.raises(NoColumnError) as missing:
        table.domain(evil("no such column"))
    yield missing.value


KERNELS = {f"nbcfast.{path.stem}" for path in Path(nbcfast.__file__).parent.glob("*.pyi")} | {
    "nbcfast._build"
}


def own_words():
    """The classes of the package whose repr or str is written by hand."""
    for info in pkgutil.walk_packages(nbcfast.__path__, "nbcfast."):
        if info.name.endswith("__main__") or ".reference" in info.name or info.name in KERNELS:
            continue
        module = importlib.import_module(info.name)
        for name, kind in vars(module).items():
            if not inspect.isclass(kind) or kind.__module__ != info.name:
                continue
            for method in ("__repr__", "__str__"):
                written = vars(kind).get(method)
                # Those of data classes and named tuples are Python's own, which escape.
                if getattr(written, "__module__", None) == info.name and not hasattr(written, "__wrapped__"):
                    yield f"{info.name}.{name}"


def test_no_object_prints_names_raw(published, tmp_path):
    published["partition"].save(tmp_path)
    calm(repr(nbcfast.verify(tmp_path)))
    seen = {"nbcfast.verification.results.Verification"}
    for thing in printed_things(published, tmp_path):
        calm(repr(thing))
        calm(str(thing))
        seen |= {f"{kind.__module__}.{kind.__name__}" for kind in type(thing).__mro__}
    for made in [*published.values(), *(made.certificate for made in published.values())]:
        calm(repr(made))
        seen |= {f"{kind.__module__}.{kind.__name__}" for kind in type(made).__mro__}
    assert set(own_words()) - seen == set()


@pytest.mark.parametrize("escaped", [printable, verify_release.printable], ids=["library", "script"])
def test_printable_escapes_what_steers_a_terminal(escaped):
    assert escaped("a é ⊥ 人\\n") == "a é ⊥ 人\\n"
    assert (
        escaped("\n\x1b\x9b\u202e\u2028\ud800\U000e0001") == "\\n\\x1b\\x9b\\u202e\\u2028\\ud800\\U000e0001"
    )
    assert escaped(escaped(HOSTILE)) == escaped(HOSTILE)


SCRIPT = [sys.executable, "-I", "-S", verify_release.__file__]
LIBRARY = [sys.executable, "-m", "nbcfast", "verify"]


def left(command, **options):
    """How a verifier leaves: its exit code and what it says on stderr, which is one line at most.

    Both are the same whether each line is written at once, or all when it ends.
    """
    found = set()
    for unbuffered in ("", "1"):
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            **options,
        )
        text = done.stderr.decode()
        assert text.count("\n") <= 1, text
        assert "Traceback" not in text
        assert "Exception ignored" not in text
        found.add((done.returncode, text.rstrip()))
    (one,) = found
    return one


@pytest.fixture
def folder(published, tmp_path):
    published["safetytransform"].save(tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.skipif(os.name != "posix", reason="devices and signals of Unix")
@pytest.mark.parametrize("verifier", [SCRIPT, LIBRARY], ids=["script", "library"])
class TestHowItLeaves:
    def test_a_full_device(self, verifier, folder):
        if not os.path.exists("/dev/full"):
            pytest.skip("no /dev/full")
        with open("/dev/full", "wb") as full:
            code, text = left([*verifier, folder], stdout=full)
        assert code == 2
        assert "No space left on device" in text

    def test_a_full_stderr(self, verifier, folder):
        """Nothing can be said but the exit code: never 1, which is a verdict, nor the interpreter's own."""
        if not os.path.exists("/dev/full"):
            pytest.skip("no /dev/full")
        for place, streams in (
            (folder / "none", ">/dev/null 2>/dev/full"),
            (folder, ">/dev/full 2>/dev/full"),
        ):
            assert left(["sh", "-c", f'exec "$@" {streams}', "sh", *verifier, place]) == (2, "")

    def test_a_closed_stdout(self, verifier, folder):
        code, text = left(["sh", "-c", 'exec "$@" >&-', "sh", *verifier, folder])
        assert code == 2
        assert "stdout is closed" in text

    def test_closed_stdout_and_stderr(self, verifier, folder):
        assert left(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *verifier, folder]) == (2, "")

    def test_a_reader_who_has_left(self, verifier, folder):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            assert left([*verifier, folder], stdout=writing) == (2, "")
        finally:
            os.close(writing)

    def test_a_reader_who_has_left_where_that_kills(self, verifier, folder):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            code, text = left(
                [*verifier, folder],
                stdout=writing,
                preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL),  # Python ignores it anyhow
            )
        finally:
            os.close(writing)
        assert (code, text) == (2, "")

    def test_names_that_cannot_be_decoded(self, verifier, tmp_path):
        code, text = left([*map(os.fsencode, verifier), os.fsencode(tmp_path) + b"/no\xff\nyes  audited"])
        assert code == 2
        calm(text)
        assert "no\\udcff\\nyes" in text

    def test_a_folder_called_certificate(self, verifier, tmp_path):
        (tmp_path / "certificate.json").mkdir()
        code, text = left([*verifier, tmp_path], stdout=subprocess.PIPE)
        assert code in (1, 2)
        if code == 2:
            assert text

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
    def test_a_file_that_may_not_be_read(self, verifier, folder):
        (folder / "certificate.json").chmod(0)
        code, text = left([*verifier, folder], stdout=subprocess.PIPE)
        assert code == 2
        assert "Permission denied" in text


BAD = {
    "nested": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "nested objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n",
    "a long number": b'{"format":' + b"9" * 100_000 + b"}\n",
    "a long negative": b'{"format":-' + b"9" * 100_000 + b"}\n",
    "zero bytes": b"\0" * 100,
    "nothing": b"",
    "a brace": b"{",
    "a list": b"[]\n",
    "null": b"null\n",
    "not ASCII": b"{\xff",
    "a surrogate": b'{"kind":"\\ud800"}\n',
    "NaN": b'{"kind":NaN}\n',
    "a float": b'{"kind":1e999999}\n',
    "a kind": b'{"kind":["release"]}\n',
    "a kind of objects": b'{"kind":{}}\n',
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_no_file_makes_them_raise(data, tmp_path, capsys, run):
    (tmp_path / "certificate.json").write_bytes(data)
    assert verify_release.main([str(tmp_path)]) == 1
    calm("".join(capsys.readouterr()))
    assert run("verify", tmp_path)[0] == 1


def test_long_l_k_and_m(tmp_path, capsys, run):
    skyline.anonymize(PEOPLE, [JOB, SHARE], ILL, [(0, 0, 0, 1)], k=2, diversity=(4, 1)).save(tmp_path)
    certificate = tmp_path / "certificate.json"
    fields = json.loads(certificate.read_text())
    long = f"0x1{'0' * 83_048}"  # 10^5 decimal digits
    points = [[0, 0, 0, "1/1"]]
    for places in ([0], [1], [2], [0, 1, 2]):
        point = [0, 0, 0, "1/1"]
        for place in places:
            point[place] = long
        points.append(point)
    fields.update(points=points, k=long, groups=long, rows=long, diversity=["1/1", long])
    fields["sha256"] = verify_release.digest(fields)
    certificate.write_text(verify_release.canonical_json(fields) + "\n")
    assert verify_release.main([str(tmp_path)]) == 1
    assert "about 2^332192" in capsys.readouterr().out
    assert run("verify", tmp_path)[0] == 1


def test_long_numbers_of_a_release(tmp_path):
    """Python refuses to print integers of more than 4300 digits."""
    nbcfast.safety_transform(nbcfast.Viewset([3, 4], {"job": [[1, 3], [2, 1]]}), 4).save(tmp_path)
    certificate = tmp_path / "certificate.json"
    fields = json.loads(certificate.read_text())
    for row in [fields["class_counts"], *fields["attributes"][0]["counts"]]:
        row[:] = [hex(number << 40_000) for number in row]
    fields["sha256"] = verify_release.digest(fields)
    certificate.write_text(verify_release.canonical_json(fields) + "\n")
    made = nbcfast.load(tmp_path)
    assert repr(made).startswith("Release(about 2^40")
    assert "smallest class about 2^40" in repr(safety.check(made.views, 4))
    assert verify_release.main([str(tmp_path)]) == 0


def test_long_numbers_of_demands(tmp_path):
    skyline.anonymize(PEOPLE, [JOB, SHARE], ILL, [(0, 0, 0, 1)], k=2).save(tmp_path)
    made = nbcfast.load(tmp_path)
    long = replace(made.demands, k=16**4000, points=(skyline.Point(1, 16**4000, 0, Fraction(1, 2)),))
    assert "k=about 2^16000" in repr(long)
    assert "k = about 2^16000" in str(long)
    assert repr(made.demands) == "Demands(points=((0, 0, 0, 1),), k=2, diversity=None, closeness=None)"


def pythons():
    found = []
    for version in ("3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"):
        found += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))[:1]
    return found


def by_script(python, folder):
    command = [python, "-I", "-S", verify_release.__file__, folder]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def judged_here(published, tmp_path_factory):
    """A folder of each kind, and what the script says of it on this Python."""
    place, found = tmp_path_factory.mktemp("judged"), {}
    for name, made in published.items():
        made.save(place / name)
        found[place / name] = by_script(sys.executable, place / name)
    return found


@pytest.mark.parametrize("python", pythons(), ids=lambda path: path.parent.parent.name)
def test_the_script_runs_on_older_pythons(python, judged_here):
    for folder, said in judged_here.items():
        assert by_script(python, folder) == said
