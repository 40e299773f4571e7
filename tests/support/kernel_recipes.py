"""`RECIPES`: for every entry point of every kernel what makes a call of it that is right."""

import numpy as np
from file_arguments import (
    CSV,
    chunk_arguments,
    column_chunk,
    compressed,
    csv_arguments,
    csv_codes,
    csv_scanner,
    csv_text,
    csv_values,
)
from kernel_arguments import (
    Split,
    base_limbs,
    choices,
    choices_arguments,
    classes_arguments,
    coins,
    columns,
    costing,
    disclosing,
    disclosing_arguments,
    exact,
    exact_arguments,
    exchange_arguments,
    gauge_arguments,
    grouper,
    histogram_arguments,
    histograms,
    joiner,
    joiner_arguments,
    key_columns,
    key_encoder,
    labels_of,
    leaf_arguments,
    least_arguments,
    lies_arguments,
    list_arguments,
    lists,
    margin_counts,
    matrix_of,
    numbers_of,
    of_split,
    on,
    order_of,
    parts_of_keys,
    program,
    program_rows,
    read,
    record_encoder,
    remapped,
    root_arguments,
    row_grouper,
    rows_of,
    scan,
    scorer,
    scores,
    scores_arguments,
    separator,
    separator_arguments,
    served,
    served_scores,
    served_strata,
    strata,
    sweep_arguments,
    system,
    system_arguments,
    table_arguments,
    tables,
    tables_of_positions,
    tally,
    text_encoder,
    texts_arguments,
    translation,
    worlds_arguments,
)
from kernel_world import ints, longs, words

from nbcfast import (
    _advise,
    _associations,
    _box,
    _classes,
    _codes,
    _coins,
    _columns,
    _count,
    _csv_rows,
    _disclose,
    _exchanges,
    _groups,
    _interior,
    _margin,
    _noise,
    _parquet,
    _partition,
    _response,
    _roots,
    _score,
    _skyline,
    _solve,
    _texts,
    _worlds,
    _zeros,
)

SCALES = [(1, 1), (12, 5), (1, 1 << 40), ((1 << 62) - 1, 1), (10**12, 7)]


def scanned(world, method):
    """A method of a scanner that has read rows."""
    scanner = world.get(csv_scanner)
    if world.rng.random() < 0.5:
        scanner.scan(csv_text(world), 0, len(CSV))
    width = {1: np.uint8, 2: np.uint16, 4: np.uint32}[scanner.width(0)]
    return getattr(scanner, method), (0, 0, np.empty(scanner.rows, width))


def of_values(world, method, dtype=None):
    """A method of values, for some that there are."""
    values, column, codes = csv_codes(world)
    out = () if dtype is None else (np.empty(len(codes), dtype),)
    return getattr(values, method), (column, codes, *out)


