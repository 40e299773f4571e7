/* What the compiler is asked for: clones for wider vectors, inlining, memory ahead of its use, one reading alone. */
#ifndef NBCFAST_LANES_H
#define NBCFAST_LANES_H

#include <stdlib.h>
#include <string.h>
#if defined(__GNUC__)
#define NBC_PREFETCH(address) __builtin_prefetch(address)
#define NBC_INLINE static inline __attribute__((always_inline))
#else
#define NBC_PREFETCH(address) ((void)(address))
#define NBC_INLINE static inline
#endif

/* One build runs everywhere: what is marked so is compiled for three levels of x86-64, and a call goes to the widest that
   the machine has and NBCFAST_ISA allows. By a number that is looked at, where `target_clones` asks the loader: not
   every C library can, clang cannot, and a sanitizer is not awake yet when it is asked.

   NBC_CLONED(TYPE, NAME, (parameters), (arguments)) stands where the head of a function would. */
#if defined(__x86_64__) && !defined(_WIN32) && (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12))
#define NBC_CLONED(TYPE, NAME, PARAMETERS, ARGUMENTS)                                                                \
    NBC_INLINE TYPE NAME##_any PARAMETERS;                                                                           \
    __attribute__((target("arch=x86-64-v4"))) static TYPE NAME##_v4 PARAMETERS { return NAME##_any ARGUMENTS; }      \
    __attribute__((target("arch=x86-64-v3"))) static TYPE NAME##_v3 PARAMETERS { return NAME##_any ARGUMENTS; }      \
    static TYPE NAME PARAMETERS                                                                                      \
    {                                                                                                                \
        if (nbc_level >= NBC_V4)                                                                                     \
            return NAME##_v4 ARGUMENTS;                                                                              \
        if (nbc_level >= NBC_V3)                                                                                     \
            return NAME##_v3 ARGUMENTS;                                                                              \
        return NAME##_any ARGUMENTS;                                                                                 \
    }                                                                                                                \
    NBC_INLINE TYPE NAME##_any PARAMETERS

enum { NBC_V2, NBC_V3, NBC_V4 };  /* the first is what every x86-64 has as well: it is never asked for more */

static int nbc_level;

/* The widest level that the machine has. Each that has what is asked for has the rest of its level. */
NBC_INLINE int nbc_level_of_machine(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")
            || !__builtin_cpu_supports("fma"))
        return NBC_V2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512cd")
            || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return NBC_V3;
    return NBC_V4;
}

/* Once, while the kernel is loaded: no thread sees it change. Words that mean nothing are refused in Python. */
__attribute__((constructor)) static void nbc_find_level(void)
{
    const char *asked = getenv("NBCFAST_ISA");
    nbc_level = nbc_level_of_machine();
    if (asked == NULL)
        return;
    if (strcmp(asked, "v3") == 0 && nbc_level > NBC_V3)
        nbc_level = NBC_V3;
    if (strcmp(asked, "v2") == 0 || strcmp(asked, "baseline") == 0)
        nbc_level = NBC_V2;
}
#else
#define NBC_CLONED(TYPE, NAME, PARAMETERS, ARGUMENTS) static TYPE NAME PARAMETERS
enum { nbc_level };
#endif

/* One number of memory that others may write to, read once: what is used is what was looked at. */
#define NBC_ONCE(TYPE, place) (*(const volatile TYPE *)(const volatile void *)(place))

#endif
