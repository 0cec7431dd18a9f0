/*
 * Tracepoint formats: where the fields of the raw data (PERF_SAMPLE_RAW) are. The kernel describes
 * them in a text, the file `format` of tracefs; perf.data holds a copy.
 *
 *	name: sched_switch
 *	ID: 372
 *	format:
 *		field:pid_t prev_pid;	offset:24;	size:4;	signed:1;
 *	print fmt: "... prev_state=%s", ... __print_flags(..., { 0x00000001, "S" }, ...
 *
 * Offsets and the meaning of prev_state's bits vary with the kernel. Texts have `n` bytes and need
 * not be zero-terminated. Each call makes one pass over the text. Source:
 * Documentation/trace/events.rst of Linux, "Event formats".
 */
#ifndef CTX_FORMATS_PERFEVENT_PE_TRACEPOINT_H
#define CTX_FORMATS_PERFEVENT_PE_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_pe_field {
	uint16_t offset, size; /* bytes in the raw data; size 1, 2, 4 or 8; 0: no such field */
	bool is_signed;
};

/* The number in the line "ID:"; false: none. */
bool ctx_pe_format_id(const char *text, size_t n, uint64_t *ret);

/* The value of the line "name:", *ret_n bytes of the text; NULL: none. */
const char *ctx_pe_format_name(const char *text, size_t n, size_t *ret_n);

/* The integer field `name`; false: no such field, or not an integer. */
bool ctx_pe_format_field(const char *text, size_t n, const char *name, struct ctx_pe_field *ret);

/* The field's value in raw data of `n` bytes; false: the data ends before it. */
bool ctx_pe_field_read(const struct ctx_pe_field *field, const uint8_t *raw, size_t n, bool swap,
		       int64_t *ret);

/* Bits of sched_switch's prev_state. */
struct ctx_pe_prev_states {
	uint64_t dead, stopped, waits;
};

/*
 * The bits by the letters in sched_switch's print format; without letters, the bits of Linux 4.14
 * and later.
 */
struct ctx_pe_prev_states ctx_pe_prev_states_parse(const char *text, size_t n);

/* Why a thread leaves its CPU. */
enum ctx_pe_leaving {
	CTX_PE_LEAVING_PREEMPTED, /* still runnable */
	CTX_PE_LEAVING_BLOCKED,
	CTX_PE_LEAVING_STOPPED, /* by a signal or a tracer */
	CTX_PE_LEAVING_DEAD,
};

enum ctx_pe_leaving ctx_pe_leaving_of(const struct ctx_pe_prev_states *states, int64_t prev_state);

#endif
