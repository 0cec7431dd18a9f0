/*
 * Threads of a text trace with their open calls: from records to events, mending what does not fit.
 */
#ifndef CTX_FORMATS_CALLTRACE_CT_THREADS_H
#define CTX_FORMATS_CALLTRACE_CT_THREADS_H

#include "base/strtab.h"
#include "formats/calltrace/ct_dialect.h"
#include "model/event_source.h"

struct ctx_ct_thread;

struct ctx_ct_leaf_end { /* of a heap */
	uint64_t time_ns;
	uint32_t thread;
};

struct ctx_ct_threads {
	struct ctx_strtab names; /* of functions, by their id */
	struct ctx_strtab thread_names;
	struct ctx_strtab keys;	       /* as lines name threads, by their number */
	struct ctx_strtab counters;    /* by their number; complete before the first event */
	const char *module;	       /* of the functions; borrowed */
	struct ctx_ct_thread *threads; /* owned */
	size_t n, cap;
	size_t n_announced;	      /* functions */
	bool has_states;	      /* threads run from their first line on */
	struct ctx_ct_leaf_end *ends; /* owned: a heap; an end that is not its thread's any more is nothing */
	size_t n_ends, ends_cap;
	/* Events to return, and what they point to. */
	struct ctx_event *events; /* owned */
	size_t at, n_events, events_cap;
	uint64_t *frames, *counted; /* owned */
	size_t frames_cap;
	uint64_t unmatched; /* ends without a begin */
	uint64_t mended;    /* calls whose end was missing */
};

void ctx_ct_threads_deinit(struct ctx_ct_threads *threads);

/* Appends the events of a record, at its time from the run's begin. Times never decrease. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_ct_threads_add(struct ctx_ct_threads *threads,
						  const struct ctx_ct_record *record, struct ctx_err *err);

/* Appends the ends of leaves that come up to then. */
CTX_MUST_CHECK enum ctx_status ctx_ct_threads_go_on(struct ctx_ct_threads *threads, uint64_t time_ns,
						    struct ctx_err *err);

/* Calls that are open now. */
uint64_t ctx_ct_threads_count_open(const struct ctx_ct_threads *threads);

#endif
