/*
 * What a profile in JSON says, whichever its form: threads, functions, a prefix tree of call stacks,
 * and samples. Texts are borrowed from the parsed file, or the model's own.
 */
#ifndef CTX_FORMATS_JSONPROFILE_JP_MODEL_H
#define CTX_FORMATS_JSONPROFILE_JP_MODEL_H

#include "base/arena.h"
#include "base/err.h"
#include "model/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_jp_function {
	const char *name, *module, *file; /* "" unknown */
	uint32_t line;			  /* where it begins, or 0 */
};

struct ctx_jp_node {
	uint32_t parent;   /* of the node; CTX_JP_ROOT */
	uint32_t function; /* number */
	uint32_t line;	   /* that is executed; 0 unknown */
};

#define CTX_JP_ROOT UINT32_MAX /* no node: the empty stack */

struct ctx_jp_thread {
	const char *name, *process; /* "" unknown */
	int64_t pid, tid;
};

struct ctx_jp_sample {
	uint64_t time_ns; /* since the begin of the profile */
	uint64_t weight;
	uint32_t thread, node, metric;
	uint32_t serial; /* in the file */
};

struct ctx_jp_metric {
	const char *name;
	enum ctx_unit unit;
	enum ctx_metric_kind kind;
};

#define CTX_JP_METRICS_MAX 8u
#define CTX_JP_MOST                                                                                          \
	7.2e16 /* of a time in ns (two years), and of a weight: the sum of many fits into 64 bits */

struct ctx_jp_model {	      /* all zero is an empty one */
	const char *format;   /* "speedscope" */
	const char *exporter; /* NULL unknown */
	uint64_t duration_ns;
	bool without_times;
	uint64_t n_left_out; /* events that are no profile's */
	struct ctx_jp_metric metrics[CTX_JP_METRICS_MAX];
	uint32_t n_metrics;
	struct ctx_jp_thread *threads; /* these arrays are owned */
	size_t n_threads, threads_cap;
	struct ctx_jp_function *functions;
	size_t n_functions, functions_cap;
	struct ctx_jp_node *nodes;
	size_t n_nodes, nodes_cap;
	struct ctx_jp_sample *samples;
	size_t n_samples, samples_cap;
	struct ctx_arena texts; /* those that are not in the file as they are */
	uint64_t n_damaged;	/* samples and frames that refer to nothing, or have no time that can be */
};

void ctx_jp_model_deinit(struct ctx_jp_model *model);

/* Each adds one and returns its number. CTX_E_NOMEM; CTX_E_LIMIT. */
CTX_MUST_CHECK enum ctx_status ctx_jp_metric(struct ctx_jp_model *model, const struct ctx_jp_metric *metric,
					     uint32_t *ret, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_jp_thread(struct ctx_jp_model *model, const struct ctx_jp_thread *thread,
					     uint32_t *ret, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_jp_function(struct ctx_jp_model *model,
					       const struct ctx_jp_function *function, uint32_t *ret,
					       struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_jp_node(struct ctx_jp_model *model, const struct ctx_jp_node *node,
					   uint32_t *ret, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_jp_sample(struct ctx_jp_model *model, const struct ctx_jp_sample *sample,
					     struct ctx_err *err);

/* Samples in order of time, and as in the file at equal times. O(n log n). */
void ctx_jp_sort(struct ctx_jp_model *model);

#endif
