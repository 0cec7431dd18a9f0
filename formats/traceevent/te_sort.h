/*
 * Records sorted by time, in bounded memory: what does not fit in the buffer is sorted and written to a temporary file, piece
 * by piece, and merged when it is read.
 */
#ifndef CTX_FORMATS_TRACEEVENT_TE_SORT_H
#define CTX_FORMATS_TRACEEVENT_TE_SORT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_te_kind {
	CTX_TE_BEGIN,
	CTX_TE_END,
	CTX_TE_SLICE, /* with its duration */
	CTX_TE_LANE_BEGIN,
	CTX_TE_LANE_END,
	CTX_TE_LANE_POINT,
	CTX_TE_POINT,
	CTX_TE_COUNTER,
};

struct ctx_te_record {
	int64_t time_ns;
	int64_t dur_ns;	    /* of a slice; of LANE_*: the key of its lane; of a counter: the value */
	int64_t cpu_ns;	    /* the thread's CPU time at its begin or end; -1 unknown */
	int64_t cpu_dur_ns; /* of a slice: CPU time of it; -1 unknown */
	uint64_t order;	    /* in the file, and in its lowest CTX_TE_KIND_BITS bits the kind */
	uint32_t thread;
	uint32_t name; /* of BEGIN, SLICE, LANE_BEGIN: function; else name, CTX_TE_NO_NAME */
};

#define CTX_TE_KIND_BITS 3

static inline enum ctx_te_kind ctx_te_kind_of(const struct ctx_te_record *record)
{
	return (enum ctx_te_kind)(record->order & ((1u << CTX_TE_KIND_BITS) - 1));
}

struct ctx_te_run {		     /* a sorted part of the file */
	uint64_t at, end;	     /* bytes that have not been read into the buffer */
	struct ctx_te_record *items; /* owned */
	size_t n, next;
};

struct ctx_te_sort {
	struct ctx_te_record *items; /* owned */
	size_t n, cap, next;
	size_t limit;		 /* records in memory; 0: CTX_TE_SORT_RECORDS */
	int fd;			 /* of the temporary file, which has no name; valid with n_runs != 0 */
	uint64_t bytes;		 /* of it */
	struct ctx_te_run *runs; /* owned */
	size_t n_runs, runs_cap;
	struct ctx_te_run *last; /* that the last record came from; NULL */
	/*
	 * Of slices with the same time and duration the later one in the file is the outer one: the file has them in order
	 * of their ends. Decided by those of the first part.
	 */
	bool outer_is_later;
	bool is_decided;
	uint64_t begins_in_order, ends_in_order; /* successive slices of a thread that are */
};

#define CTX_TE_SORT_RECORDS (((size_t)64 << 20) / sizeof(struct ctx_te_record))

void ctx_te_sort_deinit(struct ctx_te_sort *sort);

/* Adds a record. CTX_E_NOMEM, CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_te_sort_add(struct ctx_te_sort *sort, const struct ctx_te_record *record,
					       struct ctx_err *err);

/* Nothing more is added. CTX_E_NOMEM, CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_te_sort_freeze(struct ctx_te_sort *sort, struct ctx_err *err);

/*
 * The next one in order: by time; of one time slices come last, the longer ones first; else as in the file. Valid up to the
 * next call. CTX_END; CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_te_sort_next(struct ctx_te_sort *sort, const struct ctx_te_record **ret,
						struct ctx_err *err);

#endif
