/*
 * Expressions over samples, for filters and index objects: C's operators, names such as THRID and
 * TSTAMP, and tests of which functions are on the stack. Grammar and meaning: docs/filters.md.
 *
 *	text --parse--> nodes (types checked) --bind to a profile--> sets of functions, one bit a stack --evaluate--> value
 *
 * Patterns are POSIX extended regular expressions; they are matched when the expression is bound,
 * once for each function, and the tests of stacks are evaluated then for every node of the call
 * tree: per sample only arithmetic is left. Source: requirements E7, E16.
 */
#ifndef CTX_MODEL_EXPRESSION_H
#define CTX_MODEL_EXPRESSION_H

#include "base/err.h"
#include "model/profile.h"
#include "model/sample.h"
#include "model/traced.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXPRESSION_TEXT_MAX 16384u /* bytes */
#define CTX_EXPRESSION_NODES_MAX 2000u
#define CTX_EXPRESSION_DEPTH_MAX 100u /* of nested parentheses, signs and conditions */
#define CTX_EXPRESSION_TESTS_MAX 64u  /* patterns compared with names or searched on stacks */

/*
 * The properties of a sample in expressions. -1: unknown. The names from CTX_NAME_EVT_TIME on are
 * those of traced operations: of anything else they have no value.
 */
enum ctx_expression_name {
	CTX_NAME_THRID = 0, /* thread id of the profile: the number in the report threads */
	CTX_NAME_LWPID,	    /* tid */
	CTX_NAME_PROCID,    /* process id of the profile */
	CTX_NAME_PID,
	CTX_NAME_CPUID,	 /* CTX_NO_CPU: a span of a state off the processor */
	CTX_NAME_TSTAMP, /* ns from the start */
	CTX_NAME_SECOND, /* whole seconds from the start */
	CTX_NAME_WEIGHT,
	CTX_NAME_METRIC, /* metric id */
	CTX_NAME_STATE,	 /* enum ctx_thread_state; -1 for samples of other metrics */
	CTX_NAME_DEPTH,	 /* frames on the stack */
	CTX_NAME_SAMPLE, /* number of the row of the report samples that it lies in, from 1 in each process; -1: in none */
	CTX_NAME_EVT_TIME, /* ns that a wait, input or output took */
	CTX_NAME_SIZE,	   /* bytes allocated, unmapped, read or written */
	CTX_NAME_ADDRESS,  /* of what was allocated or freed, or waited for, or accessed */
	CTX_NAME_HTYPE,	   /* enum ctx_heap_operation; numbered as gprofng does */
	CTX_NAME_HSIZE,
	CTX_NAME_HVADDR,
	CTX_NAME_HOVADDR,
	CTX_NAME_HLEAKED, /* bytes of the allocation that were never freed */
	CTX_NAME_SRQST,	  /* when the wait began, ns from the start */
	CTX_NAME_SOBJ,
	CTX_NAME_IOTYPE, /* enum ctx_io_operation; of one that failed 5 more, as gprofng numbers them */
	CTX_NAME_IOFD,	 /* descriptor */
	CTX_NAME_IONBYTE,
	CTX_NAME_IORQST,  /* when it began, ns from the start */
	CTX_NAME_IOFNAME, /* index of the file; -1: no file, or no name */
	CTX_NAME_VADDR,	  /* that was accessed */
	CTX_NAME_PADDR,	  /* the same, physical; 0 unknown */
	CTX_NAME_LATENCY, /* of the access, in cycles; 0 unknown */
	CTX_NAME_MTYPE,	  /* enum ctx_memory_operation */
	CTX_NAME_MLEVEL,  /* enum ctx_data_level: where its data was */
	CTX_NAME_MOBJECT, /* index of what is mapped there, among the files; -1: unknown */
	CTX_EXPRESSION_NAMES_N,
};

#define CTX_EXPRESSION_NO_VALUE INT64_MIN

/* "THRID", ... */
const char *ctx_expression_name(enum ctx_expression_name name);

/* In any case; aliases (DURATION, FILE) too. CTX_EXPRESSION_NAMES_N: none. */
enum ctx_expression_name ctx_expression_find_name(const char *text, size_t n);

