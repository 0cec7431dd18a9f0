/*
 * What rules are about: kinds of rows and their measures.
 *
 *	function.self.share
 *	   |      |     `--- unit
 *	   |      `--------- measure
 *	   `---------------- kind of row
 *
 * Functions, load objects, lines and threads have a row each; states, waits, the heap and the run are one row with a
 * measure for each of them.
 */
#ifndef CTX_RULES_RULE_FIELDS_H
#define CTX_RULES_RULE_FIELDS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum ctx_rule_kind {
	CTX_RULE_FUNCTION,
	CTX_RULE_OBJECT,
	CTX_RULE_LINE,
	CTX_RULE_THREAD,
	CTX_RULE_STATE, /* from here on one row */
	CTX_RULE_WAIT,
	CTX_RULE_HEAP,
	CTX_RULE_RUN,
	CTX_RULE_KINDS,
};

#define CTX_RULE_MEASURES_MAX 32u /* of a kind */

/* The measures of kinds whose order others know. Those of states and waits follow their enums. */
enum { CTX_RULE_SELF, CTX_RULE_TOTAL };
enum { CTX_RULE_HEAP_PEAK, CTX_RULE_HEAP_LEAKED, CTX_RULE_HEAP_ALLOCATED, CTX_RULE_HEAP_ALLOCATIONS };
enum { CTX_RULE_RUN_WALL, CTX_RULE_RUN_CPU, CTX_RULE_RUN_SAMPLES, CTX_RULE_RUN_LOST };

/* What a number counts. Different ones are neither compared nor added. */
enum ctx_rule_unit {
	CTX_RULE_PLAIN, /* a bare number: goes with any but shares */
	CTX_RULE_MS,
	CTX_RULE_SHARE, /* from 0 to 1 */
	CTX_RULE_PER_SECOND,
	CTX_RULE_PER_COUNT, /* of work: --per-count */
	CTX_RULE_BYTES,
	CTX_RULE_COUNT,
	CTX_RULE_WORDS, /* no number: a name, a verdict */
};

/* A figure as it is, as a share of all, by second and by unit of work: each has evidence of its own. */
enum ctx_rule_weighting {
	CTX_RULE_ABSOLUTE,
	CTX_RULE_OF_ALL,
	CTX_RULE_BY_SECOND,
	CTX_RULE_BY_COUNT,
	CTX_RULE_WEIGHTINGS,
};

/* For messages: "a share". */
const char *ctx_rule_unit_text(enum ctx_rule_unit unit);

struct ctx_rule_measure {
	const char *name;	 /* "self" */
	enum ctx_rule_unit unit; /* of its figures: CTX_RULE_MS, CTX_RULE_BYTES or CTX_RULE_COUNT */
};

/* "function" */
const char *ctx_rule_kind_name(enum ctx_rule_kind kind);
bool ctx_rule_kind_has_rows(enum ctx_rule_kind kind);
size_t ctx_rule_n_measures(enum ctx_rule_kind kind);
const struct ctx_rule_measure *ctx_rule_measure_at(enum ctx_rule_kind kind, size_t measure);

/* Also its plural, "functions". CTX_RULE_KINDS: none. */
enum ctx_rule_kind ctx_rule_find_kind(const char *text, size_t n);

/* The measure's number; CTX_RULE_MEASURES_MAX: none. */
size_t ctx_rule_find_measure(enum ctx_rule_kind kind, const char *text, size_t n);

/*
 * The unit that a measure has with the word behind it: ".ms" and ".share" of times, ".per_second" and ".per_count" of
 * times and counts; "" its own. False: it has no such unit.
 */
bool ctx_rule_find_unit(const struct ctx_rule_measure *measure, const char *text, size_t n,
			enum ctx_rule_unit *ret);

/* Appends "self, total", for messages. */
void ctx_rule_put_measures(struct ctx_buf *buf, enum ctx_rule_kind kind);
/* Appends "function, object, ...". */
void ctx_rule_put_kinds(struct ctx_buf *buf);

#endif
