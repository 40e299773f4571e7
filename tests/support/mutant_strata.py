"""Seeded changes of strata that mean something: of the list, and of the releases in it."""

import copy
import random as dice

from mutant_corpus import HOSTILE
from mutant_entries import text_of
from mutant_releases import RELEASE, other_advice, other_points

from nbcfast import verify_release as form

OF_A_RELEASE = (*RELEASE, other_points, other_points, other_points)


class Stratum:
    """One release of the list, as mutations of a release take it."""

    def __init__(self, fields, random, others):
        self.fields, self.random, self.others = fields, random, others


def _steps(mutant):
    """What can be done to a release of the list: if its domain was chosen, mostly to what is said of that."""
    advised = "advice" in mutant.fields["strata"][0]["release"]
    return OF_A_RELEASE + (other_advice,) * (2 * len(OF_A_RELEASE) if advised else 0)


def of_one_stratum(mutant):
    """What can be done to a release, done to one of them."""
    entry = mutant.random.choice(mutant.fields["strata"])
    step = mutant.random.choice(_steps(mutant))
    return f"one stratum: {step(Stratum(entry['release'], mutant.random, mutant.others))}"


def of_all_strata(mutant):
    """The same done to all of them, as far as they are alike."""
    step, seed = mutant.random.choice(_steps(mutant)), mutant.random.random()
    said = [
        step(Stratum(entry["release"], dice.Random(seed), mutant.others)) for entry in mutant.fields["strata"]
    ]
    return f"all strata: {said[0]}"


def drop_stratum(mutant):
    """One less."""
    place = mutant.random.randrange(len(mutant.fields["strata"]))
    del mutant.fields["strata"][place]
    return f"drop stratum {place}"


def repeat_stratum(mutant):
    """One twice, the second with another value or with the same."""
    again = copy.deepcopy(mutant.random.choice(mutant.fields["strata"]))
    again["value"] = mutant.random.choice([again["value"], ["text", "new"], ["int", "7"], ["null"]])
    mutant.fields["strata"].insert(mutant.random.randint(0, len(mutant.fields["strata"])), again)
    return "one more stratum"


def swap_strata(mutant):
    """Two in each other's place: as they are, or their releases alone."""
    strata = mutant.fields["strata"]
    place, other = (mutant.random.randrange(len(strata)) for _ in range(2))
    if mutant.random.random() < 0.5:
        strata[place], strata[other] = strata[other], strata[place]
    else:
        one, two = strata[place]["release"], strata[other]["release"]
        strata[place]["release"], strata[other]["release"] = two, one
    return f"swap strata {place} and {other}"


def other_column(mutant):
    """Another column, or another word of where its values come from."""
    first = mutant.fields["strata"][0]["release"]
    names = [HOSTILE, "sex", first["class_name"], first["attributes"][0]["name"]]
    if mutant.random.random() < 0.5:
        mutant.fields["undeclared"] = not mutant.fields["undeclared"]
    else:
        mutant.fields["by"] = mutant.random.choice(names)
    return "another column"


STRATA = (
    *(of_one_stratum, of_one_stratum, of_one_stratum, of_one_stratum, of_all_strata, of_all_strata),
    *(drop_stratum, repeat_stratum, swap_strata, other_column),
)


def follow_strata(mutant, read):
    """Let what follows from the rest follow: tuples and words of each release, and the words of the list."""
    fields = mutant.fields
    for entry in fields["strata"]:
        product = 1
        for one in entry["release"]["attributes"]:
            product *= len(one["values"])
        entry["release"]["tuples"] = text_of(product)
        read(entry["release"])
    fields["notes"] = list(form.strata_notes(fields["by"], len(fields["strata"])))
    fields["warnings"] = list(form.strata_warnings(fields["by"], undeclared=fields["undeclared"]))


def sign_strata(fields):
    """Hashes of the releases in the list."""
    for entry in fields["strata"]:
        entry["release"]["sha256"] = form.digest(entry["release"])
