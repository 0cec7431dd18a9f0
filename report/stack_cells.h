/*
 * Whole call stacks in JSON and CSV: the names of the functions, root first.
 */
#ifndef CTX_REPORT_STACK_CELLS_H
#define CTX_REPORT_STACK_CELLS_H

#include "report/out.h"

/* JSON: a list of names. A stack that is not in the CCT is empty. */
void ctx_stack_put_list(struct ctx_out *out, const char *key, uint32_t stack);

/* The names joined by semicolons, in `buf`; valid until `buf` is changed. */
struct ctx_cell ctx_stack_joined_cell(struct ctx_out *out, uint32_t stack, struct ctx_buf *buf);

#endif
