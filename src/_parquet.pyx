"""Codes and dictionaries of Parquet column chunks, of those that have both; the rest is pyarrow's."""

from libc.stdint cimport int64_t, uint8_t, uint16_t

from shared.in_use cimport apart


cdef extern from "parquet.h" nogil:
    ctypedef struct nbc_bytes:
        const uint8_t *at
        const uint8_t *end

    ctypedef struct nbc_chunk:
        int64_t dictionary
        int64_t stored
        int64_t raw
        int64_t n_values
        int64_t most_raw
        int64_t n_rows

    int nbc_plan_chunk(const uint8_t *chunk, int64_t n_bytes, nbc_chunk *plan)
    int nbc_snappy(nbc_bytes source, uint8_t *out, int64_t n_out)
    int64_t nbc_chunk_codes(const uint8_t *chunk, int64_t n_bytes, int snappy, int optional, int64_t n_values,
                            uint8_t *space, int64_t n_space, int bits, char *codes, uint8_t *valid, int64_t n_rows)


ctypedef fused code:
    uint8_t
    uint16_t


def plan(const uint8_t[::1] chunk not None):
    """What is in the bytes of a chunk: where the dictionary's are, how many, how many decompressed, how many values
    it has, the size of the largest other page, decompressed, and the number of rows; None where that is not known.
    """
    cdef nbc_chunk found
    cdef int failed
    if chunk.shape[0] == 0:
        return None
    with nogil:
        failed = nbc_plan_chunk(&chunk[0], chunk.shape[0], &found)
    if failed:
        return None
    return found.dictionary, found.stored, found.raw, found.n_values, found.most_raw, found.n_rows


def snappy(const uint8_t[::1] stored not None, uint8_t[::1] out not None):
    """Decompress; whether these were exactly the bytes of `out`."""
    cdef nbc_bytes source
    cdef int failed
    if stored.shape[0] == 0 or out.shape[0] == 0:
        return False
    apart(&out[0], out.shape[0], &stored[0], stored.shape[0], "stored and out")
    source.at = &stored[0]
    source.end = source.at + stored.shape[0]
    with nogil:
        failed = nbc_snappy(source, &out[0], out.shape[0])
    return not failed


def codes(const uint8_t[::1] chunk not None, bint is_snappy, bint optional, int64_t n_values,
          uint8_t[::1] space not None, code[::1] out not None, uint8_t[::1] valid not None):
    """The code of each row, and, where rows may be null, 1 for those that are not: how many nulls there are.

    All codes are below n_values; those of nulls are 0. None where the bytes are not understood: then what is in
    the arrays means nothing. `space` has room for the largest page decompressed; nothing else is decompressed.
    """
    cdef int64_t nulls, n = out.shape[0], n_bytes = chunk.shape[0], n_out = out.shape[0] * sizeof(code)
    if not 1 <= n_values <= 65536:
        raise ValueError(f"n_values must be 1..65536, got {n_values}")
    if valid.shape[0] != n:
        raise ValueError(f"{n} codes but {valid.shape[0]} valid")
    if n == 0 or n_bytes == 0 or space.shape[0] == 0:
        raise ValueError(f"expected rows, bytes and space, got {n}, {n_bytes} and {space.shape[0]}")
    apart(&out[0], n_out, &chunk[0], n_bytes, "chunk and out")
    apart(&out[0], n_out, &space[0], space.shape[0], "space and out")
    apart(&out[0], n_out, &valid[0], valid.shape[0], "valid and out")
    apart(&valid[0], valid.shape[0], &chunk[0], n_bytes, "chunk and valid")
    apart(&valid[0], valid.shape[0], &space[0], space.shape[0], "space and valid")
    apart(&space[0], space.shape[0], &chunk[0], n_bytes, "chunk and space")
    with nogil:
        nulls = nbc_chunk_codes(&chunk[0], n_bytes, is_snappy, optional, n_values, &space[0], space.shape[0],
                                8 * <int> sizeof(code), <char *> &out[0], &valid[0], n)
    return None if nulls < 0 else nulls
