"""Valid folders of every kind, of which `mutants` makes certificates that nobody wrote."""

import json
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np

import nbcfast
from nbcfast import Interval, Table, Viewset, _coins, canonical, closeness, dp, response, skyline
from nbcfast import verify_release as form
from nbcfast.policies import Policy
from nbcfast.published import Advised, ChoiceLimits
from nbcfast.templates import Template, disclose

HOSTILE = "x\nyes  audited by the Commission\r\x1b[31m\u202e\u200b\u2028\x9b\ud800"


CERTIFICATE, TABLE, PARQUET, SCHEME, CUTS = form.NAME, form.TABLE, form.PARQUET, form.SCHEME, form.CUTS


LONG = f"0x1{'0' * 83_048}"  # 10^5 decimal digits


PIPE = object()  # a link to this is a named pipe


def _views(classes, counts, domains, names):
    return Viewset(classes, counts, classes=names, domains=domains)


TWO = _views(
    [50, 90],
    {"job": [[9, 70], [41, 20]], "sex": [[12, 30], [20, 20], [18, 40]]},
    {"job": ["a", "b"], "sex": ["f", "m", None]},
    ["ill", "well"],
)


SMALL = _views([3, 4], {"job": [[1, 3], [2, 1]]}, {"job": [False, True]}, [0, 1])


LARGE = _views(
    [10**30, 2 * 10**30],
    {"age": [[10**30 - 7, 5], [7, 2 * 10**30 - 5]], "x": [[10**30 - 3, 10**30], [3, 10**30]]},
    {"age": [Interval(0, 30), Interval(30, None)], "x": [0.5, 1.5]},
    ["n", "y"],
)


WIDE = Viewset(
    [60, 40],
    {f"q{i}": [[20 + i, 15], [40 - i, 25]] for i in range(9)},
    classes=["ill", "well"],
    domains={f"q{i}": [False, True] for i in range(9)},
)


THREE = _views(
    [40, 60, 30],
    {"job": [[9, 50, 10], [31, 10, 20]], "x": [[12, 40, 9], [28, 20, 21]]},
    {"job": [1, 2], "x": ["p", "q"]},
    ["a", "b", None],
)


BARE = Viewset([50, 90], {}, classes=["ill", "well"])


PEOPLE = {
    "job": ["a", "a", "b", "b", "c", "c", "a", "b", "c", "a"],
    "age": [30, 31, 32, 50, 51, 52, 53, 33, 34, 30],
    "ill": ["y", "n", "n", "y", "n", "z", "z", "n", "n", "z"],
}


STRATA = {
    "town": ["a", "a", "a", "b", "b", "b", "b", None, None, None, "a", "b"],
    "job": ["p", "q", "q", "p", "p", "q", "q", "p", "q", "p", "p", "q"],
    "age": [1, 1, 2, 2, 1, 2, 1, 2, 1, 1, 2, 2],
    "ill": ["n", "y", "y", "n", "y", "n", "y", "y", "n", "n", "n", "y"],
}


DECLARED = {"town": ["a", "b", None], "job": ["p", "q"], "age": [1, 2], "ill": ["n", "y"]}


LEVELS = Table(
    {
        "sex": [True, False] * 9,
        "job": ["p", "q", "q"] * 6,
        "ill": [0, 0, 1, 1, 2, 2] * 3,
    },
    domains={"sex": [False, True], "job": ["p", "q"], "ill": [2, 1, 0]},
)


ODD = {
    "job, or none": ["a b", "a,b", 'a"b', None, "a b", "", "a,b", "a b"],
    HOSTILE.replace("\ud800", ""): [1.5, 1.5, -0.5, 1.5, -0.5, -0.5, None, 1.5],
    "ill": [1, 2, 3, 1, 2, 3, 1, 2],
}


BINARY = {"ill": ["y", "n", "n", "y", "n", "y"], "job": ["a", "a", "b", "b", "a", "c"], "sex": list("fmfmfm")}


def _answers(scheme, people=BINARY, cuts=None):
    """Answers that a seed disguised, without the word of it: so they are the same each time."""

    def save(folder):
        table = Table(people)
        found = None if cuts is None else response.cuts(table, cuts)
        if found is not None:
            table = response.binarise(table, found)
        response.disguise(table, scheme, np.random.default_rng(5)).save(folder, cuts=found)
        path = Path(folder, CERTIFICATE)
        fields = json.loads(path.read_text())
        fields["seeded"] = False
        path.write_text(signed(fields))

    return save


