"""How errors speak to whoever writes an estimator: of its parameters, and not of arguments of the library."""

from __future__ import annotations

from nbcfast._core.spelling import Arguments

PARAMETERS = {"domains": "domain", "table": "X", "weights": "sample_weight"}


class EstimatorArguments(Arguments):
    """The words of an estimator.

    Examples
    --------
    >>> words = EstimatorArguments()
    >>> words.named("domains"), words.noise("epsilon"), words.left_out("id")
    ('domain', 'dp_epsilon', "domain={'id': {'out': True}}")
    """

    def named(self, argument: str) -> str:
        """A parameter by itself."""
        return PARAMETERS.get(argument, argument)

    def given(self, argument: str, value: object) -> str:
        """A parameter with a value that it may be given."""
        return f"{self.named(argument)}={value!r}"

    def form(self, argument: str, *letters: str) -> str:
        """A parameter with letters that stand for its values."""
        return f"{self.named(argument)}={super().form(argument, *letters).partition('=')[2]}"

    def noise(self, name: str | None = None) -> str:
        """The noise that is asked for; of its numbers there is one."""
        return "dp_epsilon"

    def nulls(self, texts: object) -> str:
        """What takes these texts for nulls."""
        return f"X.replace({texts!r}, None)"

    def as_text(self, column: str) -> str:
        """What makes a column one of texts."""
        return f"X.astype({{{column!r}: str}})"

    def as_published(self) -> str:
        """What says again which raw values were put into which set or bin."""
        return f"{self.form('domains', '..')} or menu=.., what it was published with"

    def unseen(self) -> str:
        """What is done with rows whose values a release does not know."""
        return (
            f"declare all values that there may be with {self.named('domains')} where it is fitted, or set "
            f"{self.given('unseen', 'ignore')}, which leaves the attribute out of such rows"
        )


PARAMETER_WORDS = EstimatorArguments()
