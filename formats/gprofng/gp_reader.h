/*
 * The parts of the event source. Private to formats/gprofng/.
 *
 *	experiments --> timeline (starts, maps, usage, ends) --.
 *	data files --> events, merged by time -----------------+--> gprofng.c: next event
 */
#ifndef CTX_FORMATS_GPROFNG_GP_READER_H
#define CTX_FORMATS_GPROFNG_GP_READER_H

#include "base/map64.h"
#include "formats/gprofng/gp_jstack.h"
#include "formats/gprofng/gp_stacks.h"
#include "model/event_source.h"

#define CTX_GP_LATER_MAX 40u
#define CTX_GP_STATES 12u /* states that a thread may have at a tick */

/* What happens at a time besides events; at equal times in this order. */
enum ctx_gp_moment_kind {
	CTX_GP_MOMENT_START,
	CTX_GP_MOMENT_MAP,
	CTX_GP_MOMENT_USAGE,
	CTX_GP_MOMENT_END,
};

struct ctx_gp_moment {
	uint64_t time_ns;
	enum ctx_gp_moment_kind kind;
	uint32_t experiment; /* in the order of opening */
	uint32_t item;	     /* index in its map or overview */
};

/* By time. */
struct ctx_gp_moments {
	struct ctx_gp_moment *items; /* owned */
	size_t n, cap, at;
};

/* A process as announced. */
struct ctx_gp_image {
	uint32_t number;	  /* of the source; CTX_NONE: not announced */
	uint32_t parent;	  /* experiment, CTX_NONE */
	uint32_t counter_metrics; /* where its counters begin in the reader's list */
	struct ctx_map64 thread_of_tid;
	struct ctx_gp_stacks stacks;
	struct ctx_gp_jimage java;
};

/* Warnings for the header of the reports. */
struct ctx_gp_warnings {
	const char **texts; /* owned; the texts are the arena's */
	size_t n, cap, at;
};

/*
 * Events that follow the one returned last: samples after the start of their thread, and further
 * events of the same record.
 */
struct ctx_gp_later {
	struct ctx_event events[CTX_GP_LATER_MAX];
	size_t n, at;
};

/* Reported at the end. */
struct ctx_gp_sums {
	uint64_t missing, cut; /* stacks */
	uint64_t impossible;   /* samples with a weight out of range */
	uint64_t weight;       /* sum of all weights */
};

struct ctx_gp_reader {
	struct ctx_event_source source;
	struct ctx_gp_experiments experiments;
	struct ctx_gp_image *images; /* owned; by experiment */
	uint32_t *experiment_of;     /* owned; by process */
	struct ctx_gp_events *events;
	struct ctx_gp_moments moments;
	uint32_t *counter_metrics;	       /* owned; by image and counter: metric */
	uint32_t state_metrics[CTX_GP_STATES]; /* CTX_NONE: states are not distinguished */
	uint32_t thread_metric;		       /* of all states but those of the CPU; CTX_NONE */
	uint32_t n_processes, n_threads;
	uint64_t n_events;
	struct ctx_gp_traced *traced;
	struct ctx_gp_jstacks jstacks;

	/* Storage for what is returned. */
	struct ctx_arena arena; /* owns the texts of the source's info, and the warnings */
	struct ctx_gp_warnings warnings;
	size_t damage_at;
	size_t n_properties_cap;
	struct ctx_gp_stack_frames last;
	char text[1024];
	struct ctx_gp_later later;
	bool ended;
	struct ctx_gp_sums sums;
};

/* Fills source.info: metrics, properties; and the warnings of the collector. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_info_fill(struct ctx_gp_reader *reader, struct ctx_err *err);

/* Adds a line to the header; `key` must outlive it. An empty text adds nothing. */
CTX_MUST_CHECK enum ctx_status ctx_gp_property(struct ctx_gp_reader *reader, struct ctx_err *err,
					       const char *key, const char *fmt, ...) CTX_PRINTF(4, 5);

/*
 * Adds what users wrote (notes, named intervals and samples) as lines of the header. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_notes_read(struct ctx_gp_reader *reader, struct ctx_err *err);

/* Adds a line to the header of every report; equal texts are added once. */
CTX_MUST_CHECK enum ctx_status ctx_gp_warn(struct ctx_gp_reader *reader, struct ctx_err *err, const char *fmt,
					   ...) CTX_PRINTF(3, 4);

/* Announces the metrics of clock profiles and counters. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_metrics_make(struct ctx_gp_reader *reader, struct ctx_err *err);

/* Is the record a tick of the clock or of a counter? */
bool ctx_gp_metrics_are_of(const struct ctx_gp_event *event);

/*
 * Adds the samples of such a record to reader->later.events; `like` is a sample without metric and
 * weight.
 */
void ctx_gp_metrics_take(struct ctx_gp_reader *reader, const struct ctx_gp_event *event,
			 const struct ctx_event *like);

/* Computes when each experiment began, and its parent. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_timeline_place(struct ctx_gp_reader *reader, struct ctx_err *err);

/* Lists all moments; the ends of the experiments must be known. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_timeline_fill(struct ctx_gp_reader *reader, struct ctx_err *err);

#endif
