"""Texts of Arrow columns to codes in the order they are first met."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

import os

from shared.in_use cimport give, take

cdef extern from "shared/texts.h" nogil:
    ctypedef struct nbc_text_bytes:
        uint8_t *at
        int64_t n

    ctypedef struct nbc_text_ends:
        int64_t *at
        int64_t n

    ctypedef struct nbc_texts:
        int64_t n, null_code
        nbc_text_bytes bytes
        nbc_text_ends ends

    enum:
        NBC_TEXT_NO_MEMORY
        NBC_TEXT_TOO_MANY
        NBC_TEXT_NOT_UTF8

    int nbc_texts_begin(nbc_texts *texts, uint64_t seed)
    void nbc_texts_end(nbc_texts *texts)
    int64_t nbc_texts_null(nbc_texts *texts)
    int64_t nbc_text_offset_32(const int32_t *at)
    int64_t nbc_text_offset_64(const int64_t *at)
    int64_t nbc_texts_code(nbc_texts *texts, const uint8_t *at, int64_t n_bytes, int64_t readable)

ctypedef fused offset_t:
    int32_t
    int64_t

cdef enum:
    OUTSIDE = -5


cdef class TextEncoder:
    """Codes for texts in the order they are first met; those of an Arrow array are never made objects."""

    cdef nbc_texts texts
    cdef int users

    def __cinit__(self):
        if nbc_texts_begin(&self.texts, int.from_bytes(os.urandom(8), "little")) < 0:
            raise MemoryError("no memory for a table of distinct texts")

    def __dealloc__(self):
        nbc_texts_end(&self.texts)

    def __len__(self):
        return self.texts.n

    def encode(self, const offset_t[::1] offsets not None, const uint8_t[::1] data not None,
               const uint8_t[::1] valid, int64_t first_bit, uint32_t[::1] out not None):
        """out[i] = the code of data[offsets[i]:offsets[i + 1]], or of null.

        `valid` is an Arrow validity bitmap (None: all are valid), of which bit first_bit + i is for row i.
        """
        cdef int64_t n = out.shape[0], bad = -1, status
        if offsets.shape[0] != n + 1 or first_bit < 0 or (
                valid is not None and n > 8 * valid.shape[0] - first_bit):
            raise ValueError(f"{offsets.shape[0]} offsets, bits from {first_bit} of "
                             f"{'none' if valid is None else 8 * len(valid)}, room for {n} codes")
        take(&self.users, "TextEncoder")
        with nogil:
            status = _encode(&self.texts, offsets, data, valid, first_bit, out, &bad)
        give(&self.users)
        if status == OUTSIDE:
            raise ValueError(f"row {bad}: a text outside the {data.shape[0]} bytes of its column")
        if status == NBC_TEXT_NOT_UTF8:
            raise ValueError(f"row {bad}: expected a text of UTF-8")
        if status == NBC_TEXT_TOO_MANY:
            raise ValueError("expected at most 2^32 - 1 distinct texts, got more")
        if status < 0:
            raise MemoryError("no memory for a table of distinct texts")

    def found(self, int64_t start=0):
        """The texts by code, from the code `start` on; None for null."""
        cdef int64_t code, begin
        if not 0 <= start <= self.texts.n:
            raise ValueError(f"start must be 0..{self.texts.n}, got {start}")
        take(&self.users, "TextEncoder")
        try:
            listed = []
            begin = self.texts.ends.at[start - 1] if start else 0
            for code in range(start, self.texts.n):
                if code == self.texts.null_code:
                    listed.append(None)
                else:
                    listed.append(self.texts.bytes.at[begin:self.texts.ends.at[code]].decode("utf-8"))
                begin = self.texts.ends.at[code]
        finally:
            give(&self.users)
        return listed


cdef inline int64_t _offset(const offset_t *at) noexcept nogil:
    if offset_t is int32_t:
        return nbc_text_offset_32(at)
    else:
        return nbc_text_offset_64(at)


cdef int64_t _encode(nbc_texts *texts, const offset_t[::1] offsets, const uint8_t[::1] data,
                     const uint8_t[::1] valid, int64_t first_bit, uint32_t[::1] out,
                     int64_t *bad) noexcept nogil:
    cdef int64_t n = out.shape[0], n_data = data.shape[0], i, begin, stop, code, bit
    cdef bint has_bits = valid is not None
    cdef const uint8_t *bytes = &data[0] if n_data else NULL
    if n == 0:
        return 0
    stop = _offset(&offsets[0])
    for i in range(n):
        begin, stop = stop, _offset(&offsets[i + 1])
        if has_bits:
            bit = first_bit + i
            if not (valid[bit >> 3] >> (bit & 7)) & 1:
                code = nbc_texts_null(texts)
                if code < 0:
                    return code
                out[i] = <uint32_t> code
                continue
        if begin < 0 or stop < begin or stop > n_data:
            bad[0] = i
            return OUTSIDE
        code = nbc_texts_code(texts, bytes + begin, stop - begin, n_data - begin)
        if code < 0:
            bad[0] = i
            return code
        out[i] = <uint32_t> code
    return 0