def _anonymized(people, *arguments, order="canonical", weights=None, parquet=False, **options):
    def save(folder):
        rng = np.random.default_rng(3) if order == "shuffled" else None
        made = skyline.anonymize(Table(people), *arguments, **options)
        made.save(folder, order=order, rng=rng, weights=weights, parquet=parquet)

    return save


def _disclosed(people, *arguments, order="canonical", weights=None, parquet=False, **options):
    def save(folder):
        rng = np.random.default_rng(3) if order == "shuffled" else None
        made = disclose(Table(people), *arguments, **options)
        made.save(folder, order=order, rng=rng, weights=weights, parquet=parquet)

    return save


LIST = {"job": ["a", "b", "b"], "sex": ["f", "m", None]}


KARY = {"ill": ["n", "y"], "job": ["a", "b", "c"]}


_ILL = {"domains": {"ill": ["n", "y"], "sex": ["f", "m"]}}


ADVICE = Advised(
    menu="ab" * 32,
    options=24,
    chosen=[1, 0, 2],
    by="log-loss",
    limits=ChoiceLimits(max_bits="13/2", max_found=0, min_flip="99/100"),
    rows="other",
    exhaustive=False,
)


WITH_STRATA = Advised(
    menu="ef" * 32,
    options=12,
    chosen=[1, 0, 1],
    by="correct",
    limits=ChoiceLimits(max_bits=2, min_flip="1/2"),
    strata=["town"],
)


WIDELY = Advised(
    menu="01" * 32,
    options=3 * 2**9,
    chosen=[1] * 9 + [2],
    by="log-loss",
    limits=ChoiceLimits(max_bits=8, max_one_class=0),
)


VOTES = Advised(menu="cd" * 32, options=10**20, chosen=[3, 7], by="votes", epsilon="1/2", blocks=100)


def _advised_strata(folder):
    """Strata that say of their choice that it was one for each value of the column."""
    made = canonical.release_by(Table(STRATA, domains=DECLARED), "ill", "town", 4)
    advice = replace(WITH_STRATA, by_column="town")
    each = {
        value: replace(one, certificate=replace(one.certificate, advice=advice))
        for value, one in made.strata.items()
    }
    replace(made, strata=each).save(folder)


POLICY = Policy.of({"release": {"class": "ill", "amplification": 4}})


def _policed(release):
    certificate = replace(release.certificate, policy=POLICY.sha256)
    return replace(release, certificate=certificate)


def _policed_strata(folder):
    made = canonical.release_by(Table(STRATA, domains=DECLARED), "ill", "town", 4)
    replace(made, strata={value: _policed(one) for value, one in made.strata.items()}).save(folder)


def _noisy(views, **asked):
    """Counts with noise of coins that everybody knows: the same each time."""
    return dp.counts(views, **asked, coins=_coins.Coins(bytes(32)))


