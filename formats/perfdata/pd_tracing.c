/*
 *	0x17 0x08 0x44 "tracing" | version, zero byte | big endian? u8 | bytes of a long u8 | bytes of a page u32
 *	"header_page" 0 u64 n, n bytes | "header_event" 0 u64 n, n bytes
 *	u32 n, n * { u64 n, n bytes }					formats of ftrace itself
 *	u32 n, n * { system 0, u32 n, n * { u64 n, n bytes } }		formats of events
 *	kallsyms, strings of printk, names of processes			not used here
 */
#include "formats/perfdata/pd_tracing.h"

#include "base/mem.h"
#include "formats/perfevent/pe_wire.h"

#include <string.h>

static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

#define NEEDS(field) (1u << (field))

static const struct wanted {
	const char *system, *name, *both;
	unsigned needs; /* fields */
} wanted[CTX_PD_TP_N] = {
	[CTX_PD_TP_SWITCH] = {"sched", "sched_switch", "sched:sched_switch",
			      NEEDS(CTX_PD_FIELD_PREV_STATE) | NEEDS(CTX_PD_FIELD_NEXT_PID)},
	[CTX_PD_TP_WAKING] = {"sched", "sched_waking", "sched:sched_waking", NEEDS(CTX_PD_FIELD_PID)},
	[CTX_PD_TP_WAKEUP] = {"sched", "sched_wakeup", "sched:sched_wakeup", NEEDS(CTX_PD_FIELD_PID)},
	[CTX_PD_TP_WAKEUP_NEW] = {"sched", "sched_wakeup_new", "sched:sched_wakeup_new",
				  NEEDS(CTX_PD_FIELD_PID)},
	[CTX_PD_TP_SYS_ENTER] = {"raw_syscalls", "sys_enter", "raw_syscalls:sys_enter", 0},
	[CTX_PD_TP_SYS_EXIT] = {"raw_syscalls", "sys_exit", "raw_syscalls:sys_exit", 0},
	[CTX_PD_TP_FAULT_USER] = {"exceptions", "page_fault_user", "exceptions:page_fault_user",
				  NEEDS(CTX_PD_FIELD_ERROR_CODE)},
	[CTX_PD_TP_FAULT_KERNEL] = {"exceptions", "page_fault_kernel", "exceptions:page_fault_kernel", 0},
};

static const char *const field_names[CTX_PD_FIELD_N] = {
	[CTX_PD_FIELD_COMMON_PID] = "common_pid", [CTX_PD_FIELD_PREV_STATE] = "prev_state",
	[CTX_PD_FIELD_NEXT_PID] = "next_pid",	  [CTX_PD_FIELD_PID] = "pid",
	[CTX_PD_FIELD_ERROR_CODE] = "error_code",
};

struct text { /* not zero-terminated */
	const char *at;
	size_t n;
};

static enum ctx_pd_tracepoint tracepoint_of(const char *system, struct text name)
{
	for (int i = CTX_PD_TP_NONE + 1; i < CTX_PD_TP_N; i++) {
		if (strcmp(wanted[i].system, system) == 0 && strlen(wanted[i].name) == name.n &&
		    memcmp(wanted[i].name, name.at, name.n) == 0)
			return (enum ctx_pd_tracepoint)i;
	}
	return CTX_PD_TP_NONE;
}

/*
 * Reads one format; skips those of other tracepoints. A format without an id is refused: its
 * samples could not be recognised.
 */
static bool take_format(const char *system, struct text text, struct ctx_pd_tracing *tracing)
{
	struct ctx_pd_format format = {.found = true};
	enum ctx_pd_tracepoint which;
	struct text name;

	name.at = ctx_pe_format_name(text.at, text.n, &name.n);
	if (name.at == NULL)
		return false;
	which = tracepoint_of(system, name);
	if (which == CTX_PD_TP_NONE)
		return true;
	if (!ctx_pe_format_id(text.at, text.n, &format.id))
		return false;
	for (int i = 0; i < CTX_PD_FIELD_N; i++)
		(void)ctx_pe_format_field(text.at, text.n, field_names[i], &format.fields[i]);
	if (which == CTX_PD_TP_SWITCH)
		tracing->prev_states = ctx_pe_prev_states_parse(text.at, text.n);
	tracing->formats[which] = format;
	return true;
}

