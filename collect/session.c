#include "collect/session.h"

#include "base/mem.h"
#include "collect/cpus.h"
#include "collect/lost_counts.h"
#include "collect/permissions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRIES 100      /* to open an event */
#define SPARE_FILES 8u /* that events leave */
/*
 * At switches and wake-ups a smaller part of the stack is copied: 2 KiB where samples have 32.
 * Waits are in functions with small frames: 2 % of the stacks of a python program and of a compiler
 * were cut (1 KiB: 5 %, 4 KiB: 1.7 %, 8 KiB: 0.4 %).
 */
#define STATE_STACK_PART 16u
#define STATE_STACK_BYTES_MIN 1024u

static int perf_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	int fd = -1;

	errno = EAGAIN;
	for (int i = 0; i < TRIES && fd < 0 && (errno == EINTR || errno == EAGAIN); i++)
		fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd;
}

bool ctx_session_has_cycles(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .disabled = 1,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .sample_period = 1000000,
				       .sample_type = PERF_SAMPLE_IP};
	int fd = perf_open(&attr, 0, -1);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

struct opening {
	struct ctx_session *session;
	const struct ctx_session_options *options;
	struct ctx_ids cpus;
	size_t lockable;      /* bytes that a ring may have, as far as is known; SIZE_MAX: unlimited */
	size_t refused_bytes; /* a ring of so many could not be had; 0: all could */
	bool has_few_files;   /* no events with copies of other sizes */
};

static size_t state_stack_bytes(const struct ctx_session *session)
{
	size_t bytes = session->sizes.stack_bytes / STATE_STACK_PART / 8 * 8;

	if (bytes < STATE_STACK_BYTES_MIN)
		bytes = STATE_STACK_BYTES_MIN;
	return bytes < session->sizes.stack_bytes ? bytes : session->sizes.stack_bytes;
}

static void set_common(const struct opening *opening, struct perf_event_attr *attr)
{
	const struct ctx_session_options *options = opening->options;

	attr->size = sizeof(*attr);
	attr->sample_type = CTX_PERF_SAMPLE_TYPE;
	attr->read_format = opening->session->read_format;
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	if (options->tids != NULL) {
		attr->inherit = 1;
		attr->inherit_thread = !options->follow;
		attr->enable_on_exec = options->on_exec;
	}
	if (opening->session->without_kernel || options->user_only)
		attr->exclude_kernel = attr->exclude_hv = 1;
	if (options->kernel_only)
		attr->exclude_user = 1;
	attr->exclude_callchain_user = options->without_callers;
}

/* What is mapped where data is has to be known then. */
static bool has_addresses(const struct ctx_perf_events *events)
{
	bool has = false;

	for (size_t i = 0; i < events->n; i++)
		has |= events->items[i].has_address;
	return has;
}

static struct perf_event_attr side_band_attr(const struct opening *opening)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY};

	set_common(opening, &attr);
	attr.exclude_user = 0;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.task = 1;
	attr.mmap_data = has_addresses(opening->options->events);
	attr.context_switch = opening->session->states.level != CTX_STATES_NONE;
	attr.sample_period = 1;
	/*
	 * No build ids: while one reader asks for them, perf before 6.16 cannot read what the kernel
	 * reports to it. They are read from the files (mapped_files.h).
	 */
	/*
	 * Samples with stacks fill a ring in a tenth of a second: wake up while there is room for
	 * more.
	 */
	attr.wakeup_watermark = (uint32_t)(opening->session->sizes.ring_bytes /
					   (opening->session->sizes.stack_bytes != 0 ? 4 : 2));
	return attr;
}

/*
 * States are observed in both modes, whatever samples were requested; in user mode only without
 * permission for kernel samples.
 */
static struct perf_event_attr state_attr(const struct opening *opening, enum ctx_state_event event)
{
	const struct ctx_session *session = opening->session;
	struct perf_event_attr attr = ctx_state_event_attr(&session->states, event, session->user_regs,
							   (uint32_t)state_stack_bytes(session));
	struct perf_event_attr common = {0};