RECIPES = {
    "_advise.Choices": lambda w: (_advise.Choices, choices_arguments(w)),
    "_advise.Choices.correct": on(
        choices, "correct", lambda w: (ints(1, 0), ints(1, 0), np.empty(4, np.int64))
    ),
    "_advise.Choices.losses": on(
        choices, "losses", lambda w: (ints(1, -1), ints(1), 20, np.empty(2, np.int64), np.empty(2, np.int64))
    ),
    "_associations.Joiner": lambda w: (_associations.Joiner, joiner_arguments(w)),
    "_associations.Joiner.scan": on(
        joiner, "scan", lambda w: (0, 3, *(np.empty(3, np.int64) for _ in range(3)), np.empty(3))
    ),
    "_associations.Joiner.fill": on(
        joiner,
        "fill",
        lambda w: (0, 3, longs(0, 2, 4, 4), np.empty(4, np.uint32), np.empty(4), np.empty(4, np.uint32)),
    ),
    "_box.Separator": lambda w: (_box.Separator, separator_arguments(w)),
    "_box.Separator.separate": on(
        separator, "separate", lambda w: (numbers_of(w, float, 7), 10.0, np.empty((7, 2, 2), np.int32))
    ),
    "_box.Separator.separate_exactly": on(
        separator,
        "separate_exactly",
        lambda w: (
            np.stack([w.numbers.integers(0, 1 << 60, 7), np.zeros(7, np.int64)], axis=1).astype(np.uint64),
            words(10, 0),
            np.empty((7, 2, 2), np.int32),
            np.empty((2, 2), np.uint64),
        ),
    ),
    "_classes.labels": lambda w: (_classes.labels, (*classes_arguments(w), 3, np.empty((5, 4), np.int8))),
    "_classes.changed": lambda w: (
        _classes.changed,
        (*classes_arguments(w), True, numbers_of(w, int, 5, 3), numbers_of(w, int, 4, 3), 0, 5),
    ),
    "_classes.changed_labels": lambda w: (
        _classes.changed_labels,
        (w.codes(3, (5, 4), np.int8), numbers_of(w, int, 5, 3), numbers_of(w, int, 4, 3)),
    ),
    "_classes.least": lambda w: (_classes.least, least_arguments(w)),
    "_classes.prefixes": lambda w: (
        _classes.prefixes,
        (numbers_of(w, float, 5), ints(4, 2, 0, 1), np.zeros(5), np.full(5, -1, np.int32)),
    ),
    "_classes.sweep": lambda w: (
        _classes.sweep,
        (*sweep_arguments(w), numbers_of(w, int, 5), np.zeros(6, np.int64), np.zeros(6, np.int32)),
    ),
    "_classes.sweep_count": lambda w: (_classes.sweep_count, (*sweep_arguments(w), np.empty(6, np.int64))),
    "_codes._Slots": lambda w: (_codes._Slots, ()),
    "_codes._Slots.__len__": on(
        lambda w: w.rng.choice([key_encoder, record_encoder, row_grouper])(w), "__len__", lambda w: ()
    ),
    "_codes.KeyEncoder": lambda w: (_codes.KeyEncoder, (w.rng.random() < 0.5,)),
    "_codes.KeyEncoder.encode": on(
        key_encoder,
        "encode",
        lambda w: (
            w.numbers.integers(-(1 << 62), 1 << 62, 700),
            w.rng.choice([None, w.codes(2, 700, np.uint8)]),
            np.empty(700, np.uint32),
        ),
    ),
    "_codes.KeyEncoder.found": on(key_encoder, "found", lambda w: ()),
    "_codes.RecordEncoder": lambda w: (_codes.RecordEncoder, (3,)),
    "_codes.RecordEncoder.encode": on(
        record_encoder, "encode", lambda w: (w.codes(12, (700, 3), np.uint32), np.empty(700, np.uint32))
    ),
    "_codes.RecordEncoder.found": on(record_encoder, "found", lambda w: ()),
    "_codes.RecordEncoder.width": read(record_encoder, "width"),
    "_codes.RowGrouper": lambda w: (
        _codes.RowGrouper,
        ([w.codes(3, 9, np.uint8), w.codes(3, 9, np.uint32)],),
    ),
    "_codes.RowGrouper.add": on(
        row_grouper, "add", lambda w: (0, 40, w.rng.choice([None, np.ones(40, np.int64)]))
    ),
    "_codes.RowGrouper.found": on(row_grouper, "found", lambda w: ()),
    "_codes.check_range": lambda w: (_codes.check_range, (w.codes(9, 30), 9)),
    "_codes.mark": lambda w: (_codes.mark, (w.codes(9, 30), np.zeros(9, np.uint8))),
    "_codes.remap": lambda w: (_codes.remap, remapped(w)),
    "_codes.fill_nulls": lambda w: (
        _codes.fill_nulls,
        (w.codes(9, 30), w.codes(256, 5, np.uint8), 3, 9, np.empty(30, np.int64)),
    ),
    "_codes.check_weights": lambda w: (_codes.check_weights, (longs(1, 2, 2**62),)),
    "_coins.Coins": lambda w: (_coins.Coins, (w.rng.randbytes(32),)),
    "_coins.Coins.below": on(coins, "below", lambda w: (10, np.empty(50, np.uint64))),
    "_coins.Coins.bits": on(coins, "bits", lambda w: (1, 3, np.empty(5, np.uint64))),
    "_coins.Coins.seeded": read(coins, "seeded"),
    "_coins.Coins.words": on(coins, "words", lambda w: (np.empty(50, np.uint64),)),
    "_coins.chacha_block": lambda w: (
        _coins.chacha_block,
        (w.codes(99, 8, np.uint32), 1, w.codes(99, 3, np.uint32), np.empty(16, np.uint32)),
    ),
    "_columns.Columns": lambda w: (_columns.Columns, ([w.codes(3, 9), w.codes(2, 9)], [3, 2], 9)),
    "_columns.Columns.is_matrix": on(columns, "is_matrix", lambda w: (2,)),
    "_columns.Columns.n_columns": read(columns, "n_columns"),
    "_columns.Columns.n_rows": read(columns, "n_rows"),
    "_columns.caches": lambda w: (_columns.caches, ()),
    "_columns.level": lambda w: (_columns.level, ()),
    "_count.Tally": lambda w: (_count.Tally, (w.get(columns), longs(0, 2), longs(0, 1), None)),
    "_count.Tally.add": on(tally, "add", lambda w: (0, 40)),
    "_count.Tally.add_to": on(tally, "add_to", lambda w: (np.zeros(20, np.int64),)),
    "_count.tally_few": lambda w: (
        _count.tally_few,
        (w.get(columns), np.zeros((6, 4), np.int64), w.rng.choice([None, longs(*range(1, 41))])),
    ),
    "_count.first_bad": lambda w: (_count.first_bad, (w.get(columns), 1)),
    "_count.add_checked": lambda w: (
        _count.add_checked,
        (longs(5, 6, 2**62), longs(1, 2, 3), w.rng.random() < 0.5),
    ),
    "_csv_rows.Scanner": lambda w: (_csv_rows.Scanner, csv_arguments(w)),
    "_csv_rows.Scanner.copy": lambda w: scanned(w, "copy"),
    "_csv_rows.Scanner.most": on(csv_scanner, "most", lambda w: (1,)),
    "_csv_rows.Scanner.rows": read(csv_scanner, "rows"),
    "_csv_rows.Scanner.scan": on(
        csv_scanner, "scan", lambda w: (csv_text(w), 0, len(CSV), w.rng.random() < 0.3)
    ),
    "_csv_rows.Scanner.width": on(csv_scanner, "width", lambda w: (1,)),
    "_csv_rows.Scanner.wrong": read(csv_scanner, "wrong"),
    "_csv_rows.Values": lambda w: (_csv_rows.Values, (words(*range(1, 5)),)),
    "_csv_rows.Values.floats": lambda w: of_values(w, "floats", np.float64),
    "_csv_rows.Values.integers": lambda w: of_values(w, "integers", np.int64),
    "_csv_rows.Values.n_columns": read(csv_values, "n_columns"),
    "_csv_rows.Values.null": on(csv_values, "null", lambda w: (1,)),
    "_csv_rows.Values.size": on(csv_values, "size", lambda w: (1,)),
    "_csv_rows.Values.texts": lambda w: of_values(w, "texts"),
    "_csv_rows.border": lambda w: (
        _csv_rows.border,
        (csv_text(w), 0, len(CSV), ord(","), w.rng.random() < 0.5, w.rng.randrange(_csv_rows.levels())),
    ),
    "_csv_rows.levels": lambda w: (_csv_rows.levels, ()),
    "_csv_rows.meet": lambda w: (
        _csv_rows.meet,
        (w.codes(9, 30, np.uint16), np.full(9, 2**32 - 1, np.uint32), np.empty(9, np.uint32), 0),
    ),
    "_csv_rows.row": lambda w: (_csv_rows.row, (csv_text(w), 0, len(CSV), ord(","))),
    "_disclose._Columns": lambda w: (_disclose._Columns, key_columns(w)[:2]),
    "_disclose.distinct": lambda w: (
        _disclose.distinct,
        (*key_columns(w), w.rng.choice([None, np.ones(40, np.int64)]), 4),
    ),
    "_disclose.merged": lambda w: (
        _disclose.merged,
        (w.codes(9, 30, np.uint64), w.rng.choice([None, np.ones(30, np.uint64)]), 4),
    ),
    "_disclose.tally": lambda w: (
        _disclose.tally,
        (*key_columns(w), w.rng.choice([None, np.ones(40, np.int64)]), np.zeros(16, np.uint64)),
    ),
    "_disclose.unpacked": lambda w: (
        _disclose.unpacked,
        (w.codes(99, 30, np.uint64), longs(0, 4), longs(4, 6), parts_of_keys(w)),
    ),
    "_disclose.Disclosing": lambda w: (_disclose.Disclosing, disclosing_arguments(w)),
    "_disclose.Disclosing.breaks": on(disclosing, "breaks", lambda w: (0, 1)),
    "_disclose.Disclosing.confidences": on(disclosing, "confidences", lambda w: ()),
    "_disclose.Disclosing.step": on(disclosing, "step", lambda w: ()),
    "_disclose.Disclosing.steps": read(disclosing, "steps"),
    "_disclose.Disclosing.peak_bytes": read(disclosing, "peak_bytes"),
    "_exchanges.labels": lambda w: (
        _exchanges.labels,
        (
            ints(0, 1, 2, 0, 1, 1).astype(np.int8).reshape(2, 3),
            *exchange_arguments(w, 3),
            0,
            True,
            np.empty(2, np.int8),
        ),
    ),
    "_exchanges.pair": lambda w: (
        _exchanges.pair,
        (ints(3, 1), ints(2, 0, 1), *exchange_arguments(w), 3, False, np.empty(2, np.int8)),
    ),
    "_groups.Grouper": lambda w: (_groups.Grouper, (w.get(columns), w.rng.randrange(3), None)),
    "_groups.Grouper.absorb": on(grouper, "absorb", lambda w: (w.get(grouper, "other"),)),
    "_groups.Grouper.add": on(grouper, "add", lambda w: (0, 40)),
    "_groups.Grouper.finish": on(grouper, "finish", lambda w: ()),
    "_groups.distances": lambda w: (
        _groups.distances,
        (*histogram_arguments(w), longs(4, 3, 3), w.rng.random() < 0.5, np.empty(3, np.int64)),
    ),
    "_interior.normal": lambda w: (
        _interior.normal,
        (*rows_of(w), numbers_of(w, float, 7), np.zeros((6, 6))),
    ),
    "_interior.times": lambda w: (_interior.times, (*rows_of(w), numbers_of(w, float, 6), np.empty(7))),
    "_interior.transposed": lambda w: (
        _interior.transposed,
        (*rows_of(w), numbers_of(w, float, 7), np.zeros(6)),
    ),
    "_interior.substitute": lambda w: (_interior.substitute, (np.eye(6), numbers_of(w, float, 6))),
    "_interior.factor": lambda w: (_interior.factor, (9 * np.eye(6) + 1, 2, 1)),
    "_margin.Exact": lambda w: (_margin.Exact, exact_arguments(w)),
    "_margin.Lists": lambda w: (_margin.Lists, list_arguments(w)),
    "_margin.Lists.nearest": on(
        lists, "nearest", lambda w: (0, 1, w.get(exact), base_limbs(w.get(exact)), w.rng.random() < 0.5)
    ),
    "_margin.Lists.thresholds": on(
        lists, "thresholds", lambda w: (0, 1, w.get(exact), base_limbs(w.get(exact)), np.empty(4, np.int32))
    ),
    "_margin.outer": lambda w: (
        _margin.outer,
        (longs(1, 2, _margin.NONE), longs(3, _margin.ONLY), np.empty(6, np.int64)),
    ),
    "_margin.settle": lambda w: (_margin.settle, (ints(2, 0, 1), longs(1, 2, 2), 1, w.get(exact))),
    "_margin.dominance": lambda w: (
        _margin.dominance,
        (ints(1, 0, 2), ints(2, 3, 1), ints(1, 1, 2), longs(1, 2, 1), ints(2, 0, 1), longs(1, 1, 5)),
    ),
    "_margin.listed": lambda w: (
        _margin.listed,
        (
            *(ints(2, 3, 1), ints(1, 1, 2), ints(2, 0, 1), ints(2, 0, 1)),
            *(ints(0, 0, 1), ints(2, 2, 2), ints(0, 1, 2)),
            np.empty(9, np.int64),
            np.empty(9, np.int64),
            100,
        ),
    ),
    "_margin.enumerated": lambda w: (_margin.enumerated, margin_counts(w)),
    "_noise.fits_laplace": lambda w: (_noise.fits_laplace, (12, 5)),
    "_noise.fits_gaussian": lambda w: (_noise.fits_gaussian, (226, 7)),
    "_noise.laplace": lambda w: (
        _noise.laplace,
        (w.get(coins), *w.rng.choice(SCALES), np.empty(40, np.int64)),
    ),
    "_noise.gaussian": lambda w: (
        _noise.gaussian,
        (w.get(coins), *w.rng.choice(SCALES), np.empty(40, np.int64)),
    ),
    "_parquet.plan": lambda w: (_parquet.plan, (w.get(column_chunk),)),
    "_parquet.snappy": lambda w: (_parquet.snappy, (w.get(compressed), np.empty(12, np.uint8))),
    "_parquet.codes": lambda w: (_parquet.codes, chunk_arguments(w)),
    "_partition.Problem": lambda w: (_partition.Problem, w.get(Split).arguments),
    "_partition.Problem.admit": of_split("admit", lambda s: (s.scratches[0],)),
    "_partition.Problem.children": of_split("children", lambda s: (s.level, s.scratches, *s.span())),
    "_partition.Problem.commit": of_split("commit", lambda s: (s.level, s.scratches, s.records, *s.span())),
    "_partition.Problem.commit_joint": of_split("commit_joint", lambda s: (s.level, s.scratches, s.joint, 0)),
    "_partition.Problem.counts": of_split("counts", lambda s: (s.scratches[0], *leaf_arguments(s), 0, 2)),
    "_partition.Problem.evaluate": of_split(
        "evaluate", lambda s: (s.level, s.scratches[1], 1, s.records, *s.span())
    ),
    "_partition.Problem.evaluate_joint": of_split(
        "evaluate_joint", lambda s: (s.level, s.scratches[0], 0, s.joint, 0, 0)
    ),
    "_partition.Problem.fill": of_split(
        "fill", lambda s: (s.columns, s.maps(), s.weights, 0, s.n, s.records)
    ),
    "_partition.Problem.finish": of_split(
        "finish", lambda s: (s.level, s.scratches[0], s.records, s.other, *s.span())
    ),
    "_partition.Problem.first": lambda w: (lambda made: made.first, (w.get(Split).problem,)),
    "_partition.Problem.gather": of_split("gather", lambda s: (s.records, s.joint)),
    "_partition.Problem.move": of_split(
        "move", lambda s: (s.level, s.scratches, s.records, s.other, *s.span())
    ),
    "_partition.Problem.move_some": of_split(
        "move_some", lambda s: (s.level, s.scratches, 0, s.records[:20], s.other[:20])
    ),
    "_partition.Problem.number": of_split(
        "number", lambda s: (*leaf_arguments(s), np.empty(s.n, np.uint32), 0, 2)
    ),
    "_partition.Problem.shared": lambda w: (lambda made: made.shared, (w.get(Split).problem,)),
    "_partition.Problem.stride": lambda w: (lambda made: made.stride, (w.get(Split).problem,)),
    "_partition.Scratch": lambda w: (_partition.Scratch, (w.get(Split).problem,)),
    "_partition.Scratch.forget": lambda w: (w.rng.choice(w.get(Split).scratches).forget, ()),
    "_partition.Scratch.take_leaves": lambda w: (w.get(Split).scratches[0].take_leaves, ()),
    "_partition.Level": lambda w: (_partition.Level, (3, 2, 1)),
    "_partition.Level.root": lambda w: (_partition.Level.root, ([3, 4], 10, 10)),
    "_partition.Level.split": lambda w: (w.get(Split).level.split, ()),
    **{
        f"_partition.Level.{name}": lambda w, name=name: (
            lambda made: getattr(made, name),
            (w.get(Split).level,),
        )
        for name in ("n", "depth", "start", "rows", "people", "at", "boxes")
    },
    "_partition.Joint": lambda w: (_partition.Joint, (w.get(Split).problem,)),
    **{
        f"_partition.Joint.{name}": lambda w, name=name: (
            lambda made: getattr(made, name),
            (w.get(Split).joint,),
        )
        for name in ("rows", "people", "targets")
    },
    "_response.lies": lambda w: (_response.lies, (w.get(coins), *lies_arguments(w))),
    "_response.flip": lambda w: (
        _response.flip,
        (w.codes(99, 2, np.uint64), w.codes(2, 100, np.uint8), np.empty(100, np.uint8)),
    ),
    "_response.ones": lambda w: (_response.ones, (w.codes(99, 20, np.uint64),)),
    "_response.common": lambda w: (
        _response.common,
        (w.codes(99, 20, np.uint64), w.codes(99, 20, np.uint64)),
    ),
    "_roots.can": lambda w: (_roots.can, (2, 3)),
    "_roots.size": lambda w: (_roots.size, (65,)),
    "_roots.roots": lambda w: (_roots.roots, root_arguments(w)),
    "_roots.products": lambda w: (
        _roots.products,
        (*gauge_arguments(w)[:4], np.empty((2, 2, 3), np.uint64), np.empty((2, 2), np.int64)),
    ),
    "_roots.gauge": lambda w: (
        _roots.gauge,
        (
            *gauge_arguments(w),
            100,
            64,
            *(np.empty((4, 2, 1), np.uint64), np.empty((4, 2), np.int64), np.empty((4, 2))),
        ),
    ),
    "_score.Scores": lambda w: (_score.Scores, scores_arguments(w)),
    "_score.Scores.cap": read(scores, "cap"),
    "_score.Scores.n_chunks": read(scores, "n_chunks"),
    "_score.Scores.near": read(scores, "near"),
    "_score.Scores.unit": read(scores, "unit"),
    "_score.Scorer": lambda w: (_score.Scorer, (w.get(scores),)),
    "_score.Scorer.costs": on(costing, "costs", lambda w: (0, 40, np.empty((40, 3), np.uint32))),
    "_score.Scorer.n_close": read(scorer, "n_close"),
    "_score.Scorer.order": on(scorer, "order", lambda w: (0, 40, order_of(w))),
    "_score.Scorer.predict": on(scorer, "predict", lambda w: (0, 40, labels_of(w), np.empty(40, np.uint8))),
    "_score.Served": lambda w: (_score.Served, (served_scores(w),)),
    "_score.Served.decide_columns": on(
        served,
        "decide_columns",
        lambda w: (
            w.get(columns),
            labels_of(w),
            w.rng.choice([None, w.get(translation)]),
            np.empty(40, np.uint8),
        ),
    ),
    "_score.Served.decide_matrix": on(
        served, "decide_matrix", lambda w: (matrix_of(w, 3, 2, 4), labels_of(w))
    ),
    "_score.Served.decide_record": on(served, "decide_record", lambda w: ([2, 0, w.rng.randrange(4)],)),
    "_score.ServedStrata": lambda w: (_score.ServedStrata, (strata(w),)),
    "_score.ServedStrata.decide_matrix": on(
        served_strata, "decide_matrix", lambda w: (matrix_of(w, 2, 3, 2, 4), labels_of(w))
    ),
    "_score.Translation": lambda w: (_score.Translation, (list(tables_of_positions(w)),)),
    "_skyline.Histograms": lambda w: (_skyline.Histograms, histogram_arguments(w)),
    "_skyline.Histograms.n_groups": read(histograms, "n_groups"),
    "_skyline.Scan": lambda w: (_skyline.Scan, (w.get(histograms), 3, longs(0, 1))),
    "_skyline.Scan.add": on(scan, "add", lambda w: (0, 3)),
    "_skyline.Scan.found": on(scan, "found", lambda w: ()),
    "_skyline.Tables": lambda w: (_skyline.Tables, table_arguments(w)),
    "_skyline.Tables.breach": on(tables, "breach", lambda w: (w.rng.randrange(3), w.rng.randrange(3), 0.0)),
    "_skyline.front": lambda w: (_skyline.front, (longs(0, 0, 1), longs(1, 2, 2), np.empty(3, np.uint8))),
    "_skyline.front_modes": lambda w: (
        _skyline.front_modes,
        (longs(3, 2, 1), longs(1, 2, 2), longs(3, 2, 1), longs(1, 2, 3), np.empty(3, np.uint8)),
    ),
    "_skyline.locate": lambda w: (
        _skyline.locate,
        (w.get(histograms), np.array([[0, 0, 2, 1, 0, 0, 0], [1, 1, 4, 0, 0, 1, 0], [2, 0, 4, 0, 0, 0, 0]])),
    ),
    "_skyline.falls": lambda w: (_skyline.falls, (longs(5, 9), longs(2, 3), 2, np.empty(2))),
    "_solve.Program": lambda w: (_solve.Program, (np.array([1.0, 0.5]), 2, 1e-9)),
    "_solve.Program.active": on(program, "active", lambda w: ()),
    "_solve.Program.add": on(program, "add", program_rows),
    "_solve.Program.n_rows": read(program, "n_rows"),
    "_solve.Program.renew": on(program, "renew", lambda w: ()),
    "_solve.Program.solve": on(program, "solve", lambda w: (1e-9, 20, w.rng.choice([1, 100]))),
    "_solve.Program.steps": read(program, "steps"),
    "_solve.Program.weights": on(program, "weights", lambda w: ()),
    "_solve.System": lambda w: (_solve.System, system_arguments(w)),
    "_solve.System.dependent": read(system, "dependent"),
    "_solve.System.digits": on(system, "digits", lambda w: (np.empty((3, 6), np.int64),)),
    "_solve.System.start": on(system, "start", lambda w: (longs(1, -2, 3, 4), longs(1, 1))),
    "_texts.TextEncoder": lambda w: (_texts.TextEncoder, ()),
    "_texts.TextEncoder.__len__": on(text_encoder, "__len__", lambda w: ()),
    "_texts.TextEncoder.encode": on(text_encoder, "encode", texts_arguments),
    "_texts.TextEncoder.found": on(text_encoder, "found", lambda w: (0,)),
    "_worlds.posteriors": lambda w: (_worlds.posteriors, worlds_arguments(w)),
    "_zeros.gains": lambda w: (
        _zeros.gains,
        (
            *(numbers_of(w, int, 5, 3), w.codes(2, (5, 3), np.uint8), longs(0, 2, 5), 0, 1, 7, True),
            *(np.empty(2, np.int64), np.empty(2, np.int64)),
        ),
    ),
}
