"""What the verifiers print, whatever names a file holds, and how they leave, whatever stands in their way."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import nbcfast
from nbcfast import associations, canonical, closeness, response, safety, skyline, verify_release
from nbcfast.cli import printable
from nbcfast.templates import Template, disclose, violations

HOSTILE = "x\nyes  audited by the Commission\r\x1b[31m\u202e\u2028\x9b"
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
            certificate.write_text(verify_release.canonical(fields) + "\n")
            verify_release.main([str(tmp_path)])
            calm("".join(capsys.readouterr()))
            calm("".join(run("verify", tmp_path)[1:]))
        certificate.write_text(text)
        if (tmp_path / "table.csv").exists():
            (tmp_path / "table.csv").write_bytes(b'"x\nyes  audited\x1b"\n1\n')
            fields = json.loads(text)
            fields["table_sha256"] = verify_release.hashlib.sha256(
                (tmp_path / "table.csv").read_bytes()
            ).hexdigest()
            fields["sha256"] = verify_release.digest(fields)
            certificate.write_text(verify_release.canonical(fields) + "\n")
            assert verify_release.main([str(tmp_path)]) == 1
            calm("".join(capsys.readouterr()))

    def test_nor_do_objects_that_are_printed(self, name, published, tmp_path):
        made = published[name]
        made.save(tmp_path)
        for thing in (made, nbcfast.verify(tmp_path), nbcfast.load(tmp_path)):
            calm(repr(thing))
            calm(str(thing))


def test_no_object_prints_names_raw(published):
    table, private = nbcfast.Table(PEOPLE), views()
    template = Template([JOB], (ILL, evil("yes")), "3/4")
    groups = skyline.group(table, by=[JOB, SHARE], sensitive=ILL)
    reports = skyline.check(groups, [(1, 1, 1, "1/2")])
    found = disclose(table, [template], OK)
    disguised = response.disguise(PEOPLE, scheme())
    risk = associations.risk(PEOPLE, views=[(JOB, SHARE), (SHARE, ILL)], identity=JOB, attribute=ILL)
    card = canonical.release(private, 4).scorecard()
    things = [
        table,
        table.domain(JOB),
        private,
        groups,
        reports,
        reports[0],
        reports[0].attack,
        template,
        *violations(table, [Template([JOB], (ILL, evil("yes")), "1/100")]),
        found,
        *found.steps,
        scheme(),
        scheme().privacy(),
        disguised,
        response.estimate(disguised, scheme(), OK),
        risk,
        risk.worst(3),
        risk.of(evil("cook"), evil("yes")),
        card,
        card.text(),
        safety.amplification(private),
        safety.check(private, 4),
        closeness.achieved(private, {evil("ill"): "1/2", evil("well"): "1/2"}),
        nbcfast.compare(private, private),
        nbcfast.margin(private),
        nbcfast.attack.posterior(private, {JOB: evil("a")}),
        nbcfast.attack.worst(private),
        published["canonical"].certificate,
    ]
    for thing in things:
        calm(repr(thing))
        calm(str(thing))


def test_printable_escapes_what_steers_a_terminal():
    assert printable is verify_release.printable
    assert printable("a é ⊥ 人\\n") == "a é ⊥ 人\\n"
    assert (
        printable("\n\x1b\x9b\u202e\u2028\ud800\U000e0001") == "\\n\\x1b\\x9b\\u202e\\u2028\\ud800\\U000e0001"
    )
    assert printable(printable(HOSTILE)) == printable(HOSTILE)


SCRIPT = [sys.executable, "-I", "-S", verify_release.__file__]
LIBRARY = [sys.executable, "-m", "nbcfast", "verify"]


def left(command, **options):
    """How a verifier leaves: its exit code and what it says on stderr, which is one line at most."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120, check=False, **options
    )
    text = done.stderr.decode()
    assert text.count("\n") <= 1, text
    assert "Traceback" not in text
    assert "Exception ignored" not in text
    return done.returncode, text.rstrip()


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
    certificate.write_text(verify_release.canonical(fields) + "\n")
    assert verify_release.main([str(tmp_path)]) == 1
    assert "about 2^332192" in capsys.readouterr().out
    assert run("verify", tmp_path)[0] == 1


def pythons():
    found = []
    for version in ("3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"):
        found += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))[:1]
    return found


@pytest.mark.parametrize("python", pythons(), ids=lambda path: path.parent.parent.name)
def test_the_script_runs_on_older_pythons(python, published, tmp_path):
    for name, made in published.items():
        made.save(tmp_path / name)
        own = subprocess.run([*SCRIPT, tmp_path / name], capture_output=True, check=False)
        other = subprocess.run(
            [python, "-I", "-S", verify_release.__file__, tmp_path / name], capture_output=True, check=False
        )
        assert (other.returncode, other.stdout, other.stderr) == (own.returncode, own.stdout, own.stderr)
