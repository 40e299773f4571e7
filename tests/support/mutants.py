"""Certificates that nobody wrote: valid folders of every kind, and seeded mutations of them.

`corpus` makes the folders, and `mutant(folders, number)` changes some of them, always alike for one number:

    PYTHONPATH=tests/support python -c \
        "import mutant_corpus, mutants; mutants.write(mutants.mutant(mutant_corpus.corpus(), 7), 'out')"

Nothing here judges. What the mutations repair after themselves (hashes, words, numbers that follow from
others) they take from `verify_release`, so that the checks behind these are reached.
"""

import csv
import hashlib
import io
import json
import os
import random
import shutil
from contextlib import suppress
from fractions import Fraction
from unittest import mock

from mutant_corpus import CERTIFICATE, CUTS, PARQUET, PIPE, SCHEME, TABLE, signed
from mutant_entries import STRUCTURAL, Mutant, nest, ratio_of, text_of
from mutant_strata import STRATA, follow_strata, sign_strata
from mutant_tables import SEMANTIC, groups_of

from nbcfast import verify_release as form

MEANT = {**SEMANTIC, "strata": STRATA}


def damage(data, random):
    """Bytes with some of them flipped, cut off, left out, inserted or repeated."""
    how = random.choice(["flip", "flip", "bit", "truncate", "insert", "cut", "repeat"])
    place = random.randint(0, len(data))
    end = min(place + random.choice([1, 2, 10, 100]), len(data))
    if how == "flip":
        return how, data[:place] + bytes(random.randrange(256) for _ in data[place:end][:2]) + data[
            place + 2 :
        ]
    if how == "bit":
        return how, data[:place] + bytes(
            byte ^ (1 << random.randrange(8)) for byte in data[place : place + 1]
        ) + (data[place + 1 :])
    if how == "truncate":
        return how, data[: random.choice([place, max(len(data) - 1, 0), 0, 1])]
    if how == "insert":
        return how, data[:place] + random.choice(
            [b"\n", b" ", b"\x00", b"\xff", b'"', b"1", b"[" * 5000, b"\\ud800", b"NaN", b"1" * 5000, b"-"]
        ) + data[place:]
    if how == "cut":
        return how, data[:place] + data[end:]
    return how, data[:end] + data[place:]


def other_files(mutant):
    """A file less, one more, or another one in its place."""
    random, files = mutant.random, mutant.files
    how = random.choice(["missing", "extra", "empty", "foreign", "folder", "link", "pipe", "scheme"])
    name = random.choice(sorted(files))
    if how == "missing":
        del files[name]
    elif how == "extra":
        files[
            random.choice(["private.csv", "README", ".hidden", "x\nyes  audited", PARQUET, SCHEME, CUTS])
        ] = b"x\n"
    elif how == "empty":
        files[name] = b""
    elif how == "foreign":
        other = mutant.others[random.choice(sorted(mutant.others))]
        files[name] = other.get(name, b"{}\n")
    elif how == "folder":
        files[name] = None
    elif how == "link":
        mutant.links[name] = random.choice(["certificate.json", "/dev/null", "nowhere", ".", name])
        del files[name]
    elif how == "pipe" and hasattr(os, "mkfifo"):
        mutant.links[name] = PIPE
        del files[name]
    elif how == "scheme" and SCHEME in files:
        files[SCHEME] = files[SCHEME].replace(b"4/5", b"1/1").replace(b"1/3", b"2/3")
    return f"files: {how} {name}"


def _parquet(mutant):
    """A table.parquet of the rows of table.csv: shuffled, or with other kinds of columns."""
    import pyarrow
    from pyarrow import parquet

    rows = mutant.rows
    mutant.random.shuffle(rows)
    header = next(csv.reader(io.StringIO(mutant.files[TABLE].decode(), newline="")))
    if any(len(row) != len(header) for row in rows):
        return b"PAR1"
    texts = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    found = io.BytesIO()
    parquet.write_table(pyarrow.table(texts), found)
    return found.getvalue()


def _follow(mutant):
    """Let what follows from the rest follow: words, numbers of tuples, rows and groups, confidences, odds."""
    fields = mutant.fields
    if fields["kind"] == "release":
        product = 1
        for one in fields["attributes"]:
            product *= len(one["values"])
        fields["tuples"] = text_of(product)
    if fields["kind"] in ("partition", "disclosure", "disguised"):
        weighted = fields.get("weights") is not None
        fields["rows"] = text_of(sum(int(row[-1]) if weighted else 1 for row in mutant.rows))
    if fields["kind"] == "partition":
        fields["groups"] = len(groups_of(mutant))
    if fields["kind"] == "disclosure":
        _confide(mutant)
    if fields["kind"] == "strata":
        follow_strata(mutant, _read)
        return
    document = _read(fields)
    if fields["kind"] == "partition":
        alike = [sum(group.values()) for group in groups_of(mutant) if len(group) == 1]
        certain = len(alike), fields["groups"], sum(alike)
        demands = document.k, document.diversity, document.closeness, document.sensitive
        fields["warnings"] = list(form.partition_warnings(*demands, certain))
    if fields["kind"] == "disguised":
        for name, entry in ((SCHEME, fields["scheme"]), (CUTS, fields.get("cuts"))):
            if mutant.files.get(name) is not None:
                mutant.files[name] = form.copy_of(entry)
        fields["privacy"] = [None if odds is None else ratio_of(odds) for odds in document.odds()]
        fields["warnings"] = document.warned()


