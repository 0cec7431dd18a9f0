/*
 * What a comparison has rows of: items of several recordings, and the items that a sample belongs to.
 *
 *	sample --its stack, raw stack or thread--> first link --> item, next link --> item ...
 *
 *	functions	itself, or everything on the stack once (total); objects likewise
 *	lines		the line of the innermost function, or all lines of the stack once
 *	callers		the call of each function by the caller of its outermost instance: (caller, function)
 *	stacks		the whole stack
 *	tree		the stack and all its beginnings; folded: recursion is its first instance
 *	threads		the thread's name
 *	states		the state, of thread states
 *	waits		what was waited for, where in the program (model/wait_kind.h), and the state
 *
 * An item is one of all recordings: functions are those of compare/matching.h.
 */
#ifndef CTX_COMPARE_DIFF_LINKS_H
#define CTX_COMPARE_DIFF_LINKS_H

#include "base/strtab.h"
#include "compare/matching.h"
#include "model/report_source.h"
#include "model/wait_kind.h"

enum ctx_diff_subject {
	CTX_DIFF_FUNCTIONS,
	CTX_DIFF_OBJECTS,
	CTX_DIFF_LINES,
	CTX_DIFF_CALLERS,
	CTX_DIFF_STACKS,
	CTX_DIFF_TREE,
	CTX_DIFF_THREADS,
	CTX_DIFF_STATES,
	CTX_DIFF_WAITS,
	CTX_DIFF_SUBJECTS,
};

struct ctx_diff_item {
	unsigned sides;			   /* 1 << enum ctx_compare_side */
	const struct ctx_profile *profile; /* of the first recording that has it; borrowed */
	uint32_t function;		   /* there; CTX_NONE: none. Of an object: one of its functions */
	uint32_t caller;		   /* callers: there; CTX_NONE: it begins the stack */
	uint32_t parent;  /* stacks, tree: the item of the stack without its last function; CTX_NONE: none */
	uint32_t thread;  /* threads: one of that name, there */
	const char *file; /* lines: path there; NULL: the line is not known. Borrowed from the source */
	uint32_t line[CTX_COMPARE_SIDES]; /* lines: 0 on a side that does not have it */
	enum ctx_thread_state state;	  /* states, waits */
	enum ctx_wait_kind kind;	  /* waits */
};

/* How a sample's first link is found. */
enum ctx_diff_key {
	CTX_DIFF_BY_STACK,
	CTX_DIFF_BY_RAW_STACK,
	CTX_DIFF_BY_THREAD,
	CTX_DIFF_BY_METRIC, /* all samples have the same */
};

struct ctx_diff_link {
	uint32_t item, next; /* `next` CTX_NONE: the last */
};

/* Samples of one metric of a recording. */
struct ctx_diff_stream {
	uint32_t metric; /* CTX_NONE: the first of the selection */
	enum ctx_diff_key key;
	enum ctx_thread_state state; /* of the metric, if it is one of states */
	bool skips_start;	     /* the first wait is left out if it is for the recorder */
	const uint32_t *first;	     /* by key: link, CTX_NONE: no item. Of the recording's `tables` */
	uint32_t n_keys;
};

struct ctx_diff_recording {
	struct ctx_diff_stream streams[CTX_STATE_N];
	size_t n_streams;
	struct ctx_diff_link *links;
	size_t n_links, links_cap;
	uint32_t *tables[CTX_STATE_N]; /* owned */
};

struct ctx_diff_items { /* owned by the caller (ctx_diff_items_deinit) */
	struct ctx_matching matching;
	struct ctx_diff_item *items;
	size_t n, cap;
	struct ctx_diff_recording *recordings;
	size_t n_recordings;
	struct ctx_strtab keys; /* by item: what it is, as bytes */
};

struct ctx_diff_items_spec {
	struct ctx_report_source *const *sources; /* of all recordings: borrowed, also while the items live */
	const enum ctx_compare_side *sides;
	size_t n;
	enum ctx_diff_subject subject;
	bool total;			   /* functions, objects, lines: everything on the stack */
	bool folds;			   /* tree: recursion */
	const struct ctx_renames *renames; /* NULL: none */
};

void ctx_diff_items_deinit(struct ctx_diff_items *items);

/* For what makes items: the one of these bytes; if it is missing it is made, with no ids and `profile` NULL. */
CTX_MUST_CHECK enum ctx_status ctx_diff_items_find(struct ctx_diff_items *items, struct ctx_bytes key,
						   uint32_t *ret_item, struct ctx_err *err);

/* Of stacks and trees: the item of ctx_matching that is the last function. */
uint32_t ctx_diff_item_function(const struct ctx_diff_items *items, uint32_t item);

/* For the same: a new link of a recording. */
CTX_MUST_CHECK enum ctx_status ctx_diff_link_add(struct ctx_diff_recording *recording,
						 struct ctx_diff_link link, uint32_t *ret_link,
						 struct ctx_err *err);

/* Whether an item is among the links from `link` on, which may be CTX_NONE. */
bool ctx_diff_has_item(const struct ctx_diff_recording *recording, uint32_t link, uint32_t item);

/* The first link of a sample; CTX_NONE: none. */
static inline uint32_t ctx_diff_first_link(const struct ctx_diff_stream *stream,
					   const struct ctx_sample *sample)
{
	uint32_t key = stream->key == CTX_DIFF_BY_STACK	      ? sample->stack
		       : stream->key == CTX_DIFF_BY_RAW_STACK ? sample->raw_stack
		       : stream->key == CTX_DIFF_BY_THREAD    ? sample->thread
							      : 0;

	return key < stream->n_keys ? stream->first[key] : CTX_NONE;
}

#endif
