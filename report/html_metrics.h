/*
 * The metrics of the HTML page, and the cells that they are made of.
 *
 *	metrics   CPU clock        Wall                    Waits
 *	            |        /    |    |    \           /    |   \
 *	bases     samples  user system ... sleep lock ...  (the same ones)
 *
 * A *base* is a metric that has samples of its own. Each base is in the page once, whichever metrics
 * are sums of it, and can be shown alone too: the time in a state of threads.
 */
#ifndef CTX_REPORT_HTML_METRICS_H
#define CTX_REPORT_HTML_METRICS_H

#include "model/histogram.h"
#include "report/html_cells.h"

struct ctx_html_base {
	uint32_t metric; /* of the profile */
	bool counts;	 /* each sample weighs 1 */
	struct ctx_cells cells;
};

struct ctx_html_metric {
	const char *name, *word; /* borrowed */
	enum ctx_metric_kind kind;
	enum ctx_unit unit;
	uint32_t *bases; /* owned; ascending */
	uint32_t n_bases;
};

struct ctx_html_metrics {
	const struct ctx_export_input *input; /* borrowed */
	struct ctx_html_metric *metrics;      /* owned; the first is shown first */
	size_t n, cap;
	struct ctx_html_base *bases; /* owned */
	size_t n_bases, bases_cap;
	uint32_t buckets; /* of all cells */
	bool usual;	  /* nobody named them: those from the second on can be left out */
};

/*
 * The selected metrics; where none was named and the recording has thread states, Wall and the waits
 * besides the first one. Reads their samples. Fails with CTX_E_NOMEM and with what reading fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_html_metrics_collect(struct ctx_html_metrics *metrics,
							const struct ctx_export_input *input,
							uint32_t buckets, struct ctx_err *err);
void ctx_html_metrics_deinit(struct ctx_html_metrics *metrics);

/* Collects the first one alone again, in as many buckets as at first. */
CTX_MUST_CHECK enum ctx_status ctx_html_metrics_first(struct ctx_html_metrics *metrics, uint32_t buckets,
						      struct ctx_err *err);

/* Half as many buckets, which must be even. */
void ctx_html_metrics_halve(struct ctx_html_metrics *metrics);

/*
 * Keeps the `n` heaviest stacks: those with the largest share of any of the metrics; among equal
 * ones those with smaller ids. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_html_metrics_keep(struct ctx_html_metrics *metrics, uint32_t n,
						     struct ctx_err *err);

/* Sums over the bases of a metric. */
struct ctx_html_sums {
	uint64_t samples, weight, dropped_weight;
};
struct ctx_html_sums ctx_html_metrics_sums(const struct ctx_html_metrics *metrics,
					   const struct ctx_html_metric *metric);

/* All threads by stack over the run, without what is dropped. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_html_metrics_histogram(const struct ctx_html_metrics *metrics,
							  const struct ctx_html_metric *metric,
							  struct ctx_histogram *ret, struct ctx_err *err);

/* The thread state of a base; CTX_STATE_N: none. */
enum ctx_thread_state ctx_html_base_state(const struct ctx_profile *profile,
					  const struct ctx_html_base *base);

#endif
