/*
 * A flame graph of a difference: what both sides have of a frame, and its colour.
 */
#ifndef CTX_REPORT_FLAME_SIDES_H
#define CTX_REPORT_FLAME_SIDES_H

#include "base/buf.h"
#include "model/export.h"
#include "report/figures.h"

/* Of the frames that changed most; black text on them has a contrast of at least 4.5. */
#define CTX_FLAME_MORE_COLOR 0xff8b7bu
#define CTX_FLAME_LESS_COLOR 0x8bb0ffu

struct ctx_flame_sides;

/* Of an input that is a difference. O(stacks). CTX_E_NOMEM, and what the source fails with. */
CTX_MUST_CHECK enum ctx_status ctx_flame_sides_make(const struct ctx_export_input *input,
						    struct ctx_flame_sides **ret, struct ctx_err *err);
void ctx_flame_sides_destroy(struct ctx_flame_sides *sides); /* NULL: nothing */

/* 0xrrggbb of the frame that is the end of a stack. */
uint32_t ctx_flame_sides_color(const struct ctx_flame_sides *sides, uint32_t stack);

/* Appends "A 10.000 ms, B 12.000 ms: +2.000 ms, +1.53 points of A's total". */
void ctx_flame_sides_put(const struct ctx_flame_sides *sides, uint32_t stack, const struct ctx_scale *scale,
			 struct ctx_buf *buf);

/* Appends the same of everything, and what widths are. */
void ctx_flame_sides_put_summary(const struct ctx_flame_sides *sides, const struct ctx_scale *scale,
				 struct ctx_buf *buf);

#endif
