"""Whose turn it is with an object that several threads hold, and memory that must not be one and the same.

Calls look and mark while they hold the GIL, so that no lock is needed: a kernel that lets go of it has marked its
objects before.
"""

from libc.stddef cimport size_t


cdef inline int take(int *users, str what) except -1:
    """Have an object alone; `give` ends it."""
    if users[0]:
        raise RuntimeError(f"this {what} is in use by another call: give each thread one of its own")
    users[0] = -1
    return 0


cdef inline void give(int *users) noexcept nogil:
    users[0] = 0


cdef inline int share(int *users, str what) except -1:
    """Read an object that nobody has alone, with others; `leave` ends it."""
    if users[0] < 0:
        raise RuntimeError(f"this {what} is being changed by another call: wait for it")
    users[0] += 1
    return 0


cdef inline void leave(int *users) noexcept nogil:
    users[0] -= 1


cdef inline int apart(const void *out, size_t out_bytes, const void *read, size_t read_bytes, str what) except -1:
    """Refuse memory that would be overwritten while it is read."""
    cdef const char *a = <const char *> out
    cdef const char *b = <const char *> read
    if out_bytes and read_bytes and a < b + read_bytes and b < a + out_bytes:
        raise ValueError(f"{what} must be arrays of their own, got memory that both share")
    return 0