/* The kinds of operations that have a name, 1 << enum ctx_traced_kind; 0: every sample has it. */
unsigned ctx_expression_kinds(enum ctx_expression_name name);

/* A sample as expressions see it. */
struct ctx_expression_subject {
	int64_t values[CTX_EXPRESSION_NAMES_N];
	uint32_t stack; /* CCT node of the profile that the expression is bound to */
};

/*
 * The profile's entities must have the ids of the sample. Numbers are clamped. It is not an
 * operation. O(1).
 */
void ctx_expression_subject_of(const struct ctx_profile *profile, const struct ctx_sample *sample,
			       struct ctx_expression_subject *ret);

/* Marks the sample as one of this operation. */
void ctx_expression_subject_add(const struct ctx_traced *operation, struct ctx_expression_subject *subject);

enum ctx_value_kind {
	CTX_VALUE_NONE =
		0, /* division by zero, overflow, a shift by too much, properties of operations for other samples */
	CTX_VALUE_INTEGER,
	CTX_VALUE_REAL, /* finite */
};

struct ctx_value {
	enum ctx_value_kind kind;
	int64_t integer;
	double real;
};

struct ctx_expression;

/*
 * Reads an expression whose value is a number. CTX_E_ARG for a wrong one, CTX_E_LIMIT for one that
 * is too large: the message is "column 9: a number or name is missing", and `*ret_column` (may be
 * NULL) is that column, counted in characters from 1.
 */
CTX_MUST_CHECK enum ctx_status ctx_expression_parse(const char *text, struct ctx_expression **ret,
						    size_t *ret_column, struct ctx_err *err);

/*
 * Matches its patterns against a profile, which must outlive its evaluation; a second call binds it
 * to another one. No effect without patterns. O(functions * patterns + nodes of the CCT * tests of
 * stacks), a bit for each of the latter. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_expression_bind(struct ctx_expression *expression,
						   const struct ctx_profile *profile, struct ctx_err *err);

/* A pattern without a match in the profile, and the kind of name: "thread", "function", ... */
struct ctx_expression_unfit {
	const char *pattern; /* the expression's own: any bytes */
	const char *entity;
};

/* The next one of a bound expression, `*at` being 0 at first; false: none. */
bool ctx_expression_next_unfit(const struct ctx_expression *expression, size_t *at,
			       struct ctx_expression_unfit *ret);

/* NULL is fine. */
void ctx_expression_destroy(struct ctx_expression *expression);

/* Patterns of an expression that is not bound match nothing. Allocates nothing. */
struct ctx_value ctx_expression_evaluate(const struct ctx_expression *expression,
					 const struct ctx_expression_subject *subject);

/* For filters: has a value other than zero. */
bool ctx_expression_is_true(const struct ctx_expression *expression,
			    const struct ctx_expression_subject *subject);

/* For index objects: a real one is rounded down. -1: no value, or out of range. */
int64_t ctx_expression_key(const struct ctx_expression *expression,
			   const struct ctx_expression_subject *subject);

/*
 * Spans of time: TSTAMP, SECOND and SAMPLE change along a span, and with them the value. The
 * functions below return the last time up to which the expression has the value of the subject's
 * TSTAMP, at most `last_ns`: as a filter, or as the key of an index object. The time can be too
 * early if the expression has bit operations or divides by what changes, but is not before TSTAMP.
 * O(1) if it does not use the time or has one value, else O(log time).
 */
uint64_t ctx_expression_truth_until(const struct ctx_expression *expression,
				    const struct ctx_expression_subject *subject, uint64_t last_ns);
uint64_t ctx_expression_key_until(const struct ctx_expression *expression,
				  const struct ctx_expression_subject *subject, uint64_t last_ns);

/* Moves the subject to another time. */
void ctx_expression_subject_at(uint64_t time_ns, struct ctx_expression_subject *subject);

/* The name if the expression is a single name, else CTX_EXPRESSION_NAMES_N. */
enum ctx_expression_name ctx_expression_only_name(const struct ctx_expression *expression);

/* Whether it uses this name. */
bool ctx_expression_uses(const struct ctx_expression *expression, enum ctx_expression_name name);

/* The first name in it that only operations have; CTX_EXPRESSION_NAMES_N: none. */
enum ctx_expression_name ctx_expression_asks_operations(const struct ctx_expression *expression);

#endif
