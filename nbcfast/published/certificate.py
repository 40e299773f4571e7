"""`Certificate`: what is claimed about published counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nbcfast import __version__
from nbcfast._core.choices import Attacker, Preserve
from nbcfast._core.numbers import amount_text, as_limit, exact, fields_text
from nbcfast._core.untyped import Document
from nbcfast._wire.advice_form import costly_choice
from nbcfast._wire.chosen_numbers import MOST_PEOPLE
from nbcfast._wire.release_form import MOST_BITS, contradiction
from nbcfast._wire.release_words import canonical_notes, canonical_warnings, release_notes, release_warnings
from nbcfast._wire.smoothing_form import private_text
from nbcfast.published.advised import Advised
from nbcfast.published.noised import privacy_json, privacy_of
from nbcfast.published.typed import limit_text
from nbcfast.views import Viewset
from nbcfast.views.noise import Noise
from nbcfast.views.smoothing import constant

if TYPE_CHECKING:
    from nbcfast._wire.privacy_form import NoiseEntry

METHODS = ("safetytransform", "est", "canonical")
ATTACKERS = ("row", "worlds")
PRESERVED = ("order", "label")
SHA256 = re.compile(r"[0-9a-f]{64}")
PROOFS = ("identity", "enumeration", "meet in the middle", "interval", "none")


def same_text(
    preserve: str,
    tuples: int,
    differing: int | None,
    proof: str,
    rows: int | None = None,
    listed: int | None = None,
    altered: Fraction | NoiseEntry | None = None,
) -> str:
    """Whether a classifier is the private one, or this smoothed or with noise, and how that was established.

    Of all `tuples`, or of the `listed` ones where only these were compared, so many are decided otherwise, or
    some where that is None; so are so many `rows` of the table.
    """
    what = "the order of all classes" if preserve == "order" else "the best class"
    of = f"{amount_text(tuples)} tuples"
    to = "" if altered is None else f" {private_text(altered, 'to the private classifier')}"
    if listed is not None:
        if differing:
            return f"not identical{to}: {what} differs on {differing:,} of {listed:,} listed tuples"
        as_before = (
            "as before" if altered is None else f"as of {private_text(altered, 'the private classifier')}"
        )
        return f"{what} {as_before} on {listed:,} listed tuples of {of}"
    if proof == "identity":
        whose = "the original" if altered is None else "the noisy"
        return f"identical: these are {whose} counts, {of}"
    if differing == 0:
        return f"identical{to}: {what} on all {of} (proven by {proof})"
    number = "some" if differing is None else amount_text(differing)
    also = "" if rows is None else f", and on {amount_text(rows)} rows of the input"
    return f"not identical{to}: {what} differs on {number} of {of}{also}"


class PublicList(NamedTuple):
    """A public list of tuples, on which a canonical release keeps answers.

    Attributes
    ----------
    tuples : int
        How many there are.
    sha256 : str
        Of the list, which is not in the file.
    differing : int
        Of how many of them the order (or label) is another than in the private views.
    """

    tuples: int
    sha256: str
    differing: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Canonical:
    """What the certificate of a canonical release says besides.

    Parameters
    ----------
    points : tuple
        points[i][t] holds what value t of attribute i adds to the total of each class but the last, integers.
    constants : tuple of int
        What these totals begin with. The total of the last class is 0; the largest total wins, of equal ones
        the later class. For one class points and constants are empty.
    reproducible : bool
        Whether every machine comes to the same points.
    undeclared : tuple of str
        The attributes whose values were taken from the rows, and None for the class, last.
    bits : int or None
        The number of bits that points were rounded to, if that was asked for.
    listed : PublicList or None
        Where answers are kept on a list only: which one, and on how many of its tuples they are not kept.
    """

    points: tuple[tuple[tuple[int, ...], ...], ...]
    constants: tuple[int, ...]
    reproducible: bool
    undeclared: tuple[str | None, ...] = ()
    bits: int | None = None
    listed: PublicList | None = None

    def __repr__(self) -> str:
        return fields_text(self)

    def to_dict(self) -> Document:
        """The fields as they are."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**found, "listed": None if self.listed is None else self.listed._asdict()}

    def fits(self, views: Viewset) -> str | None:
        """What does not fit these views, or None."""
        width = len(views.classes) - 1
        if len(self.constants) != width:
            return f"constants must be {width} numbers, got {len(self.constants)}"
        if not width:
            return None if not self.points else "points must be empty for one class"
        sizes = [len(array) for array in views.counts.values()]
        if [len(rows) for rows in self.points] != sizes:
            return f"points must be those of {sizes} values, got {[len(rows) for rows in self.points]}"
        if any(len(row) != width for rows in self.points for row in rows):
            return f"points must be {width} numbers a value"
        if any(number < 0 for rows in self.points for row in rows for number in row):
            return "points must be at least 0"
        most = max((number for rows in self.points for row in rows for number in row), default=0)
        if self.bits is not None and not most.bit_length() <= self.bits <= MOST_BITS:
            return f"bits must be {most.bit_length()} to {MOST_BITS} for these points, got {self.bits}"
        strange = [name for name in self.undeclared if name not in (*views.attributes, None)]
        return f"undeclared must be attributes, got {strange[0]!r}" if strange else None


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate:
    """What is claimed about a published viewset.

    Parameters
    ----------
    method : {"safetytransform", "est", "canonical"}
        How the counts were made.
    amplification : int, Fraction, str or float
        The limit that was demanded; kept as a Fraction.
    attacker : {"row", "worlds"}
        Against whom; see `limit`.
    preserve : {"order", "label"}
        What is as in the private views: the whole order of the classes, or the best class.
    equivalence : {"identity", "enumeration", "meet in the middle", "interval", "none"}
        How that was established.
    tuples : int
        The size of the product domain.
    differing_tuples, differing_rows : int or None
        Of how many tuples, and of how many rows of the table that was given, the order (or label) is
        another. None where it is not known.
    gauge : bool
        Whether the canonical gauge was applied.
    identity : bool
        Whether the counts are the private ones.
    warnings : tuple of str
        By default those that go with the other fields; a release with others is not saved.
    version : str
        Of the library that made the release.
    accepted : bool
        Whether the publisher accepted whatever the answers give away, so that no limit on it had to be kept.
    smoothing : int, Fraction, str or float, optional
        With method "canonical" alone: what was added to every private count first. Kept as a Fraction.
    privacy : Noise, optional
        The noise that was added to every private count first: domains are declared then, nothing of the rows
        is counted or accepted besides, and the domain was not chosen on them but by votes.
    r : int, Fraction, str or float, and
    prior : sequence of numbers
        With method "est", and only there: the odds of two classes are within a factor r of those of the
        prior, given in the order of the classes. Both are public, and are kept as Fractions.
    canonical : Canonical
        With method "canonical", and only there.
    advice : Advised, optional
        Where the domain was chosen from a menu: which choice it is.
    policy : str, optional
        The sha256 of the policy that it was published under, as 64 hexadecimal digits.

    Raises
    ------
    TypeError, ValueError
        If a field is none of these.

    Examples
    --------
    >>> from nbcfast import Certificate
    >>> Certificate(amplification="5/2", tuples=12, attacker="worlds").limit
    Fraction(5, 4)
    """

    amplification: Fraction
    tuples: int
    method: str = "safetytransform"
    attacker: Attacker = "row"
    preserve: Preserve = "order"
    equivalence: str = "none"
    differing_tuples: int | None = None
    differing_rows: int | None = None
    gauge: bool = True
    identity: bool = False
    warnings: tuple[str, ...] = None  # type: ignore[assignment]
    version: str = __version__
    accepted: bool = False
    smoothing: Fraction | None = None
    privacy: Noise | None = None
    r: Fraction | None = None
    prior: tuple[Fraction, ...] | None = None
    canonical: Canonical | None = None
    advice: Advised | None = None
    policy: str | None = None

    def __post_init__(self) -> None:
        factors = 3 if self.method == "est" else 1  # R, times a quotient of two priors
        demanded = as_limit(exact(self.amplification, "amplification"), "amplification", factors)
        object.__setattr__(self, "amplification", demanded)
        if self.amplification <= 1:
            raise ValueError(f"amplification must be above 1, got {limit_text(self.amplification)}")
        for name, allowed in (
            ("method", METHODS),
            ("attacker", ATTACKERS),
            ("preserve", PRESERVED),
            ("equivalence", PROOFS),
        ):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {getattr(self, name)!r}")
        if self.attacker == "worlds" and self.amplification <= 2:
            raise ValueError(
                "amplification must be above 2 for attacker 'worlds', who needs half of it, "
                f"got {limit_text(self.amplification)}"
            )
        for name in ("tuples", "differing_tuples", "differing_rows"):
            number = getattr(self, name)
            if number is None and name != "tuples":
                continue
            if isinstance(number, np.integer):
                number = int(number)
                object.__setattr__(self, name, number)
            if type(number) is not int:
                raise TypeError(f"{name} must be an int, got {number!r}")
            if number < 0:
                raise ValueError(f"{name} must be at least 0, got {number}")
        if self.differing_rows is not None and self.differing_rows >= MOST_PEOPLE:
            raise ValueError(f"differing_rows must be less than 2^61, got {amount_text(self.differing_rows)}")
        for name in ("gauge", "identity", "accepted"):
            if type(getattr(self, name)) is not bool:
                raise TypeError(f"{name} must be a bool, got {getattr(self, name)!r}")
        if self.warnings is None:
            object.__setattr__(self, "warnings", ())  # until the fields that they go with are checked
            derived = True
        else:
            derived = False
        if isinstance(self.warnings, str) or not all(isinstance(text, str) for text in self.warnings):
            raise TypeError(f"warnings must be texts, got {self.warnings!r}")
        object.__setattr__(self, "warnings", tuple(self.warnings))
        if not isinstance(self.version, str):
            raise TypeError(f"version must be a text, got {self.version!r}")
        fault = contradiction(
            self.equivalence, self.differing_tuples, self.differing_rows, self.identity, self.gauge
        )
        if fault:
            raise ValueError(fault)
        if (self.method == "canonical") != isinstance(self.canonical, Canonical):
            raise ValueError(
                f"canonical must be a Canonical with method 'canonical' and only there, got "
                f"{type(self.canonical).__name__} with method {self.method!r}"
            )
        self._check_parts()
        if derived:
            object.__setattr__(self, "warnings", self.warned)

    def _check_parts(self) -> None:
        self._check_smoothing()
        self._check_closeness()
        self._check_advice()
        self._check_privacy()
        if self.policy is not None and not (isinstance(self.policy, str) and SHA256.fullmatch(self.policy)):
            raise ValueError(f"policy must be the 64 hexadecimal digits of a sha256, got {self.policy!r}")

    def _check_smoothing(self) -> None:
        if self.smoothing is not None:
            if self.method != "canonical":
                raise ValueError(f"smoothing belongs to method 'canonical', got method {self.method!r}")
            object.__setattr__(self, "smoothing", Fraction(constant(self.smoothing, "smoothing")))

    def _check_privacy(self) -> None:
        if self.privacy is None:
            return
        if not isinstance(self.privacy, Noise):
            raise TypeError(f"privacy must be Noise or None, got {type(self.privacy).__name__}")
        privacy_of(self.privacy)
        undeclared = () if self.canonical is None else self.canonical.undeclared
        besides = {
            "smoothing": self.smoothing is not None,
            "accepted": self.accepted,
            "differing_rows": self.differing_rows is not None,
            "undeclared": bool(undeclared),
        }
        for name, is_there in besides.items():
            if is_there:
                raise ValueError(
                    f"{name} goes with private counts, and not with privacy, which is of noisy ones"
                )
        if self.advice is not None and costly_choice(self.advice.rows, self.advice.epsilon):
            raise ValueError(
                "advice: a domain that was chosen on the private rows, and not by votes, does not go with "
                "privacy: no noise hides that choice"
            )

    def _check_closeness(self) -> None:
        if self.method != "est":
            if self.r is not None or self.prior is not None:
                raise ValueError(f"r and prior belong to method 'est', got method {self.method!r}")
            return
        if self.r is None or self.prior is None:
            raise ValueError("method 'est' needs r and prior")
        object.__setattr__(self, "r", as_limit(exact(self.r, "r"), "r"))
        prior = tuple(as_limit(exact(number, "prior"), "prior") for number in self.prior)
        object.__setattr__(self, "prior", prior)
        least = 2 if self.attacker == "worlds" else 1
        if self.r <= least:
            raise ValueError(
                f"r must be above {least} for attacker {self.attacker!r}, got {limit_text(self.r)}"
            )
        if not prior or min(prior) <= 0 or sum(prior) != 1:
            raise ValueError(f"prior must be numbers above 0 that add up to 1, got {self.prior!r}")
        implied = self.r * max(prior) / min(prior)
        if self.amplification != implied:
            raise ValueError(
                f"amplification must be r F_max / F_min = {limit_text(implied)} with method 'est', "
                f"got {limit_text(self.amplification)}"
            )

    def accepting(self, accepted: bool = True) -> Certificate:
        """The same, saying that the publisher accepted whatever the answers give away, or not saying it."""
        words = None  # those that go with the fields
        return replace(self, accepted=accepted, warnings=words)  # type: ignore[arg-type]

    def _check_advice(self) -> None:
        if self.advice is None:
            return
        if not isinstance(self.advice, Advised):
            raise TypeError(f"advice must be Advised or None, got {type(self.advice).__name__}")
        undeclared = () if self.canonical is None else self.canonical.undeclared
        names = [name for name in undeclared if name is not None]
        if names:
            raise ValueError(
                f"advice goes with domains that are declared, as a menu has them, and values of {names[0]!r} "
                "come from the rows"
            )

    @property
    def limit(self) -> Fraction:
        """What Lambda of the counts must not exceed: half the amplification for attacker "worlds".

        In the paper's averaging convention an attacker gains up to twice Lambda.
        """
        return self.amplification / 2 if self.attacker == "worlds" else self.amplification

    @property
    def r_limit(self) -> Fraction | None:
        """What (X_c / X_d) / (F_c / F_d) must not exceed: half of r for attacker "worlds"."""
        return self.r / 2 if self.r is not None and self.attacker == "worlds" else self.r

    @property
    def equal(self) -> bool | None:
        """Whether every tuple keeps its order (or label); None where it is not known."""
        return None if self.differing_tuples is None else self.differing_tuples == 0

    @property
    def altered(self) -> Fraction | NoiseEntry | None:
        """What the private counts went through first: what was added to each, or the noise."""
        return self.smoothing if self.privacy is None else privacy_of(self.privacy)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a recipient has to know about the numbers; written into the file."""
        privacy = None if self.privacy is None else privacy_of(self.privacy)
        of_choice = () if self.advice is None else self.advice.notes_beside(privacy)
        if self.canonical is not None:
            found = self.canonical
            listed = found.listed is not None
            words = canonical_notes(listed, self.equal, found.bits, self.altered, found.undeclared)
            return (*words, *of_choice)
        return (*release_notes(self.identity, self.gauge, privacy), *of_choice)

    @property
    def warned(self) -> tuple[str, ...]:
        """The warnings that go with the other fields."""
        found = self.canonical
        if found is None:
            return tuple(
                release_warnings(
                    self.identity, self.differing_tuples, self.preserve, self.accepted, self.altered
                )
            )
        listed = None if found.listed is None else (found.listed.tuples, found.listed.differing)
        return tuple(
            canonical_warnings(
                found.undeclared,
                listed,
                self.differing_tuples,
                self.preserve,
                found.reproducible,
                self.accepted,
                self.altered,
            )
        )

    def __repr__(self) -> str:
        return fields_text(self)

    def to_dict(self) -> Document:
        """The fields as they are."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        canonical = None if self.canonical is None else self.canonical.to_dict()
        return {
            **found,
            "canonical": canonical,
            "privacy": None if self.privacy is None else privacy_json(self.privacy),
            "advice": None if self.advice is None else self.advice.to_json(),
        }
