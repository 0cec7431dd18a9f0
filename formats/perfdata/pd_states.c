#include "formats/perfdata/pd_states.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000u
#define PAGE_SHIFT 12 /* the smallest */
#define PAGE_SHIFT_MAX 16
#define FAULT_OF_INSTRUCTIONS 16 /* instruction fetch bit of x86's page fault error code */

/* Roles of events other than tracepoints. */
enum {
	ROLE_FAULT = CTX_PD_TP_N, /* page-faults: sampled before the wait */
	ROLE_MAJOR_FAULT,	  /* major-faults: sampled after the wait */
};

void ctx_pd_states_deinit(struct ctx_pd_states *states)
{
	ctx_map64_deinit(&states->ids);
	free(states->roles);
	*states = (struct ctx_pd_states){0};
}

/* Header */

static uint8_t role_of(const struct ctx_pd_reader *reader, const struct ctx_pd_event *event)
{
	if (event->type == PERF_TYPE_TRACEPOINT && (event->layout.sample_type & PERF_SAMPLE_RAW))
		return (uint8_t)ctx_pd_tracing_find(&reader->file.tracing, event->config);
	if (event->type != PERF_TYPE_SOFTWARE || !(event->layout.sample_type & PERF_SAMPLE_ADDR))
		return CTX_PD_TP_NONE;
	if (event->config == PERF_COUNT_SW_PAGE_FAULTS)
		return ROLE_FAULT;
	return event->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ ? ROLE_MAJOR_FAULT : CTX_PD_TP_NONE;
}

/* Sources of state changes in a file. */
struct sources {
	bool tracepoint, records, nameless; /* nameless: sched_switch without its format */
	bool stacks, wakes, enters, exits, clocks;
};

/* Do its samples show where a thread spends its CPU time, by the criterion of the ingest? */
static bool is_clock(const struct ctx_pd_event *event)
{
	return ctx_metric_shows_running(ctx_metric_kind_of_unit(ctx_pd_event_unit(event)), event->name);
}

static struct sources look(const struct ctx_pd_reader *reader)
{
	const struct ctx_pd_events *events = &reader->file.events;
	struct sources ret = {0};

	for (size_t i = 0; i < events->n; i++) {
		const struct ctx_pd_event *event = &events->items[i];
		uint8_t role = role_of(reader, event);

		ret.records = ret.records || event->context_switch;
		ret.tracepoint = ret.tracepoint || role == CTX_PD_TP_SWITCH;
		ret.stacks = ret.stacks ||
			     (role == CTX_PD_TP_SWITCH && event->layout.sample_type & PERF_SAMPLE_CALLCHAIN);
		ret.wakes = ret.wakes || role == CTX_PD_TP_WAKING || role == CTX_PD_TP_WAKEUP;
		ret.clocks = ret.clocks || is_clock(event);
		ret.enters = ret.enters || role == CTX_PD_TP_SYS_ENTER;
		ret.exits = ret.exits || role == CTX_PD_TP_SYS_EXIT;
		ret.nameless =
			ret.nameless || (event->type == PERF_TYPE_TRACEPOINT && role != CTX_PD_TP_SWITCH &&
					 strcmp(event->name, ctx_pd_tracepoint_name(CTX_PD_TP_SWITCH)) == 0);
	}
	return ret;
}

/*
 * "from sched:sched_switch; no switch records, no stacks, no clock samples, no wake-ups, no
 * syscalls"
 */
static void describe(const struct sources *sources, char *text, size_t n)
{
	static const char *const from[] = {"none", "from sched:sched_switch", "from switch records",
					   "from sched:sched_switch and switch records"};
	const char *missing[6];
	int n_missing = 0, at;

	if (sources->nameless)
		missing[n_missing++] = "no description of sched:sched_switch";
	if (sources->tracepoint || sources->records) {
		if (!sources->records)
			missing[n_missing++] = "no switch records";
		if (!sources->stacks)
			missing[n_missing++] = "no stacks";
		if (!sources->clocks)
			missing[n_missing++] = "no clock samples";
		if (!sources->wakes)
			missing[n_missing++] = "no wake-ups";
		if (!sources->enters || !sources->exits)
			missing[n_missing++] = "no syscalls";
	}
	at = snprintf(text, n, "%s", from[(sources->tracepoint ? 1 : 0) + (sources->records ? 2 : 0)]);
	for (int i = 0; i < n_missing; i++)
		at += snprintf(text + at, n - (size_t)at, "%s%s", i == 0 ? "; " : ", ", missing[i]);
}

