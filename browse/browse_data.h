/*
 * What panes ask for: sources of the selection, opened when they are needed, and what outlives a
 * selection: the fold of the call tree.
 */
#ifndef CTX_BROWSE_BROWSE_DATA_H
#define CTX_BROWSE_BROWSE_DATA_H

#include "browse/host.h"
#include "report/fold.h"

#include <stdbool.h>

struct ctx_pane;

/* Samples by address, counted in steps: time trees do not index addresses. */
struct ctx_address_scan {
	struct ctx_histogram raw;
	uint64_t n_steps, n_done; /* steps of equal length; equal: complete */
	bool has_begun;
};

struct ctx_browse_data {
	const struct ctx_browse_host *host;
	bool ascii;
	struct ctx_interval interval;
	uint32_t thread; /* CTX_NONE: all */
	uint32_t metric;
	unsigned columns;		  /* of the time line, and of the chart */
	struct ctx_report_source *source; /* of these; NULL: not opened yet */
	struct ctx_report_source *all_threads;
	struct ctx_report_source *states; /* of the metrics of states */
	uint32_t *state_metrics;	  /* owned; CTX_STATE_N; NULL: not recorded */
	struct ctx_fold fold;
	bool has_fold;
	uint32_t subject; /* function of the panes callers, source, instructions; CTX_NONE */
	bool has_base;	  /* of a comparison */
	struct ctx_interval base;
	struct ctx_address_scan scan;
	const struct ctx_pane *functions; /* whose report has the warnings */
};

CTX_MUST_CHECK enum ctx_status ctx_browse_data_init(struct ctx_browse_data *data,
						    const struct ctx_browse_host *host, bool ascii,
						    struct ctx_err *err);
void ctx_browse_data_deinit(struct ctx_browse_data *data);

/* Another selection: nothing is read until it is asked for. */
void ctx_browse_data_select(struct ctx_browse_data *data, struct ctx_interval interval, uint32_t thread,
			    uint32_t metric);

/* Borrowed until the next selection. */
CTX_MUST_CHECK enum ctx_status ctx_browse_data_source(struct ctx_browse_data *data,
						      struct ctx_report_source **ret, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_browse_data_all_threads(struct ctx_browse_data *data,
							   struct ctx_report_source **ret,
							   struct ctx_err *err);

/* A source of the selection in another interval; the caller closes it (host->close). */
CTX_MUST_CHECK enum ctx_status ctx_browse_data_open(struct ctx_browse_data *data,
						    struct ctx_interval interval,
						    struct ctx_report_source **ret, struct ctx_err *err);

/*
 * Histograms of the selection by state, CTX_STATE_N of them. CTX_E_NOTFOUND: no states were recorded.
 * O(log n) nodes of time trees.
 */
CTX_MUST_CHECK enum ctx_status ctx_browse_data_states(struct ctx_browse_data *data,
						      const struct ctx_histogram **ret, struct ctx_err *err);

/* The fold, made with the first call. */
CTX_MUST_CHECK enum ctx_status ctx_browse_data_fold(struct ctx_browse_data *data, struct ctx_fold **ret,
						    struct ctx_err *err);

/* Whether addresses are still to be counted, since they were asked for. */
bool ctx_browse_data_has_work(const struct ctx_browse_data *data);

/* Asks for addresses, or counts one step of them: some hundredths of a second. */
CTX_MUST_CHECK enum ctx_status ctx_browse_data_work(struct ctx_browse_data *data, struct ctx_err *err);

#endif
