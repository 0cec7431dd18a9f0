/*
 * Tracepoints of the kernel: their numbers, and where in what they tell a field is. Both differ from kernel to kernel and are
 * read from tracefs. Source: the kernel's Documentation/trace/events.rst, "Event formats".
 */
#ifndef CTX_COLLECT_TRACEPOINT_H
#define CTX_COLLECT_TRACEPOINT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_tracepoint_field {
	uint32_t offset, size; /* bytes in the raw data of a sample; size 1, 2, 4 or 8 */
	bool is_signed;
};

/* Looks a number's field up in the text of a format file. CTX_E_NOTFOUND: there is none of this name; CTX_E_FORMAT: its line
 * is not understood, or it is no number. */
CTX_MUST_CHECK enum ctx_status ctx_tracepoint_field_find(const char *format, const char *name,
							 struct ctx_tracepoint_field *ret,
							 struct ctx_err *err);

/* The field's value in `n` bytes; false: they end before it. */
bool ctx_tracepoint_field_read(const struct ctx_tracepoint_field *field, const uint8_t *raw, size_t n,
			       int64_t *ret);

struct ctx_tracepoint {
	uint64_t id;  /* perf_event_attr.config */
	char *format; /* owned */
};

/* Reads `name` ("sched/sched_switch") below the directory of tracefs. CTX_E_NOTFOUND: the kernel has no such tracepoint;
 * CTX_E_PERM: tracefs is not mounted, or not readable by this user; CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_tracepoint_read(const char *tracefs, const char *name,
						   struct ctx_tracepoint *ret, struct ctx_err *err);
void ctx_tracepoint_deinit(struct ctx_tracepoint *tracepoint);

#endif
