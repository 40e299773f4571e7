"""`disguise_record`: one respondent's answer, and the file that a device needs."""

import math
import os
import secrets
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from nbcfast import response
from nbcfast.reference import response as reference
from nbcfast.response import KaryScheme, Scheme

GOOD = Scheme("4/5", [["a", "b"]], domains={"a": [0, 1], "b": ["no", "yes"]}).to_dict()
KARY = KaryScheme("1/2", {"a": [0, 1, 2]}).to_dict()


class Enumerated:
    """below(n) for every sequence of outcomes, one after the other."""

    def __init__(self):
        self.path, self.at = [], 0

    def __call__(self, n):
        if self.at == len(self.path):
            self.path.append([0, n])
        assert self.path[self.at][1] == n
        self.at += 1
        return self.path[self.at - 1][0]

    def all(self, function):
        while True:
            self.at = 0
            result = function(self)
            weight = Fraction(1)
            for _, n in self.path:
                weight /= n
            yield weight, result
            while self.path and self.path[-1][0] == self.path[-1][1] - 1:
                self.path.pop()
            if not self.path:
                return
            self.path[-1][0] += 1


@pytest.mark.parametrize("kind", ["binary", "each", "tuple"])
def test_devices_throw_the_same_coins(kind):
    if kind == "binary":
        scheme = Scheme(["3/5", "1/4"], [["a", "b"], ["c"]], domains={name: [0, 1] for name in "abc"})
        sizes, record = [2, 2, 2], (1, 0, 1)
    else:
        domains = {"a": [0, 1, 2], "b": [0, 1], "c": [0, 1, 2]}
        scheme = KaryScheme(["3/5", "1/4"], domains, groups=[["a", "b"], ["c"]], lie=kind)
        sizes, record = [3, 2, 3], (2, 1, 0)
    expected = {}
    plain = [(Fraction(3, 5), (0, 1)), (Fraction(1, 4), (2,))]
    for weight, answer in reference.kary_answers(
        record, plain, sizes, "tuple" if kind == "tuple" else "each"
    ):
        expected[answer] = expected.get(answer, 0) + weight
    found = {}
    true = {**dict(zip("abc", record, strict=True)), "d": "as it is"}
    for weight, told in Enumerated().all(lambda below: response.disguise_record(true, scheme, below=below)):
        assert told["d"] == "as it is"
        answer = tuple(told[name] for name in "abc")
        found[answer] = found.get(answer, 0) + weight
    assert found == expected


def test_what_devices_refuse():
    scheme = Scheme("0.8", [["a"]], domains={"a": ["no", "yes"]})
    assert response.disguise_record({"a": "no"}, scheme)["a"] in ("no", "yes")
    with pytest.raises(ValueError, match="record: expected a value of 'a'"):
        response.disguise_record({}, scheme)
    with pytest.raises(ValueError, match="record: 'maybe' is none of the 2 values of 'a'"):
        response.disguise_record({"a": "maybe"}, scheme)
    with pytest.raises(ValueError, match="the domain of column 'a' is not declared"):
        response.disguise_record({"a": "no"}, Scheme("0.8", [["a"]]))
    with pytest.raises(ValueError, match="record: True is none of the 2 values"):
        response.disguise_record({"a": True}, Scheme("0.8", [["a"]], domains={"a": [0, 1]}))