	set_common(opening, &common);
	attr.sample_id_all = attr.use_clockid = attr.watermark = 1;
	attr.clockid = common.clockid;
	attr.read_format = common.read_format;
	attr.exclude_kernel = attr.exclude_hv = session->states.level == CTX_STATES_SWITCHES;
	attr.exclude_callchain_user |= common.exclude_callchain_user;
	attr.disabled = 1;
	if (opening->options->tids != NULL && ctx_state_event_is_of_cpu(&session->states, event)) {
		/* Exec does not enable it. Earlier samples are of untracked threads. */
		attr.disabled = !opening->options->on_exec;
		return attr;
	}
	attr.inherit = common.inherit;
	attr.inherit_thread = common.inherit_thread;
	attr.enable_on_exec = common.enable_on_exec;
	return attr;
}

static struct perf_event_attr event_attr(const struct opening *opening, const struct ctx_perf_event *event)
{
	struct perf_event_attr attr = event->attr;

	set_common(opening, &attr);
	if (event->has_period)
		attr.sample_type |= PERF_SAMPLE_PERIOD;
	if (event->has_address)
		attr.sample_type |= PERF_SAMPLE_ADDR;
	if (event->has_address && attr.precise_ip != 0)
		attr.sample_type |= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	if (event->stack != CTX_PERF_STACK_WHOLE)
		attr.exclude_callchain_kernel = attr.exclude_callchain_user = 1;
	if (event->stack == CTX_PERF_STACK_CALLER && opening->session->user_regs != 0) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = opening->session->user_regs;
		attr.sample_stack_user = sizeof(uint64_t);
	}
	if (opening->session->sizes.stack_bytes != 0 && event->stack == CTX_PERF_STACK_WHOLE) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = opening->session->user_regs;
		attr.sample_stack_user =
			(uint32_t)(ctx_perf_event_bursts(event) ? opening->session->sizes.burst_bytes
								: opening->session->sizes.stack_bytes);
	}
	/* A profile of the whole system excludes idle CPUs. */
	if (event->is_clock && opening->options->tids == NULL)
		attr.exclude_idle = 1;
	return attr;
}

static enum ctx_status explain_refusal(const struct opening *opening, int error, struct ctx_err *err)
{
	int level = ctx_permissions_paranoid_level();
	bool is_system = opening->options->tids == NULL;

	if (ctx_permissions_filtered())
		return ctx_err_set(err, CTX_E_PERM,
				   "a seccomp filter (a container, a sandbox) refuses perf_event_open (%s): "
				   "nothing can be recorded from inside it. Docker and podman allow it with "
				   "--cap-add PERFMON; from outside ctxrec -p PID records it",
				   strerror(error));
	if (error == ENOSYS || level == -99)
		return ctx_err_set(err, CTX_E_PERM,
				   "this kernel, or the sandbox around this program, has no perf events (%s)",
				   strerror(error));
	if (is_system && level > 0)
		return ctx_err_set(err, CTX_E_PERM,
				   "not allowed to watch the whole system: kernel.perf_event_paranoid is %d; "
				   "needs 0 (sysctl kernel.perf_event_paranoid=0) or %s",
				   level, ctx_permissions_capability());
	if (level > 2)
		return ctx_err_set(err, CTX_E_PERM,
				   "perf events are not allowed for ordinary users: "
				   "kernel.perf_event_paranoid is %d; needs 2 or "
				   "less (sysctl kernel.perf_event_paranoid=2) or %s",
				   level, ctx_permissions_capability());
	return ctx_err_set(err, CTX_E_PERM,
			   "the kernel refuses perf events (%s)%s; "
			   "kernel.perf_event_paranoid is %d; what helps is %s",
			   strerror(error),
			   opening->options->on_exec ? "" : ": the process belongs to another user", level,
			   ctx_permissions_capability());
}

