/*
 * The state of an ingest, for its own files: ingest.c runs it, ingest_events.c handles the events,
 * ingest_contents.c stores the results.
 */
#ifndef CTX_INGEST_INGEST_IMPL_H
#define CTX_INGEST_INGEST_IMPL_H

#include "base/map64.h"
#include "base/strtab.h"
#include "ingest/chaindict.h"
#include "ingest/clock_share.h"
#include "ingest/forest.h"
#include "ingest/ingest_options.h"
#include "ingest/open_calls.h"
#include "ingest/profile_builder.h"
#include "ingest/stack_paths.h"
#include "ingest/stackdict.h"
#include "ingest/state_feed.h"
#include "ingest/tree_worker.h"
#include "ingest/unwinding.h"
#include "ingest/window.h"

struct process {
	struct ctx_addrspace space;
	struct ctx_ranges
		anonymous;	   /* executable memory of no file, with the code of virtual machines in it */
	struct ctx_stackdict dict; /* of a source with interned stacks */
	struct ctx_chaindict chains; /* of a source with whole stacks */
};

struct inherited_maps {
	size_t n;	   /* of the mappings */
	bool are_left_out; /* too many of them */
};

struct leaf_samples {	 /* their number by raw stack */
	uint32_t *items; /* owned */
	size_t n, cap;
};

struct ingest {
	struct ctx_event_source *source;
	struct ctx_store *store;
	struct ctx_resolver *resolver;
	struct ctx_unwinding *unwinding; /* NULL: not needed yet */
	struct ctx_stack_forest stacks;
	struct ctx_tree_forest *trees;
	struct ctx_tree_worker *worker; /* NULL: the trees are fed from here */
	struct ctx_window *window;	/* of a live ingest, instead of trees until its end; NULL: none */
	struct ctx_state_feed *states;	/* NULL: the source records none */
	struct ctx_calls *calls;	/* the same */
	struct ctx_ingest_omp *omp;	/* the same */
	bool *shows_running;		/* owned; by metric: a sample of it shows its thread on a CPU */
	struct ctx_profile_builder entities;
	struct ctx_strtab files; /* names, of traced input and output */
	struct ctx_addrspace kernel_space;
	struct process *processes;
	size_t n_processes, processes_cap;
	struct ctx_stack_paths paths;
	struct ctx_map64 last_stack; /* thread << 32 | metric -> CCT node of the last sample */
	struct ctx_mapping_info *mappings;
	size_t n_mappings, mappings_cap;
	struct inherited_maps inherited;
	struct ctx_code_list code;
	struct ctx_source_file *source_files; /* owned */
	struct leaf_samples leaf_samples;
	struct ctx_clock_share clock_share; /* of ctx_ingest_clock; with states */
	struct ctx_ingest_stats stats;
};

/* Prepares everything but the store and the trees. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_begin(struct ingest *in, const struct ctx_ingest_options *options,
						struct ctx_err *err);

/* Makes the trees, for in->store. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_plant_trees(struct ingest *in,
						      const struct ctx_ingest_options *options,
						      struct ctx_err *err);
void ctx_ingest_deinit(struct ingest *in);

/* A sample whose stacks are known, counted, to the trees or the window; the same for an operation. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_put_sample(struct ingest *in, const struct ctx_sample *sample,
						     struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_ingest_put_traced(struct ingest *in, const struct ctx_traced *operation,
						     struct ctx_err *err);

/* The last sample of the thread has been put. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_end_thread(struct ingest *in, uint32_t thread, struct ctx_err *err);

/* Prepares calls, if the source sees them. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_begin_calls(struct ingest *in, struct ctx_err *err);

/* Ends the calls of a thread, or of the threads of a process, that exits. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_end_calls(struct ingest *in, const struct ctx_event *event,
						    struct ctx_err *err);

/*
 * A sample whose raw stack is known: finds its call path, and what it shares with the thread's last one of the metric. `kept_frames`: see
 * struct ctx_event_sample; UINT32_MAX unknown.
 */
CTX_MUST_CHECK enum ctx_status ctx_ingest_put_at_stack(struct ingest *in, struct ctx_sample *sample,
						       uint32_t kept_frames, struct ctx_err *err);

/* Prepares OpenMP, if the source sees it; an event of it, with its raw stack; the exit of a thread or process, or the end of the recording (NULL). */
CTX_MUST_CHECK enum ctx_status ctx_ingest_begin_omp(struct ingest *in, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_ingest_omp(struct ingest *in, const struct ctx_event *event,
					      uint32_t raw_stack, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_ingest_end_omp(struct ingest *in, const struct ctx_event *event,
						  struct ctx_err *err);
/* A raw stack of the thread, with its state and that of the master of its team. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_omp_merge(struct ingest *in, uint32_t thread, uint32_t *raw,
						    struct ctx_err *err);
/* After the last stack: names the functions that compilers have made of constructs. */
void ctx_ingest_omp_name(struct ingest *in);
void ctx_ingest_omp_deinit(struct ctx_ingest_omp *omp);

/* Prepares thread states, if the source records them. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_begin_states(struct ingest *in, struct ctx_err *err);

/* The first clock of CPU time in both modes, of the source's metrics; CTX_NONE. */
uint32_t ctx_ingest_clock(const struct ctx_source_info *info);

/* Handles one event. Fails with CTX_E_FORMAT for an invalid one, and as ctx_ingest does. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_event(struct ingest *in, const struct ctx_event *event,
						struct ctx_err *err);

/* Room in the counters for all raw stacks that exist. */
CTX_MUST_CHECK enum ctx_status ctx_ingest_grow_leaf_samples(struct ingest *in, struct ctx_err *err);

/*
 * To be called after the last event: finishes the trees and stores the rest, with remarks on the
 * recording.
 */
CTX_MUST_CHECK enum ctx_status ctx_ingest_put_contents(struct ingest *in,
						       const struct ctx_ingest_options *options,
						       struct ctx_err *err);

#endif
