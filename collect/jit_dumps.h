/*
 * The dumps of just-in-time compilers (jit-PID.dump, formats/perfdata/pd_jitdump.h) of recorded processes: their
 * functions, with times and instructions, go to the experiment when the process ends, or the recording does.
 *
 *	map of the dump --note--> process, object --process ends--> ctx_pd_jitdump_parse --> ctx_exp_function, ctx_exp_code
 *
 * A compiler maps a page of its dump executable, so that recorders know of it. The file is opened with the rights of the process's user.
 */
#ifndef CTX_COLLECT_JIT_DUMPS_H
#define CTX_COLLECT_JIT_DUMPS_H

#include "collect/proctree.h"
#include "formats/experiment/exp_writer.h"

struct ctx_jit_dumps;

/* `writer` and `tree` are borrowed and outlive it. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jit_dumps_create(struct ctx_exp_writer *writer,
						    const struct ctx_proctree *tree,
						    struct ctx_jit_dumps **ret, struct ctx_err *err);
void ctx_jit_dumps_destroy(struct ctx_jit_dumps *dumps);

/* A record that was applied: whether it maps a dump. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jit_dumps_note(struct ctx_jit_dumps *dumps,
						  const struct ctx_perf_record *record, struct ctx_err *err);

/* Writes the functions of the dumps of this process, which ends; -1: of all that are left. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_jit_dumps_take(struct ctx_jit_dumps *dumps, int64_t pid,
						  struct ctx_err *err);

/*
 * What could not be used, a line for users; false: nothing. Functions have no names then.
 */
#define CTX_JIT_DUMPS_TEXT_MAX 256u
bool ctx_jit_dumps_text(const struct ctx_jit_dumps *dumps, char text[CTX_JIT_DUMPS_TEXT_MAX]);

#endif
