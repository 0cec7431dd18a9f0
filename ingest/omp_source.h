/*
 * What the source file says of a construct of OpenMP, where the code does not tell: gcc gives calls of its runtime the line of a statement before.
 *
 *	line of the call --> first directive with the word from there on, in the same function --> its line
 *
 * Files are C, C++ (functions end with a brace in the first column) or Fortran. They may have changed, or not be there: then nothing is known. At
 * most 16 MB of one are looked at.
 */
#ifndef CTX_INGEST_OMP_SOURCE_H
#define CTX_INGEST_OMP_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the line names a barrier; true where that is not known. Reads the file. */
bool ctx_omp_source_names_barrier(const char *path, uint32_t line);

/*
 * The line of the first directive from `line` on that has one of the words, separated by spaces ("for do"), before its function ends; 0: there
 * is none. Reads the file.
 */
uint32_t ctx_omp_source_find(const char *path, uint32_t line, const char *words);

#endif