static enum ctx_status explain_open(const struct opening *opening, const char *name, int error,
				    struct ctx_err *err)
{
	switch (error) {
	case EACCES:
	case EPERM:
	case ENOSYS:
		return explain_refusal(opening, error, err);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return ctx_err_set(err, CTX_E_ARG, "event \"%s\" is not available on this machine (%s)", name,
				   strerror(error));
	case EINVAL:
		return ctx_err_set(err, CTX_E_ARG, "event \"%s\": the kernel does not accept these settings",
				   name);
	case ENOSPC:
		return ctx_err_set(err, CTX_E_ARG, "event \"%s\": no hardware resource is left for it", name);
	case EMFILE:
	case ENFILE:
		return ctx_err_set(
			err, CTX_E_LIMIT,
			"too many open files: every event needs one per CPU and thread (ulimit -n)");
	default:
		errno = error;
		return ctx_err_errno(err, CTX_E_IO, "event \"%s\" cannot be opened", name);
	}
}

enum ctx_status ctx_session_keep(struct ctx_session *session, int fd, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&session->fds, &session->fds_cap, session->n_fds + 1, err);

	if (status != CTX_OK) {
		close(fd);
		return status;
	}
	session->fds[session->n_fds++] = fd;
	return CTX_OK;
}

static enum ctx_status map_ring(struct opening *opening, int fd, struct ctx_err *err)
{
	struct ctx_session *session = opening->session;
	size_t bytes = session->sizes.ring_bytes;
	enum ctx_status status = ctx_ring_map(&session->rings[session->n_rings], fd,
					      bytes / (size_t)sysconf(_SC_PAGESIZE), err);

	if (status == CTX_OK)
		session->ring_fds[session->n_rings++] = fd;
	if (status == CTX_E_PERM || status == CTX_E_NOMEM)
		opening->refused_bytes = bytes;
	if (status == CTX_E_PERM)
		return ctx_err_set(
			err, CTX_E_PERM,
			"ring buffers of %zu KiB per CPU exceed the limit on locked memory, which is "
			"one for all that a user records: take less (-m), or raise "
			"kernel.perf_event_mlock_kb or ulimit -l",
			bytes / 1024);
	return status;
}

/* Where events are opened. */
struct target {
	int64_t tid; /* -1: all threads of this CPU */
	int64_t cpu;
	int *ring_fd; /* the event whose ring all share; -1: the next one gets the ring */
};

/* Opens one event. CTX_END: the thread or the CPU does not exist (any more). */
static enum ctx_status open_one(struct opening *opening, const struct target *target,
				struct perf_event_attr *attr, const char *name, struct ctx_err *err)
{
	int fd = perf_open(attr, (pid_t)target->tid, (int)target->cpu);
	enum ctx_status status;

	if (fd < 0 &&
	    (errno == ESRCH || (errno == ENODEV && access("/sys/devices/system/cpu/online", R_OK) == 0 &&
				attr->type == PERF_TYPE_SOFTWARE)))
		return CTX_END;
	if (fd < 0)
		return explain_open(opening, name, errno, err);
	status = ctx_session_keep(opening->session, fd, err);
	if (status != CTX_OK)
		return status;
	if (*target->ring_fd < 0) {
		opening->session->ring_cpus[opening->session->n_rings] = (int32_t)target->cpu;
		status = map_ring(opening, fd, err);
		if (status == CTX_OK)
			*target->ring_fd = fd;
		return status;
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *target->ring_fd) != 0)
		return ctx_err_errno(err, CTX_E_IO, "event \"%s\" cannot share a ring buffer", name);
	return CTX_OK;
}

static enum ctx_status note_id(struct ctx_session *session, int fd, uint32_t event, struct ctx_err *err)
{
	uint32_t *place;
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
		return ctx_err_errno(err, CTX_E_IO, "an event has no id");
	place = ctx_map64_place(&session->event_of_id, id);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = event;
	return CTX_OK;
}

enum ctx_status ctx_session_join(struct ctx_session *session, int fd, int ring_fd, uint32_t event,
				 struct ctx_err *err)
{
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) != 0)
		return ctx_err_errno(err, CTX_E_IO, "an event cannot share a ring buffer");
	return note_id(session, fd, event, err);
}

static enum ctx_status note_whole(struct ctx_session *session, enum ctx_state_event event,
				  struct ctx_err *err)
{
	enum ctx_status status;

	if (!ctx_state_event_has_stack(event))
		return CTX_OK;
	status = ctx_grow(&session->whole_fds, &session->whole_fds_cap, session->n_whole_fds + 1, err);
	if (status == CTX_OK)
		session->whole_fds[session->n_whole_fds++] = session->fds[session->n_fds - 1];
	return status;
}

