"""Coins of exact probability: random words, bits that are set with a rational chance, and uniform numbers."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from cpython.exc cimport PyErr_CheckSignals

from shared.in_use cimport give, take

cdef uint64_t MOST = <uint64_t> 1 << 63  # denominators and bounds stay below it
cdef int64_t WORDS = 1 << 16  # words of bits made between two looks at Ctrl-C


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
