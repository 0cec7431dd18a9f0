/*
 * Indicators of a recording: what was counted exactly, where and how (ctxrec --indicator).
 *
 * Each is a line of the header, "indicator N", from 1, and when the recording has ended another, "indicator N count".
 * Executions are samples of its metric. Source: requirements I1 to I3.
 */
#ifndef CTX_MODEL_INDICATOR_H
#define CTX_MODEL_INDICATOR_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/profile.h"

enum ctx_indicator_kind {
	CTX_INDICATOR_KIND_EXECUTE, /* of instructions */
	CTX_INDICATOR_KIND_RETURN,
	CTX_INDICATOR_KIND_RANGE, /* entries of the functions of a range or an object */
	CTX_INDICATOR_KIND_WRITE,
	CTX_INDICATOR_KIND_ACCESS, /* reads and writes */
	CTX_INDICATOR_KIND_N,
};

struct ctx_indicator_info {
	const char *name; /* as the user wrote it, without quotes, semicolons and control characters */
	enum ctx_indicator_kind kind;
	const char *mechanism;	  /* "uprobe", "hardware breakpoint" */
	const char *function;	  /* of the first place, or the variable; "" unknown */
	const char *object;	  /* path of its load object */
	uint64_t offset;	  /* of the first place in the object's own address space */
	uint32_t places, inlined; /* all, and those of them that are inlined calls */
	uint64_t threshold;	  /* every so many executions have a call stack; 0: none has */
	uint32_t
		metric; /* whose samples are executions: one each, or `threshold` where there is no other metric */
	uint32_t raised;	 /* metric whose samples are those with call stacks; CTX_NONE: none */
	uint64_t slower_than_ns; /* of a function: 0 not asked */
	uint32_t slower;	 /* metric whose samples are calls that took so long; CTX_NONE: none */
	uint32_t
		sites; /* of coverage: metric whose samples are all sites, those of `metric` are the executed ones; CTX_NONE: none */
	bool has_count;
	uint64_t count; /* of the kernel's counters, whatever became of the samples */
};

struct ctx_indicator_list {		  /* all zero is a valid empty one */
	struct ctx_indicator_info *items; /* owned */
	size_t n, cap;
	struct ctx_arena arena; /* of their strings */
};

void ctx_indicator_list_deinit(struct ctx_indicator_list *list);

/* "execute", "return", "range", "write", "read": reads and writes, since no processor watches reads alone. */
const char *ctx_indicator_kind_word(enum ctx_indicator_kind kind);

/* Appends the value of the line, without a zero byte. */
void ctx_indicator_put(const struct ctx_indicator_info *info, struct ctx_buf *out);

/*
 * The indicators among the lines of a header, in their order. Lines that are not understood, and metrics that are not
 * below `n_metrics`, are left out. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_indicator_list_read(struct ctx_indicator_list *list,
						       const struct ctx_property *properties, size_t n,
						       uint32_t n_metrics, struct ctx_err *err);

#endif