/* Of all threads of a CPU: not of the idle one, and of those that wake others only the ones that wake recorded threads. */
static enum ctx_status set_filter(struct ctx_session *session, const struct target *target,
				  enum ctx_state_event event, struct ctx_err *err)
{
	int fd = session->fds[session->n_fds - 1];

	if (target->tid != -1)
		return CTX_OK;
	if (event == CTX_STATE_EVENT_SWITCH)
		(void)ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "prev_pid != 0");
	return event == CTX_STATE_EVENT_WAKING
		       ? ctx_woken_add(&session->woken,
				       &(struct ctx_woken_event){fd, (int)target->cpu, *target->ring_fd}, err)
		       : CTX_OK;
}

/* Of the whole system there is one target for each CPU. */
static bool is_of_target(const struct opening *opening, const struct target *target,
			 enum ctx_state_event event)
{
	return opening->options->tids == NULL ||
	       ctx_state_event_is_of_cpu(&opening->session->states, event) == (target->tid == -1);
}

/* Tracepoints have the ids of the first pid namespace. */
static void choose_woken(const struct opening *opening)
{
	struct ctx_session *session = opening->session;
	const struct ctx_ids *tids = opening->options->tids;

	session->woken.number = (uint32_t)session->events->n + CTX_STATE_EVENT_WAKING;
	if (tids != NULL && session->states.level == CTX_STATES_FULL && !session->states.has_switch)
		ctx_woken_filter_make(&session->woken.filter, tids, ctx_woken_last_id(),
				      ctx_permissions_setting("/proc/sys/kernel/pid_max", 0));
}

static enum ctx_status open_states(struct opening *opening, const struct target *target, struct ctx_err *err)
{
	struct ctx_session *session = opening->session;
	enum ctx_status status = CTX_OK;

	for (unsigned i = 0; i < CTX_STATE_EVENT_N && status == CTX_OK; i++) {
		enum ctx_state_event event = (enum ctx_state_event)i;
		struct perf_event_attr attr;

		if (!ctx_state_events_has(&session->states, event) || !is_of_target(opening, target, event))
			continue;
		attr = state_attr(opening, event);
		status = open_one(opening, target, &attr, ctx_state_event_name(event), err);
		if (status == CTX_OK)
			status = set_filter(session, target, event, err);
		if (status == CTX_OK)
			status = note_id(session, session->fds[session->n_fds - 1],
					 (uint32_t)session->events->n + i, err);
		if (status == CTX_OK)
			status = note_whole(session, event, err);
	}
	return status;
}

/*
 * The same event with copies of other sizes, disabled. Where one cannot be opened (open files, threads that end) there
 * is none.
 */
static enum ctx_status open_copies(struct opening *opening, const struct target *target, uint32_t event,
				   struct ctx_err *err)
{
	struct ctx_session *session = opening->session;
	int fds[CTX_COPY_N] = {-1, session->fds[session->n_fds - 1], -1};
	enum ctx_status status;

	for (unsigned i = 0; i < CTX_COPY_N; i++) {
		struct perf_event_attr attr = event_attr(opening, &session->events->items[event]);

		if (i == CTX_COPY_USUAL || session->sizes.copy_bytes[i] == 0)
			continue;
		attr.sample_stack_user = (uint32_t)session->sizes.copy_bytes[i];
		attr.disabled = 1;
		attr.enable_on_exec = 0;
		fds[i] = perf_open(&attr, (pid_t)target->tid, (int)target->cpu);
		if (fds[i] < 0 && (errno == EMFILE || errno == ENFILE))
			session->sizes.copy_bytes[i] = 0;
	}
	status = ctx_session_copies_add(&session->copies, fds, *target->ring_fd, err);
	for (unsigned i = 0; i < CTX_COPY_N && status == CTX_OK; i++) {
		if (i != CTX_COPY_USUAL && fds[i] >= 0)
			status = note_id(session, fds[i], event, err);
	}
	return status;
}

static enum ctx_status open_thread_on_cpu(struct opening *opening, const struct target *target,
					  struct ctx_err *err)
{
	struct ctx_session *session = opening->session;
	struct perf_event_attr attr = side_band_attr(opening);
	enum ctx_status status = open_one(opening, target, &attr, "side band", err);

