/*
 * Uprobe guard: keeps uprobes armed in processes that are forked while they are recorded.
 *
 * The kernel keeps a uprobe in the memory of a process as long as an event of it has that process as its target. When it switches between two tasks
 * that inherited the same events it may exchange these instead of changing them over: then the events of one process end with a thread of
 * another, and its uprobes are taken out (perf_event_context_sched_out, uprobe_perf_close). Against that
 *
 *	in the program's own file	a reference that has no target, disabled: whoever executes the file meets the uprobe
 *	elsewhere		an event that is inherited and has its own count in samples (PERF_SAMPLE_READ): tasks with such events do not exchange
 *				them (nr_no_switch_fast), in any generation; kernels from 6.12 on
 *	elsewhere, before	an event in each process that its threads inherit and its children do not: events are exchanged only between tasks
 *				that inherited all of them
 *
 * The last comes too late for a process that is forked by one that the recorder has not seen yet, less than 0.2 s old.
 */
#ifndef CTX_COLLECT_UPROBE_GUARD_H
#define CTX_COLLECT_UPROBE_GUARD_H

#include "base/err.h"
#include "base/map64.h"
#include "collect/procfs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_uprobe_guarded {
	int fd;		   /* -1: closed */
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

struct ctx_uprobe_guard {		  /* all zero is a valid empty one */
	struct ctx_uprobe_guarded *items; /* owned */
	size_t n, cap;
	uint64_t n_late;	     /* processes that were forked by ones that were not guarded yet */
	struct ctx_map64 of_process; /* pid -> index */
	bool wants_processes;
	bool is_inherited; /* descendants of guarded threads are guarded by the kernel */
};

void ctx_uprobe_guard_deinit(struct ctx_uprobe_guard *guard);

/* A reference without target to the tracepoint of a uprobe. Where it is refused there is none. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uprobe_guard_everywhere(struct ctx_uprobe_guard *guard,
							   uint64_t tracepoint, struct ctx_err *err);

/* From now on processes are guarded, of which some have places in other files. */
void ctx_uprobe_guard_begin(struct ctx_uprobe_guard *guard);

/* Guards a process, by its threads now; one that has ended is none. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_uprobe_guard_add(struct ctx_uprobe_guard *guard, int64_t pid,
						    const struct ctx_ids *tids, struct ctx_err *err);

/* The same for one that was forked, at a time of CLOCK_MONOTONIC. */
CTX_MUST_CHECK enum ctx_status ctx_uprobe_guard_fork(struct ctx_uprobe_guard *guard, int64_t parent,
						     int64_t pid, uint64_t time_ns, struct ctx_err *err);
void ctx_uprobe_guard_end(struct ctx_uprobe_guard *guard, int64_t pid);

#endif
