/* What the compiler is asked for: clones for wider vectors, inlining, memory ahead of its use, one reading alone. */
#ifndef NBCFAST_LANES_H
#define NBCFAST_LANES_H

/* One build runs everywhere; the loader picks the best clone of a marked function. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) \
    && !defined(__SANITIZE_ADDRESS__)
#define NBC_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define NBC_CLONES
#endif

#if defined(__GNUC__)
#define NBC_PREFETCH(address) __builtin_prefetch(address)
#define NBC_INLINE static inline __attribute__((always_inline))
#else
#define NBC_PREFETCH(address) ((void)(address))
#define NBC_INLINE static inline
#endif

/* One number of memory that others may write to, read once: what is used is what was looked at. */
#define NBC_ONCE(TYPE, place) (*(const volatile TYPE *)(const volatile void *)(place))

#endif
