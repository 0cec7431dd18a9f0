/*
 * Hierarchical time tree: which call stacks took the weight inside any window of time?
 *
 * Built once from samples in time order, then frozen; a query touches O(N log n) nodes and reads
 * the samples of at most two leaves. Source: requirements T1-T11. Pure: no files, no database.
 * Finished nodes go to a sink, queries read through a reader, so that a tree can be larger than
 * memory; struct ctx_timetree is the sink and reader that keeps everything in memory.
 *
 * A node covers [begin, end). It is a leaf if it has fewer than M samples (or is too short to
 * split); otherwise its N children split it into equal parts (child i begins at begin + (end -
 * begin) * i / N). A leaf has only its samples. An inner node has
 *
 *	top	its stacks by descending weight (ties: ascending id), until P percent of the weight
 *		are covered (T4)
 *	tail	the rest, same order, unless keep_tail is off
 *	calls	the differences of calls, see model/histogram.h, by ascending id; only with a CCT
 *	totals	exact ones, and what top leaves out: tail_weight, tail_samples, tail_largest
 *
 * residual mode (the default) is built while the samples stream in: memory is O(depth * (M +
 * distinct stacks)), not O(samples). cascade mode drops at every node the samples outside its top
 * before its children are built; it holds all samples until finish (40 bytes each) and its answers
 * match example T9 of the source.
 */
#ifndef CTX_TIMETREE_TIMETREE_H
#define CTX_TIMETREE_TIMETREE_H

#include "model/histogram.h"
#include "model/interval.h"
#include "model/sample.h"
#include "model/timenode.h"
#include "model/trie.h"

#include <stdbool.h>

enum ctx_timetree_mode {
	CTX_TIMETREE_RESIDUAL = 0,
	CTX_TIMETREE_CASCADE = 1,
};

struct ctx_timetree_params {
	uint32_t leaf_samples; /* M: a node with fewer is a leaf; 1 .. 1 << 24 */
	uint32_t fanout;       /* N: children of an inner node; 2 .. 256 */
	uint32_t percent;      /* P: 1 .. 100 */
	enum ctx_timetree_mode mode;
	bool keep_tail;
};

/* The defaults: M=1000 and N=16 (bench/results/timetree.md says why), P=95, residual, with tail. */
struct ctx_timetree_params ctx_timetree_default_params(void);

/* CTX_E_ARG with the parameter's name and range if one is out of range. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_params_check(const struct ctx_timetree_params *params,
							 struct ctx_err *err);

/* Where finished nodes go. Children come before their parent; ids are given when a node is split,
 * so a parent's id is smaller than its children's. A failure ends the build. */
struct ctx_timetree_sink {
	void *context;
	/* The samples of leaf `node`, in time order; called before node() for it, only if there are
	 * any. Borrowed. */
	enum ctx_status (*leaf)(void *context, uint32_t node, const struct ctx_sample *samples, size_t n,
				struct ctx_err *err);
	/* `node` and its lists are borrowed for the call. */
	enum ctx_status (*node)(void *context, const struct ctx_timenode *node, struct ctx_err *err);
};

struct ctx_timetree_builder;

struct ctx_timetree_plan {
	struct ctx_timetree_params params;
	struct ctx_interval run;    /* not empty */
	const struct ctx_trie *cct; /* CCT of the samples' stacks; may grow meanwhile; NULL: no calls */
	struct ctx_timetree_sink sink;
};

/* Begins a tree. The CCT and the sink's context must outlive the builder. Fails with CTX_E_ARG,
 * CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_builder_create(const struct ctx_timetree_plan *plan,
							   struct ctx_timetree_builder **ret,
							   struct ctx_err *err);

/*
 * Adds a sample. Times must ascend and be within the run: an earlier time is clamped to the
 * previous one, a later one to the run's last nanosecond; both are counted. Amortised O(depth).
 * Fails with CTX_E_NOMEM, CTX_E_ARG (a stack that is not in the CCT; the builder is finished or has
 * failed), CTX_E_LIMIT (the sum of the weights exceeds 64 bits, or too many nodes), and as the sink
 * fails.
 */
CTX_MUST_CHECK enum ctx_status ctx_timetree_builder_add(struct ctx_timetree_builder *builder,
							const struct ctx_sample *sample, struct ctx_err *err);

/* Closes every open node; the root comes last. Afterwards the builder can only be destroyed. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_builder_finish(struct ctx_timetree_builder *builder,
							   struct ctx_err *err);

/* Number of samples whose time was clamped to the previous one or to the run. */
uint64_t ctx_timetree_builder_moved(const struct ctx_timetree_builder *builder);

/* Also accepts an unfinished builder; NULL is fine. */
void ctx_timetree_builder_destroy(struct ctx_timetree_builder *builder);

