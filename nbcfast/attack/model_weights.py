"""What a naive Bayes model says in logarithms, and how far each may be off: of estimators and of files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from nbcfast._core.dtypes import Array, Floats
from nbcfast._core.validation import type_name
from nbcfast.attack.onnx_weights import read_onnx
from nbcfast.table.values import Value

# Attributes of an estimator that are counts of rows, or were added to them.
COUNTS = ("class_count_", "category_count_", "alpha")
SUMS = 1e-3  # how far from 1 the shares of an attribute may add up to: more is no rounding
ULPS = 4  # by which NumPy's logarithm may be off, on any processor
BITS = {np.dtype(np.float16): 16, np.dtype(np.float32): 32, np.dtype(np.float64): 64}


class Weights(NamedTuple):
    """Logarithms of probabilities, and nothing else.

    `prior` is of the classes; `conditional` has of each attribute an array (values, classes). Floats had
    `bits`. `in_plain` names what stands beside them, and is not looked at.
    """

    prior: Floats
    conditional: Mapping[str, Floats]
    classes: tuple[Value, ...]
    bits: int
    in_plain: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: object) -> Weights:
        """Those of a fitted estimator, or of the file at a path."""
        if isinstance(model, (str, os.PathLike)):
            read = read_onnx(model)
            return cls.checked(read.prior, read.conditional, read.classes)
        found = {name: getattr(model, name, None) for name in ("class_log_prior_", "feature_log_prob_")}
        missing = [name for name, logs in found.items() if logs is None]
        if missing and hasattr(model, "fit") and not isinstance(model, type):
            raise ValueError(
                f"model must be a fitted CategoricalNB, got a {type_name(model)} without "
                f"{' and '.join(missing)}{_where_else(model)}"
            )
        logs = found["feature_log_prob_"]
        if missing or not isinstance(logs, (list, tuple)):
            raise TypeError(
                "model must be a fitted CategoricalNB or the path of an ONNX file, got "
                f"{model if isinstance(model, type) else type_name(model)}"
            )
        names = getattr(model, "feature_names_in_", None)
        named = [f"x{i}" for i in range(len(logs))] if names is None else [str(name) for name in names]
        if len(set(named)) != len(logs):
            raise ValueError(f"model must have {len(logs)} attributes of different names, got {named!r}")
        prior = np.asarray(found["class_log_prior_"])
        labels = getattr(model, "classes_", np.arange(len(prior)))
        return cls.checked(
            prior,
            {name: np.asarray(array).T for name, array in zip(named, logs, strict=True)},
            tuple(np.asarray(labels).tolist()),
            tuple(name for name in COUNTS if hasattr(model, name)),
        )

    @classmethod
    def checked(
        cls,
        prior: Array,
        conditional: Mapping[str, Array],
        classes: tuple[Value, ...],
        in_plain: tuple[str, ...] = (),
    ) -> Weights:
        """The weights, if they are logarithms of probabilities that add up to 1."""
        arrays = [prior, *conditional.values()]
        if prior.ndim != 1 or not len(prior) or not conditional or len(classes) != len(prior):
            raise ValueError("model must have a prior for each class, and at least one attribute")
        for name, array in [("the prior", prior), *conditional.items()]:
            if array.dtype not in BITS:
                raise ValueError(f"model: {name} must be floats, got {array.dtype}")
            if array.ndim != (1 if array is prior else 2) or array.shape[-1] != len(prior) or not array.size:
                raise ValueError(f"model: {name} must be of {len(prior)} classes, got shape {array.shape}")
            with np.errstate(over="ignore"):
                shares = np.exp(array.astype(np.float64))
            if not (np.abs(shares.sum(axis=0) - 1) < SUMS).all():
                raise ValueError(
                    f"model: {name} must be logarithms of probabilities that add up to 1 in each class"
                )
        bits = min(BITS[array.dtype] for array in arrays)
        # Floats of 32 bits that were written as 64 are known to 32.
        if all(np.array_equal(array, array.astype(np.float32)) for array in arrays):
            bits = min(bits, 32)
        as_double = {name: np.ascontiguousarray(array, np.float64) for name, array in conditional.items()}
        return cls(np.asarray(prior, np.float64), as_double, classes, bits, in_plain)

    def errors(self, logs: Floats, terms: int, largest: float) -> Floats:
        """How far each logarithm of a share may be from the true one.

        It is the difference of two logarithms, of a sum with something added and of a sum of `terms` such
        sums, both at most e^largest in size and at least e^-largest: computed in doubles, with a logarithm
        that is off by ULPS, and rounded to `bits` afterwards.
        """
        finite = np.where(np.isfinite(logs), np.abs(logs), 0.0)
        computed = 2.0**-52 * ((2 * ULPS + 1) * (largest + finite) + terms + 4)
        if self.bits == 64:
            return computed
        kept = np.spacing(finite.astype(np.float16 if self.bits == 16 else np.float32)).astype(np.float64)
        result: Floats = computed + kept  # rounding takes half of it; some compute in such floats, too
        return result


def _where_else(model: object) -> str:
    """Where a model is to be looked for that an estimator has in it, or nothing."""
    if hasattr(model, "release_"):
        return ": what its release gives away compare_releases measures"
    if hasattr(model, "best_estimator_"):
        return ": of a search give its best_estimator_"
    return ": of a pipeline give its last step, model[-1]" if hasattr(model, "steps") else ""
