"""What is told of answers by coins: reversed bits, lies of k-ary values, and counts of packed bits."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from cpython.exc cimport PyErr_CheckSignals

from shared.in_use cimport give, take
from nbcfast._coins cimport Coins, nbc_coins


cdef extern from "response.h" nogil:
    void nbc_flip_codes(const uint64_t *mask, const uint8_t *codes, uint8_t *out, int64_t n)
    void nbc_lie_u8(nbc_coins *coins, const uint64_t *mask, const uint8_t *codes, uint8_t *out, int64_t n,
                    uint32_t size)
    void nbc_lie_u16(nbc_coins *coins, const uint64_t *mask, const uint16_t *codes, uint16_t *out, int64_t n,
                     uint64_t size)
    void nbc_lie_u32(nbc_coins *coins, const uint64_t *mask, const uint32_t *codes, uint32_t *out, int64_t n,
                     uint64_t size)
    void nbc_lie_u64(nbc_coins *coins, const uint64_t *mask, const uint64_t *codes, uint64_t *out, int64_t n,
                     uint64_t size)
    int64_t nbc_ones(const uint64_t *a, int64_t n)
    int64_t nbc_common(const uint64_t *a, const uint64_t *b, int64_t n)


ctypedef fused codes_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef uint64_t MOST = <uint64_t> 1 << 63  # numbers of values stay below it
cdef int64_t WORDS = 1 << 16  # lies made between two looks at Ctrl-C


def lies(Coins coins not None, const uint64_t[::1] mask not None, const codes_t[::1] codes not None, uint64_t size,
         codes_t[::1] out not None):
    """codes, but where a bit of the mask is set another of the `size` values, each as likely."""
    cdef int64_t i, start, n, rows = codes.shape[0]
    cdef codes_t most = 0
    if out.shape[0] != rows or mask.shape[0] < (rows + 63) // 64:
        raise ValueError(f"{rows} codes but {out.shape[0]} places and {mask.shape[0]} words of mask")
    if not 2 <= size < MOST or (codes_t is uint8_t and size > 256) or (
            codes_t is uint16_t and size > 65536) or (codes_t is uint32_t and size > <uint64_t> 1 << 32):
        raise ValueError(f"size must be at least 2 and fit the type of the codes, got {size}")
    with nogil:
        for i in range(rows):
            most = codes[i] if codes[i] > most else most
    if rows and most >= size:
        raise ValueError(f"expected codes below {size}")
    take(&coins.users, "Coins")
    try:
        for start in range(0, rows, WORDS):
            n = min(WORDS, rows - start)
            with nogil:
                if codes_t is uint8_t:
                    nbc_lie_u8(&coins.coins, &mask[start // 64], &codes[start], &out[start], n,
                               <uint32_t> size)
                elif codes_t is uint16_t:
                    nbc_lie_u16(&coins.coins, &mask[start // 64], &codes[start], &out[start], n, size)
                elif codes_t is uint32_t:
                    nbc_lie_u32(&coins.coins, &mask[start // 64], &codes[start], &out[start], n, size)
                else:
                    nbc_lie_u64(&coins.coins, &mask[start // 64], &codes[start], &out[start], n, size)
            PyErr_CheckSignals()
    finally:
        give(&coins.users)


def flip(const uint64_t[::1] mask not None, const uint8_t[::1] codes not None, uint8_t[::1] out not None):
    """codes (0 and 1) with those reversed whose bit of the mask is set."""
    cdef int64_t rows = codes.shape[0]
    if out.shape[0] != rows or mask.shape[0] < (rows + 63) // 64:
        raise ValueError(f"{rows} codes but {out.shape[0]} places and {mask.shape[0]} words of mask")
    if rows:
        with nogil:
            nbc_flip_codes(&mask[0], &codes[0], &out[0], rows)


def ones(const uint64_t[::1] a not None):
    """How many bits are set."""
    cdef int64_t total = 0
    if a.shape[0]:
        with nogil:
            total = nbc_ones(&a[0], a.shape[0])
    return total


def common(const uint64_t[::1] a not None, const uint64_t[::1] b not None):
    """How many bits are set in both."""
    cdef int64_t total = 0
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"{a.shape[0]} and {b.shape[0]} words")
    if a.shape[0]:
        with nogil:
            total = nbc_common(&a[0], &b[0], a.shape[0])
    return total
