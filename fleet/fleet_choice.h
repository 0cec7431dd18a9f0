/*
 * The chosen recordings, and which of their cells make up an interval.
 *
 *	terms, interval --ctx_recording--> pushes; of each: is it whole in the interval?
 *
 *	recording A   [==================]                 level 0
 *	recording B               [======|=========]       minutes, then tens of seconds, then seconds
 *	interval          |--------------|
 *
 * They are chosen once, and all questions are about these: a recording that is pushed meanwhile changes no answer half.
 */
#ifndef CTX_FLEET_FLEET_CHOICE_H
#define CTX_FLEET_FLEET_CHOICE_H

#include "fleet/fleet_server.h"
#include "model/interval.h"

#define CTX_FLEET_RECORDINGS_MAX 200000u

struct ctx_fleet_choice_spec {	  /* borrowed */
	const char *const *terms; /* fleet/where.h */
	size_t n_terms;
	bool has_interval;
	struct ctx_interval interval; /* times of day in ns since 1970, whole seconds */
};

struct ctx_fleet_choice {	  /* owned by the caller (ctx_fleet_choice_deinit) */
	struct ctx_buf pushes;	  /* the rows of the temporary table "chosen" */
	size_t n, n_partial;	  /* recordings, and those of them that the interval cuts */
	struct ctx_interval hull; /* in which they lie, at most the interval; times of day */
	bool has_interval;
	uint32_t begin_s, end_s;      /* of the interval */
	uint16_t first_day, last_day; /* on which they began */
};

/* CTX_E_ARG: a term, an interval that is not of whole seconds; CTX_E_NOTFOUND: there are none; CTX_E_LIMIT. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_choose(const struct ctx_fleet_server *server,
						const struct ctx_fleet_choice_spec *spec,
						struct ctx_fleet_choice *ret, struct ctx_err *err);
void ctx_fleet_choice_deinit(struct ctx_fleet_choice *choice);

/* As the table of a request. Borrowed. */
struct ctx_fleet_table ctx_fleet_choice_table(const struct ctx_fleet_choice *choice);

/* Appends the condition on ctx_cell that selects the choice's cells, without a metric. */
void ctx_fleet_choice_put_cells(const struct ctx_fleet_choice *choice, struct ctx_buf *sql);

/* Appends "sum(weight), sum(samples), sum(calls)", exact across the borders of cells. */
void ctx_fleet_choice_put_sums(const struct ctx_fleet_choice *choice, struct ctx_buf *sql);

/* Runs a statement that names the table "chosen". `sql` gets its end here. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_choice_ask(const struct ctx_fleet_choice *choice,
						    const struct ctx_fleet_server *server,
						    struct ctx_buf *sql, struct ctx_buf *answer,
						    struct ctx_err *err);

#endif
