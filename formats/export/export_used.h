/*
 * The part of a profile that is in a file: CCT nodes, functions and objects of the selected stacks,
 * each with its own row number, in order of id.
 *
 *	stacks (CCT nodes)	1 4 5 9		rows 0 1 2 3; a parent's row is less than its children's
 *	functions		0 2 7		rows 0 1 2
 *	objects			0 3		rows 0 1
 *
 * Samples without a frame (the CCT's root) have a row after all others: no tool accepts weight at
 * the root.
 */
#ifndef CTX_FORMATS_EXPORT_EXPORT_USED_H
#define CTX_FORMATS_EXPORT_EXPORT_USED_H

#include "model/export.h"

#define CTX_EXPORT_NO_STACK "<No stack>" /* the only frame of such a sample */

/* Row numbers by id (CTX_NONE: not in the file), and their count. */
struct ctx_export_rows {
	uint32_t *row;
	uint32_t n;
};

struct ctx_export_used {
	const struct ctx_profile *profile;
	struct ctx_report_parts parts; /* a part for each thread with samples; borrowed from the source */
	struct ctx_export_rows stacks; /* without the root */
	struct ctx_export_rows functions;
	struct ctx_export_rows objects;
	bool has_bare; /* there are samples without a frame: stack row stacks.n, function row functions.n */
	uint32_t deepest; /* frames of the deepest stack, at least 1 */
};

/*
 * Reads the stacks of every thread. O(CCT nodes + functions + objects + entries), 4 bytes for each
 * node, function and object. Fails with CTX_E_NOMEM, CTX_E_FORMAT (unknown stack). Release with
 * deinit in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_export_used_init(struct ctx_export_used *used,
						    const struct ctx_export_input *input,
						    struct ctx_err *err);
void ctx_export_used_deinit(struct ctx_export_used *used);

/* The row of a sample's stack. Fails with CTX_E_FORMAT if the histograms lack it. */
CTX_MUST_CHECK enum ctx_status ctx_export_used_stack(const struct ctx_export_used *used, uint32_t stack,
						     uint32_t *ret_row, struct ctx_err *err);

/* Totals of the selection: samples and weight of all parts. */
struct ctx_export_sums {
	uint64_t samples, weight;
	size_t heaviest; /* part; 0 if there is none */
};
struct ctx_export_sums ctx_export_sum(const struct ctx_report_parts *parts);

/* Emits a remark if numbers are so large that readers without 64-bit integers round them. */
void ctx_export_remark_rounding(const struct ctx_export_input *input, const struct ctx_report_parts *parts);

#endif