/* The section */

/* A zero-terminated text; NULL (and failed) when there is no zero byte. */
static const char *take_text(struct ctx_pe_wire *wire)
{
	const uint8_t *end = wire->failed || ctx_pe_wire_left(wire) == 0
				     ? NULL
				     : memchr(wire->at, 0, ctx_pe_wire_left(wire));

	if (end == NULL) {
		wire->failed = true;
		return NULL;
	}
	return (const char *)ctx_pe_wire_bytes(wire, (size_t)(end - wire->at) + 1);
}

/* u64 n, n bytes */
static struct text take_bytes(struct ctx_pe_wire *wire)
{
	uint64_t n = ctx_pe_wire_u64(wire);
	const uint8_t *bytes = n <= ctx_pe_wire_left(wire) ? ctx_pe_wire_bytes(wire, (size_t)n) : NULL;

	if (bytes == NULL) {
		wire->failed = true;
		return (struct text){"", 0};
	}
	return (struct text){(const char *)bytes, (size_t)n};
}

/* The preamble. It sets the byte order, which may differ from the rest of the file. */
static void take_preamble(struct ctx_pe_wire *wire)
{
	const uint8_t *bytes;

	take_text(wire); /* version */
	bytes = ctx_pe_wire_bytes(wire, 2);
	if (bytes == NULL)
		return;
	wire->swap = (bytes[0] != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	ctx_pe_wire_u32(wire); /* page size */
	for (int i = 0; i < 2 && !wire->failed; i++) {
		take_text(wire); /* "header_page", "header_event" */
		take_bytes(wire);
	}
}

static enum ctx_status take_system(struct ctx_pe_wire *wire, struct ctx_pd_tracing *tracing,
				   struct ctx_err *err)
{
	const char *system = take_text(wire);
	uint32_t n = ctx_pe_wire_u32(wire);

	for (uint32_t i = 0; i < n && !wire->failed; i++) {
		struct text text = take_bytes(wire);

		if (!wire->failed && !take_format(system, text, tracing))
			return ctx_err_set(err, CTX_E_FORMAT, "a format of %.32s without a name or a number",
					   system);
	}
	return CTX_OK;
}

enum ctx_status ctx_pd_tracing_parse(const void *bytes, size_t n, struct ctx_pd_tracing *ret,
				     struct ctx_err *err)
{
	struct ctx_pe_wire wire = ctx_pe_wire_make(bytes, n, false);
	const uint8_t *begin = ctx_pe_wire_bytes(&wire, sizeof(magic));
	struct ctx_pd_tracing tracing = {0};
	enum ctx_status status = CTX_OK;
	uint32_t count;

	*ret = (struct ctx_pd_tracing){0};
	if (begin == NULL || memcmp(begin, magic, sizeof(magic)) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "not what its magic number says");
	take_preamble(&wire);
	count = ctx_pe_wire_u32(&wire);
	for (uint32_t i = 0; i < count && !wire.failed; i++)
		take_bytes(&wire); /* formats of ftrace itself */
	count = ctx_pe_wire_u32(&wire);
	for (uint32_t i = 0; i < count && !wire.failed && status == CTX_OK; i++)
		status = take_system(&wire, &tracing, err);
	if (status != CTX_OK)
		return status;
	if (wire.failed)
		return ctx_err_set(err, CTX_E_FORMAT, "cut short, or a text without an end");
	*ret = tracing;
	return CTX_OK;
}

const char *ctx_pd_tracepoint_name(enum ctx_pd_tracepoint tracepoint)
{
	return wanted[tracepoint].both;
}

enum ctx_pd_tracepoint ctx_pd_tracing_find(const struct ctx_pd_tracing *tracing, uint64_t id)
{
	for (int i = CTX_PD_TP_NONE + 1; i < CTX_PD_TP_N; i++) {
		const struct ctx_pd_format *format = &tracing->formats[i];
		bool complete = format->found && format->id == id;

		for (int k = 0; k < CTX_PD_FIELD_N; k++)
			complete = complete && (!(wanted[i].needs & NEEDS(k)) || format->fields[k].size != 0);
		if (complete)
			return (enum ctx_pd_tracepoint)i;
	}
	return CTX_PD_TP_NONE;
}
