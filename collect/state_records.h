/*
 * State records: turns perf's records of switches, wake-ups and faults into observations of
 * threads. Their interpretation is up to the analysis (ingest/sched_model.h).
 *
 *	SWITCH, samples --> threads (proctree) --> sample_batch
 */
#ifndef CTX_COLLECT_STATE_RECORDS_H
#define CTX_COLLECT_STATE_RECORDS_H

#include "collect/proctree.h"
#include "collect/sample_batch.h"
#include "collect/state_events.h"
#include "collect/wait_sampling.h"

struct ctx_state_records;

struct ctx_state_records_options {
	const struct ctx_state_events *events; /* all borrowed */
	const struct ctx_proctree *tree;
	struct ctx_sample_batch *batch;
	struct ctx_exp_writer *writer;
	struct ctx_wait_sampling *sampling;
};

CTX_MUST_CHECK enum ctx_status ctx_state_records_create(const struct ctx_state_records_options *options,
							struct ctx_state_records **ret, struct ctx_err *err);
void ctx_state_records_destroy(struct ctx_state_records *records);

/*
 * Takes a SWITCH or SWITCH_CPU_WIDE record; those of unknown threads are ignored. Fails as
 * the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_state_records_switch(struct ctx_state_records *records,
							const struct ctx_perf_record *record,
							struct ctx_err *err);

/*
 * To be called after the process tree has applied a COMM record of an exec: the new image's thread
 * is on a CPU. Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_state_records_exec(struct ctx_state_records *records,
						      const struct ctx_perf_record *record,
						      struct ctx_err *err);

/*
 * To be called before the process tree applies an EXIT record: the last thing that a thread does is
 * to wake the waiter for its end.
 */
void ctx_state_records_exit(struct ctx_state_records *records, const struct ctx_perf_record *record);

/*
 * Takes a sample of this state event; what it borrows must live until the batch is flushed. Fails
 * as the writer does, and with CTX_E_FORMAT where it does not match the tracepoint's format: the
 * caller counts it as lost.
 */
CTX_MUST_CHECK enum ctx_status ctx_state_records_sample(struct ctx_state_records *records,
							enum ctx_state_event event,
							const struct ctx_perf_record *record,
							struct ctx_err *err);

#endif
