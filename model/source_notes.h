/*
 * What a format's reader has to say besides its data: lines of the header, warnings, and damage, kept until the
 * source hands them out as events.
 */
#ifndef CTX_MODEL_SOURCE_NOTES_H
#define CTX_MODEL_SOURCE_NOTES_H

#include "base/arena.h"
#include "base/err.h"
#include "model/event_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_SOURCE_DAMAGE_MAX 64u /* places that are told; more are counted */

struct ctx_source_note {
	enum ctx_event_kind kind; /* CTX_EV_WARNING or CTX_EV_DAMAGE */
	const char *text;
};

struct ctx_source_notes { /* all zero is valid: nothing to say */
	struct ctx_arena arena;
	struct ctx_source_note *items; /* owned */
	size_t n, cap, at;
	uint64_t n_damage;		 /* places, told or not */
	struct ctx_property *properties; /* owned; for info.properties */
	size_t n_properties, properties_cap;
};

void ctx_source_notes_deinit(struct ctx_source_notes *notes);

/* Each of these copies what it is given. CTX_E_NOMEM. */

/* A line of the header; an empty text adds none. */
CTX_MUST_CHECK enum ctx_status ctx_source_notes_property(struct ctx_source_notes *notes, const char *key,
							 const char *text, struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_source_notes_warn(struct ctx_source_notes *notes, struct ctx_err *err,
						     const char *fmt, ...) CTX_PRINTF(3, 4);

/* A place that cannot be read; from CTX_SOURCE_DAMAGE_MAX on only counted. */
CTX_MUST_CHECK enum ctx_status ctx_source_notes_damage(struct ctx_source_notes *notes, struct ctx_err *err,
						       const char *fmt, ...) CTX_PRINTF(3, 4);

/* Adds how many places were counted only. Once, at the end. */
CTX_MUST_CHECK enum ctx_status ctx_source_notes_end(struct ctx_source_notes *notes, struct ctx_err *err);

/* The next one as an event; its text lives as long as the notes. False: all have been taken. */
bool ctx_source_notes_take(struct ctx_source_notes *notes, struct ctx_event *ret);

#endif
