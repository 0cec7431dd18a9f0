/*
 * Whether OpenMP is recorded: asked for, or by itself where a runtime of OpenMP is among the command's libraries.
 */
#ifndef CTX_COLLECT_OMP_LIBRARY_H
#define CTX_COLLECT_OMP_LIBRARY_H

#include "base/err.h"
#include "collect/recargs.h"

/* The runtime of OpenMP that the name of a library is of: "libgomp.so"; NULL: of none. Static. */
const char *ctx_omp_library_of(const char *path);

/*
 * Sets `omp` and `omp_library` of the options where the mode is auto and there is a command. A command that cannot be traced is
 * recorded without, unless something else is traced in it, too; `why` then has one line that says
 * so, and no status CTX_OK. A program that needs the C library alone costs a look at its file, others
 * a run of their loader, which lists their libraries: some milliseconds.
 */
void ctx_omp_library_decide(struct ctx_rec_options *options, struct ctx_err *why);

#endif
