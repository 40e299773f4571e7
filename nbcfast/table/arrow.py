"""Columns from Arrow data: pandas, polars, DuckDB and pyarrow, batch by batch."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from nbcfast import _codes
from nbcfast._core.dtypes import Array, Bytes, Codes
from nbcfast._core.errors import NoColumnError
from nbcfast._core.threads import NO_THREAD, startable
from nbcfast._core.untyped import PyArrow
from nbcfast.table.elsewhere import refuse_far
from nbcfast.table.encode import ColumnBuilder, TextBuilder, Utf8
from nbcfast.table.values import Value

ROWS = 1 << 20  # rows of a batch looked at in one go
MOST_KEPT = 1 << 16  # texts from batch to batch, where a batch has fewer: each asks for all of them
IO_THREADS = 8  # pyarrow's own, and one of its allocator, beside one for each core
LEAST_THREADS = 2  # with fewer its readers fail, or wait for ever

_room: int | None = None  # for threads, when pyarrow was first loaded
_wanted = 0  # threads that it would start


def load_pyarrow() -> PyArrow:
    """The optional pyarrow, or one line that says how to get it.

    Where the process does not get as many threads as pyarrow would start, it is told to start fewer: it may
    wait for ever for a thread that it does not get.
    """
    global _room, _wanted
    if _room is None:
        # Once: counting the cores takes a system longer than reading a batch of a column.
        _wanted = wanted = (os.cpu_count() or 1) + IO_THREADS + 1
        _room = startable(wanted)
        if _room < wanted:
            os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
    try:
        import pyarrow
        import pyarrow.compute
    except ModuleNotFoundError:
        message = (
            "this needs pyarrow, which is missing (CSV is read and predicted without it): pip install pyarrow"
        )
        raise ModuleNotFoundError(message, name="pyarrow") from None
    except ImportError as error:  # it is there, and its libraries cannot be loaded: a limit of memory, say
        raise ImportError(f"pyarrow cannot be loaded: {one_line(error)}", name="pyarrow") from None
    if _room < _wanted:
        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
    return pyarrow


def load_readers() -> PyArrow:
    """pyarrow, where there are threads enough for its readers of files."""
    pa = load_pyarrow()
    if _room is not None and _room < LEAST_THREADS:
        raise OSError(NO_THREAD)
    return pa


def one_line(error: BaseException) -> str:
    """The message of a pyarrow error without its line breaks."""
    if "Failed to launch worker thread" in str(error):
        return NO_THREAD
    # Some have several lines as several arguments; those of a UnicodeError are not meant to be read.
    text = str(error) if isinstance(error, UnicodeError) else " ".join(map(str, error.args))
    return " ".join(text.split()) or type(error).__name__


def _wrap(error: BaseException, where: str) -> BaseException:
    """A TypeError or ValueError, as pyarrow had it, in one line that says where."""
    cls = TypeError if isinstance(error, (TypeError, NotImplementedError)) else ValueError
    return cls(f"{where}: {one_line(error)}")


class ColumnReader:
    """The arrays of one Arrow column, as numbers or as codes with the values they point at."""

    def __init__(self, name: str, type_: PyArrow) -> None:
        self.name = name
        self.type = type_
        self._pa = load_pyarrow()
        types = self._pa.types
        value_type = type_.value_type if types.is_dictionary(type_) else type_
        if types.is_run_end_encoded(type_):
            value_type = type_.value_type
        self._value_type = value_type
        self._dictionary: PyArrow = None
        self._values: list[Value] = []
        self._with_null: list[Value] = []
        self._builder: TextBuilder | None = None
        self._found: list[Value] = []
        if not (
            types.is_integer(value_type)
            or types.is_floating(value_type)
            or types.is_boolean(value_type)
            or self._is_text(value_type)
            or types.is_null(value_type)
            or types.is_date(value_type)
            or types.is_time(value_type)
            or types.is_timestamp(value_type)
            or types.is_duration(value_type)
            or types.is_decimal(value_type)
        ):
            raise TypeError(
                f"column {name!r}: expected bools, integers, floats, text, dates, times or decimals, "
                f"got {type_}"
            )

    def _is_text(self, type_: PyArrow) -> bool:
        types = self._pa.types
        return bool(
            types.is_string(type_)
            or types.is_large_string(type_)
            or (hasattr(types, "is_string_view") and types.is_string_view(type_))
        )

    @property
    def is_number(self) -> bool:
        """Whether numbers() reads this column without a dictionary."""
        types = self._pa.types
        return bool(types.is_integer(self.type) or types.is_floating(self.type))

    def numbers(self, array: PyArrow) -> tuple[Array, Bytes | None]:
        """The numbers of an array, and where it is null."""
        nulls = None
        if array.null_count:
            bits = np.frombuffer(array.buffers()[0], np.uint8)
            first = array.offset // 8
            bits = np.unpackbits(bits[first : (array.offset + len(array) + 7) // 8], bitorder="little")
            nulls = 1 - bits[array.offset - 8 * first :][: len(array)]
        return _numbers(array, array.type.to_pandas_dtype()), nulls

    def encode(self, array: PyArrow, *, check: bool = True) -> tuple[Codes, list[Value]]:
        """Codes that are positions in the values beside them; None is there once where there are nulls.

        Without `check` codes of a malformed array may lie outside: for whoever checks them anyway.
        """
        pa, types = self._pa, self._pa.types
        try:
            if types.is_run_end_encoded(array.type):
                array = pa.compute.run_end_decode(array)
            if types.is_integer(array.type) or types.is_floating(array.type):
                return self._encode_numbers(array)
            if types.is_null(array.type):
                return np.zeros(len(array), np.uint8), self._only_null()
            if types.is_boolean(array.type):
                indices, values = array.cast(pa.uint8()), self._of_dictionary(pa.array([False, True]))
            else:
                if not types.is_dictionary(array.type):
                    if self._is_text(array.type):
                        return self._encode_texts(array)
                    array = pa.compute.dictionary_encode(self._encodable(array))
                indices, values = array.indices, self._of_dictionary(array.dictionary)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise _wrap(error, f"column {self.name!r}") from None
        codes = _numbers(indices, indices.type.to_pandas_dtype())
        if indices.null_count:
            filled = np.empty(len(codes), np.int64)
            valid = np.frombuffer(indices.buffers()[0], np.uint8)
            try:
                _codes.fill_nulls(codes, valid, indices.offset, len(values), filled)
            except ValueError as error:
                raise ValueError(f"column {self.name!r}: {error}") from None
            return filled, self._with_null
        if check:
            check_codes(self.name, codes, len(values))
        return codes, values

    def _only_null(self) -> list[Value]:
        if not self._with_null:
            self._with_null = [None]
        return self._with_null

    def _encodable(self, array: PyArrow) -> PyArrow:
        """The array in a type that every pyarrow can dictionary-encode."""
        pa = self._pa
        name = str(array.type)
        if name == "string_view":
            return array.cast(pa.large_string())
        if name.startswith(("decimal32", "decimal64")):
            return array.cast(pa.decimal128(array.type.precision, array.type.scale))
        return array

    @property
    def is_text(self) -> bool:
        """Whether texts() reads this column without a dictionary."""
        return self._is_text(self.type)

    def texts(self, array: PyArrow) -> Utf8:
        """The bytes of an array of texts."""
        array = self._encodable(array)
        if not len(array):
            return Utf8(np.zeros(1, np.int64), np.empty(0, np.uint8), None, 0)
        valid, offsets, data = array.buffers()
        dtype = np.int64 if self._pa.types.is_large_string(array.type) else np.int32
        return Utf8(
            _of_buffer(offsets, dtype, array.offset, len(array) + 1),
            np.frombuffer(b"" if data is None else data, np.uint8),
            None if valid is None else np.frombuffer(valid, np.uint8),
            array.offset,
        )

    def _encode_texts(self, array: PyArrow) -> tuple[Codes, list[Value]]:
        """First-seen codes in a list that grows from batch to batch: whoever adds it looks at what is new."""
        if self._builder is None or len(self._builder) > max(len(array), MOST_KEPT):
            self._builder, self._found = TextBuilder(self.name), []
        codes = np.empty(len(array), np.uint32)
        self._builder.encode(self.texts(array), 0, codes)
        self._found += self._builder.found(len(self._found))
        return codes, self._found

    def _encode_numbers(self, array: PyArrow) -> tuple[Codes, list[Value]]:
        builder = ColumnBuilder(self.name)
        builder.add_numbers(*self.numbers(array))
        column = builder.finish()
        return column.codes, list(column.domain.values)

    def _of_dictionary(self, dictionary: PyArrow) -> list[Value]:
        """The values of a dictionary as a list; the same list again while the dictionary stays the same."""
        if self._dictionary is None or not (
            self._dictionary is dictionary or self._dictionary.equals(dictionary)
        ):
            dictionary.validate(full=True)
            self._values = self._python_values(dictionary)
            self._with_null = [*self._values, None]
            self._dictionary = dictionary
        return self._values

    def _python_values(self, array: PyArrow) -> list[Value]:
        types, type_ = self._pa.types, array.type
        if types.is_decimal(type_):
            return [self._number(value) for value in array.to_pylist()]
        if types.is_temporal(type_):
            texts = _temporal_texts(array, types, self.name)
            return [
                text if valid else None
                for text, valid in zip(texts, array.is_valid().to_pylist(), strict=True)
            ]
        values: list[Value] = array.to_pylist()
        return values

    def _number(self, value: Decimal | None) -> Value:
        """A decimal as an int where its scale is 0, else as the float that has the same text."""
        if value is None:
            return None
        if self._value_type.scale <= 0:
            return int(value)
        number = float(value)
        if Decimal(repr(number)) != value:
            raise ValueError(
                f"column {self.name!r}: {value} of {self._value_type} is no float64; "
                "cast the column to text or float64"
            )
        return number


def _numbers(array: PyArrow, dtype: npt.DTypeLike) -> Array:
    """The data buffer of a primitive array without a copy."""
    size = len(array)
    if size == 0:
        return np.empty(0, dtype)
    return _of_buffer(array.buffers()[1], dtype, array.offset, size)


def _of_buffer(buffer: PyArrow, dtype: npt.DTypeLike, start: int, size: int) -> Array:
    numbers: Array = np.frombuffer(buffer, np.dtype(dtype), start + size)[start:]
    return numbers if numbers.flags.aligned else numbers.copy()


def _temporal_texts(array: PyArrow, types: PyArrow, name: str) -> list[str]:
    """ISO 8601, fractions without trailing zeros: the same moment in other units has the same text."""
    type_ = array.type
    wide = array.type.bit_width == 64
    ticks = _numbers(array, np.int64 if wide else np.int32).astype(np.int64)
    valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    wrong = valid & (ticks == np.iinfo(np.int64).min)  # NumPy reads it as no time
    if wrong.any():
        raise ValueError(f"column {name!r}: {ticks[wrong][0]} is no {type_}")
    if types.is_date(type_):
        days = ticks if not wide else ticks // 86_400_000
        return [str(text) for text in np.datetime_as_string(days.view("M8[D]"))]
    unit = type_.unit
    if types.is_timestamp(type_):
        zone = "" if type_.tz is None else "+00:00"
        moments = np.datetime_as_string(ticks.view(f"M8[{unit}]"))
        return [_trimmed(str(moment)) + zone for moment in moments]
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]
    if types.is_duration(type_):
        return [("-" if t < 0 else "") + f"PT{_seconds(abs(t), digits)}S" for t in ticks.tolist()]
    texts = []
    for tick in ticks.tolist():
        minutes, ticks_left = divmod(tick, 60 * 10**digits)
        zero = "0" if ticks_left < 10 ** (digits + 1) else ""
        texts.append(f"{minutes // 60:02d}:{minutes % 60:02d}:{zero}{_seconds(ticks_left, digits)}")
    return texts


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _seconds(ticks: int, digits: int) -> str:
    whole, fraction = divmod(ticks, 10**digits)
    return _trimmed(f"{whole}.{fraction:0{digits}d}") if digits else str(whole)


def index_columns(schema: PyArrow) -> set[str]:
    """The columns that are a pandas index: labels, which no result may depend on."""
    try:
        known = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
        return {name for name in known if isinstance(name, str)}
    except (KeyError, ValueError, TypeError):
        return set()


def _check_pandas_names(schema: PyArrow) -> None:
    """Pandas turns column names into text on the way; the metadata remembers what they were."""
    try:
        indexes = json.loads((schema.metadata or {})[b"pandas"])["column_indexes"]
        kinds = {index["pandas_type"] for index in indexes}
    except (KeyError, ValueError, TypeError):
        return
    if len(schema.names) and (len(indexes) > 1 or not kinds <= {"unicode", "string", "empty", None}):
        raise TypeError(f"expected column names of str, got {', '.join(sorted(map(str, kinds)))}")


def open_batches(obj: object) -> tuple[PyArrow, Iterator[PyArrow]]:
    """The schema and the record batches of anything that exports Arrow data, or of an iterable of batches."""
    refuse_far(obj, "table")
    pa = load_pyarrow()
    try:
        if isinstance(obj, pa.RecordBatchReader):
            return obj.schema, iter(obj)
        if isinstance(obj, pa.RecordBatch):
            return obj.schema, iter([obj])
        if hasattr(obj, "__arrow_c_stream__"):
            if type(obj).__module__.split(".")[0] == "pandas" and hasattr(obj, "columns"):
                _check_pandas_columns(obj.columns)
            reader = pa.RecordBatchReader.from_stream(obj)
            _check_pandas_names(reader.schema)
            return reader.schema, iter(reader)
        if hasattr(obj, "__arrow_c_array__"):
            batch = pa.record_batch(obj)
            return batch.schema, iter([batch])
    except (pa.ArrowException, NotImplementedError, OverflowError) as error:
        if "non-struct" in one_line(error):
            raise TypeError(f"expected a table, got one column ({type(obj).__name__})") from None
        raise _wrap(error, type(obj).__name__) from None
    if isinstance(obj, Iterable):
        batches = iter(obj)
        first = next(batches, None)
        if first is None:
            raise ValueError("expected at least one record batch, got none")
        if not isinstance(first, pa.RecordBatch):
            raise TypeError(f"expected record batches, got {type(first).__name__}")
        return first.schema, _same_schema(first, batches, pa)
    raise TypeError(
        "expected an object with __arrow_c_stream__ or an iterable of record batches, "
        f"got {type(obj).__name__}"
    )


def _check_pandas_columns(columns: PyArrow) -> None:
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"expected column names of str, got {name!r} of {type(name).__name__}")
    if not columns.is_unique:
        name = columns[columns.duplicated()][0]
        raise ValueError(f"expected distinct column names, got {name!r} twice")


def _same_schema(first: PyArrow, batches: Iterator[PyArrow], pa: PyArrow) -> Iterator[PyArrow]:
    yield first
    for batch in batches:
        if not isinstance(batch, pa.RecordBatch):
            raise TypeError(f"expected record batches, got {type(batch).__name__}")
        if not batch.schema.equals(first.schema):
            raise ValueError("expected record batches of one schema, got another after the first")
        yield batch


def chosen_names(present: list[str], names: Iterable[str] | None, skip: set[str] | None = None) -> list[str]:
    """The columns asked for, or all; unknown and duplicate names are refused."""
    seen: set[str] = set()
    for name in present:
        if name in seen:
            raise ValueError(f"expected distinct column names, got {name!r} twice")
        seen.add(name)
    if names is None:
        return [name for name in present if name not in (skip or ())]
    if isinstance(names, str):
        raise TypeError(f"columns: expected a sequence of names, got the text {names!r}")
    wanted = list(names)
    for name in wanted:
        if name not in seen:
            raise NoColumnError(name, present)
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise ValueError(f"expected distinct column names, got {twice!r} twice")
    return wanted


def open_columns(
    obj: object, names: Iterable[str] | None = None, known: Mapping[str, ColumnReader] | None = None
) -> tuple[dict[str, ColumnReader], Iterator[dict[str, PyArrow]]]:
    """A reader for each column, and batches (at most ROWS rows) of name -> Arrow array.

    Those of another part of the same stream know its dictionaries, where the types are the same.
    """
    schema, batches = open_batches(obj)
    wanted = chosen_names(list(schema.names), names, index_columns(schema))
    places = {name: schema.names.index(name) for name in wanted}
    readers = {}
    for name, place in places.items():
        type_ = schema.field(place).type
        same = None if known is None else known.get(name)
        readers[name] = same if same is not None and same.type == type_ else ColumnReader(name, type_)
    return readers, _arrays(batches, places)


def _arrays(batches: Iterator[PyArrow], places: dict[str, int]) -> Iterator[dict[str, PyArrow]]:
    pa = load_pyarrow()
    while True:
        batch = None
        try:
            batch = next(batches, None)
            if batch is None:
                return
            if not batch.num_rows:
                continue  # pyarrow takes an empty slice of string views for a malformed one
            batch.validate()
        except pa.ArrowException as error:
            raise _wrap(error, _malformed(batch, pa)) from None
        for start in range(0, batch.num_rows, ROWS):
            part = batch.slice(start, ROWS)
            yield {name: part.column(place) for name, place in places.items()}


def _malformed(batch: PyArrow, pa: PyArrow) -> str:
    """Which column of a batch pyarrow refuses: it says its number."""
    for name, array in zip(batch.schema.names, batch.columns, strict=True) if batch is not None else ():
        try:
            array.validate()
        except pa.ArrowException:
            return f"column {name!r}"
    return "Arrow data"


def check_codes(name: str, codes: Codes, n_values: int) -> None:
    """Every code must be a position among so many values."""
    bad = _codes.check_range(codes, n_values)
    if bad >= 0:
        raise ValueError(
            f"column {name!r}: row {bad}: code {codes[bad]} outside a dictionary of {n_values} values"
        )


def encoded_batches(
    obj: object, names: Iterable[str] | None = None, *, check: bool = True
) -> Iterator[dict[str, tuple[Codes, list[Value]]]]:
    """Batches of name -> (codes, values): every code is a position in the values beside it.

    The values may have duplicates and some that no row has, as those of the batches before; None is there
    once where there are nulls. Codes of a dictionary are its indices themselves, without a copy, where there
    are no nulls.
    """
    yield from encoded(*open_columns(obj, names), check=check)


def encoded(
    readers: Mapping[str, ColumnReader], batches: Iterable[Mapping[str, PyArrow]], *, check: bool = True
) -> Iterator[dict[str, tuple[Codes, list[Value]]]]:
    """`encoded_batches` of columns that are open."""
    for batch in batches:
        yield {name: readers[name].encode(array, check=check) for name, array in batch.items()}


def add_batch(builder: ColumnBuilder, reader: ColumnReader, array: PyArrow) -> None:
    """The rows of one Arrow array."""
    if reader.is_number:
        numbers, nulls = reader.numbers(array)
        builder.add_numbers(numbers, nulls)
    elif reader.is_text:
        builder.add_texts(reader.texts(array))
    else:
        builder.add_coded(*reader.encode(array))


def add_batches(builders: Mapping[str, ColumnBuilder], batches: Iterable[PyArrow]) -> Iterator[PyArrow]:
    """Add record batches to the builders of their columns; each is given back once it is added."""
    readers: dict[str, ColumnReader] = {}
    for batch in batches:
        for name, builder in builders.items():
            array = batch.column(batch.schema.get_field_index(name))
            if name not in readers:
                readers[name] = ColumnReader(name, array.type)
            add_batch(builder, readers[name], array)
        yield batch


def add_arrays(
    builders: Mapping[str, ColumnBuilder], arrays: Iterable[Mapping[str, PyArrow]]
) -> Iterator[int]:
    """Add name -> array to the builders of their columns; how many rows, once they are added.

    The type of a column may change where both are dictionaries of the same values' type.
    """
    readers: dict[str, ColumnReader] = {}
    for batch in arrays:
        for name, builder in builders.items():
            array = batch[name]
            if name not in readers:
                readers[name] = ColumnReader(name, array.type)
            add_batch(builder, readers[name], array)
        yield len(array)


def add_array(builder: ColumnBuilder, data: object) -> None:
    """All rows of a column from one Arrow object: a pyarrow array, a pandas or polars Series."""
    pa = load_pyarrow()
    where = f"column {builder.name!r}"
    try:
        if isinstance(data, (pa.Array, pa.ChunkedArray)):
            chunked = data
        elif hasattr(data, "__arrow_c_stream__"):
            chunked = pa.chunked_array(data)
        else:
            chunked = pa.array(data)
        chunked.validate()
    except (pa.ArrowException, NotImplementedError, TypeError, OverflowError) as error:
        raise _wrap(error, where) from None
    reader = ColumnReader(builder.name, chunked.type)
    for chunk in chunked.chunks if isinstance(chunked, pa.ChunkedArray) else [chunked]:
        for start in range(0, len(chunk), ROWS):
            add_batch(builder, reader, chunk.slice(start, ROWS))


def to_arrow_column(codes: Codes, values: tuple[Value, ...], texts: bool, where: str) -> PyArrow:
    """A dictionary array of these codes; None is null, and `texts` shows the values as text."""
    pa = load_pyarrow()
    has_null = None in values
    present = [str(value) if texts else value for value in values if value is not None]
    try:
        dictionary = pa.array(present, pa.null() if not present else None)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise _wrap(error, where) from None
    if not present:
        return pa.nulls(len(codes))
    bits = codes.dtype.itemsize * 8
    # pandas wants signed indices; where they fit they are the codes themselves.
    fits = len(values) <= 1 << (bits - 1)
    signed = codes.view(f"i{bits // 8}") if fits else codes.astype(f"i{bits // 4}")
    mask = None
    if has_null:
        place = values.index(None)
        mask = codes == place
        signed = np.where(mask, np.zeros(1, signed.dtype), signed)
        if place < len(present):  # SUPPRESSED stands behind it
            signed = np.where(signed > place, signed - 1, signed)
    indices = pa.array(signed, mask=mask)
    return pa.DictionaryArray.from_arrays(indices, dictionary)
