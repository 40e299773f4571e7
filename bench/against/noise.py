"""Noise on counts: exact draws beside plain Python and OpenDP, whose law is looked at as well as ours."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from shared.clock import Form, Peers, Row, medians, power, race

from nbcfast import _coins, dp
from nbcfast.dp import draws
from nbcfast.reference import dp as plain

SCALE = Fraction(6)  # of five attributes at an epsilon of 1
SIGMA_SQUARED = Fraction(11) / (2 * dp.rho_of(1, "1e-6"))
SECONDS, MANY = 2.0, 1_000_000
FASTER = {"plain Python": 30, "OpenDP": 20}

laplace, gaussian = Peers(), Peers()


def has_law(law: dict[int, float], drawn: Any) -> bool:
    """Whether each value is drawn as often as the law has it, within 5.5 standard deviations."""
    numbers = np.asarray(drawn)
    values, counts = np.unique(numbers, return_counts=True)
    seen = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return all(
        abs(seen.get(value, 0) - len(numbers) * chance) < 5.5 * math.sqrt(len(numbers) * chance) + 5.5
        for value, chance in law.items()
    )


def both(a: bool, b: bool) -> bool:
    return a and b


def words() -> Callable[[], int]:
    """A word of ChaCha20 at a time, from blocks."""
    coins, block = _coins.Coins(bytes(32)), np.empty(1 << 12, np.uint64)

    def stream() -> Iterator[int]:
        while True:
            coins.words(block)
            yield from block.tolist()

    return stream().__next__


@laplace.peer("plain Python")
def _python_laplace(n: int) -> Iterator[Form]:
    yield Form("integers", lambda: draws.laplace(SCALE, n, words()))


@gaussian.peer("plain Python")
def _python_gaussian(n: int) -> Iterator[Form]:
    yield Form("integers", lambda: draws.gaussian(SIGMA_SQUARED, n, words()))


def _opendp(n: int, make: str, distance: Callable[[Any], Any], scale: float) -> Iterator[Form]:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    domain = opendp.vector_domain(opendp.atom_domain(T="i64"))
    measured = getattr(opendp.m, make)(domain, distance(opendp), scale=scale)
    yield Form(f"{make}, i64", partial(measured, [0] * n))


@laplace.peer("OpenDP")
def _opendp_laplace(n: int) -> Iterator[Form]:
    yield from _opendp(n, "make_laplace", lambda module: module.l1_distance(T="i64"), float(SCALE))


@gaussian.peer("OpenDP")
def _opendp_gaussian(n: int) -> Iterator[Form]:
    sigma = math.sqrt(SIGMA_SQUARED)
    yield from _opendp(n, "make_gaussian", lambda module: module.l2_distance(T="float"), sigma)


def noise(rounds: int, quick: bool) -> Iterator[Row]:
    n = 100_000 if quick else MANY
    zeros = np.zeros(n, np.int64)
    for name, peers, asked, law in (
        ("Laplace", laplace, {"epsilon": 1, "sensitivity": SCALE.numerator}, plain.laplace_law(SCALE)),
        (
            "Gaussian",
            gaussian,
            {"rho": dp.rho_of(1, "1e-6"), "squared_sensitivity": 11},
            plain.gaussian_law(SIGMA_SQUARED),
        ),
    ):
        ours = Form("noisy", partial(dp.noisy, zeros, **asked), partial(has_law, law))
        forms = {
            who: [Form(form.how, form.run, partial(has_law, law)) for form in given]
            for who, given in peers.forms(n).items()
        }
        job = f"{power(n)} discrete {name} draws"
        yield from race(job, n, ours, forms, both, min(rounds, 3), None if quick else FASTER)
        if not quick:
            (seconds,) = medians([ours.run], rounds)
            yield Row(job, "a limit", f"{SECONDS:g} s", f"{seconds:.3f} s", SECONDS / seconds, 1)