	for (uint32_t i = 0; i < session->events->n && status == CTX_OK; i++) {
		if (session->events->items[i].is_late)
			continue;
		attr = event_attr(opening, &session->events->items[i]);
		status = open_one(opening, target, &attr, session->events->items[i].name, err);
		if (status == CTX_OK)
			status = note_id(session, session->fds[session->n_fds - 1], i, err);
		if (status == CTX_OK && session->sizes.copy_bytes[CTX_COPY_USUAL] != 0 &&
		    session->events->items[i].stack == CTX_PERF_STACK_WHOLE &&
		    !ctx_perf_event_bursts(&session->events->items[i]))
			status = open_copies(opening, target, i, err);
	}
	return status == CTX_OK ? open_states(opening, target, err) : status;
}

static enum ctx_status open_all(struct opening *opening, struct ctx_err *err)
{
	const struct ctx_ids *tids = opening->options->tids;
	enum ctx_status status;

	for (size_t c = 0; c < opening->cpus.n; c++) {
		int ring_fd = -1;
		struct target target = {.tid = -1, .cpu = opening->cpus.items[c], .ring_fd = &ring_fd};

		for (size_t t = 0; t < (tids != NULL ? tids->n : 1); t++) {
			if (tids != NULL)
				target.tid = tids->items[t];
			status = open_thread_on_cpu(opening, &target, err);
			if (status != CTX_OK && status != CTX_END)
				return status;
		}
		if (tids != NULL && ring_fd >= 0) {
			target.tid = -1;
			status = open_states(opening, &target, err);
			if (status != CTX_OK && status != CTX_END)
				return status;
		}
	}
	if (opening->session->n_rings == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no such process or thread");
	return CTX_OK;
}

/*
 * Finds by opening an event whether this user and this kernel allow kernel samples.
 */
static void find_limits(struct opening *opening)
{
	struct ctx_session *session = opening->session;
	int64_t tid = opening->options->tids != NULL ? 0 : -1;

	struct perf_event_attr attr = side_band_attr(opening);
	int fd;

	attr.enable_on_exec = 0;
	fd = perf_open(&attr, (pid_t)tid, (int)opening->cpus.items[0]);
	if (fd >= 0)
		close(fd);
	/* The real open reports anything else. */
	else if ((errno == EACCES || errno == EPERM) && !attr.exclude_kernel)
		session->without_kernel = true;
}

/* An event that can never have a sample is refused. */
static enum ctx_status check_modes(const struct opening *opening, struct ctx_err *err)
{
	const struct ctx_session_options *options = opening->options;

