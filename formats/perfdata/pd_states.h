/*
 * States: what a recording has seen of threads that are on no CPU. ingest/sched_model.h interprets
 * it.
 *
 *	sched:sched_switch	its thread blocks, is preempted, stops, with the sample's stack; the next one runs
 *	SWITCH records		a thread runs; has left its CPU, preempted or not
 *	sched:sched_waking ..	is woken, with who did it and its stack
 *	raw_syscalls		enters, returns
 *	page faults		for instructions or not
 *
 * A file without events of switches gives none of it.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_STATES_H
#define CTX_FORMATS_PERFDATA_PD_STATES_H

#include "formats/perfdata/pd_reader.h"

/* Finds out which events tell what threads do, and says so in the info of the source. */
CTX_MUST_CHECK enum ctx_status ctx_pd_states_fill(struct ctx_pd_reader *reader, struct ctx_err *err);

/*
 * The changes that a sample of `source` tells of; `told` is its own event, which was put already.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_states_sample(struct ctx_pd_reader *reader,
						    const struct ctx_pd_event *source,
						    const struct ctx_pe_sample *sample,
						    const struct ctx_event *told, struct ctx_err *err);

/* SWITCH and SWITCH_CPU_WIDE. *ret_used: false when they tell nothing. */
CTX_MUST_CHECK enum ctx_status ctx_pd_states_switch(struct ctx_pd_reader *reader,
						    const struct ctx_pd_queued *item, bool *ret_used,
						    struct ctx_err *err);

/* A thread goes on as another program: on the CPU, as the first of a new process. */
CTX_MUST_CHECK enum ctx_status ctx_pd_states_exec(struct ctx_pd_reader *reader, uint64_t time_ns, int64_t tid,
						  struct ctx_err *err);

void ctx_pd_states_deinit(struct ctx_pd_states *states);

#endif