static enum ctx_status add_property(struct ctx_pd_reader *reader, const char *text, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;
	struct ctx_property *properties =
		realloc(info->properties, (info->n_properties + 1) * sizeof(*properties));
	char *copy = ctx_arena_strdup(&reader->file.facts.arena, text);

	if (properties != NULL)
		info->properties = properties;
	if (properties == NULL || copy == NULL)
		return ctx_err_nomem(err);
	properties[info->n_properties++] = (struct ctx_property){.key = "states", .value = copy};
	return CTX_OK;
}

/* See struct ctx_source_info. With two user-mode clocks it is unknown which one took no sample. */
static void find_clocks(const struct ctx_pd_events *events, struct ctx_source_info *info)
{
	size_t n = 0, n_kernel = 0;
	uint64_t period_ns = 0;

	for (size_t i = 0; i < events->n; i++) {
		const struct ctx_pd_event *event = &events->items[i];

		if (ctx_pd_event_unit(event) != CTX_UNIT_NS)
			continue;
		n++;
		if (event->exclude_user)
			n_kernel++;
		if (event->exclude_kernel && event->sample_period != 0)
			period_ns = event->freq ? NS_PER_S / event->sample_period : event->sample_period;
	}
	info->user_clock_ns = n == 1 ? period_ns : 0;
	info->kernel_clock = n != 0 && n_kernel == n;
}

enum ctx_status ctx_pd_states_fill(struct ctx_pd_reader *reader, struct ctx_err *err)
{
	const struct ctx_pd_events *events = &reader->file.events;
	struct sources sources = look(reader);
	char text[256];

	if (!sources.tracepoint && !sources.records && !sources.nameless)
		return CTX_OK;
	reader->states.roles = ctx_calloc(events->n, sizeof(*reader->states.roles));
	if (reader->states.roles == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < events->n; i++)
		reader->states.roles[i] = role_of(reader, &events->items[i]);
	for (size_t i = 0; i < events->n; i++)
		reader->states.has_waking =
			reader->states.has_waking || reader->states.roles[i] == CTX_PD_TP_WAKING;
	reader->states.on = reader->source.info.has_states = sources.tracepoint || sources.records;
	find_clocks(events, &reader->source.info);
	describe(&sources, text, sizeof(text));
	return add_property(reader, text, err);
}

/* State changes */

/* A state change without a stack. */
static struct ctx_event change_at(uint64_t time_ns, uint32_t process, uint32_t thread, int32_t cpu,
				  enum ctx_state_change change)
{
	struct ctx_event event = {
		.kind = CTX_EV_STATE, .time_ns = time_ns, .process = process, .thread = thread};

	event.state = (struct ctx_event_state){.change = change, .cpu = cpu, .waker = CTX_NONE};
	return event;
}

/* A state change with time, process, thread, CPU and stack of a sample event. */
static struct ctx_event change_of(const struct ctx_event *sampled, enum ctx_state_change change)
{
	struct ctx_event event =
		change_at(sampled->time_ns, sampled->process, sampled->thread, sampled->sample.cpu, change);

	event.state.stack = sampled->sample.stack;
	return event;
}

/* Samples */

static uint8_t role_in(const struct ctx_pd_reader *reader, const struct ctx_pd_event *source)
{
	return reader->states.roles[source - reader->file.events.items];
}

