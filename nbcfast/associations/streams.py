"""The distinct tuples of the views of a stream or file, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from nbcfast.associations.projections import Columns, Names
from nbcfast.groups.streams import added, all_added, typed_domain
from nbcfast.table.encode import DomainBuilder, recode, used_values

if TYPE_CHECKING:
    from nbcfast._core.threads import Progress
    from nbcfast._reading.source import Source
    from nbcfast.groups.streams import Codes, Longs, Stream

WAITING = 1 << 16  # tuples that wait to be merged, at least


class Tuples:
    """The distinct tuples of one view, as codes of values in the order they were first met."""

    def __init__(self, builders: dict[str, DomainBuilder], names: Names, threads: int | None) -> None:
        self.builders = {name: builders[name] for name in names}
        self.threads = threads
        self.parts: list[tuple[list[Codes], Longs]] = []
        self.waiting = self.merged = 0

    def add(self, batch: dict[str, Codes]) -> None:
        found = added([batch[name] for name in self.builders], self.builders, None, self.threads)
        self.parts.append(found)
        self.waiting += len(found[1])
        if self.waiting > max(2 * self.merged, WAITING):
            self.parts = [all_added(self.parts, self.builders)]
            self.waiting = self.merged = len(self.parts[0][1])

    def found(self) -> dict[str, Codes]:
        return dict(zip(self.builders, all_added(self.parts, self.builders)[0], strict=True))


def read(
    source: Stream | Source,
    parts: tuple[Names, ...],
    threads: int | None,
    progress: Progress | None,
    others: Iterable[str] = (),
) -> list[Columns]:
    """The distinct tuples of each part, in memory of their order; of other columns, that they are there."""
    names = list(dict.fromkeys(name for part in parts for name in part))
    builders = {name: DomainBuilder(name) for name in names}
    tuples = [Tuples(builders, part, threads) for part in parts]
    done = 0
    for batch in source.batches([*names, *others]):
        n_rows = len(next(iter(batch.values()))[0])
        if n_rows == 0:
            continue
        coded = {}
        for name, builder in builders.items():
            codes, values = batch[name]
            places = builder.add(values, used_values(codes, len(values)))
            # Positions that no row has are -1 and never looked up.
            coded[name] = recode(codes, np.maximum(places, 0), max(len(builder), 1))
        for one in tuples:
            one.add(coded)
        done += n_rows
        if progress is not None:
            progress(done, source.n_rows)
    if not done:
        raise ValueError("no rows")
    domains, final = {}, {}
    for name, builder in builders.items():
        domains[name], final[name] = typed_domain(builder, name) if source.texts else builder.finish(None)
    return [
        Columns(
            {name: recode(codes, final[name], len(domains[name])) for name, codes in one.found().items()},
            {name: domains[name] for name in one.builders},
        )
        for one in tuples
    ]
