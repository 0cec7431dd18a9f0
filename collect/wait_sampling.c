#include "collect/wait_sampling.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAN_NS UINT64_C(20000000)   /* a plan holds so long at least */
#define LEARN_NS UINT64_C(10000000)  /* the first window, at least, */
#define LEARN_STACKS 1000u	     /* and until there are so many stacks */
#define WINDOW_NS UINT64_C(2000000)  /* every further one, at least */
#define GAP_MIN_NS UINT64_C(5000000) /* between two */
#define GAP_MAX_NS UINT64_C(1000000000)
#define AGAIN_NS UINT64_C(100000) /* between two samples of one switch */
#define TURN_PART 100u		  /* opening and closing takes at most this part of the time, */
#define TURN_PART_OF_WINDOW 10u	  /* and at most this part of a window */

/* --- windows --- */

void ctx_wait_windows_open(struct ctx_wait_windows *windows, uint64_t begin_ns)
{
	windows->items[windows->n % CTX_WAIT_WINDOWS].begin_ns = begin_ns;
	windows->items[windows->n % CTX_WAIT_WINDOWS].end_ns = UINT64_MAX;
	windows->n++;
}

void ctx_wait_windows_close(struct ctx_wait_windows *windows, uint64_t end_ns)
{
	windows->items[(windows->n - 1) % CTX_WAIT_WINDOWS].end_ns = end_ns;
}

bool ctx_wait_windows_has(const struct ctx_wait_windows *windows, uint64_t time_ns)
{
	unsigned known = windows->n < CTX_WAIT_WINDOWS ? windows->n : CTX_WAIT_WINDOWS;

	for (unsigned i = 1; i <= known; i++) {
		unsigned place = (windows->n - i) % CTX_WAIT_WINDOWS;

		if (time_ns >= windows->items[place].begin_ns)
			return time_ns < windows->items[place].end_ns;
	}
	return false;
}

/* --- */

struct running {      /* on a CPU */
	uint32_t tid; /* 0: none of ours */
	uint64_t since_ns;
	uint32_t left_tid; /* since then: the last sample of a thread that leaves; 0: none */
	uint64_t left_ns;
};

struct ctx_wait_sampling {
	struct ctx_wait_sampling_options options;
	struct ctx_wait_budget budget;
	struct ctx_wait_plan plan;
	struct ctx_wait_counts counts; /* since the last plan */
	struct ctx_wait_windows windows;
	struct ctx_wait_places places;
	struct running *running; /* by CPU; owned */
	size_t n_running, running_cap;
	uint64_t planned_ns, last_ns;	      /* the last plan; the last record */
	struct ctx_wait_place_counts planned; /* of places, at the last plan */
	int *fds;			      /* brief events; owned */
	size_t n_fds, fds_cap;
	bool is_open;			/* a window */
	bool is_refused;		/* brief events are not permitted */
	uint64_t opened_ns, turn_at_ns; /* the last window; when to close or open the next */
	uint64_t turning_ns; /* CPU time that opening the last one took; while closed, closing it too */
	uint64_t random;
};

enum ctx_status ctx_wait_sampling_create(const struct ctx_wait_sampling_options *options,
					 struct ctx_wait_sampling **ret, struct ctx_err *err)
{
	struct ctx_wait_sampling *sampling = ctx_calloc(1, sizeof(*sampling));

	if (sampling == NULL)
		return ctx_err_nomem(err);
	sampling->options = *options;
	sampling->budget.per_mille = options->per_mille;
	/* Without a budget there is nothing to wait for. */
	sampling->planned_ns = options->per_mille != 0 ? options->now_ns : 0;
	sampling->random = options->now_ns | 1;
	sampling->is_open = true;
	ctx_wait_windows_open(&sampling->windows, 0);
	*ret = sampling;
	return CTX_OK;
}

