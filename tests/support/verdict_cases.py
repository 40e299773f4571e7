"""Published things of every kind whose verdicts, words and claims are looked at."""

from dataclasses import replace

import nbcfast
from nbcfast import Table, Viewset, canonical, response, skyline, verify_release
from nbcfast.closeness import est
from nbcfast.templates import Template, disclose

PEOPLE = {
    "job": ["a", "a", "b", "b", "c", "c", "a", "b"],
    "age": [30, 31, 32, 50, 51, 52, 53, 33],
    "ill": ["y", "n", "n", "y", "n", "n", "n", "n"],
}


VIEWS = Viewset(
    [50, 90],
    {"job": [[9, 70], [41, 20]], "sex": [[12, 30], [20, 20], [18, 40]]},
    classes=["ill", "well"],
    domains={"job": ["a", "b"], "sex": ["f", "m", "x"]},
)


SCHEME = response.Scheme.per_attribute("0.8", ["ill"], domains={"ill": ["n", "y"]})


def accepting(release):
    """The same release, whose publisher accepted whatever the answers give away."""
    return replace(release, certificate=release.certificate.accepting())


PUBLISHED = {
    "safetytransform": lambda: nbcfast.safety_transform(VIEWS, 4, class_name="y"),
    "identity": lambda: nbcfast.safety_transform(VIEWS, 1000, gauge=False),
    "few rows": lambda: nbcfast.safety_transform(VIEWS, 4, rows=20, allow_differences=True),
    "est": lambda: est(VIEWS, {"ill": "1/2", "well": "1/2"}, 3),
    "canonical": lambda: canonical.release(VIEWS, 4),
    "bits": lambda: canonical.release(VIEWS, 4, bits=1),
    "listed": lambda: canonical.release(VIEWS, 4, tuples={"job": ["a", "b"], "sex": ["f", "x"]}),
    "smoothed": lambda: canonical.release(VIEWS, 4, alpha="1/2"),
    "accepted": lambda: accepting(canonical.release(VIEWS, 4)),
    "accepted powers": lambda: accepting(nbcfast.safety_transform(VIEWS, 4, class_name="y")),
    "partition": lambda: skyline.anonymize(Table(PEOPLE), ["job", "age"], "ill", k=2),
    "disclosure": lambda: disclose(Table(PEOPLE), [Template(["job"], ("ill", "y"), "3/4")], "age"),
    "disguised": lambda: response.disguise(Table(PEOPLE).select(["ill", "job"]), SCHEME),
}


def said(folder, capsys):
    """The exit code of the script, and what it prints."""
    capsys.readouterr()
    code = verify_release.main([str(folder)])
    return code, capsys.readouterr().out