/* Reads a field of the sampled tracepoint. */
static bool value_of(const struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample, uint8_t role,
		     enum ctx_pd_field field, int64_t *ret)
{
	return ctx_pe_field_read(&reader->file.tracing.formats[role].fields[field], sample->raw,
				 sample->raw_bytes, reader->file.swap, ret);
}

/*
 * Inside a container samples have the ids of its pid namespace, 0 for tasks outside of it, and
 * fields of tracepoints the kernel's. A sampled tracepoint has both of its thread.
 */
static enum ctx_status learn_id(struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample,
				uint8_t role, struct ctx_err *err)
{
	struct ctx_pd_states *states = &reader->states;
	uint32_t *place;
	int64_t id;

	if (role >= CTX_PD_TP_N || sample->tid < 0 ||
	    !value_of(reader, sample, role, CTX_PD_FIELD_COMMON_PID, &id) || id <= 0)
		return CTX_OK;
	states->namespaced = states->namespaced || sample->tid != id;
	if (!states->namespaced || sample->tid == 0)
		return CTX_OK;
	place = ctx_map64_place(&states->ids, (uint64_t)id);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = (uint32_t)sample->tid;
	return CTX_OK;
}

/* The id in samples of the thread that a field of a tracepoint names; 0: none, or unknown. */
static int64_t thread_in(struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample, uint8_t role,
			 enum ctx_pd_field field)
{
	struct ctx_pd_states *states = &reader->states;
	uint32_t known;
	int64_t id;

	if (!value_of(reader, sample, role, field, &id) || id <= 0)
		return 0;
	if (!states->namespaced)
		return id;
	known = ctx_map64_get(&states->ids, (uint64_t)id);
	states->n_unknown_ids += known == CTX_MAP64_NONE;
	return known != CTX_MAP64_NONE ? known : 0;
}

/* The previous thread leaves the CPU. */
static enum ctx_status on_leaving(struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample,
				  const struct ctx_event *sampled, struct ctx_err *err)
{
	static const enum ctx_state_change changes[] = {
		[CTX_PE_LEAVING_PREEMPTED] = CTX_CHANGE_PREEMPTED,
		[CTX_PE_LEAVING_BLOCKED] = CTX_CHANGE_BLOCKED,
		[CTX_PE_LEAVING_STOPPED] = CTX_CHANGE_STOPPED,
		[CTX_PE_LEAVING_DEAD] = CTX_SEEN_DEAD, /* the EXIT record has the time of its end */
	};
	struct ctx_event event;
	int64_t prev_state;

	if (!value_of(reader, sample, CTX_PD_TP_SWITCH, CTX_PD_FIELD_PREV_STATE, &prev_state))
		return CTX_OK;
	event = change_of(sampled, changes[ctx_pe_leaving_of(&reader->file.tracing.prev_states, prev_state)]);
	return ctx_pd_reader_put(reader, &event, err);
}

/* The next thread runs. A sample of its own comes only when it leaves the CPU. */
static enum ctx_status on_coming(struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample,
				 const struct ctx_event *sampled, struct ctx_err *err)
{
	struct ctx_pd_thread_numbers next = {0};
	struct ctx_event event;
	enum ctx_status status;
	int64_t tid = thread_in(reader, sample, CTX_PD_TP_SWITCH, CTX_PD_FIELD_NEXT_PID);

	if (tid == 0)
		return CTX_OK; /* the CPU goes idle */
	status = ctx_pd_tasks_find(&reader->tasks, sampled->time_ns, tid, &next, err);
	if (status != CTX_OK || next.thread == CTX_NONE)
		return status;
	event = change_at(sampled->time_ns, next.process, next.thread, sample->cpu, CTX_CHANGE_RUNS);
	return ctx_pd_reader_put(reader, &event, err);
}

/*
 * An external waker has no maps in the recording, and its tid means nothing: only the kernel part
 * of its stack is kept.
 */
static void set_external_waker(struct ctx_event *event, uint32_t process, const char *name)
{
	uint32_t n = 0;

	while (n < event->state.stack.n_frames && event->state.stack.frames[n] >= CTX_KERNEL_START &&
	       ctx_frame_truncation(event->state.stack.frames[n]) == CTX_TRUNCATED_NOT)
		n++;
	event->process = process;
	event->state.external_waker = name;
	event->state.stack.n_frames = n;
	event->state.stack.user = NULL;
}

