/*
 * The first screen (report `summary`): what ran, where the time went, and what to ask next.
 *
 *	source --ctx_summary_collect--> struct ctx_summary --summary_text.c--> at most 24 lines
 *	                                                   `--summary.c------> JSON, CSV
 */
#ifndef CTX_REPORT_SUMMARY_H
#define CTX_REPORT_SUMMARY_H

#include "report/hot_functions.h"
#include "report/missing_objects.h"
#include "report/order.h"
#include "report/out.h"
#include "report/slice_tops.h"
#include "report/summary_omp.h"
#include "report/wait_during.h"
#include "report/wait_table.h"
#include "report/wait_waiters.h"

/* The most rows of a list. */
#define CTX_SUMMARY_ROWS 10u

/* So many processes say more than what each does. */
#define CTX_SUMMARY_PROCESSES 20u

/* Rows below one part of so many are not on the screen. */
#define CTX_SUMMARY_SMALL 100u

/* States in which a thread has a CPU. */
#define CTX_SUMMARY_ON_CPU                                                                                   \
	(CTX_STATE_BIT(CTX_STATE_USER) | CTX_STATE_BIT(CTX_STATE_SYSTEM) | CTX_STATE_BIT(CTX_STATE_TRAP))

/* A share of the threads' time: what they did, or what they waited for. */
struct ctx_summary_share {
	const char *text; /* "on a CPU", "mutex" */
	uint64_t ns;
	bool on_cpu;
};

/* Threads or processes with the same name, but for digits. */
struct ctx_summary_group {
	const char *name; /* "worker-*", "gcc" */
	uint32_t n;	  /* a process counts where its last image is */
	uint64_t cpu;	  /* of the first metric, in the selection */
	uint64_t wall_ns; /* their time together; with states */
	uint64_t life_ns; /* from begin to end of each, together */
	uint32_t parent;  /* the process that started the first of them; CTX_NONE: unknown */
};

struct ctx_summary_waiting {
	struct ctx_wait_waiters waiters; /* who waits in the first wait, if it is long */
	struct ctx_summary_omp omp;	 /* what teams of OpenMP wait */
};

struct ctx_summary {
	struct ctx_report_source *source;
	const struct ctx_report_options *options;
	const struct ctx_profile *profile;
	struct ctx_metric_info metric; /* the first */
	uint64_t
		end_ns; /* of the last thread, if all have ended: what the recorder does later is not the run */
	uint64_t elapsed_ns; /* length of the selected intervals, up to then */
	uint64_t cpu_ns;     /* on a CPU; only with has_cpu */
	bool has_cpu;
	uint64_t cpus;					      /* of the machine; 0: unknown */
	uint32_t n_threads, n_processes;		      /* in the selection */
	uint64_t states[CTX_STATE_N], thread_ns;	      /* sums of all threads */
	struct ctx_summary_share shares[CTX_WAIT_KIND_N + 3]; /* on a CPU, then the largest first */
	size_t n_shares;
	struct ctx_wait_table waits;
	struct ctx_order_item *wait_order; /* of its rows: the most important first, joins last; owned */
	struct ctx_missing_objects missing;
	struct ctx_fold fold;
	struct ctx_wait_kinds kinds;
	struct ctx_hot_functions functions;
	struct ctx_wait_during during; /* the first wait, if it is long: what its waker did */
	struct ctx_summary_waiting waiting;
	struct ctx_report_slices slices; /* of all threads together */
	size_t n_slices;		 /* of them, up to end_ns */
	const struct ctx_phase_group
		*phases;	    /* of the whole run, if that is selected and has several; NULL */
	struct ctx_slice_top *tops; /* owned; by slice */
	bool groups_are_commands;
	struct ctx_summary_group *groups; /* owned; the heaviest first */
	size_t n_groups;
};

/* Call ctx_summary_deinit in any case. Scans of samples and waits. */
CTX_MUST_CHECK enum ctx_status ctx_summary_collect(struct ctx_summary *summary,
						   struct ctx_report_source *source,
						   const struct ctx_report_options *options,
						   struct ctx_err *err);
void ctx_summary_deinit(struct ctx_summary *summary);

/* The command line of what was recorded; "" unknown. Any bytes. */
const char *ctx_summary_command(const struct ctx_summary *summary);

/* The most important wait; NULL: none. */
const struct ctx_wait_row *ctx_summary_first_wait(const struct ctx_summary *summary);

/* The kind of a wait on the screen: "mutex", "timer (sleep)". */
const char *ctx_summary_kind_text(enum ctx_wait_kind kind);

/* The same, shorter, so that names have room: "condition", "sleep". */
const char *ctx_summary_kind_word(enum ctx_wait_kind kind);

/*
 * Whether what threads wait for says more than what they compute: for less than half of the elapsed
 * time one is on a CPU or could be, or a lock keeps processors idle.
 */
bool ctx_summary_is_waiting(const struct ctx_summary *summary);

/*
 * Whether the whole program waits longer for a CPU than it has one, and for a tenth of its threads' time
 * and 20 ms at least, while half of the machine does not work for it: others have the processors, or it may not
 * use them (a quota, affinity).
 */
bool ctx_summary_is_kept_off(const struct ctx_summary *summary);

/*
 * Whether a wait is one for work: for a condition, a semaphore, a pipe, a socket or events, and ended by a
 * thread of the first wait, by one that waits there or by the one that they wait for. What that thread
 * lacks this one lacks too.
 */
bool ctx_summary_is_idle(const struct ctx_summary *summary, const struct ctx_wait_row *row);

/*
 * The function that holds up the first wait: of a sleep the one that sleeps, of a lock the one that
 * released it, else where the waker was meanwhile. CTX_NONE: unknown.
 */
uint32_t ctx_summary_cause(const struct ctx_summary *summary);

/* The command of which most processes are, if these are many and short; NULL otherwise. */
const struct ctx_summary_group *ctx_summary_short_processes(const struct ctx_summary *summary);

/*
 * Whether other threads wait for a long time for the one that is in the hottest function: a producer
 * that computes.
 */
bool ctx_summary_is_waited_for(const struct ctx_summary *summary);

/* Calls `put` with each command to ask next, as typed into a shell, the most useful first. */
void ctx_summary_next(const struct ctx_summary *summary, void (*put)(void *context, const char *command),
		      void *context);

/* Prints it as text or HTML, between ctx_out_begin and ctx_out_rows_end. */
void ctx_summary_print(struct ctx_summary *summary, struct ctx_out *out);

#endif