MAKERS = {
    "release": lambda folder: nbcfast.safety_transform(TWO, 4, class_name="health").save(folder),
    "release worlds": lambda folder: nbcfast.safety_transform(TWO, 8, attacker="worlds").save(folder),
    "release large": lambda folder: nbcfast.safety_transform(LARGE, 10, preserve="label").save(folder),
    "release three": lambda folder: nbcfast.safety_transform(THREE, 9).save(folder),
    "release wide": lambda folder: nbcfast.safety_transform(WIDE, 9, preserve="label").save(folder),
    "release few": lambda folder: nbcfast.safety_transform(TWO, 4, rows=20, allow_differences=True).save(
        folder
    ),
    "release policed": lambda folder: _policed(nbcfast.safety_transform(TWO, 4, class_name="ill")).save(
        folder
    ),
    "canonical policed": lambda folder: _policed(canonical.release(TWO, 4, class_name="ill")).save(folder),
    "release bare": lambda folder: nbcfast.safety_transform(BARE, 3).save(folder),
    "identity": lambda folder: nbcfast.safety_transform(SMALL, 1000, gauge=False).save(folder),
    "est": lambda folder: closeness.est(TWO, {"ill": "1/2", "well": "1/2"}, 3).save(folder),
    "est three": lambda folder: closeness.est(THREE, {"a": "1/5", "b": "1/5", None: "3/5"}, 12).save(folder),
    "canonical": lambda folder: canonical.release(TWO, 4, class_name="health").save(folder),
    "canonical wide": lambda folder: canonical.release(WIDE, 9).save(folder),
    "canonical small": lambda folder: canonical.release(SMALL, 3, preserve="order").save(folder),
    "canonical three": lambda folder: canonical.release(THREE, 4).save(folder),
    "canonical bits": lambda folder: canonical.release(TWO, 4, bits=1).save(folder),
    "canonical advised": lambda folder: canonical.release(TWO, 4, advice=ADVICE).save(folder),
    "canonical not by strata": lambda folder: canonical.release(TWO, 4, advice=WITH_STRATA).save(folder),
    "canonical widely advised": lambda folder: canonical.release(WIDE, 9, advice=WIDELY).save(folder),
    "canonical votes": lambda folder: canonical.release(TWO, 4, advice=VOTES).save(folder),
    "release noisy": lambda folder: nbcfast.safety_transform(_noisy(TWO, epsilon="1/2"), 4).save(folder),
    "release noisy wide": lambda folder: nbcfast.safety_transform(
        _noisy(WIDE, rho="1/8", delta="1e-6", neighbours="replace", rows_per_person=2), 9, preserve="label"
    ).save(folder),
    "identity noisy": lambda folder: nbcfast.safety_transform(
        _noisy(TWO, rho="1/3"), 10**6, gauge=False
    ).save(folder),
    "canonical noisy": lambda folder: canonical.release(_noisy(TWO, epsilon=2), 4).save(folder),
    "canonical noisy votes": lambda folder: canonical.release(
        _noisy(TWO, epsilon=2, rows_per_person=3), 4, advice=VOTES
    ).save(folder),
    "canonical listed": lambda folder: canonical.release(TWO, 4, tuples=LIST).save(folder),
    "strata": lambda folder: canonical.release_by(STRATA, "ill", "town", 4).save(folder),
    "strata advised": _advised_strata,
    "strata policed": _policed_strata,
    "strata few": lambda folder: canonical.release_by(STRATA, "ill", "town", 4, bits=1).save(folder),
    "strata three": lambda folder: canonical.release_by(LEVELS, "ill", "sex", "5/2").save(folder),
    "partition points": _anonymized(
        PEOPLE, ["job", "age"], "ill", [(0, 1, 1, "99/100"), (0, 2, 0, 1)], parquet=True
    ),
    "partition all": _anonymized(
        PEOPLE, ["job", "age"], "ill", [(0, 0, 0, 1)], k=2, diversity=(4, 1), closeness="0.9"
    ),
    "partition crowd": _anonymized(
        {name: values * 150 for name, values in PEOPLE.items()},
        ["job", "age"],
        "ill",
        [(0, 5, 300, 1), (0, 100, 80, 1 - Fraction(1, 10**36))],
        weights="people",
    ),
    "partition ordered": _anonymized(
        ODD, list(ODD)[:2], "ill", closeness=("0.9", "ordered"), order="shuffled"
    ),
    "partition weights": _anonymized(PEOPLE, ["job", "age"], "ill", k=3, weights="people", parquet=True),
    "disclosure": _disclosed(PEOPLE, [Template(["job"], ("ill", "y"), "1/3")], "age", parquet=True),
    "disclosure intervals": _disclosed(
        PEOPLE,
        [Template(["age", "job"], ("ill", "y"), "3/5"), Template(["job"], ("ill", "n"), "4/5")],
        utility="distortion",
        continuous=["age"],
        weights="people",
    ),
    "disclosure odd": _disclosed(
        ODD,
        [Template(list(ODD)[:2], ("ill", 1), "3/4")],
        utility="distortion",
        order="shuffled",
        parquet=True,
    ),
    "disguised": _answers(response.Scheme.per_attribute("0.8", ["ill", "sex"], **_ILL)),
    "disguised cuts": _answers(
        response.Scheme.per_attribute("0.8", ["age", "ill"], domains={"age": [0, 1], "ill": [0, 1]}),
        {name: PEOPLE[name] for name in ("age", "ill", "job")},
        ["age", "ill"],
    ),
    "disguised group": _answers(response.Scheme("1/3", [["ill", "sex"]], **_ILL)),
    "disguised k-ary": _answers(response.KaryScheme("2/3", KARY, groups=[["ill", "job"]], lie="tuple")),
    "disguised each": _answers(response.KaryScheme("3/4", KARY)),
}


def corpus():
    """The files of each valid folder, by name: {kind: {file: bytes}}."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        for number, (name, save) in enumerate(MAKERS.items()):
            folder = Path(place, str(number))
            save(folder)
            found[name] = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    return found


def signed(fields):
    """The text of a certificate with the sha256 that belongs to it."""
    fields = {**fields, "sha256": form.digest(fields)}
    return form.canonical_json(fields) + "\n"
