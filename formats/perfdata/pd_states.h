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

#include <stdbool.h>
#include <stdint.h>

struct ctx_pd_states { /* all zero is a valid one that gives nothing */
	bool on;
	bool has_waking; /* samples of sched_waking, which come before those of sched_wakeup */
	uint8_t *roles;	 /* owned; what the samples of an event are of, by its index */
};

void ctx_pd_states_deinit(struct ctx_pd_states *states);

#endif
