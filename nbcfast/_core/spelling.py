"""How what a caller is told spells what he may give: as arguments of Python, unless he typed options."""


class Arguments:
    """The words of Python; the command line has a subclass with its options.

    Examples
    --------
    >>> words = Arguments()
    >>> words.named("rows"), words.given("rows", "proven"), words.form("rows", "R")
    ('rows', "rows='proven'", 'rows=R')
    """

    def named(self, argument: str) -> str:
        """An argument by itself."""
        return argument

    def given(self, argument: str, value: object) -> str:
        """An argument with a value that it may be given."""
        return f"{argument}={value!r}"

    def form(self, argument: str, *letters: str) -> str:
        """An argument with letters that stand for its values."""
        values = letters[0] if len(letters) == 1 else f"({', '.join(letters)})"
        return f"{argument}={values}"

    def as_text(self, column: str) -> str:
        """What reads a column as text, whatever it holds."""
        return f"nbcfast.read_csv(.., types={{{column!r}: 'text'}})"

    def left_out(self, column: str) -> str:
        """What leaves a column out."""
        return f"{self.named('domains')}={{{column!r}: {{'out': True}}}}"


ARGUMENTS = Arguments()
