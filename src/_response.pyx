"""Coins of exact probability: reversed bits, lies of k-ary values, and counts of packed bits."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from cpython.exc cimport PyErr_CheckSignals

from shared.in_use cimport give, take


cdef extern from "response.h" nogil:
    ctypedef struct nbc_coins:
        int seeded

    void nbc_coins_start(nbc_coins *coins, const uint8_t *key, int seeded)
    void nbc_coins_bits(nbc_coins *coins, uint64_t num, uint64_t den, uint64_t *out, int64_t n_words)
    uint64_t nbc_coins_below(nbc_coins *coins, uint64_t bound)
    uint64_t nbc_coins_word(nbc_coins *coins)
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
    void nbc_chacha_block(const uint32_t *key, uint32_t counter, const uint32_t *nonce, uint32_t *out)


ctypedef fused codes_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef uint64_t MOST = <uint64_t> 1 << 63  # denominators and bounds stay below it
cdef int64_t WORDS = 1 << 16  # bits and lies made between two looks at Ctrl-C


def chacha_block(const uint32_t[::1] key not None, uint32_t counter, const uint32_t[::1] nonce not None,
                 uint32_t[::1] out not None):
    """The ChaCha20 block function of RFC 8439, 2.3, in little-endian words: 8 of key, 3 of nonce, 16 out."""
    if key.shape[0] != 8 or nonce.shape[0] != 3 or out.shape[0] != 16:
        raise ValueError(f"expected 8, 3 and 16 words, got {key.shape[0]}, {nonce.shape[0]} and {out.shape[0]}")
    nbc_chacha_block(&key[0], counter, &nonce[0], &out[0])


cdef class Coins:
    """A stream of random bits: ChaCha20 under a key of 32 bytes, or xoshiro256++ for simulations.

    Bits of a seeded stream can be foretold by whoever has seen some: they protect nobody. The key is
    overwritten when the object goes. One call at a time: a second thread that drew from the same state would get
    the same coins, and is refused.
    """
    cdef nbc_coins coins
    cdef int users

    def __cinit__(self, const uint8_t[::1] key not None, *, bint seeded=False):
        if key.shape[0] != 32:
            raise ValueError(f"key must be 32 bytes, got {key.shape[0]}")
        nbc_coins_start(&self.coins, &key[0], seeded)

    def __dealloc__(self):
        cdef volatile uint8_t *place = <uint8_t *> &self.coins
        cdef size_t i
        for i in range(sizeof(nbc_coins)):
            place[i] = 0

    def __reduce__(self):
        raise TypeError("coins are not copied: two streams would be the same")

    @property
    def seeded(self):
        return bool(self.coins.seeded)

    def words(self, uint64_t[::1] out not None):
        """Random words as they come."""
        cdef int64_t i
        take(&self.users, "Coins")
        with nogil:
            for i in range(out.shape[0]):
                out[i] = nbc_coins_word(&self.coins)
        give(&self.users)

    def bits(self, uint64_t num, uint64_t den, uint64_t[::1] out not None):
        """Fill `out` with bits that are 1 with the probability num / den, exactly."""
        cdef int64_t start, n, size = out.shape[0]
        if not 1 <= den < MOST or num > den:
            raise ValueError(f"expected 0 <= num <= den with den in 1..2^63-1, got {num}/{den}")
        take(&self.users, "Coins")
        try:
            for start in range(0, size, WORDS):
                n = min(WORDS, size - start)
                with nogil:
                    nbc_coins_bits(&self.coins, num, den, &out[start], n)
                PyErr_CheckSignals()
        finally:
            give(&self.users)

    def below(self, uint64_t bound, uint64_t[::1] out not None):
        """Fill `out` with uniform numbers below `bound`."""
        cdef int64_t i
        if not 1 <= bound <= MOST:
            raise ValueError(f"bound must be 1..2^63, got {bound}")
        take(&self.users, "Coins")
        with nogil:
            for i in range(out.shape[0]):
                out[i] = nbc_coins_below(&self.coins, bound)
        give(&self.users)

    def lies(self, const uint64_t[::1] mask not None, const codes_t[::1] codes not None, uint64_t size,
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
        take(&self.users, "Coins")
        try:
            for start in range(0, rows, WORDS):
                n = min(WORDS, rows - start)
                with nogil:
                    if codes_t is uint8_t:
                        nbc_lie_u8(&self.coins, &mask[start // 64], &codes[start], &out[start], n,
                                   <uint32_t> size)
                    elif codes_t is uint16_t:
                        nbc_lie_u16(&self.coins, &mask[start // 64], &codes[start], &out[start], n, size)
                    elif codes_t is uint32_t:
                        nbc_lie_u32(&self.coins, &mask[start // 64], &codes[start], &out[start], n, size)
                    else:
                        nbc_lie_u64(&self.coins, &mask[start // 64], &codes[start], &out[start], n, size)
                PyErr_CheckSignals()
        finally:
            give(&self.users)


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
