"""People, and what is published of them, to be put into folders."""

import functools
import json

import nbcfast
from nbcfast import Table, Viewset, response, skyline, verify_release
from nbcfast.response import KaryScheme
from nbcfast.templates import Template, disclose

PEOPLE = {
    "job": ["cook", "cook", "clerk", None, "a, b", "cook"] * 2,
    "age": [30, 31, 32, 50, 51, 52] * 2,
    "ill": ["no", "yes", "no", "no", "yes", "no"] * 2,
}


VIEWS = Viewset([5, 9], {"job": [[2, 7], [3, 2]]}, classes=["ill", "well"])


SCHEME = KaryScheme("2/3", {"ill": ["no", "yes"]})


MAKERS = {
    "release": lambda: nbcfast.safety_transform(VIEWS, 4),
    "partition": lambda: skyline.anonymize(PEOPLE, ["job", "age"], "ill", k=2),
    "disclosure": lambda: disclosure(),
    "disguised": lambda: response.disguise(Table(PEOPLE), SCHEME),
}


@functools.cache
def made(kind):
    """What is published, made once."""
    return MAKERS[kind]()


SAVED = {kind: lambda folder, kind=kind: made(kind).save(folder) for kind in MAKERS}


NAMES = {
    "release": ["certificate.json"],
    "partition": ["certificate.json", "table.csv"],
    "disclosure": ["certificate.json", "table.csv"],
    "disguised": ["certificate.json", "scheme.json", "table.csv"],
}


def disclosure():
    return disclose(Table(PEOPLE), [Template(["job"], ("ill", "yes"), "3/4")], "age")


def rewritten(folder, change):
    """Change the fields of the certificate, and its sha256 with them."""
    path = folder / "certificate.json"
    fields = json.loads(path.read_text())
    change(fields)
    fields["sha256"] = verify_release.digest(fields)
    path.write_text(verify_release.canonical_json(fields) + "\n")


def check(found, name):
    return next(check for check in found.checks if check.name == name)
