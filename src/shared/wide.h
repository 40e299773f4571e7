/* Integers of 128 bits, where the compiler has them. */
#ifndef NBCFAST_WIDE_H
#define NBCFAST_WIDE_H

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 nbc_u128;
__extension__ typedef __int128 nbc_i128;
#endif

#endif