void ctx_wait_sampling_destroy(struct ctx_wait_sampling *sampling)
{
	if (sampling == NULL)
		return;
	for (size_t i = 0; i < sampling->n_fds; i++)
		close(sampling->fds[i]);
	ctx_wait_places_deinit(&sampling->places);
	free(sampling->running);
	free(sampling->fds);
	free(sampling);
}

struct ctx_wait_places *ctx_wait_sampling_places(struct ctx_wait_sampling *sampling)
{
	return &sampling->places;
}

/* --- records --- */

/*
 * Both kinds of samples at once. Not of software events: the kernel gives two that hit together the id of the first
 * (do_perf_sw_event in kernel/events/core.c; tracepoints have data of their own). There brief events are disabled while whole
 * ones are enabled, and the few switches in between have no stack.
 */
static bool overlaps(const struct ctx_wait_sampling *sampling)
{
	return sampling->options.session->states.level == CTX_STATES_FULL;
}

static bool is_in_window(const struct ctx_wait_sampling *sampling, uint64_t time_ns)
{
	return sampling->n_fds == 0 || ctx_wait_windows_has(&sampling->windows, time_ns);
}

static struct running *find_running(struct ctx_wait_sampling *sampling, int32_t cpu)
{
	if (cpu < 0 || ctx_grow(&sampling->running, &sampling->running_cap, (size_t)cpu + 1, NULL) != CTX_OK)
		return NULL;
	while (sampling->n_running <= (size_t)cpu)
		sampling->running[sampling->n_running++] = (struct running){0};
	return &sampling->running[cpu];
}

/* Whether this thread has left this CPU just before. */
static bool is_again(struct ctx_wait_sampling *sampling, const struct ctx_perf_record *record)
{
	struct running *running = find_running(sampling, record->cpu);
	bool is = running != NULL && running->left_tid == record->tid &&
		  record->time_ns < running->left_ns + AGAIN_NS;

	if (running != NULL && !is) {
		running->left_tid = record->tid;
		running->left_ns = record->time_ns;
	}
	return is;
}

bool ctx_wait_sampling_takes(struct ctx_wait_sampling *sampling, enum ctx_state_event event,
			     const struct ctx_perf_record *record)
{
	struct ctx_wait_counts *counts = &sampling->counts;

	switch (event) {
	case CTX_STATE_EVENT_SWITCH:
	case CTX_STATE_EVENT_LEAVES:
		counts->leaves++;
		if (sampling->n_fds == 0 || !overlaps(sampling))
			return true;
		return is_in_window(sampling, record->time_ns) && !is_again(sampling, record);
	case CTX_STATE_EVENT_WAKING:
		counts->wakes++;
		return is_in_window(sampling, record->time_ns);
	case CTX_STATE_EVENT_SWITCH_BRIEF:
	case CTX_STATE_EVENT_SWITCH_DISK:
		counts->leaves_brief++;
		return !is_in_window(sampling, record->time_ns) && !is_again(sampling, record);
	case CTX_STATE_EVENT_LEAVES_BRIEF:
		counts->leaves_brief++;
		return true;
	case CTX_STATE_EVENT_WAKING_BRIEF:
		counts->wakes_brief++;
		return !is_in_window(sampling, record->time_ns);
	default:
		return true;
	}
}

void ctx_wait_sampling_switch(struct ctx_wait_sampling *sampling, const struct ctx_perf_record *record,
			      bool runs)
{
	struct running *running = find_running(sampling, record->cpu);

	sampling->counts.switches +=
		record->type == PERF_RECORD_SWITCH || record->type == PERF_RECORD_SWITCH_CPU_WIDE;
	if (running == NULL)
		return;
	sampling->last_ns = record->time_ns;
	if (running->tid != 0 && record->time_ns > running->since_ns)
		sampling->counts.target_ns += record->time_ns - running->since_ns;
	running->tid = runs ? record->tid : 0;
	running->since_ns = record->time_ns;
	if (runs)
		running->left_tid = 0;
}

