"""A small release, and its file changed in place."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from nbcfast import Viewset, verify_release
from nbcfast.published.certificate import Certificate
from nbcfast.published.release import Release
from nbcfast.verification.checks import verify
from nbcfast.verification.load import load

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


# X(clerk, 1) = (1*2/3, 2*3/5), and so on; Lambda is far below 4.
VIEWS = Viewset(
    [3, 5],
    {"job": [[1, 2], [2, 3]], "age": [[1, 1], [1, 3], [1, 1]]},
    classes=["yes", "no"],
    domains={"job": ["clerk", "cook"], "age": [30, 40, None]},
)


def release_of(views=VIEWS, class_name="ill", **claims):
    tuples = math.prod(len(array) for array in views.counts.values())
    return Release(views, Certificate(**{"amplification": 4, "tuples": tuples, **claims}), class_name)


def edit(path, change, *, sign=False):
    """Change the document in place; with `sign` its sha256 is made right again."""
    document = json.loads(path.read_text())
    change(document)
    if sign:
        document["sha256"] = verify_release.digest(document)
    path.write_text(verify_release.canonical_json(document) + "\n")


def standalone(path):
    """Run the single file as a recipient does: isolated, without the package."""
    script = Path(verify_release.__file__)
    ran = subprocess.run(
        [sys.executable, "-I", "-S", str(script), str(path)], capture_output=True, text=True, check=False
    )
    assert not ran.stderr or ran.returncode == 2
    return ran.returncode, ran.stdout + ran.stderr


def refused(path):
    """The message that all three ways of reading agree on."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the callers match the text
        load(path)
    found = verify(path)
    assert not found.ok
    code, printed = standalone(path)
    assert code == 1
    message = str(caught.value).removeprefix(f"{path}: ")
    failed = next(check for check in found.checks if check.passed is False)
    assert failed.text in message or failed.name == "amplification"
    assert "NO " in printed
    if failed.name != "amplification":
        assert failed.text in printed
    return message
