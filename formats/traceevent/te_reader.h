/*
 * The parts of the reader of trace events, for its own files.
 *
 *	file --te_parse--> events --te_collect--> records --te_sort--> in order of time --te_play--> events of the source
 */
#ifndef CTX_FORMATS_TRACEEVENT_TE_READER_H
#define CTX_FORMATS_TRACEEVENT_TE_READER_H

#include "formats/traceevent/te_model.h"
#include "formats/traceevent/te_parse.h"
#include "formats/traceevent/te_sort.h"
#include "model/source_notes.h"
#include "model/traced.h"

struct ctx_te_sums {		   /* told at the end */
	uint64_t flows, others;	   /* events that are not read */
	uint64_t timeless;	   /* without a time, or with one that cannot be */
	uint64_t nameless;	   /* counters without a number */
	uint64_t fractions;	   /* values of counters that are no whole numbers */
	uint64_t cut;		   /* slices that would end after the one around them, */
	int64_t cut_ns;		   /* by so much at most */
	uint64_t no_begin, no_end; /* ends without a slice, slices without an end */
	uint64_t left;		   /* slices that the end of an outer one ended */
};

enum ctx_te_due_kind { /* in their order at equal times */
		       CTX_TE_SLICE_ENDS,
		       CTX_TE_THREAD_ENDS,
		       CTX_TE_PROCESS_ENDS,
};

struct ctx_te_due {
	int64_t time_ns;
	uint64_t serial; /* of the slice */
	uint32_t index;	 /* of the thread, or process */
	enum ctx_te_due_kind kind;
};

struct ctx_te_later {
	struct ctx_event *items; /* owned */
	size_t n, cap, at;
};

struct ctx_te_reader {
	struct ctx_event_source source;
	struct ctx_source_notes notes;
	struct ctx_te_model model;
	struct ctx_te_sort sort;
	struct ctx_te_sums sums;
	const char *file_name; /* the load object of functions without a category */
	uint64_t n_records;
	int64_t begin_ns, end_ns;
	bool has_cpu; /* events have the thread's CPU time */
	/* te_play */
	const struct ctx_te_record *next; /* NULL: none is read */
	struct ctx_te_due *due;		  /* owned; a heap */
	size_t n_due, due_cap;
	uint64_t serial;	  /* the last one */
	struct ctx_map64 lane_of; /* by the key of an id whose slices are open: thread */
	struct ctx_te_later later;
	struct ctx_traced mark;
	uint64_t cpu_delta;
	uint32_t n_processes, n_threads; /* announced */
	uint64_t n_played;
	bool ended;
	struct ctx_source_metric cpu_counter;
};

/* Takes an event of the file: te_parse's take(). CTX_E_NOMEM, CTX_E_LIMIT, CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_te_collect(void *reader, const struct ctx_te_event *event,
					      struct ctx_err *err);

/* Before the first ctx_te_play_next. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_te_play_begin(struct ctx_te_reader *reader, struct ctx_err *err);

/* The next event of the source. CTX_END; CTX_E_NOMEM, CTX_E_LIMIT, CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_te_play_next(struct ctx_te_reader *reader, struct ctx_event *ret,
						struct ctx_err *err);

#endif
