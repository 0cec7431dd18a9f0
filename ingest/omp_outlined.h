/* Names of the functions that compilers make of the constructs of OpenMP. */
#ifndef CTX_INGEST_OMP_OUTLINED_H
#define CTX_INGEST_OMP_OUTLINED_H

#include <stddef.h>

/*
 * The function that an outlined one was a part of, within its name; `*ret_n` bytes, 0: the name does not say. A function that is not
 * outlined is its own. gcc's are called f._omp_fn.0, clang's .omp_outlined. or f.omp_outlined_debug__, of a target construct
 * __omp_offloading_fe00_ab4556_f_l6: two numbers of the source file, the function, the line.
 */
const char *ctx_omp_container(const char *function, size_t *ret_n);

#endif
