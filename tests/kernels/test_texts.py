"""The kernel that turns texts of Arrow into codes: edges, errors, and what comes from outside."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast import _texts

LETTERS = st.sampled_from("ab\0é€\U0001f600")
LONG = st.sampled_from(["", "a" * 24, "a" * 25])
TEXTS = st.lists(st.one_of(st.none(), st.text(LETTERS, max_size=30), LONG))


def column(texts, dtype=np.int64, before=b"", after=b""):
    """Offsets, bytes and the bits of validity of an Arrow array, whose bytes stand between others."""
    coded = [b"" if text is None else text.encode() for text in texts]
    offsets = np.cumsum([len(before), *map(len, coded)]).astype(dtype)
    bits = np.packbits(np.array([text is not None for text in texts], bool), bitorder="little")
    return offsets, np.frombuffer(before + b"".join(coded) + after, np.uint8), bits


def encoded(encoder, texts, dtype=np.int64, **around):
    out = np.empty(len(texts), np.uint32)
    offsets, data, bits = column(texts, dtype, **around)
    encoder.encode(offsets, data, bits, 0, out)
    return out.tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@given(first=TEXTS, second=TEXTS, before=st.binary(max_size=9), after=st.binary(max_size=30))
def test_it_equals_a_dictionary(dtype, first, second, before, after):
    encoder, order = _texts.TextEncoder(), {}
    for texts in (first, second):
        codes = [order.setdefault(text, len(order)) for text in texts]
        assert encoded(encoder, texts, dtype, before=before, after=after) == codes
    assert encoder.found() == list(order)
    assert len(encoder) == len(order)
    assert [encoder.found(start) for start in range(len(order) + 1)] == [
        list(order)[start:] for start in range(len(order) + 1)
    ]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 41, 100])
def test_texts_of_one_length_that_differ_in_one_byte(size):
    """Whichever words a text is compared by, each of its bytes is in one."""
    texts = ["x" * size, *("x" * at + "y" + "x" * (size - at - 1) for at in range(size)), "x" * (size + 1)]
    assert encoded(_texts.TextEncoder(), texts * 2) == [*range(len(texts))] * 2


def test_a_text_is_no_other_with_zeros_behind_it():
    texts = ["", "\0", "\0\0", "a", "a\0", *("\0" * size for size in range(3, 30))]
    assert encoded(_texts.TextEncoder(), [*texts, None, *texts]) == [
        *range(len(texts)), len(texts), *range(len(texts))
    ]  # fmt: skip


@pytest.mark.parametrize("size", [3, 20, 40])
def test_it_grows(size):
    texts = [f"{number:0{size}x}"[-size:] for number in range(4000)]
    distinct = list(dict.fromkeys(texts))
    encoder = _texts.TextEncoder()
    assert encoded(encoder, texts) == [distinct.index(text) for text in texts]
    assert encoder.found() == distinct


def test_bits_begin_anywhere():
    encoder, out = _texts.TextEncoder(), np.empty(3, np.uint32)
    offsets, data, _ = column(["a", "b", "a"])
    encoder.encode(offsets, data, np.array([0b01000000, 0b00000001], np.uint8), 6, out)
    assert (out.tolist(), encoder.found()) == ([0, 1, 0], ["a", None])
    for first in (0, 2**63 - 1):  # of no bits
        encoder.encode(offsets, data, None, first, out)
        assert (out.tolist(), encoder.found()) == ([0, 2, 0], ["a", None, "b"])


@pytest.mark.parametrize(
    "wrong",
    [b"\xff", b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80",
     b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xe2\x28\xa1"],
)  # fmt: skip
@pytest.mark.parametrize("around", [b"", b"a" * 30])
def test_what_is_no_utf_8_is_refused_where_it_stands(wrong, around):
    with pytest.raises(UnicodeDecodeError):
        wrong.decode()
    text = around + wrong + around
    encoder, out = _texts.TextEncoder(), np.empty(2, np.uint32)
    with pytest.raises(ValueError, match=r"^row 1: expected a text of UTF-8$"):
        encoder.encode(np.array([0, 0, len(text)]), np.frombuffer(text, np.uint8), None, 0, out)
    assert encoder.found() == [""]


@given(data=st.binary(max_size=6))
def test_it_takes_what_python_decodes(data):
    encoder, out = _texts.TextEncoder(), np.empty(1, np.uint32)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    try:
        encoder.encode(np.array([0, len(data)]), np.frombuffer(data, np.uint8), None, 0, out)
    except ValueError:
        assert text is None
    else:
        assert encoder.found() == [text]


@pytest.mark.parametrize("offsets", [[0, 4], [-1, 1], [2, 1], [0, 2**62], [-(2**63), 1]])
def test_texts_outside_the_bytes_are_refused(offsets):
    with pytest.raises(ValueError, match=r"^row 0: a text outside the 3 bytes of its column$"):
        _texts.TextEncoder().encode(
            np.array(offsets), np.frombuffer(b"abc", np.uint8), None, 0, np.empty(1, np.uint32)
        )


def test_what_a_null_slot_holds_is_not_looked_at():
    out = np.empty(1, np.uint32)
    encoder = _texts.TextEncoder()
    encoder.encode(np.array([7, -7]), np.empty(0, np.uint8), np.zeros(1, np.uint8), 0, out)
    assert (out.tolist(), encoder.found()) == ([0], [None])


@pytest.mark.parametrize(
    ("offsets", "valid", "first", "room", "words"),
    [
        (3, None, 0, 3, "3 offsets, bits from 0 of none, room for 3 codes"),
        (4, 1, 6, 3, "4 offsets, bits from 6 of 8, room for 3 codes"),
        (4, 1, -1, 3, "4 offsets, bits from -1 of 8, room for 3 codes"),
    ],
)
def test_other_lengths_are_refused(offsets, valid, first, room, words):
    bits = None if valid is None else np.zeros(valid, np.uint8)
    with pytest.raises(ValueError, match=f"^{words}$"):
        _texts.TextEncoder().encode(
            np.zeros(offsets, np.int32), np.empty(0, np.uint8), bits, first, np.empty(room, np.uint32)
        )


def test_other_starts_are_refused():
    with pytest.raises(ValueError, match=r"^start must be 0\.\.0, got 1$"):
        _texts.TextEncoder().found(1)


def test_an_encoder_is_of_one_call_at_a_time():
    encoder, failures = _texts.TextEncoder(), []
    texts = [str(number) for number in range(200_000)]
    offsets, data, bits = column(texts)

    def work():
        try:
            encoder.encode(offsets, data, bits, 0, np.empty(len(texts), np.uint32))
        except RuntimeError as error:
            failures.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(encoder) == len(texts)
    assert {*failures} <= {"this TextEncoder is in use by another call: give each thread one of its own"}
