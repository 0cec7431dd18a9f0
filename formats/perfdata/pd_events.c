#include "formats/perfdata/pd_events.h"

#include "base/mem.h"
#include "formats/perfevent/pe_wire.h"
#include "model/profile.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#define ATTR_SIZE_MAX 65536u

/* Bit numbers of the attr's flags, in declaration order: see ctx_pe_wire_flag. */
enum {
	FLAG_EXCLUDE_USER = 4,
	FLAG_EXCLUDE_KERNEL = 5,
	FLAG_FREQ = 10,
	FLAG_SAMPLE_ID_ALL = 18,
	FLAG_EXCLUDE_CALLCHAIN_KERNEL = 21,
	FLAG_EXCLUDE_CALLCHAIN_USER = 22,
	FLAG_USE_CLOCKID = 25,
	FLAG_CONTEXT_SWITCH = 26,
};

void ctx_pd_events_deinit(struct ctx_pd_events *events)
{
	ctx_arena_deinit(&events->arena);
	ctx_map64_deinit(&events->by_id);
	free(events->items);
	*events = (struct ctx_pd_events){0};
}

static void parse_attr(struct ctx_pd_event *event, const uint8_t *bytes, size_t n, bool swap)
{
	uint8_t known[136] = {0};
	struct ctx_pe_wire wire = ctx_pe_wire_make(known, sizeof(known), swap);
	struct perf_event_attr attr = {0};
	const uint8_t *flags;

	memcpy(known, bytes, n < sizeof(known) ? n : sizeof(known));
	event->type = ctx_pe_wire_u32(&wire);
	ctx_pe_wire_u32(&wire); /* size */
	event->config = ctx_pe_wire_u64(&wire);
	event->sample_period = attr.sample_period = ctx_pe_wire_u64(&wire);
	attr.sample_type = ctx_pe_wire_u64(&wire);
	attr.read_format = ctx_pe_wire_u64(&wire);
	flags = wire.at;
	event->exclude_user = ctx_pe_wire_flag(flags, FLAG_EXCLUDE_USER, swap);
	event->exclude_kernel = ctx_pe_wire_flag(flags, FLAG_EXCLUDE_KERNEL, swap);
	event->freq = ctx_pe_wire_flag(flags, FLAG_FREQ, swap);
	event->sample_id_all = ctx_pe_wire_flag(flags, FLAG_SAMPLE_ID_ALL, swap);
	event->exclude_callchain_kernel = ctx_pe_wire_flag(flags, FLAG_EXCLUDE_CALLCHAIN_KERNEL, swap);
	event->exclude_callchain_user = ctx_pe_wire_flag(flags, FLAG_EXCLUDE_CALLCHAIN_USER, swap);
	event->use_clockid = ctx_pe_wire_flag(flags, FLAG_USE_CLOCKID, swap);
	event->context_switch = ctx_pe_wire_flag(flags, FLAG_CONTEXT_SWITCH, swap);
	ctx_pe_wire_bytes(&wire, 32); /* flags, wakeup, bp_type, config1, config2 */
	attr.branch_sample_type = ctx_pe_wire_u64(&wire);
	attr.sample_regs_user = ctx_pe_wire_u64(&wire);
	ctx_pe_wire_u32(&wire); /* sample_stack_user */
	event->clockid = (int32_t)ctx_pe_wire_u32(&wire);
	ctx_pe_wire_bytes(&wire, 12); /* sample_regs_intr, aux_watermark */
	event->max_stack = ctx_pe_wire_u16(&wire);
	attr.freq = event->freq;
	event->layout = ctx_pe_layout_make(&attr, swap);
}

enum ctx_status ctx_pd_events_add(struct ctx_pd_events *events, const void *attr, size_t n, bool swap,
				  struct ctx_err *err)
{
	struct ctx_pe_wire wire = ctx_pe_wire_make(attr, n, swap);
	struct ctx_pd_event *event;
	enum ctx_status status;
	uint32_t size;

	ctx_pe_wire_u32(&wire);
	size = ctx_pe_wire_u32(&wire);
	if (size == 0)
		size = PERF_ATTR_SIZE_VER0; /* written by the first version */
	if (wire.failed || size < PERF_ATTR_SIZE_VER0 || size > n || size > ATTR_SIZE_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "an event attribute of %u bytes in %zu", size, n);
	status = ctx_grow(&events->items, &events->cap, events->n + 1, err);
	if (status != CTX_OK)
		return status;
	event = &events->items[events->n];
	*event = (struct ctx_pd_event){.name = "", .metric = CTX_NONE};
	parse_attr(event, attr, size, swap);
	events->n++;
	return CTX_OK;
}

