from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "shared/coins.h" nogil:
    ctypedef struct nbc_coins:
        int seeded
        uint64_t counter
        uint64_t used

    void nbc_coins_start(nbc_coins *coins, const uint8_t *key, int seeded)
    void nbc_coins_bits(nbc_coins *coins, uint64_t num, uint64_t den, uint64_t *out, int64_t n_words)
    uint64_t nbc_coins_below(nbc_coins *coins, uint64_t bound)
    uint64_t nbc_coins_word(nbc_coins *coins)
    void nbc_chacha_block(const uint32_t *key, uint32_t counter, const uint32_t *nonce, uint32_t *out)


cdef class Coins:
    cdef nbc_coins coins
    cdef int users
