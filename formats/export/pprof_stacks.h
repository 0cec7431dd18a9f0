/*
 * The samples of a selection, added up by thread and call stack: by the addresses of the stack where they are
 * known, else by its functions.
 */
#ifndef CTX_FORMATS_EXPORT_PPROF_STACKS_H
#define CTX_FORMATS_EXPORT_PPROF_STACKS_H

#include "model/export.h"

struct ctx_pprof_stack {
	uint32_t thread;
	uint32_t raw;	/* raw stack; 0: the addresses are not known */
	uint32_t stack; /* node of the CCT */
	uint64_t samples, weight;
};

struct ctx_pprof_stacks {
	struct ctx_report_code code;   /* borrowed from the source; `code.code` NULL: no addresses at all */
	struct ctx_pprof_stack *items; /* owned; by thread, raw stack and stack */
	size_t n, cap;
};

/*
 * With addresses the samples are read once, one by one; a raw stack is used where its locations are exactly the
 * functions of the sample's stack. Without (differences, runs of archives, sources without code) time trees are
 * asked. O(samples + stacks * depth); some 50 bytes a stack. CTX_E_FORMAT: unknown ids. Release in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_pprof_stacks_init(struct ctx_pprof_stacks *stacks,
						     const struct ctx_export_input *input,
						     struct ctx_err *err);
void ctx_pprof_stacks_deinit(struct ctx_pprof_stacks *stacks);

#endif
