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

#include <stdio.h>
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

/* What the formats are read for. */
struct taker {
	/* One format of a system; CTX_E_FORMAT ends the reading. */
	enum ctx_status (*take)(struct taker *taker, const char *system, struct text text,
				struct ctx_err *err);
	struct ctx_pd_tracing *tracing;
	struct ctx_pd_events *events;
	struct ctx_map64 of_id; /* of a tracepoint -> the first event that samples it */
};

static enum ctx_status bad_format(const char *system, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "a format of %.32s without a name or a number", system);
}

/*
 * Reads one format; skips those of other tracepoints. A format without an id is refused: its
 * samples could not be recognised.
 */
static enum ctx_status take_format(struct taker *taker, const char *system, struct text text,
				   struct ctx_err *err)
{
	struct ctx_pd_tracing *tracing = taker->tracing;
	struct ctx_pd_format format = {.found = true};
	enum ctx_pd_tracepoint which;
	struct text name;

	name.at = ctx_pe_format_name(text.at, text.n, &name.n);
	if (name.at == NULL)
		return bad_format(system, err);
	which = tracepoint_of(system, name);
	if (which == CTX_PD_TP_NONE)
		return CTX_OK;
	if (!ctx_pe_format_id(text.at, text.n, &format.id))
		return bad_format(system, err);
	for (int i = 0; i < CTX_PD_FIELD_N; i++)
		(void)ctx_pe_format_field(text.at, text.n, field_names[i], &format.fields[i]);
	if (which == CTX_PD_TP_SWITCH)
		tracing->prev_states = ctx_pe_prev_states_parse(text.at, text.n);
	tracing->formats[which] = format;
	return CTX_OK;
}

static enum ctx_status take_name(struct taker *taker, const char *system, struct text text,
				 struct ctx_err *err)
{
	struct text name;
	char both[256];
	uint32_t event;
	uint64_t id;
	int n;

	name.at = ctx_pe_format_name(text.at, text.n, &name.n);
	if (name.at == NULL || !ctx_pe_format_id(text.at, text.n, &id))
		return bad_format(system, err);
	event = ctx_map64_get(&taker->of_id, id);
	if (event == CTX_MAP64_NONE)
		return CTX_OK;
	n = snprintf(both, sizeof(both), "%s:%.*s", system, (int)(name.n < 128 ? name.n : 128), name.at);
	return ctx_pd_events_name(taker->events, event, both,
				  (size_t)n < sizeof(both) ? (size_t)n : sizeof(both) - 1, err);
}

/* The section */

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

	ctx_pe_wire_text0(wire); /* version */
	bytes = ctx_pe_wire_bytes(wire, 2);
	if (bytes == NULL)
		return;
	wire->swap = (bytes[0] != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	ctx_pe_wire_u32(wire); /* page size */
	for (int i = 0; i < 2 && !wire->failed; i++) {
		ctx_pe_wire_text0(wire); /* "header_page", "header_event" */
		take_bytes(wire);
	}
}

static enum ctx_status take_system(struct ctx_pe_wire *wire, struct taker *taker, struct ctx_err *err)
{
	const char *system = ctx_pe_wire_text0(wire);
	uint32_t n = ctx_pe_wire_u32(wire);
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < n && !wire->failed && status == CTX_OK; i++) {
		struct text text = take_bytes(wire);

		if (!wire->failed)
			status = taker->take(taker, system, text, err);
	}
	return status;
}

static enum ctx_status take_all(const void *bytes, size_t n, struct taker *taker, struct ctx_err *err)
{
	struct ctx_pe_wire wire = ctx_pe_wire_make(bytes, n, false);
	const uint8_t *begin = ctx_pe_wire_bytes(&wire, sizeof(magic));
	enum ctx_status status = CTX_OK;
	uint32_t count;

	if (begin == NULL || memcmp(begin, magic, sizeof(magic)) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "not what its magic number says");
	take_preamble(&wire);
	count = ctx_pe_wire_u32(&wire);
	for (uint32_t i = 0; i < count && !wire.failed; i++)
		take_bytes(&wire); /* formats of ftrace itself */
	count = ctx_pe_wire_u32(&wire);
	for (uint32_t i = 0; i < count && !wire.failed && status == CTX_OK; i++)
		status = take_system(&wire, taker, err);
	if (status == CTX_OK && wire.failed)
		return ctx_err_set(err, CTX_E_FORMAT, "cut short, or a text without an end");
	return status;
}

enum ctx_status ctx_pd_tracing_parse(const void *bytes, size_t n, struct ctx_pd_tracing *ret,
				     struct ctx_err *err)
{
	struct ctx_pd_tracing tracing = {0};
	struct taker taker = {.take = take_format, .tracing = &tracing};
	enum ctx_status status = take_all(bytes, n, &taker, err);

	*ret = status == CTX_OK ? tracing : (struct ctx_pd_tracing){0};
	return status;
}

/* Several events can sample one tracepoint: all have the name of the first. */
static enum ctx_status copy_names(struct taker *taker, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < taker->events->n && status == CTX_OK; i++) {
		const struct ctx_pd_event *event = &taker->events->items[i];
		uint32_t first = event->type == PERF_TYPE_TRACEPOINT
					 ? ctx_map64_get(&taker->of_id, event->config)
					 : (uint32_t)i;

		if (first != i && first != CTX_MAP64_NONE) {
			const char *name = taker->events->items[first].name;

			status = ctx_pd_events_name(taker->events, (uint32_t)i, name, strlen(name), err);
		}
	}
	return status;
}

enum ctx_status ctx_pd_tracing_name(const void *bytes, size_t n, struct ctx_pd_events *events,
				    struct ctx_err *err)
{
	struct taker taker = {.take = take_name, .events = events};
	struct ctx_err why = {0};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < events->n && status == CTX_OK; i++) {
		uint32_t *place;

		if (events->items[i].type != PERF_TYPE_TRACEPOINT)
			continue;
		place = ctx_map64_place(&taker.of_id, events->items[i].config);
		if (place == NULL)
			status = ctx_err_nomem(&why);
		else if (*place == CTX_MAP64_NONE)
			*place = (uint32_t)i;
	}
	if (status == CTX_OK && taker.of_id.n != 0)
		status = take_all(bytes, n, &taker, &why);
	if (status != CTX_E_NOMEM)
		status = copy_names(&taker, &why);
	ctx_map64_deinit(&taker.of_id);
	return status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
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
