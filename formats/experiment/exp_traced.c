/*
 * Metrics of traced operations in the reader: announced behind those of the log where there are operations of
 * the kind, and samples of them, queued behind each operation.
 */
#include "formats/experiment/exp_reader_state.h"

#include "base/mem.h"

#include <string.h>

enum ctx_status ctx_exp_reader_add_traced_metrics(struct ctx_exp_reader *reader, enum ctx_traced_kind kind,
						  struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;
	struct ctx_exp_traced_metrics *metrics = &reader->traced[kind];
	uint32_t n = info->n_metrics, n_own = ctx_traced_metrics(kind).n;

	if (!reader->index.has_traced[kind])
		return CTX_OK;
	metrics->all = ctx_calloc(n + n_own, sizeof(*metrics->all));
	if (metrics->all == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		memcpy(metrics->all, info->metrics, n * sizeof(*metrics->all));
	ctx_traced_metrics_append(kind, metrics->all + n, n);
	metrics->first = n;
	info->metrics = metrics->all;
	info->n_metrics = n + n_own;
	return CTX_OK;
}

void ctx_exp_traced_deinit(struct ctx_exp_traced_metrics traced[CTX_TRACED_N])
{
	for (size_t i = 0; i < CTX_TRACED_N; i++)
		free(traced[i].all);
}

enum ctx_status ctx_exp_reader_push_traced(struct ctx_exp_reader *reader, const struct ctx_event *event,
					   uint32_t metric, uint64_t weight, struct ctx_err *err)
{
	struct ctx_exp_traced_metrics *metrics = &reader->traced[event->traced.operation->kind];
	struct ctx_event sample = {.kind = CTX_EV_SAMPLE,
				   .time_ns = event->time_ns,
				   .process = event->process,
				   .thread = event->thread,
				   .sample = {.weight = weight,
					      .metric = metrics->first + metric,
					      .cpu = -1,
					      .stack = event->traced.stack}};

	if (weight > UINT64_MAX / 2 - metrics->weight)
		return CTX_OK;
	metrics->weight += weight;
	return ctx_exp_reader_push(reader, &sample, NULL, err);
}