/* Thread 0 of a sample is the idle one, or any outside of the pid namespace. */
static const char *task_zero(const struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample,
			     uint8_t role)
{
	int64_t id;

	return value_of(reader, sample, role, CTX_PD_FIELD_COMMON_PID, &id) && id != 0
		       ? "outside of the container"
		       : "swapper";
}

static enum ctx_status on_waking(struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample,
				 uint8_t role, const struct ctx_event *sampled, struct ctx_err *err)
{
	/*
	 * sched_wakeup follows sched_waking: it never ends a wait that has not begun yet.
	 */
	bool is_waking = role == CTX_PD_TP_WAKING || (role == CTX_PD_TP_WAKEUP && !reader->states.has_waking);
	struct ctx_event event = change_of(sampled, is_waking ? CTX_SEEN_WAKING : CTX_CHANGE_WOKEN);
	struct ctx_pd_thread_numbers woken = {0};
	enum ctx_status status;
	const char *name;
	int64_t tid = thread_in(reader, sample, role, CTX_PD_FIELD_PID);

	if (tid == 0)
		return CTX_OK;
	status = ctx_pd_tasks_find(&reader->tasks, sampled->time_ns, tid, &woken, err);
	if (status != CTX_OK || woken.thread == CTX_NONE)
		return status;
	event.thread = woken.thread;
	name = sample->tid == 0 ? task_zero(reader, sample, role)
				: ctx_pd_tasks_untracked_task(&reader->tasks, sample->tid);
	if (name != NULL)
		set_external_waker(&event, woken.process, name);
	else
		event.state.waker = sampled->thread;
	return ctx_pd_reader_put(reader, &event, err);
}

/*
 * perf does not record the size of a page. On x86 it is 4 KiB; elsewhere all maps are whole pages, so it is
 * the largest power of two that divides their addresses and sizes.
 */
static unsigned page_shift(const struct ctx_pd_reader *reader)
{
	const char *arch = reader->file.facts.machine.arch;
	uint64_t bits = reader->states.map_bits | (uint64_t)1 << PAGE_SHIFT_MAX;
	unsigned shift = (unsigned)__builtin_ctzll(bits);

	if (arch == NULL || strncmp(arch, "x86", 3) == 0 || reader->states.map_bits == 0)
		return PAGE_SHIFT;
	return shift > PAGE_SHIFT ? shift : PAGE_SHIFT;
}

/*
 * Did the fault hit the page of the executed instruction, or the next one, into which the
 * instruction may extend?
 */
static bool is_of_text(const struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample)
{
	unsigned shift = page_shift(reader);
	uint64_t page = sample->address >> shift, ip_page = sample->ip >> shift;

	return sample->has_ip && sample->ip < CTX_KERNEL_START && (page == ip_page || page == ip_page + 1);
}

/* A state change of the sampled thread. Faults carry no stack. */
static enum ctx_status on_own(struct ctx_pd_reader *reader, const struct ctx_pe_sample *sample, uint8_t role,
			      const struct ctx_event *sampled, struct ctx_err *err)
{
	struct ctx_event event = change_of(sampled, CTX_CHANGE_ENTERS);
	struct ctx_event fault = change_at(sampled->time_ns, sampled->process, sampled->thread,
					   sampled->sample.cpu, CTX_SEEN_FAULT);
	int64_t value;

	switch (role) {
	case CTX_PD_TP_SWITCH:
		return on_leaving(reader, sample, sampled, err);
	case CTX_PD_TP_SYS_EXIT:
		event.state.change = CTX_CHANGE_RETURNS;
		return ctx_pd_reader_put(reader, &event, err);
	case CTX_PD_TP_SYS_ENTER:
		return ctx_pd_reader_put(reader, &event, err);
	case ROLE_MAJOR_FAULT:
		if (!is_of_text(reader, sample))
			return CTX_OK;
		fault.state.change = CTX_CHANGE_TEXT_FAULT;
		break;
	case ROLE_FAULT:
		if (is_of_text(reader, sample))
			fault.state.change = CTX_SEEN_TEXT_FAULT;
		break;
	case CTX_PD_TP_FAULT_USER:
		if (value_of(reader, sample, CTX_PD_TP_FAULT_USER, CTX_PD_FIELD_ERROR_CODE, &value) &&
		    value & FAULT_OF_INSTRUCTIONS)
			fault.state.change = CTX_SEEN_TEXT_FAULT;
		break;
	case CTX_PD_TP_FAULT_KERNEL:
		break;
	default:
		return CTX_OK;
	}
	return ctx_pd_reader_put(reader, &fault, err);
}