bool ctx_wait_sampling_is_whole(const struct ctx_wait_sampling *sampling)
{
	return sampling->is_open;
}

void ctx_wait_sampling_hurry(struct ctx_wait_sampling *sampling, bool hurries)
{
	sampling->counts.is_full |= hurries && overlaps(sampling);
}

/* --- events --- */

static void ask_all(const int *fds, size_t n, unsigned long request)
{
	for (size_t i = 0; i < n; i++)
		(void)ioctl(fds[i], request, 0);
}

/*
 * Waits for pages are told apart by the kernel's functions, whatever the place: these are rare and long, and have the
 * kernel's chain.
 */
static const char *const filters[CTX_STATE_EVENT_N] = {
	[CTX_STATE_EVENT_SWITCH_BRIEF] = "prev_pid != 0 && !(prev_state & 2)",
	[CTX_STATE_EVENT_SWITCH_DISK] = "prev_pid != 0 && prev_state & 2",
};

static enum ctx_status open_brief(struct ctx_wait_sampling *sampling, enum ctx_state_event event,
				  uint32_t ring)
{
	struct ctx_session *session = sampling->options.session;
	struct perf_event_attr attr = ctx_state_event_attr(&session->states, event, 0, 0);
	enum ctx_status status;
	int fd;

	attr.sample_id_all = attr.use_clockid = attr.watermark = attr.disabled = 1;
	attr.clockid = CLOCK_MONOTONIC;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, session->ring_cpus[ring], -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return CTX_E_PERM;
	if (ctx_grow(&sampling->fds, &sampling->fds_cap, sampling->n_fds + 1, NULL) != CTX_OK) {
		close(fd);
		return CTX_E_NOMEM;
	}
	sampling->fds[sampling->n_fds++] = fd;
	status = ctx_session_join(session, fd, session->ring_fds[ring],
				  (uint32_t)session->events->n + (uint32_t)event, NULL);
	if (status != CTX_OK)
		return status;
	return filters[event] == NULL || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filters[event]) == 0 ? CTX_OK
												   : CTX_E_IO;
}

/* All or none. */
static enum ctx_status open_all_brief(struct ctx_wait_sampling *sampling)
{
	struct ctx_session *session = sampling->options.session;
	enum ctx_status status = CTX_OK;

	for (uint32_t ring = 0; ring < session->n_rings; ring++) {
		if (session->states.level == CTX_STATES_FULL) {
			status = open_brief(sampling, CTX_STATE_EVENT_SWITCH_BRIEF, ring);
			if (status == CTX_OK)
				status = open_brief(sampling, CTX_STATE_EVENT_SWITCH_DISK, ring);
			if (status == CTX_OK)
				status = open_brief(sampling, CTX_STATE_EVENT_WAKING_BRIEF, ring);
		} else {
			status = open_brief(sampling, CTX_STATE_EVENT_LEAVES_BRIEF, ring);
		}
		if (status != CTX_OK)
			break;
	}
	if (status == CTX_OK)
		return CTX_OK;
	while (sampling->n_fds > 0)
		close(sampling->fds[--sampling->n_fds]);
	return status;
}

/* --- turns --- */

/* 0.5 to 1.5 of it. */
static uint64_t about(struct ctx_wait_sampling *sampling, uint64_t ns)
{
	sampling->random ^= sampling->random << 13;
	sampling->random ^= sampling->random >> 7;
	sampling->random ^= sampling->random << 17;
	return ns / 2 + ns / 1024 * ((sampling->random >> 32) % 1024);
}

static uint64_t limited(uint64_t value, uint64_t min, uint64_t max)
{
	return value < min ? min : value > max ? max : value;
}

