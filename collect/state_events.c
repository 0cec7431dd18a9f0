#include "collect/state_events.h"

#include "base/mem.h"
#include "collect/perfrecord.h"
#include "collect/procfs.h"
#include "collect/tracepoint.h"
#include "collect/wait_places.h"
#include "model/user_regs.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Inode of the initial pid namespace: include/linux/proc_ns.h in the kernel. */
#define FIRST_PID_NAMESPACE UINT64_C(4026531836)

static const char *const names[CTX_STATE_EVENT_N] = {
	[CTX_STATE_EVENT_SWITCH] = "sched:sched_switch",
	[CTX_STATE_EVENT_WAKING] = "sched:sched_waking",
	[CTX_STATE_EVENT_LEAVES] = "context-switches",
	[CTX_STATE_EVENT_FAULT] = "major-faults",
	[CTX_STATE_EVENT_ENTER] = "raw_syscalls:sys_enter",
	[CTX_STATE_EVENT_RETURN] = "raw_syscalls:sys_exit",
	[CTX_STATE_EVENT_SWITCH_BRIEF] = "sched:sched_switch",
	[CTX_STATE_EVENT_WAKING_BRIEF] = "sched:sched_waking",
	[CTX_STATE_EVENT_LEAVES_BRIEF] = "context-switches",
	[CTX_STATE_EVENT_SWITCH_DISK] = "sched:sched_switch",
};

const char *ctx_state_event_name(enum ctx_state_event event)
{
	return names[event];
}

const char *ctx_states_level_text(const struct ctx_state_events *events)
{
	switch (events->level) {
	case CTX_STATES_FULL:
		return events->has_calls
			       ? "full: switches with stacks and reasons, wake-ups with wakers, faults, "
				 "system calls"
			       : "full: switches with stacks and reasons, wake-ups with wakers, faults";
	case CTX_STATES_MIN:
		return "min: switches with stacks, faults; no wakers, no time between wake-up and CPU (needs "
		       "root or "
		       "CAP_PERFMON with tracefs)";
	case CTX_STATES_SWITCHES:
		return "switches only; no reasons, stacks of waits, wakers (needs root or CAP_PERFMON with "
		       "tracefs)";
	default:
		return "off";
	}
}

bool ctx_state_events_has(const struct ctx_state_events *events, enum ctx_state_event event)
{
	switch (event) {
	case CTX_STATE_EVENT_SWITCH:
		return events->level == CTX_STATES_FULL && events->has_switch;
	case CTX_STATE_EVENT_WAKING:
		return events->level == CTX_STATES_FULL;
	case CTX_STATE_EVENT_LEAVES:
		return events->level == CTX_STATES_MIN ||
		       (events->level == CTX_STATES_FULL && !events->has_switch);
	case CTX_STATE_EVENT_ENTER:
	case CTX_STATE_EVENT_RETURN:
		return events->has_calls;
	case CTX_STATE_EVENT_FAULT:
		return events->level != CTX_STATES_NONE;
	default:
		return false;
	}
}

bool ctx_state_event_is_of_cpu(const struct ctx_state_events *events, enum ctx_state_event event)
{
	return (event == CTX_STATE_EVENT_WAKING || event == CTX_STATE_EVENT_FAULT) &&
	       events->level == CTX_STATES_FULL;
}

bool ctx_state_events_are_ids_inner(void)
{
	uint64_t own = ctx_procfs_namespace(0, "pid");

	return own != 0 && own != FIRST_PID_NAMESPACE;
}

/* What recognises a stack that follows frame pointers. */
static void set_place(struct perf_event_attr *attr)
{
	uint64_t regs = ctx_user_regs_perf_place(ctx_machine_own());

	if (regs == 0)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = regs;
}

static void set_brief(struct perf_event_attr *attr)
{
	set_place(attr);
	attr->exclude_callchain_user = attr->exclude_callchain_kernel = 1;
	if (attr->sample_regs_user == 0)
		return;
	attr->sample_type |= PERF_SAMPLE_STACK_USER;
	attr->sample_stack_user = CTX_WAIT_PLACE_BYTES;
}

struct perf_event_attr ctx_state_event_attr(const struct ctx_state_events *events, enum ctx_state_event event,
					    uint64_t user_regs, uint32_t stack_bytes)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	bool has_stack = user_regs != 0 && !ctx_state_event_is_brief(event);
	bool has_place = ctx_state_event_has_stack(event);

	attr.sample_type = CTX_PERF_SAMPLE_TYPE;
	/* Every hit is a sample. */
	attr.sample_period = 1;
	switch (event) {
	case CTX_STATE_EVENT_SWITCH:
	case CTX_STATE_EVENT_SWITCH_BRIEF:
	case CTX_STATE_EVENT_SWITCH_DISK:
		attr.config = events->switch_id;
		attr.sample_type |= PERF_SAMPLE_RAW;
		break;
	case CTX_STATE_EVENT_WAKING:
	case CTX_STATE_EVENT_WAKING_BRIEF:
		attr.config = events->waking_id;
		attr.sample_type |= PERF_SAMPLE_RAW;
		break;
	case CTX_STATE_EVENT_LEAVES:
	case CTX_STATE_EVENT_LEAVES_BRIEF:
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		break;
	case CTX_STATE_EVENT_ENTER:
	case CTX_STATE_EVENT_RETURN:
		attr.config = event == CTX_STATE_EVENT_ENTER ? events->enter_id : events->return_id;
		attr.exclude_callchain_user = attr.exclude_callchain_kernel = 1;
		has_stack = false;
		break;
	default:
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ;
		attr.sample_type |= PERF_SAMPLE_ADDR;
		attr.exclude_callchain_user = attr.exclude_callchain_kernel = 1;
		has_stack = false;
	}
	if (ctx_state_event_is_brief(event))
		set_brief(&attr);
	if (event == CTX_STATE_EVENT_SWITCH_DISK)
		attr.exclude_callchain_kernel = 0;
	if (has_stack) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = user_regs;
		attr.sample_stack_user = stack_bytes;
	} else if (has_place) {
		set_place(&attr);
	}
	return attr;
}

