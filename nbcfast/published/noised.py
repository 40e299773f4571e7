"""The noise in counts as a certificate says it, and back."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, cast

from nbcfast._wire.json_entries import Refused
from nbcfast._wire.privacy_form import LAPLACE, NoiseEntry, sensitivity_text
from nbcfast.published.typed import json_rational, json_whole
from nbcfast.views.noise import Noise, sensitivity_of

if TYPE_CHECKING:
    from nbcfast._core.untyped import Document
    from nbcfast.views.noise import Mechanism, Neighbours


def privacy_json(noise: Noise) -> Document:
    """The entry of a certificate."""
    asked = noise.epsilon is not None
    entry: Document = {
        "attributes": json_whole(noise.n_attributes),
        "delta": json_rational(noise.delta) if asked else None,
        "domains": "declared",
        "epsilon": None if noise.epsilon is None else json_rational(noise.epsilon),
        "mechanism": noise.mechanism,
        "neighbours": noise.neighbours,
        "rows_per_person": json_whole(noise.rows_per_person),
        "sensitivity": sensitivity_text(noise.mechanism, noise.neighbours, noise.rows_per_person),
    }
    if noise.mechanism != LAPLACE:
        assert noise.rho is not None
        entry["rho"] = json_rational(noise.rho)
    return entry


def privacy_of(noise: Noise) -> NoiseEntry:
    """What a verifier reads of it; ValueError where it has numbers that no certificate holds."""
    try:
        return NoiseEntry(privacy_json(noise))
    except Refused as error:
        raise ValueError(f"privacy: this noise has no place in a certificate: {error}") from None


def noise_of(privacy: NoiseEntry) -> Noise:
    """The noise that an entry of checked form describes."""
    of_counts = privacy.mechanism, privacy.attributes, privacy.neighbours, privacy.rows_per_person
    return Noise(
        mechanism=cast("Mechanism", privacy.mechanism),
        epsilon=privacy.epsilon,
        delta=Fraction(0) if privacy.delta is None else privacy.delta,
        rho=privacy.rho,
        neighbours=cast("Neighbours", privacy.neighbours),
        rows_per_person=privacy.rows_per_person,
        sensitivity=sensitivity_of(*of_counts),
        n_attributes=privacy.attributes,
    )