enum ctx_status ctx_pd_states_sample(struct ctx_pd_reader *reader, const struct ctx_pd_event *source,
				     const struct ctx_pe_sample *sample, const struct ctx_event *sampled,
				     struct ctx_err *err)
{
	uint8_t role = role_in(reader, source);
	enum ctx_status status = CTX_OK;

	if (role == CTX_PD_TP_NONE)
		return CTX_OK;
	status = learn_id(reader, sample, role, err);
	if (status == CTX_OK && sample->tid > 0)
		status = on_own(reader, sample, role, sampled, err);
	if (status != CTX_OK)
		return status;
	if (role == CTX_PD_TP_SWITCH)
		return on_coming(reader, sample, sampled, err);
	return role == CTX_PD_TP_WAKING || role == CTX_PD_TP_WAKEUP || role == CTX_PD_TP_WAKEUP_NEW
		       ? on_waking(reader, sample, role, sampled, err)
		       : CTX_OK;
}

/* Records */

enum ctx_status ctx_pd_states_switch(struct ctx_pd_reader *reader, const struct ctx_pd_queued *item,
				     bool *ret_used, struct ctx_err *err)
{
	const struct perf_event_header *header = &item->record.header;
	struct ctx_event event =
		change_at(ctx_pd_reader_relative(reader, item->time), 0, 0, -1, CTX_CHANGE_RUNS);
	struct ctx_pd_thread_numbers thread = {0};
	struct ctx_pe_trailer who;
	enum ctx_status status;

	*ret_used = item->time != 0 &&
		    ctx_pd_trailer_parse(&reader->file.events, item->record.bytes, header, &who);
	if (!*ret_used || who.tid <= 0)
		return CTX_OK;
	if (header->misc & PERF_RECORD_MISC_SWITCH_OUT)
		event.state.change = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
					     ? CTX_SEEN_OFF_PREEMPTED
					     : CTX_SEEN_OFF;
	/* The last switch of an exiting thread looks like a wait. */
	if (event.state.change == CTX_SEEN_OFF && ctx_pd_tasks_has_ended(&reader->tasks, who.tid))
		return CTX_OK;
	event.state.cpu = who.cpu;
	status = ctx_pd_tasks_sample(
		&reader->tasks,
		&(struct ctx_pd_task_at){.time_ns = event.time_ns, .pid = who.pid, .tid = who.tid}, &thread,
		err);
	event.process = thread.process;
	event.thread = thread.thread;
	return status == CTX_OK ? ctx_pd_reader_put(reader, &event, err) : status;
}

enum ctx_status ctx_pd_states_exec(struct ctx_pd_reader *reader, uint64_t time_ns, int64_t tid,
				   struct ctx_err *err)
{
	struct ctx_pd_thread_numbers thread = {0};
	struct ctx_event event;
	enum ctx_status status = ctx_pd_tasks_find(&reader->tasks, time_ns, tid, &thread, err);

	if (status != CTX_OK || thread.thread == CTX_NONE)
		return status;
	event = change_at(time_ns, thread.process, thread.thread, -1, CTX_CHANGE_RUNS);
	return ctx_pd_reader_put(reader, &event, err);
}