	for (size_t i = 0; i < options->events->n; i++) {
		const struct ctx_perf_event *event = &options->events->items[i];
		bool without_user = options->kernel_only || event->attr.exclude_user;

		if (without_user && opening->session->without_kernel)
			return ctx_err_set(err, CTX_E_PERM,
					   "event \"%s\": samples in kernel mode are not allowed: "
					   "kernel.perf_event_paranoid is %d; needs 1 or less, or %s",
					   event->name, ctx_permissions_paranoid_level(),
					   ctx_permissions_capability());
		if (without_user && (options->user_only || event->attr.exclude_kernel))
			return ctx_err_set(err, CTX_E_ARG,
					   "event \"%s\": neither user nor kernel mode is left to sample",
					   event->name);
	}
	return CTX_OK;
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Sets the sizes of rings and copied stacks. */
static void choose_sizes(const struct opening *opening)
{
	const struct ctx_session_options *options = opening->options;
	struct ctx_session *session = opening->session;
	struct ctx_session_load load = {.stack_is_fixed = options->stack_is_fixed,
					.ring_bytes = options->ring_bytes,
					.lockable = opening->lockable,
					.n_cpus = opening->cpus.n,
					.has_states = options->states != CTX_REC_STATES_OFF};

	session->user_regs = options->stack_bytes != 0 ? ctx_user_regs_perf_mask(ctx_machine_own()) : 0;
	load.stack_bytes = session->user_regs != 0 ? options->stack_bytes : 0;
	ctx_session_load_events(&load, options->events);
	session->sizes = ctx_session_sizes_choose(&load);
	if (opening->has_few_files)
		session->sizes.copy_bytes[CTX_COPY_SMALL] = session->sizes.copy_bytes[CTX_COPY_LARGE] = 0;
}

/* Without kernel samples requested, the permission is not tested yet. */
static bool may_sample_kernel(const struct opening *opening)
{
	struct perf_event_attr attr = side_band_attr(opening);
	int fd;

	if (opening->session->without_kernel)
		return false;
	attr.enable_on_exec = 0;
	attr.exclude_kernel = attr.exclude_hv = 0;
	fd = perf_open(&attr, opening->options->tids != NULL ? 0 : -1, (int)opening->cpus.items[0]);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The level first: the attributes of all events depend on it. */
static enum ctx_status choose_states(const struct opening *opening, struct ctx_err *err)
{
	struct ctx_session *session = opening->session;
	struct ctx_state_events_options options = {.asked = opening->options->states,
						   .tracefs = ctx_perf_roots_default().tracefs,
						   .without_kernel = !may_sample_kernel(opening),
						   .is_system = opening->options->tids == NULL};

	return ctx_state_events_choose(&options, &session->states, err);
}

/* Built from the attributes that the events are opened with, and thus from the sizes. */
static void make_layouts(const struct opening *opening)
{
	struct ctx_session *session = opening->session;
	struct ctx_pe_layout *layout = session->layouts;

	session->woken.attr = state_attr(opening, CTX_STATE_EVENT_WAKING);

	for (size_t i = 0; i < session->events->n; i++) {
		session->attrs[i] = event_attr(opening, &session->events->items[i]);
		*layout++ = ctx_pe_layout_make(&session->attrs[i], false);
	}
	for (unsigned i = 0; i < CTX_STATE_EVENT_N; i++) {
		struct perf_event_attr attr = state_attr(opening, (enum ctx_state_event)i);

		*layout++ = ctx_pe_layout_make(&attr, false);
	}
}

static void close_events(struct ctx_session *session)
{
	for (uint32_t i = 0; i < session->n_rings; i++)
		ctx_ring_unmap(&session->rings[i]);
	ctx_session_copies_close(&session->copies);
	session->woken.n = 0;
	for (size_t i = 0; i < session->n_fds; i++)
		close(session->fds[i]);
	session->n_rings = 0;
	session->n_fds = session->n_whole_fds = 0;
	ctx_map64_deinit(&session->event_of_id);
}

/* The experiment needs some files, too, and so does reading /proc. */
static enum ctx_status open_with_spare_files(struct opening *opening, struct ctx_err *err)
{
	int spare[SPARE_FILES];
	size_t n = 0;
	enum ctx_status status = open_all(opening, err);

	if (status != CTX_OK)
		return status;
	while (n < SPARE_FILES && (spare[n] = fcntl(opening->session->fds[0], F_DUPFD_CLOEXEC, 0)) >= 0)
		n++;
	if (n != SPARE_FILES)
		status = explain_open(opening, "side band", EMFILE, err);
	while (n != 0)
		close(spare[--n]);
	return status;
}

/*
 * The kernel's limit on locked memory is one sum for all processes of a user: others that record can have taken what there
 * was. All rings are made smaller then, and what is copied of stacks with them.
 */
static enum ctx_status open_with_room(struct opening *opening, struct ctx_err *err)
{
	enum ctx_status status;

	for (;;) {
		opening->refused_bytes = 0;
		status = open_with_spare_files(opening, err);
		if (opening->refused_bytes / 2 < ctx_session_ring_min() || opening->options->ring_is_fixed)
			return status;
		close_events(opening->session);
		opening->lockable = opening->refused_bytes / 2;
		choose_sizes(opening);
		make_layouts(opening);
	}
}

/*
 * Many threads on many CPUs can exceed the limit on open files: other sizes of copies are dropped then, and states
 * unless requested.
 */
static enum ctx_status open_what_fits(struct opening *opening, struct ctx_err *err)
{
	struct ctx_session *session = opening->session;
	enum ctx_status status = open_with_room(opening, err);

	if (status == CTX_E_LIMIT) {
		close_events(session);
		opening->has_few_files = true;
		choose_sizes(opening);
		status = open_with_room(opening, err);
	}
	if (status != CTX_E_LIMIT || opening->options->states != CTX_REC_STATES_AUTO)
		return status;
	close_events(session);
	session->states.level = CTX_STATES_NONE;
	return open_with_room(opening, err);
}

enum ctx_status ctx_session_open(struct ctx_session *session, const struct ctx_session_options *options,
				 struct ctx_err *err)
{
	struct opening opening = {.session = session, .options = options};
	enum ctx_status status;

	*session = (struct ctx_session){.events = options->events, .copies = CTX_SESSION_COPIES_NONE};
	status = ctx_cpus_online(&opening.cpus, err);
	if (status != CTX_OK)
		goto out;
	opening.lockable = options->ring_is_fixed ? SIZE_MAX : ctx_session_lockable(opening.cpus.n);
	choose_sizes(&opening);
	session->rings = ctx_calloc(opening.cpus.n, sizeof(*session->rings));
	session->ring_fds = ctx_calloc(opening.cpus.n, sizeof(*session->ring_fds));
	session->ring_cpus = ctx_calloc(opening.cpus.n, sizeof(*session->ring_cpus));
	session->layouts = ctx_calloc(options->events->n + CTX_STATE_EVENT_N + 1, sizeof(*session->layouts));
	session->attrs = ctx_calloc(options->events->n, sizeof(*session->attrs));
	if (session->attrs == NULL || session->rings == NULL || session->ring_cpus == NULL ||
	    session->ring_fds == NULL || session->layouts == NULL) {
		status = ctx_err_nomem(err);
		goto out;
	}
	raise_file_limit();
	session->read_format = ctx_lost_counts_format();
	find_limits(&opening);
	status = check_modes(&opening, err);
	if (status == CTX_OK)
		status = choose_states(&opening, err);
	if (status == CTX_OK) {
		make_layouts(&opening);
		choose_woken(&opening);
		status = open_what_fits(&opening, err);
	}
out:
	ctx_ids_deinit(&opening.cpus);
	return status;
}

static void ioctl_all(const struct ctx_session *session, unsigned long request)
{
	for (size_t i = 0; i < session->n_fds; i++)
		(void)ioctl(session->fds[i], request, 0);
}

void ctx_session_enable(const struct ctx_session *session)
{
	ioctl_all(session, PERF_EVENT_IOC_ENABLE);
}

void ctx_session_disable(const struct ctx_session *session)
{
	ioctl_all(session, PERF_EVENT_IOC_DISABLE);
	ctx_session_copies_disable(&session->copies);
	ctx_woken_disable(&session->woken);
}

void ctx_session_close(struct ctx_session *session)
{
	close_events(session);
	free(session->rings);
	free(session->ring_fds);
	free(session->ring_cpus);
	ctx_woken_close(&session->woken);
	free(session->whole_fds);
	free(session->fds);
	free(session->layouts);
	free(session->attrs);
	*session = (struct ctx_session){0};
}

/*
 * Whether samples with a foreign id are of our state events: there is no other software event. The ids of their threads
 * are those of the foreign event's pid namespace, where threads of ours hardly have the same.
 */
static bool has_shared(const struct ctx_session *session)
{
	for (size_t i = 0; i < session->events->n; i++) {
		const struct ctx_perf_event *event = &session->events->items[i];

		if (event->attr.type == PERF_TYPE_SOFTWARE && !event->is_clock)
			return false;
	}
	return session->states.level == CTX_STATES_FULL;
}

struct ctx_perf_layout ctx_session_layout(const struct ctx_session *session)
{
	uint32_t n = (uint32_t)session->events->n;

	return (struct ctx_perf_layout){
		.event_of_id = &session->event_of_id,
		.events = session->layouts,
		.n_events = n + CTX_STATE_EVENT_N + 1,
		.has_shared = has_shared(session),
		.shared = n + CTX_STATE_EVENT_FAULT,
		.shared_longer = session->states.has_switch ? UINT32_MAX : n + CTX_STATE_EVENT_LEAVES};
}
