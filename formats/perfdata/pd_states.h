/*
 * States: state changes of threads, from scheduler events. ingest/sched_model.h interprets them.
 *
 *	sched:sched_switch	the previous thread blocks, is preempted, stops, with its stack; the next one runs
 *	SWITCH records		a thread runs; left its CPU, preempted or not
 *	sched:sched_waking ..	a thread is woken, with waker and the waker's stack
 *	raw_syscalls		a thread enters, returns
 *	page faults		on instructions or on data
 *
 * Without switch events in the file there are no state changes.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_STATES_H
#define CTX_FORMATS_PERFDATA_PD_STATES_H

#include "formats/perfdata/pd_reader.h"

/* Finds the events that give state changes, and describes them in the info of the source. */
CTX_MUST_CHECK enum ctx_status ctx_pd_states_fill(struct ctx_pd_reader *reader, struct ctx_err *err);

/*
 * Emits the state changes of a sample of `source`. `sampled` is its CTX_EV_SAMPLE, already emitted.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_states_sample(struct ctx_pd_reader *reader,
						    const struct ctx_pd_event *source,
						    const struct ctx_pe_sample *sample,
						    const struct ctx_event *sampled, struct ctx_err *err);

/* SWITCH and SWITCH_CPU_WIDE. *ret_used is false for a record without time or thread. */
CTX_MUST_CHECK enum ctx_status ctx_pd_states_switch(struct ctx_pd_reader *reader,
						    const struct ctx_pd_queued *item, bool *ret_used,
						    struct ctx_err *err);

/* A thread called exec: it runs on as the first thread of a new process. */
CTX_MUST_CHECK enum ctx_status ctx_pd_states_exec(struct ctx_pd_reader *reader, uint64_t time_ns, int64_t tid,
						  struct ctx_err *err);

void ctx_pd_states_deinit(struct ctx_pd_states *states);

#endif