def _read(fields):
    """The document of these fields, whose words are made those that go with them."""

    def follow(document, notes, warnings):
        fields.update(notes=list(notes), warnings=list(warnings))

    with mock.patch.object(form.Form, "expect_words", follow):
        return form.KINDS[fields["kind"]].form({**fields, "sha256": "0" * 64})


def _confide(mutant):
    """State the confidences that the table has."""
    fields = mutant.fields
    places = {column["name"]: place for place, column in enumerate(fields["columns"])}
    weighted = fields["weights"] is not None
    for template in fields["templates"]:
        cells = fields["columns"][places[template["attribute"]]]["cells"]
        text = next(text for text, typed in cells if typed == template["value"])
        groups = {}
        for row in mutant.rows:
            group = groups.setdefault(tuple(row[places[name]] for name in template["quasi"]), [0, 0])
            count = int(row[-1]) if weighted else 1
            group[0] += count
            group[1] += count * (row[places[template["attribute"]]] == text)
        template["confidence"] = ratio_of(max(Fraction(hits, total) for total, hits in groups.values()))
    known = {name for template in fields["templates"] for name in template["quasi"]}
    kept = {fields["target"], *(template["attribute"] for template in fields["templates"])}
    fields["masked"] = [name for name in places if name in known and name not in kept]


def _sign(mutant):
    """Hashes that belong to what they are of."""
    for name, of in (("table_sha256", TABLE), ("parquet_sha256", PARQUET)):
        if type(mutant.fields.get(name)) is str and mutant.files.get(of) is not None:
            mutant.fields[name] = hashlib.sha256(mutant.files[of]).hexdigest()
    if mutant.fields.get("kind") == "strata":
        with suppress(*STRANGE):
            sign_strata(mutant.fields)
    mutant.files[CERTIFICATE] = signed(mutant.fields).encode("ascii")


# What mutations, and what repairs after them, meet in a certificate that is no longer one.
STRANGE = (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, UnicodeError, ValueError)


def _changed(mutant):
    """One mutation of the certificate or the table; what it was."""
    kind = mutant.fields.get("kind")
    if type(kind) is str and kind in MEANT and mutant.random.random() < 0.75:
        if kind == "release" and "policy" in mutant.fields:
            kind = "policed"
        elif kind == "release" and "privacy" in mutant.fields:
            kind = "noisy"
        elif kind == "release" and mutant.fields.get("method") == "canonical":
            kind = "advised" if "advice" in mutant.fields else "canonical"
        return mutant.random.choice(MEANT[kind])(mutant)
    if mutant.random.random() < 0.02:
        return nest(mutant)
    return mutant.random.choice(STRUCTURAL)(mutant)


def mutant(folders, number, seed=13):
    """The mutant of this number: one to three mutations of one of the folders, mostly signed anew."""
    dice = random.Random(f"{seed}:{number}")
    kind = dice.choice(sorted(folders))
    made = Mutant(kind, folders[kind], dice, folders)
    if PARQUET in made.files and dice.random() < 0.5:  # or it would be another than most changed tables
        del made.files[PARQUET], made.fields["parquet_sha256"]
    for _ in range(dice.choice([1, 1, 2, 3])):
        try:
            made.steps.append(_changed(made) or "nothing")
        except STRANGE as error:
            made.steps.append(f"half of something ({type(error).__name__})")
    if made.files.get(TABLE) and dice.random() < 0.05:
        how, made.files[TABLE] = damage(made.files[TABLE], dice)
        made.steps.append(f"{how} table")
    if made.files.get(PARQUET) and dice.random() < 0.1:
        with suppress(*STRANGE):
            made.files[PARQUET] = _parquet(made)
            made.steps.append("another parquet")
    if made.files.get(PARQUET) and dice.random() < 0.1:
        how, made.files[PARQUET] = damage(made.files[PARQUET], dice)
        made.steps.append(f"{how} parquet")
    if dice.random() < 0.8:
        try:
            _follow(made)
            made.steps.append("follow")
        except STRANGE:
            made.steps.append("do not follow")
    if dice.random() < 0.93:
        _sign(made)
    else:
        text = form.canonical_json(made.fields) if dice.random() < 0.5 else json.dumps(made.fields)
        made.files[CERTIFICATE] = (text + "\n").encode("ascii")
        made.steps.append("unsigned")
    if dice.random() < 0.08:
        how, data = damage(made.files[CERTIFICATE], dice)
        with suppress(ValueError, RecursionError):
            if dice.random() < 0.5:
                data = signed(json.loads(data)).encode()
        made.files[CERTIFICATE] = data
        made.steps.append(f"{how} certificate")
    for name in (SCHEME, CUTS):
        if made.files.get(name) and dice.random() < 0.03:
            how, made.files[name] = damage(made.files[name], dice)
            made.steps.append(f"{how} {name}")
    if dice.random() < 0.05:
        made.steps.append(other_files(made))
    return made


def write(made, folder):
    """Write a mutant into a folder that is new or empty."""
    os.makedirs(folder, exist_ok=True)
    for name, data in made.files.items():
        path = os.path.join(folder, name)
        if data is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as file:
                file.write(data)
    for name, target in made.links.items():
        path = os.path.join(folder, name)
        if target is PIPE:
            os.mkfifo(path)
        else:
            os.symlink(target, path)


def clear(folder):
    """Remove what is in a folder."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
