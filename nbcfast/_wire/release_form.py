"""The certificate of a release: counts of a naive Bayes classifier, and what is claimed of them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from nbcfast._wire.advice_form import AdvisedChoice, costly_choice
from nbcfast._wire.chosen_numbers import MOST_PEOPLE, carries_more, chosen
from nbcfast._wire.form import Form
from nbcfast._wire.json_entries import WHOLE_IN_JSON, Refused, TooLong, shown, signed_list, whole
from nbcfast._wire.messages import listing, named, short
from nbcfast._wire.outcomes import outcome
from nbcfast._wire.policy_form import policy_of, policy_text
from nbcfast._wire.privacy_form import NOISE_UNSEEN, NoiseEntry, privacy_note
from nbcfast._wire.release_words import (
    GUARANTEE,
    NOISY_GUARANTEE,
    PUBLIC,
    canonical_notes,
    canonical_warnings,
    differing_text,
    listed_text,
    made_text,
    release_notes,
    release_warnings,
)
from nbcfast._wire.smoothing_form import private_text, smoothing_note, smoothing_of
from nbcfast._wire.typed_values import domain, in_words, label

if TYPE_CHECKING:
    from nbcfast._wire.json_entries import Fields
    from nbcfast._wire.outcomes import Decided
    from nbcfast._wire.typed_values import Typed

    Attribute = tuple[str, list[Typed], list[list[int]]]  # name, values, and counts[value][class]

FIELDS = {
    "amplification",
    "attacker",
    "attributes",
    "class_counts",
    "class_name",
    "classes",
    "differing_rows",
    "differing_tuples",
    "equivalence",
    "format",
    "gauge",
    "identity",
    "kind",
    "method",
    "notes",
    "preserve",
    "sha256",
    "tuples",
    "version",
    "warnings",
}
CLOSENESS_FIELDS = {"prior", "r"}
METHOD_FIELDS = {"est": CLOSENESS_FIELDS, "canonical": {"canonical"}}  # besides, where this is the method
CANONICAL_FIELDS = {"bits", "constants", "listed", "points", "reproducible", "undeclared"}
MOST_BITS = 62  # that points may be rounded to
LONGEST_SUM = 1 << 17  # of the denominators of a prior


class ReleaseDocument(Form):
    """A release.

    `classes` and the values of each attribute are typed, in the order of the counts; `attributes` are
    (name, values, counts) with counts[value][class].
    """

    names = FIELDS
    may_have: ClassVar[set[str]] = {
        "accepted",
        "advice",
        "policy",
        "privacy",
        "smoothing",
    }  # each only where there is something to say
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "attacker": ("row", "worlds"),
        "equivalence": ("identity", "enumeration", "meet in the middle", "interval", "none"),
        "kind": ("release",),
        "method": ("safetytransform", "est", "canonical"),
        "preserve": ("order", "label"),
    }
    flags = ("gauge", "identity")
    optional = ("class_name",)
    sharing = 1  # what limits of work are divided by: in a file of many releases they share these

    def expected(self, fields: Fields) -> set[str]:
        method = fields.get("method")
        of_method = METHOD_FIELDS.get(method, set()) if type(method) is str else set()
        return super().expected(fields) | of_method

    def read(self, fields: Fields) -> None:
        # With a prior it is R times a quotient of two numbers of that.
        factors = 3 if fields["method"] == "est" else 1
        self.amplification = chosen(fields["amplification"], "field 'amplification'", factors)
        if self.amplification <= 1:
            raise Refused(
                f"field 'amplification': expected more than 1, got {shown(fields['amplification'])}"
            )
        if self.limit <= 1:
            raise Refused(
                "field 'amplification': expected more than 2, as attacker 'worlds' needs half of it"
            )
        self.accepted = "accepted" in fields
        if self.accepted and fields["accepted"] is not True:
            came = shown(fields["accepted"])
            raise Refused(f"field 'accepted': expected true or no such field, got {came}")
        self.smoothing = smoothing_of(fields["smoothing"]) if "smoothing" in fields else None
        if self.smoothing is not None and fields["method"] != "canonical":
            raise Refused(f"field 'smoothing' goes with method 'canonical', got {shown(fields['method'])}")
        self.privacy, self.policy = self._privacy_and_policy()
        self.altered = self.smoothing if self.privacy is None else self.privacy
        self.tuples = whole(fields["tuples"], "field 'tuples'")
        self.differing_tuples = self._optional("differing_tuples")
        self.differing_rows = self._optional("differing_rows")
        self.classes = domain(fields["classes"], "field 'classes'", in_order=False)
        self.class_counts = self._counts(fields["class_counts"], "field 'class_counts'")
        self.r: Fraction | None = None
        self.prior: list[Fraction] | None = None
        if fields["method"] == "est":
            self.r, self.prior = self._closeness()
        self.attributes = self._attributes(fields["attributes"])
        product = 1
        for _, values, _ in self.attributes:
            product *= len(values)
        if product != self.tuples:
            raise Refused(
                f"field 'tuples': expected {short(product)}, the product of the numbers of values, "
                f"got {shown(fields['tuples'])}"
            )
        self.canonical = self._canonical(fields["canonical"]) if "canonical" in fields else None
        self.advice = self._advice(fields["advice"]) if "advice" in fields else None
        if self.privacy is not None:
            self._expect_noise_alone(self.privacy)
        if self.differing_rows is not None and self.differing_rows >= MOST_PEOPLE:
            raise Refused(
                f"field 'differing_rows': expected less than 2^61, got {short(self.differing_rows)}"
            )
        if self.differing_tuples is not None and self.differing_tuples > product:
            raise Refused(
                f"field 'differing_tuples': expected at most 'tuples', got {short(self.differing_tuples)}"
            )
        fault = contradiction(
            fields["equivalence"],
            self.differing_tuples,
            self.differing_rows,
            fields["identity"],
            fields["gauge"],
        )
        if fault:
            raise Refused(fault)
        self._words()

    def _privacy_and_policy(self) -> tuple[NoiseEntry | None, str | None]:
        """The noise, and the sha256 of the policy that it was published under, where there are any."""
        fields = self.fields
        return (
            self._privacy(fields["privacy"]) if "privacy" in fields else None,
            policy_of(fields["policy"]) if "policy" in fields else None,
        )

    def _privacy(self, entry: object) -> NoiseEntry:
        """The noise in the counts, and none of what goes with the answers of private ones."""
        for name in ("accepted", "smoothing"):
            if name in self.fields:
                raise Refused(f"field {name!r} goes with private counts, and not with field 'privacy'")
        if self.fields["differing_rows"] is not None:
            raise Refused(
                "field 'differing_rows': expected null beside field 'privacy', as no private rows are "
                f"counted without noise; got {shown(self.fields['differing_rows'])}"
            )
        return NoiseEntry(entry)

    def _expect_noise_alone(self, privacy: NoiseEntry) -> None:
        """Refuse what would tell of the rows besides: their values, or a domain that was chosen on them."""
        if privacy.attributes != len(self.attributes):
            raise Refused(
                f"field 'privacy': expected attributes {len(self.attributes)}, as there are, got "
                f"{short(privacy.attributes)}"
            )
        undeclared = [] if self.canonical is None else self.canonical["undeclared"]
        if undeclared:
            raise Refused(
                f"field 'privacy': expected declared values of {listing(undeclared)}, as which occur is "
                "hidden by no noise"
            )
        if self.advice is not None and costly_choice(self.advice.rows, self.advice.epsilon):
            raise Refused(
                "field 'privacy': expected a domain that was chosen on other rows or by votes, as the choice "
                "on these rows is hidden by no noise"
            )

    def _attributes(self, entries: object) -> list[Attribute]:
        """The attributes, each with a name of its own, its values, and the counts of each."""
        if type(entries) is not list:
            raise Refused(f"field 'attributes': expected a list, got {shown(entries)}")
        attributes: list[Attribute] = []
        names: set[str] = set()
        for entry in entries:
            if type(entry) is not dict or set(entry) != {"name", "values", "counts"}:
                raise Refused(f"field 'attributes': expected name, values and counts, got {shown(entry)}")
            name = entry["name"]
            if type(name) is not str or name in names or name == self.fields["class_name"]:
                raise Refused(f"field 'attributes': expected distinct names, got {shown(name)}")
            names.add(name)
            where = f"attribute {name!r}"
            values = domain(entry["values"], f"{where}, values")
            rows = entry["counts"]
            if type(rows) is not list or len(rows) != len(values):
                raise Refused(f"{where}: expected counts of {len(values)} values, got {shown(rows)}")
            counts = [self._counts(row, where, one) for row, one in zip(rows, values)]  # noqa: B905
            attributes.append((name, values, counts))
        return attributes

    def claims(self, decided: Decided) -> list[str]:
        fields, made, found = self.fields, self.canonical, []
        limits = decided.get("amplification"), decided.get("closeness", True)
        powers = [text for text in (GUARANTEE, NOISY_GUARANTEE) if text in fields["notes"]]
        if None in limits and outcome(decided.values()) is None:
            found += powers
        if made is not None and (decided.get("canonical") is None or self.privacy is not None):
            found.append(fields["notes"][0])  # which says of noise what no check can
        if made is not None and made["listed"] is not None:
            found.append(PUBLIC)
        if self.smoothing is not None and not decided.get("equivalence"):
            found.append(smoothing_note(self.smoothing))
        if self.privacy is not None:
            found += [privacy_note(self.privacy), NOISE_UNSEEN]
        if decided.get("equivalence") is None:
            found += self._of_the_private_views()
        counted = decided.get("differing") is not None
        if self.differing_rows is not None and self.differing_tuples != 0 and not counted:
            rows = short(self.differing_rows)
            views = private_text(self.altered)
            found.append(f"{rows} rows of the private table are decided otherwise than by {views}.")
        # What was made again is no marginal but what its method makes of answers, or of the counts.
        again = decided.get("again") if made is None else decided.get("canonical")
        if not fields["identity"] and not again:
            found.append(made_text(False, fields["gauge"], self.privacy))
        if self.advice is not None:
            found += self._of_the_choice(self.advice, decided)
        if self.policy is not None:
            found.append(policy_text(self.policy))
        if made is not None:
            found.append(self._chosen())
            names, others = [*(name for name, _, _ in self.attributes), None], set(made["undeclared"])
            declared = [name for name in names if name not in others]
            if declared:
                found.append(
                    f"The values of {listing(declared)} were declared, and do not come from the rows."
                )
        return found

    def _of_the_choice(self, advice: AdvisedChoice, decided: Decided) -> list[str]:
        """What is said of how the domain was chosen; of the menu only where it was not given."""
        notes = advice.notes_beside(self.privacy)
        # With the menu its number of choices was counted, and the first sentence says what follows of it.
        counted = advice.rows == "private" and decided.get("menu")
        found = list(notes[1:] if counted else notes)
        if decided.get("menu") is None:
            found.append(advice.place)
        return [*found, advice.account(("max_bits",) if decided.get("advice") else ())]

    def _chosen(self) -> str:
        """What of a canonical release is no answer of the classifier: all that its publisher was free to say.

        The order of values is one of these, as a declared domain has whatever order it was given.
        """
        limit, name = self.amplification, self.fields["class_name"]
        lists = [f"{named(one)}: {in_words(values)}" for one, values, _ in self.attributes]
        lists.append(
            f"{'the class' if name is None else f'the class {named(name)}'}: {in_words(self.classes)}"
        )
        return (
            f"The limit {limit}, and these names and values in this order, were chosen by the publisher, and "
            f"are no answers of the classifier: {'; '.join(lists)}."
        )

    def uncounted(self, decided: Decided) -> list[str]:
        if decided.get("equivalence"):
            return []
        listed = None if self.canonical is None else self.canonical["listed"]
        preserve, found = self.fields["preserve"], []
        if listed is not None:
            found.append(listed_text(listed["tuples"], listed["differing"], preserve, self.altered))
        if self.differing_tuples:
            found.append(differing_text(self.differing_tuples, preserve, self.altered))
        return found

    def _of_the_private_views(self) -> list[str]:
        """What is said of the classifier that the release was made from."""
        fields = self.fields
        if fields["identity"]:
            return [made_text(True, fields["gauge"], self.privacy)]
        what = "The order of all classes" if fields["preserve"] == "order" else "The best class"
        views = private_text(self.altered)
        listed = None if self.canonical is None else self.canonical["listed"]
        if listed is not None:
            if not listed["differing"]:
                return [f"{what} is that of {views} on all {short(listed['tuples'])} listed tuples."]
            other, of = listed["differing"], f"{short(listed['tuples'])} listed tuples"
        elif self.differing_tuples is None:
            return []
        elif not self.differing_tuples:
            how = fields["equivalence"]
            return [f"{what} is that of {views} on all {short(self.tuples)} tuples (by {how})."]
        else:
            other, of = self.differing_tuples, f"{short(self.tuples)} tuples"
        return [f"{what} is another than in {views} on {short(other)} of {of}, and on no more."]

    def _words(self) -> None:
        """Whether the words are those that go with the fields: these and no others, in this order."""
        fields, made = self.fields, self.canonical
        listed = None if made is None else made["listed"]
        if max(self.differing_tuples or 0, listed["tuples"] if listed else 0).bit_length() > 62:
            raise Refused("fields 'differing_tuples', 'canonical': expected fewer than 2^62 tuples")
        if made is None:
            notes = release_notes(fields["identity"], fields["gauge"], self.privacy)
            warnings = release_warnings(
                fields["identity"], self.differing_tuples, fields["preserve"], self.accepted, self.altered
            )
        else:
            equal = None if self.differing_tuples is None else self.differing_tuples == 0
            notes = canonical_notes(listed is not None, equal, made["bits"], self.altered, made["undeclared"])
            warnings = canonical_warnings(
                made["undeclared"],
                None if listed is None else (listed["tuples"], listed["differing"]),
                self.differing_tuples,
                fields["preserve"],
                made["reproducible"],
                self.accepted,
                self.altered,
            )
        if self.advice is not None:
            advice = self.advice
            notes += advice.notes_beside(self.privacy)
        self.expect_words(notes, warnings)

    def _closeness(self) -> tuple[Fraction, list[Fraction]]:
        """R, of which attacker "worlds" needs half, and the prior of each class."""
        r = chosen(self.fields["r"], "field 'r'")
        least = 2 if self.fields["attacker"] == "worlds" else 1
        if r <= least:
            raise Refused(f"field 'r': expected more than {least}, got {shown(self.fields['r'])}")
        entry = self.fields["prior"]
        if type(entry) is not list or len(entry) != len(self.classes):
            raise Refused(f"field 'prior': expected {len(self.classes)} rationals, got {shown(entry)}")
        prior = [chosen(number, "field 'prior'") for number in entry]
        if sum(number.denominator.bit_length() for number in prior) > LONGEST_SUM:
            raise TooLong(f"field 'prior': not checked here: denominators of more than {LONGEST_SUM:,} bits")
        if min(prior) == 0 or sum(prior) != 1:
            raise Refused(f"field 'prior': expected numbers above 0 that add up to 1, got {shown(entry)}")
        if self.amplification != r * max(prior) / min(prior):
            raise Refused(
                "field 'amplification': expected r times the largest over the smallest prior, "
                f"got {shown(self.fields['amplification'])}"
            )
        return r / least, prior

    def _canonical(self, entry: object) -> Fields:
        """What a canonical release says besides: its points, and how they came about."""
        where = "field 'canonical'"
        if type(entry) is not dict or set(entry) != CANONICAL_FIELDS:
            raise Refused(f"{where}: expected {', '.join(sorted(CANONICAL_FIELDS))}; got {shown(entry)}")
        if not self.attributes:
            raise Refused(f"{where}: expected at least one attribute, as no points are made of none")
        for name, values, _ in self.attributes:
            ends = [end for kind, ends in values if kind == "interval" for end in ends if end is not None]
            if any(carries_more(end, 16) for end in ends):  # which are printed in full
                raise Refused(f"attribute {name!r}: beyond what an end of an interval may carry")
        width = len(self.classes) - 1
        constants = signed_list(entry["constants"], width, f"{where}, constants")
        points = self._points(entry["points"], width)
        if type(entry["reproducible"]) is not bool:
            raise Refused(f"{where}: expected true or false, got {shown(entry['reproducible'])}")
        undeclared = self._undeclared(entry["undeclared"])
        bits = None if entry["bits"] is None else whole(entry["bits"], f"{where}, bits")
        largest = max((number for one in points for row in one for number in row), default=0)
        least = max(largest.bit_length(), 1)
        if bits is not None and not least <= bits <= MOST_BITS:
            raise Refused(
                f"{where}: expected bits from {least}, which these points have, to {MOST_BITS}, "
                f"got {short(bits)}"
            )
        if not self.fields["gauge"]:
            raise Refused(f"{where}: expected gauge true, as every value is equally frequent; got false")
        if self.differing_rows is not None:
            raise Refused(
                "field 'differing_rows': expected null, as a canonical release is made of answers and not of "
                f"rows; got {short(self.differing_rows)}"
            )
        return {
            "bits": bits,
            "constants": constants,
            "listed": None if entry["listed"] is None else self._listed(entry["listed"]),
            "points": points,
            "reproducible": entry["reproducible"],
            "undeclared": undeclared,
        }

    def _advice(self, entry: object) -> AdvisedChoice:
        """What a release on an advised domain says of the choice."""
        advice = AdvisedChoice(entry)
        if len(self.attributes) > len(advice.chosen):
            raise Refused(
                f"field 'advice': expected an option for each of {len(self.attributes)} attributes, got "
                f"{len(advice.chosen)}"
            )
        names = {name for name, _, _ in self.attributes}
        if self.fields["class_name"] in advice.strata or advice.by_column in names:
            raise Refused(
                f"field 'advice': expected strata of neither the class nor an attribute, got "
                f"{shown(self.fields['class_name'] if advice.by_column not in names else advice.by_column)}"
            )
        columns = names.union(advice.strata)
        if len(columns) > len(advice.chosen):
            raise Refused(
                f"field 'advice': expected an option for each of {len(columns)} attributes and strata, got "
                f"{len(advice.chosen)}"
            )
        strange = [] if self.canonical is None else [n for n in self.canonical["undeclared"] if n is not None]
        if strange:
            raise Refused(
                f"field 'advice': expected declared values of {strange[0]!r}, as they are those of a menu"
            )
        return advice

    def _points(self, rows: object, width: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """What each value of each attribute adds to the total of each class but the last."""
        where = "field 'canonical'"
        sizes = [len(values) for _, values, _ in self.attributes] if width else []
        if type(rows) is not list or [len(one) if type(one) is list else -1 for one in rows] != sizes:
            raise Refused(f"{where}: expected points of {sizes} values, got {shown(rows)}")
        points = tuple(tuple(signed_list(row, width, f"{where}, points") for row in one) for one in rows)
        least = min((number for one in points for row in one for number in row), default=0)
        if least < 0:
            raise Refused(f"{where}: expected points of at least 0, got {short(least)}")
        return points

    def _undeclared(self, entry: object) -> tuple[str | None, ...]:
        """The attributes whose values were taken from the rows, and None for the class."""
        names = [*(name for name, _, _ in self.attributes), None]
        if type(entry) is list and all(name is None or type(name) is str for name in entry):
            stated = set(entry)
            if [name for name in names if name in stated] == entry:
                return tuple(entry)
        raise Refused(
            "field 'canonical': expected names of attributes, and null for the class last, got "
            f"{shown(entry)}"
        )

    def _listed(self, entry: object) -> Fields:
        """The public list that answers are kept on, and on how many of its tuples they are not."""
        where = "field 'canonical'"
        if type(entry) is not dict or set(entry) != {"differing", "sha256", "tuples"}:
            raise Refused(f"{where}: expected listed as differing, sha256 and tuples, got {shown(entry)}")
        if type(entry["sha256"]) is not str or not re.fullmatch(r"[0-9a-f]{64}", entry["sha256"]):
            raise Refused(f"{where}: expected 64 hexadecimal digits, got {shown(entry['sha256'], 80)}")
        n_listed = whole(entry["tuples"], f"{where}, listed tuples")
        differing = whole(entry["differing"], f"{where}, listed differing")
        if not 1 <= n_listed <= self.tuples:
            raise Refused(f"{where}: expected listed tuples from 1 to 'tuples', got {short(n_listed)}")
        if differing > n_listed:
            raise Refused(
                f"{where}: expected at most {short(n_listed)} differing of those listed, "
                f"got {short(differing)}"
            )
        if self.fields["equivalence"] != "none":
            raise Refused(f"{where}: listed goes with equivalence 'none', as no other tuple is known")
        return {"tuples": n_listed, "sha256": entry["sha256"], "differing": differing}

    def _optional(self, name: str) -> int | None:
        entry = self.fields[name]
        return None if entry is None else whole(entry, f"field {name!r}")

    def _counts(self, entry: object, where: str, one: Typed | None = None) -> list[int]:
        numbers = entry if type(entry) is list and len(entry) == len(self.classes) else None
        if numbers is not None and all(
            type(number) is int and 0 <= number <= WHOLE_IN_JSON for number in numbers
        ):
            return list(numbers)
        if one is not None:  # only here, as the text of a value takes longer than its counts
            where = f"{where}, value {label(one)}"
        if numbers is None:
            raise Refused(f"{where}: expected {len(self.classes)} counts, one a class, got {shown(entry)}")
        return [whole(number, where) for number in numbers]

    @property
    def limit(self) -> Fraction:
        """What Lambda must not exceed: half the amplification for attacker "worlds"."""
        return self.amplification / 2 if self.fields["attacker"] == "worlds" else self.amplification

    def odds(self, pair: tuple[int, int]) -> Fraction:
        """What X_c / X_d must not exceed for r: r F_c / F_d, with half of r for attacker "worlds"."""
        assert self.r is not None
        assert self.prior is not None
        return self.r * self.prior[pair[0]] / self.prior[pair[1]]


def contradiction(
    equivalence: str, differing_tuples: int | None, differing_rows: int | None, identity: bool, gauge: bool
) -> str | None:
    """What two fields say against each other, or None."""
    if identity != (equivalence == "identity"):
        return f"field 'identity' is {identity}, but equivalence is {equivalence!r}"
    if identity and (gauge or differing_tuples != 0):
        return "field 'identity' goes with no gauge and 0 differing tuples"
    if (equivalence == "none") != (differing_tuples is None):
        known = "not known" if differing_tuples is None else short(differing_tuples)
        return f"field 'equivalence' is {equivalence!r}, but the number of differing tuples is {known}"
    if differing_tuples == 0 and differing_rows:
        return f"field 'differing_rows': expected 0, as no tuple differs, got {short(differing_rows)}"
    return None