static void open_window(struct ctx_wait_sampling *sampling, uint64_t for_ns)
{
	const struct ctx_session *session = sampling->options.session;
	uint64_t begin_ns = sampling->options.clock(CLOCK_THREAD_CPUTIME_ID);

	if (!overlaps(sampling))
		ask_all(sampling->fds, sampling->n_fds, PERF_EVENT_IOC_DISABLE);
	ask_all(session->whole_fds, session->n_whole_fds, PERF_EVENT_IOC_ENABLE);
	sampling->opened_ns = sampling->options.clock(CLOCK_MONOTONIC);
	sampling->turning_ns = sampling->options.clock(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	ctx_wait_windows_open(&sampling->windows, sampling->opened_ns);
	sampling->is_open = true;
	sampling->turn_at_ns = sampling->opened_ns + for_ns;
}

/* Each turn interrupts every CPU for each event of each thread: where these are many, windows are longer and fewer. */
static uint64_t window_ns(const struct ctx_wait_sampling *sampling)
{
	return limited(sampling->turning_ns * TURN_PART_OF_WINDOW, WINDOW_NS, LEARN_NS);
}

/* The gap until the next one follows from how long this one really was. */
static void close_window(struct ctx_wait_sampling *sampling)
{
	const struct ctx_session *session = sampling->options.session;
	uint64_t end_ns = sampling->options.clock(CLOCK_MONOTONIC),
		 begin_ns = sampling->options.clock(CLOCK_THREAD_CPUTIME_ID), gap_ns;

	ctx_wait_windows_close(&sampling->windows, end_ns);
	ask_all(session->whole_fds, session->n_whole_fds, PERF_EVENT_IOC_DISABLE);
	if (!overlaps(sampling))
		ask_all(sampling->fds, sampling->n_fds, PERF_EVENT_IOC_ENABLE);
	sampling->turning_ns += sampling->options.clock(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	gap_ns = (end_ns - sampling->opened_ns) * (CTX_WAIT_DUTY_ONE - sampling->plan.duty) /
		 sampling->plan.duty;
	gap_ns = limited(gap_ns, GAP_MIN_NS + sampling->turning_ns * TURN_PART, GAP_MAX_NS);
	sampling->is_open = false;
	sampling->turn_at_ns = end_ns + about(sampling, gap_ns);
}

static bool has_learned(const struct ctx_wait_sampling *sampling)
{
	return sampling->places.counts.copied >= LEARN_STACKS;
}

/* The first window ends when enough stacks are known. */
static void begin_sampling(struct ctx_wait_sampling *sampling, uint64_t now_ns)
{
	if (sampling->n_fds == 0 && (open_all_brief(sampling) != CTX_OK ||
				     ctx_wait_places_begin(&sampling->places, NULL) != CTX_OK)) {
		sampling->is_refused = true;
		sampling->budget.per_mille = CTX_WAIT_BUDGET_OFF;
		return;
	}
	if (overlaps(sampling))
		ask_all(sampling->fds, sampling->n_fds, PERF_EVENT_IOC_ENABLE);
	sampling->opened_ns = now_ns;
	sampling->turn_at_ns = now_ns + (has_learned(sampling) ? 0 : LEARN_NS);
}

static void end_sampling(struct ctx_wait_sampling *sampling)
{
	if (!sampling->is_open)
		open_window(sampling, 0);
	ask_all(sampling->fds, sampling->n_fds, PERF_EVENT_IOC_DISABLE);
}

/* Of the brief samples since the last plan. */
static void count_strange(struct ctx_wait_sampling *sampling)
{
	const struct ctx_wait_place_counts *now = &sampling->places.counts, *then = &sampling->planned;

	sampling->counts.sought =
		now->known + now->partly + now->unknown - then->known - then->partly - then->unknown;
	sampling->counts.strange = now->strange - then->strange;
	sampling->planned = *now;
}

static void plan(struct ctx_wait_sampling *sampling, uint64_t now_ns)
{
	bool sampled = sampling->plan.samples;

	for (size_t i = 0; i < sampling->n_running; i++) {
		struct running *running = &sampling->running[i];

		if (running->tid == 0 || running->since_ns >= sampling->last_ns)
			continue;
		sampling->counts.target_ns += sampling->last_ns - running->since_ns;
		running->since_ns = sampling->last_ns;
	}
	sampling->counts.wall_ns = sampling->planned_ns != 0 ? now_ns - sampling->planned_ns : 0;
	if (sampled && !overlaps(sampling))
		sampling->counts.leaves_brief += sampling->counts.leaves;
	count_strange(sampling);
	sampling->plan = ctx_wait_budget_take(&sampling->budget, &sampling->counts);
	sampling->counts = (struct ctx_wait_counts){0};
	sampling->planned_ns = now_ns;
	/* Without memory it is tried again. */
	if (sampling->plan.learns && ctx_wait_places_begin(&sampling->places, NULL) != CTX_OK)
		sampling->plan.learns = false;
	if (sampling->plan.samples && !sampled)
		begin_sampling(sampling, now_ns);
	else if (!sampling->plan.samples && sampled)
		end_sampling(sampling);
}

static bool is_possible(const struct ctx_wait_sampling *sampling)
{
	return sampling->budget.per_mille != CTX_WAIT_BUDGET_OFF &&
	       sampling->options.session->states.level >= CTX_STATES_MIN;
}

void ctx_wait_sampling_turn(struct ctx_wait_sampling *sampling, uint64_t now_ns, bool may_open)
{
	if (!is_possible(sampling))
		return;
	if (now_ns >= sampling->planned_ns + PLAN_NS)
		plan(sampling, now_ns);
	if (!sampling->plan.samples || sampling->is_refused || now_ns < sampling->turn_at_ns)
		return;
	if (sampling->is_open && !has_learned(sampling))
		sampling->turn_at_ns = now_ns + LEARN_NS;
	else if (sampling->is_open)
		close_window(sampling);
	else if (may_open)
		open_window(sampling, window_ns(sampling));
}

void ctx_wait_sampling_stop(struct ctx_wait_sampling *sampling)
{
	ask_all(sampling->fds, sampling->n_fds, PERF_EVENT_IOC_DISABLE);
	sampling->budget.per_mille = CTX_WAIT_BUDGET_OFF;
}

int ctx_wait_sampling_timeout(const struct ctx_wait_sampling *sampling, uint64_t now_ns, int usual_ms)
{
	uint64_t left_ns = sampling->turn_at_ns > now_ns ? sampling->turn_at_ns - now_ns : 0;

	if (!sampling->plan.samples || sampling->is_refused || left_ns >= (uint64_t)usual_ms * 1000000)
		return usual_ms;
	return (int)((left_ns + 999999) / 1000000);
}

bool ctx_wait_sampling_text(const struct ctx_wait_sampling *sampling, char *text, size_t size)
{
	const struct ctx_wait_place_counts *counts = &sampling->places.counts;
	const struct ctx_wait_budget *budget = &sampling->budget;
	uint64_t others = counts->known + counts->partly + counts->unknown;
	double share = others != 0 ? 100.0 * (double)counts->known / (double)others : 0;

	if (sampling->is_refused)
		snprintf(text, size,
			 "recording what threads wait for costs more than its budget: stacks of waits can "
			 "only be "
			 "sampled by root or with CAP_PERFMON");
	else if (others != 0)
		snprintf(text, size,
			 "stacks of waits and wake-ups: all of them would have cost %.0f %% of the program's "
			 "CPU time; "
			 "%.2g %% were copied, %.1f %% of the others were recognised by their place%s "
			 "(--budget)",
			 budget->target_ns != 0
				 ? 100.0 * (double)budget->cost_of_all_ns / (double)budget->target_ns
				 : 0,
			 100.0 * (double)counts->copied / (double)(counts->copied + others), share,
			 share < 99.95 ? "; the rest ends in <Truncated-stack>" : "");
	else
		return false;
	return true;
}