enum ctx_status ctx_pd_events_add_id(struct ctx_pd_events *events, uint64_t id, uint32_t event,
				     struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&events->by_id, id);

	if (place == NULL)
		return ctx_err_nomem(err);
	*place = event;
	if (events->items[event].first_id == 0)
		events->items[event].first_id = id;
	return CTX_OK;
}

enum ctx_status ctx_pd_events_name(struct ctx_pd_events *events, uint32_t event, const char *name, size_t n,
				   struct ctx_err *err)
{
	char *copy = ctx_arena_alloc(&events->arena, n + 1);

	if (copy == NULL)
		return ctx_err_nomem(err);
	memcpy(copy, name, n);
	copy[n] = '\0';
	events->items[event].name = copy;
	return CTX_OK;
}

static const char *const hardware_names[] = {
	"cycles",	 "instructions", "cache-references",	    "cache-misses",	      "branches",
	"branch-misses", "bus-cycles",	 "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
};
static const char *const software_names[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};

static enum ctx_status make_name(struct ctx_pd_events *events, uint32_t index, struct ctx_err *err)
{
	const struct ctx_pd_event *event = &events->items[index];
	char text[64];
	int n;

	if (event->type == PERF_TYPE_HARDWARE && event->config < CTX_COUNT_OF(hardware_names))
		n = snprintf(text, sizeof(text), "%s", hardware_names[event->config]);
	else if (event->type == PERF_TYPE_SOFTWARE && event->config < CTX_COUNT_OF(software_names))
		n = snprintf(text, sizeof(text), "%s", software_names[event->config]);
	else if (event->type == PERF_TYPE_TRACEPOINT)
		n = snprintf(text, sizeof(text), "tracepoint:%llu", (unsigned long long)event->config);
	else if (event->type == PERF_TYPE_RAW)
		n = snprintf(text, sizeof(text), "r%llx", (unsigned long long)event->config);
	else
		n = snprintf(text, sizeof(text), "event-%u:0x%llx", event->type,
			     (unsigned long long)event->config);
	return ctx_pd_events_name(events, index, text, (size_t)n, err);
}

enum ctx_status ctx_pd_events_settle(struct ctx_pd_events *events, struct ctx_err *err)
{
	if (events->n_settled == 0) {
		events->sample_time_at = events->sample_id_at = -1;
		events->trailer_time_at = events->trailer_id_at = -1;
		events->has_trailer = false;
	}
	for (; events->n_settled < events->n; events->n_settled++) {
		size_t i = events->n_settled;
		const struct ctx_pd_event *event = &events->items[i];
		uint64_t type = event->layout.sample_type;

		if (event->name[0] == '\0') {
			enum ctx_status status = make_name(events, (uint32_t)i, err);

			if (status != CTX_OK)
				return status;
		}
		if (i == 0) {
			events->sample_time_at = ctx_pe_sample_time_at(type);
			events->sample_id_at = ctx_pe_sample_id_at(type);
			events->trailer_time_at = ctx_pe_trailer_time_at(type);
			events->trailer_id_at = ctx_pe_trailer_id_at(type);
			events->has_trailer = event->sample_id_all;
			continue;
		}
		if (events->sample_time_at != ctx_pe_sample_time_at(type))
			events->sample_time_at = -1;
		if (events->sample_id_at != ctx_pe_sample_id_at(type))
			events->sample_id_at = -1;
		if (events->trailer_time_at != ctx_pe_trailer_time_at(type))
			events->trailer_time_at = -1;
		if (events->trailer_id_at != ctx_pe_trailer_id_at(type))
			events->trailer_id_at = -1;
		events->has_trailer = events->has_trailer && event->sample_id_all;
	}
	return CTX_OK;
}

bool ctx_pd_event_is_off_cpu(const struct ctx_pd_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && event->config == PERF_COUNT_SW_BPF_OUTPUT &&
	       strncmp(event->name, "offcpu-time", strlen("offcpu-time")) == 0;
}

enum ctx_unit ctx_pd_event_unit(const struct ctx_pd_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
			       (event->config == PERF_COUNT_SW_CPU_CLOCK ||
				event->config == PERF_COUNT_SW_TASK_CLOCK || ctx_pd_event_is_off_cpu(event))
		       ? CTX_UNIT_NS
		       : CTX_UNIT_EVENTS;
}

bool ctx_pd_event_is_dummy(const struct ctx_pd_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && event->config == PERF_COUNT_SW_DUMMY;
}
