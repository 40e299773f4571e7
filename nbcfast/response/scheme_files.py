"""Reading a scheme: `from_dict`, `from_json` and `load_scheme`. It is written by the scheme itself."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from nbcfast._core.json_numbers import integer_of, long_integer
from nbcfast._wire.coins import scheme_fields
from nbcfast._wire.json_entries import rational
from nbcfast._wire.regular_files import SCHEME
from nbcfast._wire.typed_values import domain as typed_values_of
from nbcfast.published.document import own_file, published_copy
from nbcfast.published.typed import domain_of_json
from nbcfast.response.binary_scheme import Scheme
from nbcfast.response.kary_scheme import KaryScheme


def from_dict(fields: object, where: str = "scheme") -> Scheme | KaryScheme:
    """The scheme that `to_dict` wrote."""
    kind = fields.get("kind") if isinstance(fields, Mapping) else None
    expected = scheme_fields(kind)
    if not isinstance(fields, Mapping) or not expected:
        raise ValueError(f"{where}: expected an object with kind 'binary' or 'k-ary'")
    number = fields.get("format")
    if set(fields) != expected or type(number) is not int or number != 1:
        raise ValueError(f"{where}: expected the fields {', '.join(sorted(expected))}, and format 1")
    try:
        groups = [(group["theta"], group["columns"]) for group in fields["groups"]]
        domains = {
            name: domain_of_json(typed_values_of(values, f"domain of {name!r}"), where).values
            for name, values in fields["domains"].items()
        }
        columns = [names for _, names in groups]
        if not all(isinstance(theta, str) for theta, _ in groups):
            raise ValueError(f"{where}: expected thetas as texts, such as '4/5'")
        # Long whole numbers are written as hexadecimal texts, which people need not type.
        thetas = [rational(theta, "theta") if "0x" in theta else theta for theta, _ in groups]
        if kind == Scheme.kind:
            return Scheme(thetas, columns, domains=domains)
        return KaryScheme(thetas, domains, groups=columns, lie=fields["lie"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{where}: not a scheme as it was written ({error})") from None
    except ValueError as error:
        raise ValueError(f"{where}: {str(error).removeprefix(f'{where}: ')}") from None


def from_json(text: str, where: str = "scheme") -> Scheme | KaryScheme:
    """The scheme in the text of a JSON file.

    Examples
    --------
    >>> from_json(Scheme("0.8", [["a"]]).to_json())
    Scheme(['a'] at 0.8)
    """
    try:
        fields = json.loads(text, parse_int=integer_of)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not JSON ({error})") from None
    too_long = long_integer(fields)
    if too_long is not None:
        names, said = too_long
        under = "".join(f"{name[:60]!r}: " for name in names)
        raise ValueError(f"{where}: {under}{said}")
    return from_dict(fields, where)


def load_scheme(path: str | os.PathLike[str]) -> Scheme | KaryScheme:
    """The scheme in a JSON file that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file, or a folder with a scheme.json.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If it is no scheme, or that of published answers and not the scheme of their certificate: who answered
        by it would hide something else than was said, or nothing.
    """
    name = os.fsdecode(path)
    if os.path.isdir(name):
        name = os.path.join(name, SCHEME)
    data = published_copy(name, SCHEME)
    if data is None:
        data = own_file(name)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: not JSON ({error})") from None
    return from_json(text, name)