/* Source of nodes and leaves for a query. */
struct ctx_timetree_reader {
	void *context;
	/*
	 * The row of `node`. `want_lists`: the lists are needed too; otherwise they may be left out
	 * (NULL, 0 bytes) to save reading. Valid until the next call of either function.
	 * CTX_E_FORMAT if the node does not exist.
	 */
	enum ctx_status (*node)(void *context, uint32_t node, bool want_lists, struct ctx_timenode *ret,
				struct ctx_err *err);
	/*
	 * The samples of leaf `node` (time_ns, weight, stack, kept_depth, thread, cpu), in time
	 * order. Valid until the next call of either function.
	 */
	enum ctx_status (*leaf)(void *context, uint32_t node, const struct ctx_sample **ret_samples,
				size_t *ret_n, struct ctx_err *err);
	bool leaf_lists;	    /* leaves have lists, too: those wholly in the window need no samples */
	const struct ctx_trie *cct; /* NULL: calls of partly covered leaves are not computed */
};

/* Cost of queries; each query adds to it. For --explain. */
struct ctx_timetree_cost {
	uint64_t nodes_visited;	 /* rows fetched, skipped children not counted */
	uint64_t nodes_skipped;	 /* children that were disjoint from the interval: not read */
	uint64_t nodes_whole;	 /* inner nodes taken from their lists */
	uint64_t leaves_whole;	 /* leaves wholly inside */
	uint64_t leaves_partial; /* leaves partly outside, read sample by sample */
	uint64_t samples_enumerated;
	uint64_t list_entries;
	uint64_t list_bytes;
	uint32_t depth; /* deepest level visited */
	/* With CTX_TIMETREE_TOP_ONLY, CTX_TIMETREE_SUMS or a tree without tails: */
	uint64_t omitted_weight, omitted_samples;
	uint64_t omitted_largest; /* upper bound of the weight missing from any one stack */
};

enum ctx_timetree_flags {
	CTX_TIMETREE_EXACT = 0,	   /* top and tail */
	CTX_TIMETREE_TOP_ONLY = 1, /* tops only: less to read; the omitted weight is in `cost` */
	CTX_TIMETREE_NO_CALLS = 2, /* omit calls (0): for reports that do not show them */
	CTX_TIMETREE_SUMS = 4,	   /* whole nodes by their rows, no list is read: all is omitted, as above */
};

struct ctx_timetree_request {
	struct ctx_interval window; /* an empty or reversed one adds nothing */
	unsigned flags;		    /* enum ctx_timetree_flags */
};

/*
 * Adds to `out` the weight of every stack in the window. `cost` may be NULL. On failure `out` has a
 * part. Fails with CTX_E_NOMEM, CTX_E_FORMAT (a list that does not decode), and as the reader
 * fails.
 */
CTX_MUST_CHECK enum ctx_status ctx_timetree_query(const struct ctx_timetree_reader *reader,
						  struct ctx_timetree_request request,
						  struct ctx_histogram *out, struct ctx_timetree_cost *cost,
						  struct ctx_err *err);

/*
 * The first sample at or after `time_ns`; CTX_END if there is none. For weights that are durations
 * it finds the sample that covers a moment. O(depth) nodes and one leaf, or few where leaves are
 * empty. Fails as ctx_timetree_query does.
 */
CTX_MUST_CHECK enum ctx_status ctx_timetree_first_at(const struct ctx_timetree_reader *reader,
						     uint64_t time_ns, struct ctx_sample *ret,
						     struct ctx_timetree_cost *cost, struct ctx_err *err);

/* What a walk looks at: nodes that are small enough whole, by their lists; leaves sample by sample. */
struct ctx_timetree_walk {
	struct ctx_interval window; /* nodes and samples outside it are left out */
	bool (*is_fine)(void *context, struct ctx_interval interval); /* whether a node need not be divided */
	/* Samples of a node whose lists were taken, or one sample; `time_ns`: within the node. Borrowed. */
	enum ctx_status (*items)(void *context, uint64_t time_ns, const struct ctx_hist_item *items, size_t n,
				 struct ctx_err *err);
	void *context;
};

/*
 * Every sample of the window once. `cost` may be NULL. A tree without tails, or in cascade mode, gives what it has.
 * Fails as ctx_timetree_query does, and with the errors of `items`. O(nodes that are not fine, and their
 * children).
 */
CTX_MUST_CHECK enum ctx_status ctx_timetree_walk(const struct ctx_timetree_reader *reader,
						 const struct ctx_timetree_walk *walk,
						 struct ctx_timetree_cost *cost, struct ctx_err *err);

/* A tree in memory: sink and reader in one. */
struct ctx_timetree;

CTX_MUST_CHECK enum ctx_status ctx_timetree_create(struct ctx_timetree **ret, struct ctx_err *err);
void ctx_timetree_destroy(struct ctx_timetree *tree);
struct ctx_timetree_sink ctx_timetree_sink(struct ctx_timetree *tree);
struct ctx_timetree_reader ctx_timetree_reader(struct ctx_timetree *tree, const struct ctx_trie *cct);

/*
 * Asserts the invariants of a whole tree: children tile their parent, totals add up (residual:
 * children's samples = parent's; cascade: children's = parent's minus tail), lists sorted, no stack
 * twice, top reaches P percent and would not without its last entry. CTX_E_FORMAT with the node and
 * the violated rule.
 */
CTX_MUST_CHECK enum ctx_status ctx_timetree_check(const struct ctx_timetree_reader *reader,
						  const struct ctx_timetree_params *params,
						  struct ctx_err *err);

#endif