/* --- what is allowed --- */

static enum ctx_status find_fields(const struct ctx_tracepoint *of_switch,
				   const struct ctx_tracepoint *of_waking, struct ctx_state_events *events,
				   struct ctx_err *err)
{
	const struct {
		const struct ctx_tracepoint *of;
		const char *name;
		struct ctx_pe_field *to;
	} fields[] = {{of_switch, "prev_pid", &events->prev_pid},
		      {of_switch, "prev_state", &events->prev_state},
		      {of_waking, "common_pid", &events->common_pid},
		      {of_waking, "pid", &events->pid}};

	for (size_t i = 0; i < CTX_COUNT_OF(fields); i++) {
		const char *format = fields[i].of->format;

		if (!ctx_pe_format_field(format, strlen(format), fields[i].name, fields[i].to))
			return ctx_err_set(err, CTX_E_FORMAT, "the format of a tracepoint has no number %s",
					   fields[i].name);
	}
	events->prev_states = ctx_pe_prev_states_parse(of_switch->format, strlen(of_switch->format));
	events->switch_id = of_switch->id;
	events->waking_id = of_waking->id;
	return CTX_OK;
}

static enum ctx_status read_calls(const char *tracefs, struct ctx_state_events *events, struct ctx_err *err)
{
	struct ctx_tracepoint of_enter = {0}, of_return = {0};
	enum ctx_status status = ctx_tracepoint_read(tracefs, "raw_syscalls/sys_enter", &of_enter, err);

	if (status == CTX_OK)
		status = ctx_tracepoint_read(tracefs, "raw_syscalls/sys_exit", &of_return, err);
	events->has_calls = status == CTX_OK;
	events->enter_id = of_enter.id;
	events->return_id = of_return.id;
	ctx_tracepoint_deinit(&of_enter);
	ctx_tracepoint_deinit(&of_return);
	return status;
}

static enum ctx_status read_tracepoints(const char *tracefs, struct ctx_state_events *events,
					struct ctx_err *err)
{
	struct ctx_tracepoint of_switch = {0}, of_waking = {0};
	enum ctx_status status = ctx_tracepoint_read(tracefs, "sched/sched_switch", &of_switch, err);

	if (status == CTX_OK)
		status = ctx_tracepoint_read(tracefs, "sched/sched_waking", &of_waking, err);
	if (status == CTX_OK)
		status = find_fields(&of_switch, &of_waking, events, err);
	ctx_tracepoint_deinit(&of_switch);
	ctx_tracepoint_deinit(&of_waking);
	return status;
}

/* The most that `full` needs: the tracepoint for all threads of a CPU. */
static enum ctx_status try_tracepoint(const struct ctx_state_events *events, struct ctx_err *err)
{
	struct perf_event_attr attr = ctx_state_event_attr(events, CTX_STATE_EVENT_WAKING, 0, 0);
	int fd = -1;

	attr.disabled = 1;
	errno = ENODEV;
	for (int cpu = 0; fd < 0 && errno == ENODEV && cpu < 1024; cpu++)
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return ctx_err_errno(
			err, CTX_E_PERM,
			"tracepoints of the whole system are not allowed: needs root or CAP_PERFMON");
	close(fd);
	return CTX_OK;
}

enum ctx_status ctx_state_events_choose(const struct ctx_state_events_options *options,
					struct ctx_state_events *ret, struct ctx_err *err)
{
	struct ctx_state_events events = {.level = CTX_STATES_NONE};
	bool must_be_full =
		options->asked == CTX_REC_STATES_FULL || options->asked == CTX_REC_STATES_SYSCALLS;
	struct ctx_err reason = {0};
	enum ctx_status status = CTX_OK;

	if (options->asked == CTX_REC_STATES_AUTO || must_be_full) {
		events.level = CTX_STATES_FULL;
		events.has_switch = options->is_system || ctx_state_events_are_ids_inner();
		status = options->without_kernel ? ctx_err_set(&reason, CTX_E_PERM,
							       "samples in kernel mode are not allowed: "
							       "needs root or CAP_PERFMON, "
							       "with tracefs")
						 : read_tracepoints(options->tracefs, &events, &reason);
		if (status == CTX_OK && options->asked == CTX_REC_STATES_SYSCALLS)
			status = read_calls(options->tracefs, &events, &reason);
		if (status == CTX_OK)
			status = try_tracepoint(&events, &reason);
		if (status == CTX_E_NOMEM)
			return ctx_err_nomem(err);
		if (status != CTX_OK && must_be_full)
			return ctx_err_set(err, status, "--states %s: %s",
					   options->asked == CTX_REC_STATES_FULL ? "full" : "syscalls",
					   reason.msg);
		if (status == CTX_OK) {
			*ret = events;
			return CTX_OK;
		}
	}
	if (options->without_kernel && options->asked == CTX_REC_STATES_MIN)
		return ctx_err_set(err, CTX_E_PERM,
				   "--states min: samples in kernel mode are not allowed: needs "
				   "kernel.perf_event_paranoid of 1 or less, or the capability CAP_PERFMON");
	events = (struct ctx_state_events){0};
	if (options->asked != CTX_REC_STATES_OFF)
		events.level = options->without_kernel ? CTX_STATES_SWITCHES : CTX_STATES_MIN;
	*ret = events;
	return CTX_OK;
}
