/*
 * Call stacks for reading: recursion is one frame, the kernel below a system call is one frame, and
 * a path of frames is one line.
 *
 *	stack of the CCT --ctx_fold_find--> node of the folded CCT --ctx_fold_path--> frames
 *	frames --ctx_fold_line--> "_start › main › fib ×25 [app] › ·5· › write [libc.so.6] › [kernel] write"
 *
 * For text only: JSON and CSV have every frame. The folding is a prefix tree of its own
 * (calltree/restack.h), so histograms by folded stacks make ordinary call trees.
 */
#ifndef CTX_REPORT_FOLD_H
#define CTX_REPORT_FOLD_H

#include "base/arena.h"
#include "base/buf.h"
#include "calltree/restack.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_fold_options {
	bool recursion;		 /* is one frame */
	bool kernel;		 /* its frames below one of the program are one, named by what was called */
	const char *root;	 /* stacks begin with their first function of this name; NULL: all whole */
	const bool *hidden;	 /* by function: it has no frames; NULL: none is hidden */
	const uint32_t *regions; /* by function: calls within a region are one frame; 0, NULL: none */
	bool keep;		 /* the folded CCT has the given one's nodes too, with their ids */
};

struct ctx_fold {
	/*
	 * The given profile, with the folded CCT and the functions that it has besides:
	 * "[kernel] futex". Borrows everything else. Its `cct` is up to date after ctx_fold_find
	 * and ctx_fold_histogram; never release it by itself.
	 */
	struct ctx_profile profile;
	struct ctx_restack restack;
	struct ctx_restack_rule *rules; /* owned; by function */
	struct ctx_arena arena;
};

/* Call ctx_fold_deinit in any case. O(functions + CCT nodes / 8). */
CTX_MUST_CHECK enum ctx_status ctx_fold_init(struct ctx_fold *fold, const struct ctx_profile *profile,
					     const struct ctx_fold_options *options, struct ctx_err *err);
void ctx_fold_deinit(struct ctx_fold *fold);

/* The folded node of a stack of the profile's CCT; CTX_NONE: `root` is not on it. */
CTX_MUST_CHECK enum ctx_status ctx_fold_find(struct ctx_fold *fold, uint32_t stack, uint32_t *ret_node,
					     struct ctx_err *err);

/* Adds a histogram by stacks to one by folded nodes. */
CTX_MUST_CHECK enum ctx_status ctx_fold_histogram(struct ctx_fold *fold, const struct ctx_histogram *from,
						  struct ctx_histogram *to, struct ctx_err *err);

/*
 * The folded node at the end of the hottest path: from the root the heaviest child, until what a
 * node itself has is more than each of its children. The root for an empty histogram. `*ret_weight`
 * is that of all samples on the path.
 */
CTX_MUST_CHECK enum ctx_status ctx_fold_hottest(struct ctx_fold *fold, const struct ctx_histogram *histogram,
						uint32_t *ret_node, uint64_t *ret_weight,
						struct ctx_err *err);

/* A frame for display. Texts may hold any bytes and are borrowed. */
struct ctx_fold_frame {
	const char *name;
	const char *object; /* path of its load object; NULL none */
	uint32_t function;  /* id in fold->profile */
	uint32_t instances; /* more than 1: of a recursion, the deepest */
};

/* The frame of a function of a profile. */
struct ctx_fold_frame ctx_fold_frame(const struct ctx_profile *profile, uint32_t function,
				     uint32_t instances);

/*
 * The frames from the root (without <Total>) to a folded node: an array of *ret_n, owned by the
 * caller (free).
 */
CTX_MUST_CHECK enum ctx_status ctx_fold_path(const struct ctx_fold *fold, uint32_t node,
					     struct ctx_fold_frame **ret_frames, size_t *ret_n,
					     struct ctx_err *err);

struct ctx_fold_line_style {
	size_t width; /* columns, at least 1; SIZE_MAX: not limited */
	bool ascii;
	bool upward;	    /* the frames are callers, the leaf first: "malloc ‹ parse ‹ main" */
	const char *object; /* of the frame before the first: not shown again; NULL: shown */
};

/* Of a cell that is such a line. Borrowed until the section ends. */
struct ctx_cell_frames {
	const struct ctx_fold_frame *frames;
	size_t n;
	const char *object; /* as in the style */
	bool upward;
};

/*
 * Appends the frames (at least one) as a line of safe text, at most `width` columns. An object is
 * shown where it is not that of the frame before. Where there is no room, template arguments give
 * way, then parameters, then frames in the middle ("·5·"), then objects and the scopes of the names; only a
 * last component that is wider than the line is cut.
 */
void ctx_fold_line(struct ctx_buf *buf, const struct ctx_fold_frame *frames, size_t n,
		   const struct ctx_fold_line_style *style);

#endif
