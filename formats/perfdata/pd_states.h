/*
 * States: what a recording tells of threads that are on no CPU, as changes of the model.
 *
 *	sched:sched_switch	its thread blocks, is preempted, stops: with the sample's stack; the next one runs
 *	SWITCH records		runs; blocks or is preempted, without stack, where sched_switch has not said it already
 *	sched:sched_waking ..	woken, with who did it and its stack
 *	raw_syscalls		enters, returns
 *	page faults		whether the wait that follows is for instructions
 *
 * A file without events that tell when threads leave the CPU gives none of it.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_STATES_H
#define CTX_FORMATS_PERFDATA_PD_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_pd_states { /* all zero is a valid one that tells nothing */
	bool on;
	uint8_t *roles;	  /* owned; what the samples of an event tell, by its index */
	uint8_t *threads; /* owned; what is known of a thread, by its number */
	size_t n_threads, threads_cap;
};

void ctx_pd_states_deinit(struct ctx_pd_states *states);

#endif
