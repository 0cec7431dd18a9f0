/*
 * The events of all data files, decoded, in order of time.
 *
 *	file --blocks--> runs (about a block each, one flow's) --merged by time--> events
 *
 * A block belongs to one flow of threads, and blocks of different flows interleave. So each file is
 * read twice: first for the first timestamp of each block, then for the events. During the second
 * pass only the blocks around the current time are in memory.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_EVENTS_H
#define CTX_FORMATS_GPROFNG_GP_EVENTS_H

#include "formats/gprofng/gp_event.h"

struct ctx_gp_events;

/* An empty merger of events; destroy it with ctx_gp_events_destroy (NULL is fine). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_events_create(struct ctx_gp_events **ret, struct ctx_err *err);
void ctx_gp_events_destroy(struct ctx_gp_events *events);

/* Results of the first pass over a file. */
struct ctx_gp_events_found {
	uint64_t n; /* events */
	uint64_t bytes;
	int64_t first_ns, last_ns; /* absolute; 0 without events */
	uint64_t invalid; /* offsets without a valid record, and records that are too short for their type */
	uint64_t invalid_at; /* offset of the first one */
	uint64_t impossible; /* records with a time out of range; they are dropped */
};

struct ctx_gp_data_file {
	const char *path;	      /* copied */
	const struct ctx_gp_log *log; /* borrowed; must outlive the merger */
	size_t file;		      /* its number in the log */
	uint32_t owner;		      /* of its events, in the caller's numbering */
	int64_t shift_ns;	      /* events are ordered by time_ns - run_ns + shift_ns */
	int64_t latest_ns; /* absolute: events before the run or later than this are out of range */
};

/* Adds a data file. CTX_E_NOTFOUND, CTX_E_IO, CTX_E_FORMAT (not a regular file), CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_events_add(struct ctx_gp_events *events,
						 const struct ctx_gp_data_file *added,
						 struct ctx_gp_events_found *ret, struct ctx_err *err);

/* The relative time of the next event. CTX_END, CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_events_peek(struct ctx_gp_events *events, int64_t *ret_time_ns,
						  struct ctx_err *err);

/* The next event. Its pointers are valid until the next call. Fails as above. */
CTX_MUST_CHECK enum ctx_status ctx_gp_events_next(struct ctx_gp_events *events, struct ctx_gp_event *ret,
						  struct ctx_err *err);

/* Bytes of blocks read in the second pass. */
uint64_t ctx_gp_events_progress(const struct ctx_gp_events *events);

#endif
