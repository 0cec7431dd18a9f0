/*
 * The recorder itself, for its parts:
 *
 *	recorder.c		one recording: the loop, the command, the end
 *	recorder_begin.c	events, signals, rings, the experiment
 *	recorder_records.c	from records in the rings to the writer; resource use
 */
#ifndef CTX_COLLECT_RECORDER_IMPL_H
#define CTX_COLLECT_RECORDER_IMPL_H

#include "collect/child.h"
#include "collect/data_maps.h"
#include "collect/indicators.h"
#include "collect/jit_dumps.h"
#include "collect/losses.h"
#include "collect/merge.h"
#include "collect/pressure.h"
#include "collect/priority.h"
#include "collect/proctree.h"
#include "collect/recargs.h"
#include "collect/ring_wait.h"
#include "collect/sample_batch.h"
#include "collect/session.h"
#include "collect/setuid.h"
#include "collect/state_records.h"
#include "collect/titles.h"
#include "collect/trace.h"
#include "collect/trace_texts.h"
#include "collect/vms.h"
#include "formats/experiment/exp_writer.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#define CTX_RECORDER_SECOND_NS UINT64_C(1000000000)
#define CTX_RECORDER_SLACK_NS UINT64_C(5000000) /* records of that age are visible in the rings of all CPUs */
#define CTX_RECORDER_TICK_NS UINT64_C(100000000) /* old buffers are written so often, and with each round */
#define CTX_RECORDER_PROCESSES_MAX 256		 /* whose resource use is sampled */

struct ctx_recorder_listener { /* of ctx_recorder_user */
	void (*say)(void *context, const char *text);
	void *context;
	bool has_failed; /* the recording has, and that was reported */
};

struct ctx_recorder_signals {
	struct ctx_child_signals old; /* of the caller, for the command */
	int fd;			      /* signalfd; owned */
	unsigned interruptions;
	int last; /* of them */
};

/* What it takes not to lose records. */
struct ctx_keeping_up {
	struct ctx_priority priority;
	struct ctx_copy_choice copies;
	uint64_t n_tasks; /* threads whose events the kernel changes one by one */
};

/* What the events count. */
struct ctx_recorder_metrics {
	struct ctx_exp_metric *items;	   /* by event; owned */
	struct ctx_indicators *indicators; /* NULL: none; owned */
	struct ctx_data_maps data_maps;	   /* where the data of their samples is */
};

/* Sources of code that is in no file. */
struct ctx_recorder_code {
	struct ctx_vms *vms; /* NULL: no agents are loaded */
	struct ctx_jit_dumps *dumps;
	struct ctx_python *python; /* NULL: functions of Python are not recorded, for the reason below */
	struct ctx_err why_no_python;
};

struct ctx_recorder {
	const struct ctx_rec_options *options;
	struct ctx_recorder_listener user;
	struct ctx_perf_events events;
	struct ctx_recorder_metrics metrics;
	struct ctx_ids tids;
	struct ctx_session session;
	struct ctx_merge merge;
	struct ctx_perf_layout layout;
	struct ctx_sample_batch *batch;
	struct ctx_exp_writer *writer;
	struct ctx_mapped_files *files;
	struct ctx_proctree *tree;
	struct ctx_state_records *states;
	struct ctx_titles *titles;
	struct ctx_setuid *setuid;
	struct ctx_trace *trace; /* NULL: nothing is traced */
	struct ctx_recorder_code code;
	struct ctx_wait_sampling *sampling;
	struct ctx_child child;
	struct ctx_keeping_up keeping_up;
	char *path;
	struct ctx_recorder_signals signals;
	struct pollfd *polls; /* CTX_RING_WAIT_OWN: signals.fd, ctx_setuid_fd, ctx_trace_fd; then the rings */
	struct ctx_ring_wait wait;
	uint64_t start_ns, next_usage_ns;
	uint64_t taken_ns;			  /* records of before then have been taken */
	uint64_t child_ended_ns;		  /* when that was seen; 0: not yet */
	struct ctx_usage_info root_process_usage; /* the last that was seen */
	struct ctx_losses *losses;
};

/*
 * Prepares everything up to the target's first instruction; for processes that already run, up to
 * their scan. Fails as ctx_record does.
 */
CTX_MUST_CHECK enum ctx_status ctx_recorder_begin(struct ctx_recorder *recorder, struct ctx_err *err);

/* A line for the user and for the header of reports. */
CTX_MUST_CHECK enum ctx_status ctx_recorder_warn(struct ctx_recorder *recorder, const char *text,
						 struct ctx_err *err);

/* Moves the records up to a time from the rings to the writer. Fails as the writer does. */
CTX_MUST_CHECK enum ctx_status ctx_recorder_take_until(struct ctx_recorder *recorder, uint64_t limit_ns,
						       struct ctx_err *err);

/* Records the resource use of the live processes. */
CTX_MUST_CHECK enum ctx_status ctx_recorder_take_usage(struct ctx_recorder *recorder, uint64_t time_ns,
						       struct ctx_err *err);

#endif