def test_devices_ask_the_operating_system(monkeypatch):
    """One answer of 40 is a lie; 6 standard deviations of 4000, which coins miss twice in 10^9 runs."""
    asked, ask = [], secrets.randbelow
    monkeypatch.setattr(secrets, "randbelow", lambda n: asked.append(n) or ask(n))
    scheme = Scheme("39/40", [["a"]], domains={"a": [0, 1]})
    lies = sum(response.disguise_record({"a": 0}, scheme)["a"] for _ in range(4000))
    assert abs(lies - 100) < 6 * math.sqrt(4000 / 40 * 39 / 40)
    assert asked == [40, 1] * 4000


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ({**GOOD, "groups": [{"columns": ["a"], "theta": "7/5"}]}, r"theta must be in \[0, 1\], got 7/5"),
        ({**GOOD, "groups": [{"columns": ["a"], "theta": "-1"}]}, r"theta must be in \[0, 1\], got -1"),
        ({**GOOD, "groups": [{"columns": ["a"], "theta": "1/2"}]}, "answers tell something, got 1/2"),
        ({**KARY, "groups": [{"columns": ["a"], "theta": "1/3"}]}, "answers tell something, got 1/3"),
        ({**GOOD, "groups": [{"columns": ["a"], "theta": 0.8}]}, "thetas as texts, such as '4/5', got 0.8"),
        ({**GOOD, "groups": [{"columns": ["a"], "theta": "1/0"}]}, "thetas as texts"),
        ({**GOOD, "groups": GOOD["groups"] * 2}, "groups must not overlap, got 'a' twice"),
        ({**GOOD, "groups": []}, "expected groups"),
        ({**GOOD, "groups": [{"columns": "a", "theta": "4/5"}]}, "expected names of columns, got 'a'"),
        ({**GOOD, "groups": [{"columns": ["a"]}]}, "expected groups of columns and theta"),
        ({**GOOD, "format": 9}, "expected format 1, got 9"),
        ({**GOOD, "format": True}, "expected format 1, got True"),
        ({**GOOD, "more": 1}, "expected the fields of a binary or k-ary scheme"),
        ({}, "expected the fields of a binary or k-ary scheme"),
        ({**KARY, "lie": "none"}, "expected lie 'each' or 'tuple', got 'none'"),
        ({**GOOD, "domains": {**GOOD["domains"], "a": KARY["domains"]["a"]}}, "two values, none missing"),
        ({**KARY, "domains": {"a": [["int", "0"]]}}, "expected two values or more of 'a'"),
        ({**KARY, "domains": {"a": [["int", "0"], ["int", "0"]]}}, "expected distinct values of 'a'"),
        ({**KARY, "domains": {"a": [0, 1]}}, "expected typed values"),
        ({**GOOD, "groups": [{"columns": ["a", "b"], "theta": "1"}]}, "hides something of 'a', 'b'; at 1"),
        ({**GOOD, "groups": [{"columns": ["a", "b"], "theta": "0"}]}, "hides something of 'a', 'b'; at 0"),
        ({**KARY, "groups": [{"columns": ["a"], "theta": "1"}]}, "hides something of 'a'; at 1 the answer"),
        (KaryScheme("0", {"a": [0, 1]}).to_dict(), "hides something of 'a'; at 0 the answer says the truth"),
        (KaryScheme("0", {"a": [0, 1]}, lie="tuple").to_dict(), "hides something of 'a'; at 0 the answer"),
    ],
)  # fmt: skip
def test_devices_refuse_schemes_that_do_not_hide(scheme, message):
    with pytest.raises(ValueError, match=f"scheme: .*{message}"):
        response.disguise_record({"a": 0, "b": "no"}, scheme)


@pytest.mark.parametrize("lie", ["each", "tuple"])
@pytest.mark.parametrize("theta", ["0", "1/7", "1"])
@pytest.mark.parametrize("sizes", [[2], [3], [2, 2], [2, 3], [3, 2]])
def test_devices_refuse_what_the_package_says_hides_nothing(lie, theta, sizes):
    domains = {name: list(range(size)) for name, size in zip("ab", sizes, strict=False)}
    scheme = KaryScheme(theta, domains, groups=[list(domains)], lie=lie)
    record = dict.fromkeys(domains, 0)
    if scheme.exposed:
        names = ", ".join(map(repr, scheme.exposed))
        with pytest.raises(ValueError, match=f"scheme: expected a theta that hides something of {names}; at"):
            response.disguise_record(record, scheme)
    else:
        assert response.disguise_record(record, scheme).keys() == record.keys()


def test_devices_refuse_what_is_no_record_or_scheme():
    with pytest.raises(TypeError, match="record must be a mapping of name -> value, got NoneType"):
        response.disguise_record(None, GOOD)
    with pytest.raises(TypeError, match="scheme must be a scheme or the content of its file, got str"):
        response.disguise_record({"a": 0}, "x")
    with pytest.raises(ValueError, match="none of the 2 values of 'a'"):
        response.disguise_record({"a": np.array([0, 1]), "b": "no"}, GOOD)
    long = Scheme(Fraction(2**60 + 1, 2**62), [["a"]], domains={"a": [0, 1]}).to_dict()
    assert response.disguise_record({"a": 0}, long)["a"] in (0, 1)


def pythons():
    """The Python that runs the tests, and older ones that are here."""
    found = [sys.executable]
    for version in ("3.8", "3.9", "3.10"):
        found += sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")))[:1]
    return found


@pytest.mark.parametrize("python", pythons(), ids=lambda path: Path(path).parent.parent.name)
def test_the_device_file_needs_nothing_else(python, tmp_path):
    source = Path(response.__path__[0], "device.py")
    (tmp_path / "device.py").write_text(source.read_text())
    scheme = KaryScheme("1/2", {"a": ["x", "y", None]})
    scheme.save(tmp_path / "scheme.json")
    script = (
        "import sys; sys.path.insert(0, '.'); import json, device; "
        "scheme = json.load(open('scheme.json')); "
        "print(device.disguise_record({'a': None}, scheme)['a'] in ('x', 'y', None), "
        "sorted({'numpy', 'nbcfast', 'gmpy2'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [python, "-S", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("True []\n", "")
