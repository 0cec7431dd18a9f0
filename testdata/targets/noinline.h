/*
 * Functions that are on the stack as they stand in the source: neither inlined nor cloned.
 */
#ifndef TESTDATA_NOINLINE_H
#define TESTDATA_NOINLINE_H

#ifdef __clang__ /* which makes no clones */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#endif
