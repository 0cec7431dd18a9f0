/*
 * Code maps: for the unwinder, the code at a pc of a process, with its call frame information.
 *
 *	process --writer--> its maps --> object --> table, read when the first pc falls into it
 *
 * The maps are those that the writer keeps anyway; this module adds one table for each load object.
 */
#ifndef CTX_COLLECT_CODEMAPS_H
#define CTX_COLLECT_CODEMAPS_H

#include "formats/experiment/exp_writer.h"
#include "unwind/unwind.h"

struct ctx_codemaps;

/* `writer` is borrowed and outlives it. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_codemaps_create(const struct ctx_exp_writer *writer,
						   struct ctx_codemaps **ret, struct ctx_err *err);
void ctx_codemaps_destroy(struct ctx_codemaps *maps);

/*
 * Makes room for the objects that the writer knows now. To be called before the functions below
 * whenever maps may have changed, not while they run. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_codemaps_refresh(struct ctx_codemaps *maps, struct ctx_err *err);

/* One process's view. */
struct ctx_code_view {
	struct ctx_codemaps *maps;
	uint32_t process; /* the writer's number */
	int64_t pid;	  /* whose memory has the code that no file has; 0: unknown */
};

/*
 * The address space to unwind in; `view` is borrowed. Any number of threads may use it at once: a
 * table is read by the first that needs it (0.1 s for a large one), under a lock. A file that
 * cannot be read, or has changed, has no table. Code without call frame information is read from
 * its file, if that has a table, else from the process, each page once between two calls of ctx_codemaps_refresh; where
 * that has ended, as it was when its page was last read.
 */
struct ctx_unwind_space ctx_code_view_space(struct ctx_code_view *view);

/* Whether both addresses are in one function, according to the call frame information. */
bool ctx_code_view_same_function(struct ctx_code_view *view, uint64_t a, uint64_t b);

#endif
