#include "ingest/states.h"

#include "base/mem.h"
#include "ingest/states_doubt.h"

#define QUEUE_NS UINT64_C(250000000)	/* longer than ends of threads are delayed (perf.data: 0.1 s) */
#define SAME_SWITCH_NS UINT64_C(100000) /* two reports of one switch, or wake-up, are not further apart */
#define PREEMPTED_LATE_NS UINT64_C(20000000) /* except here: a hypervisor can take the CPU in between */
#define TICK_JITTER_NS UINT64_C(25000) /* the maximal delay of a tick where no hypervisor took the CPU */
#define CPUS_MAX 65536

enum ctx_status ctx_states_create(const struct ctx_state_sink *sink, struct ctx_states **ret,
				  struct ctx_err *err)
{
	struct ctx_states *states = ctx_calloc(1, sizeof(*states));
	enum ctx_status status;

	if (states == NULL)
		return ctx_err_nomem(err);
	status = ctx_span_queue_init(&states->queue, sink, err);
	if (status != CTX_OK) {
		free(states);
		return status;
	}
	*ret = states;
	return CTX_OK;
}

void ctx_states_destroy(struct ctx_states *states)
{
	if (states == NULL)
		return;
	free(states->threads);
	free(states->newest);
	free(states->last_of);
	ctx_span_queue_deinit(&states->queue);
	free(states->on_cpu);
	free(states->alive);
	free(states);
}

void ctx_states_user_clock(struct ctx_states *states, uint64_t ns)
{
	/* A span that ended one tick ago must still fit into the queue. */
	states->user_clock_ns = ns <= QUEUE_NS / 2 ? ns : 0;
}

void ctx_states_kernel_clock(struct ctx_states *states)
{
	states->kernel_clock = true;
}

/* --- the machine --- */

static bool waits(unsigned mode)
{
	return mode == WAITS || mode == WANTS_CPU;
}

static enum ctx_status set_mode(struct ctx_states *states, struct ctx_states_thread *thread,
				enum ctx_states_mode mode, struct ctx_err *err)
{
	const struct ctx_state_sink *sink = &states->queue.sink;
	bool changes = waits(thread->mode) != waits(mode);

	thread->mode = (uint8_t)mode;
	return changes && sink->runs != NULL ? sink->runs(sink->context, (uint32_t)(thread - states->threads),
							  states->now_ns, !waits(mode), err)
					     : CTX_OK;
}

static enum ctx_thread_state state_of_sample(const struct ctx_states *states,
					     const struct ctx_states_thread *thread, unsigned classes)
{
	if (thread->in_call)
		return CTX_STATE_SYSTEM;
	if ((classes & CTX_STACK_TRAP) != 0)
		return CTX_STATE_TRAP;
	/*
	 * A kernel sample outside of a call is on the way in or out. A kernel-only clock has no
	 * others.
	 */
	if (thread->sees_calls && states->kernel_clock)
		return CTX_STATE_USER;
	return (classes & CTX_STACK_KERNEL) != 0 ? CTX_STATE_SYSTEM : CTX_STATE_USER;
}

static enum ctx_thread_state state_of_wait(const struct ctx_thread_change *change)
{
	unsigned classes = change->classes;

	if (change->change == CTX_CHANGE_BLOCKED && change->wait != CTX_WAIT_UNKNOWN)
		return ctx_wait_state(change->wait);
	if (change->change == CTX_CHANGE_STOPPED || (classes & CTX_STACK_STOP) != 0)
		return CTX_STATE_STOPPED;
	if ((classes & CTX_STACK_KERNEL_FAULT) != 0)
		return CTX_STATE_KERNEL_FAULT;
	if ((classes & CTX_STACK_TEXT_FAULT) != 0)
		return CTX_STATE_TEXT_FAULT;
	if ((classes & CTX_STACK_FAULT) != 0)
		return CTX_STATE_DATA_FAULT;
	return (classes & CTX_STACK_FUTEX) != 0 ? CTX_STATE_USER_LOCK : CTX_STATE_SLEEP;
}

/*
 * No tick for so long, on one CPU, that the thread was not in user mode when one was due. Ticks are
 * late by less than half a period.
 */
static bool missed_tick(const struct ctx_states *states, uint64_t silent_ns)
{
	return states->user_clock_ns != 0 && silent_ns > states->user_clock_ns + states->user_clock_ns / 2;
}

/*
 * System calls separate user from system; samples give the stack, and the part of the time outside
 * of calls spent in traps.
 */
static struct ctx_states_doing in_or_out(const struct ctx_states_thread *thread)
{
	const struct ctx_states_doing *known = thread->in_call ? &thread->inside : &thread->outside;

	if (known->known)
		return *known;
	return (struct ctx_states_doing){.state = thread->in_call ? CTX_STATE_SYSTEM : CTX_STATE_USER,
					 .raw_stack = thread->last.raw_stack};
}

/* The time on the CPU since the last sample or the beginning of the turn. */
static enum ctx_status put_turn(struct ctx_states *states, uint32_t number, struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[number];
	struct ctx_states_doing doing;

	if (states->now_ns > thread->since_ns)
		thread->silent_ns += states->now_ns - thread->since_ns;
	if (missed_tick(states, thread->silent_ns)) {
		thread->last.state = CTX_STATE_SYSTEM;
		thread->last.raw_stack = 0;
	}
	doing = thread->last;
	if (thread->sees_calls)
		doing = in_or_out(thread);
	return ctx_states_put_span(states, number, (enum ctx_thread_state)doing.state, doing.raw_stack, err);
}

static enum ctx_status put_wakeup(struct ctx_states *states, struct ctx_states_thread *thread, bool runs,
				  struct ctx_err *err)
{
	if (!thread->woken)
		return CTX_OK;
	thread->woken = false;
	thread->wakeup.delay_ns = runs ? states->now_ns - thread->wakeup.time_ns : 0;
	return ctx_span_queue_push_wakeup(&states->queue, states->now_ns, &thread->wakeup, err);
}

/* Emits the thread's spans up to now. */
static enum ctx_status close_span(struct ctx_states *states, uint32_t number, bool by_running,
				  struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[number];

	switch ((enum ctx_states_mode)thread->mode) {
	case ON_CPU:
		return put_turn(states, number, err);
	case WAITS:
		return ctx_states_put_span(states, number, (enum ctx_thread_state)thread->state,
					   thread->raw_stack, err);
	case WANTS_CPU:
		return ctx_states_put_span(states, number, CTX_STATE_WAIT_CPU, thread->raw_stack, err);
	case NOT_SEEN:
		/*
		 * A thread that gets a CPU now either existed before the recording and waited, or
		 * is new and waited for a CPU.
		 */
		if (by_running)
			return ctx_states_put_span(
				states, number, thread->start_ns == 0 ? CTX_STATE_SLEEP : CTX_STATE_WAIT_CPU,
				0, err);
		return put_turn(states, number, err);
	case NOT_STARTED:
	case ENDED:
		break;
	}
	return CTX_OK;
}

/* Whether a thread in this mode can do so next, if no record is missing. */
static bool can_follow(const struct ctx_states_thread *thread, enum ctx_state_change change)
{
	switch ((enum ctx_states_mode)thread->mode) {
	case ON_CPU:
		return change != CTX_CHANGE_RUNS && change != CTX_CHANGE_WOKEN;
	case WAITS:
		return change == CTX_CHANGE_WOKEN || change == CTX_CHANGE_RUNS;
	case WANTS_CPU:
		return change == CTX_CHANGE_RUNS;
	default:
		return true;
	}
}

/*
 * A CPU runs one thread: the previous one, if its leaving was not recorded, has left, and waits for
 * something unknown until its next observation.
 */
static enum ctx_status take_cpu(struct ctx_states *states, uint32_t number, int32_t cpu, struct ctx_err *err)
{
	enum ctx_status status;
	struct ctx_states_thread *thread;
	uint32_t before;
	bool had_cpu;

	if (cpu < 0 || cpu >= CPUS_MAX)
		return CTX_OK;
	status = ctx_grow(&states->on_cpu, &states->cpus_cap, (size_t)cpu + 1, err);
	if (status != CTX_OK)
		return status;
	while (states->n_cpus <= (size_t)cpu)
		states->on_cpu[states->n_cpus++] = CTX_NONE;
	before = states->on_cpu[cpu];
	states->on_cpu[cpu] = number;
	if (before == CTX_NONE || before == number)
		return CTX_OK;
	thread = &states->threads[before];
	if (thread->mode != ON_CPU || thread->cpu != cpu)
		return CTX_OK;
	thread->state = thread->doubt.is_on ? CTX_STATE_UNKNOWN : CTX_STATE_SLEEP;
	status = ctx_states_settle(states, &(struct ctx_states_seen){.thread = before, .cpu = -1}, &had_cpu,
				   err);
	if (status == CTX_OK)
		status = close_span(states, before, false, err);
	if (status == CTX_OK)
		status = set_mode(states, thread, WAITS, err);
	thread->wait_ns = states->now_ns;
	thread->raw_stack = 0;
	return status;
}

/* A thread is seen: its doubt is over. */
static enum ctx_status settle(struct ctx_states *states, const struct ctx_states_seen *seen,
			      struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[seen->thread];
	bool had_cpu;
	enum ctx_status status = ctx_states_settle(states, seen, &had_cpu, err);

	if (status == CTX_OK && had_cpu)
		status = set_mode(states, thread, ON_CPU, err);
	if (status != CTX_OK || !had_cpu)
		return status;
	thread->cpu = seen->cpu;
	return take_cpu(states, seen->thread, seen->cpu, err);
}

static enum ctx_status on_runs(struct ctx_states *states, const struct ctx_thread_change *change,
			       struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[change->thread];
	enum ctx_status status = take_cpu(states, change->thread, change->cpu, err);

	if (status == CTX_OK)
		status = close_span(states, change->thread, true, err);
	if (status == CTX_OK)
		status = put_wakeup(states, thread, true, err);
	if (status == CTX_OK)
		status = set_mode(states, thread, ON_CPU, err);
	/* Each CPU has a clock of its own for it. */
	if (thread->cpu != change->cpu) {
		thread->silent_ns = 0;
		thread->ticked_here = false;
	}
	thread->cpu = change->cpu;
	return status;
}

/*
 * For a thread without samples only the stack that it leaves with is known, and it leaves in the
 * kernel: whether it was in user mode before is taken from the samples of others, of its process if
 * there are any. Single spans can be wrong; their sum is right.
 */
static void guess(struct ctx_states *states, struct ctx_states_thread *thread,
		  const struct ctx_thread_change *change)
{
	const struct ctx_states_doing *other = &states->last_of[thread->process];

	if (!other->known)
		other = &states->last;
	thread->last.raw_stack = change->raw_stack;
	thread->last.state = (change->classes & CTX_STACK_KERNEL) != 0 ? CTX_STATE_SYSTEM : CTX_STATE_USER;
	if (other->known && other->state == CTX_STATE_USER && change->user_stack != 0) {
		thread->last.state = CTX_STATE_USER;
		thread->last.raw_stack = change->user_stack;
	}
}

/* Leaves the CPU. A second report of the same switch adds what the first lacked. */
static enum ctx_status on_leaves(struct ctx_states *states, const struct ctx_thread_change *change,
				 struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[change->thread];
	bool is_off = thread->mode == WAITS || thread->mode == WANTS_CPU;
	enum ctx_status status = CTX_OK;

	if (is_off && change->raw_stack == 0) {
		/*
		 * The first report has no reason. A thread that waits cannot be preempted: this is
		 * the same switch, unless the thread's return was lost.
		 */
		if (change->change == CTX_CHANGE_PREEMPTED &&
		    states->now_ns - thread->since_ns <= PREEMPTED_LATE_NS)
			thread->mode = WANTS_CPU;
		return CTX_OK;
	}
	if (!is_off || thread->raw_stack != 0 || states->now_ns - thread->since_ns > SAME_SWITCH_NS) {
		if (!is_off && !thread->last.known && change->raw_stack != 0)
			guess(states, thread, change);
		status = close_span(states, change->thread, false, err);
		if (status == CTX_OK)
			status = put_wakeup(states, thread, false, err);
	}
	thread->raw_stack = change->raw_stack;
	if (change->cpu >= 0)
		thread->cpu = change->cpu;
	if (status == CTX_OK)
		status = set_mode(states, thread, change->change == CTX_CHANGE_PREEMPTED ? WANTS_CPU : WAITS,
				  err);
	if (change->change != CTX_CHANGE_PREEMPTED) {
		thread->wait_ns = states->now_ns;
		thread->state = (uint8_t)state_of_wait(change);
		/* The previous fault was not for instructions, or that would have been reported. */
		if (thread->state != CTX_STATE_DATA_FAULT || change->user_stack == 0 ||
		    change->user_stack != thread->fault_stack)
			thread->fault_ns = NEVER;
		thread->fault_stack = change->user_stack;
	}
	return status;
}

static enum ctx_status on_woken(struct ctx_states *states, const struct ctx_thread_change *change,
				struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[change->thread];
	enum ctx_status status = CTX_OK;

	/* Reported twice: by the waker and by the system; the more complete report is used. */
	if (thread->mode == WANTS_CPU && thread->woken && thread->wakeup.waker == CTX_NONE &&
	    change->waker != CTX_NONE && states->now_ns - thread->wakeup.time_ns <= SAME_SWITCH_NS) {
		thread->wakeup.waker = change->waker;
		thread->wakeup.external_waker = CTX_NONE;
		thread->wakeup.waker_raw_stack = change->waker_raw_stack;
	}
	if (thread->mode == NOT_SEEN && thread->start_ns == 0) {
		status = set_mode(states, thread, WAITS, err);
		thread->wait_ns = 0;
		thread->state = CTX_STATE_SLEEP;
	}
	if (status != CTX_OK || thread->mode != WAITS)
		return status;
	status = close_span(states, change->thread, false, err);
	thread->mode = WANTS_CPU;
	thread->woken = thread->state != CTX_STATE_UNKNOWN;
	thread->wakeup = (struct ctx_wakeup){.time_ns = states->now_ns,
					     .wait_ns = states->now_ns - thread->wait_ns,
					     .thread = change->thread,
					     .state = thread->state,
					     .raw_stack = thread->raw_stack,
					     .waker = change->waker,
					     .external_waker = change->external_waker,
					     .waker_raw_stack = change->waker_raw_stack};
	return status;
}

/* Begins or ends a system call: so it is on the CPU. */
static enum ctx_status on_call(struct ctx_states *states, const struct ctx_thread_change *change,
			       struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[change->thread];
	enum ctx_status status = CTX_OK;

	thread->sees_calls = true;
	/*
	 * The first recorded call determines whether the time before it was inside or outside of a
	 * call.
	 */
	if (thread->mode != ON_CPU && thread->mode != NOT_SEEN)
		status = on_runs(states, change, err);
	thread->in_call = change->change == CTX_CHANGE_RETURNS;
	thread->mode = ON_CPU;
	if (status == CTX_OK)
		status = put_turn(states, change->thread, err);
	thread->in_call = change->change == CTX_CHANGE_ENTERS;
	return status;
}

static void on_text_fault(struct ctx_states *states, uint32_t number)
{
	struct ctx_states_thread *thread = &states->threads[number];

	if (thread->fault_ns != NEVER)
		ctx_span_queue_correct(&states->queue, number, thread->fault_ns, CTX_STATE_DATA_FAULT,
				       CTX_STATE_TEXT_FAULT);
	thread->fault_ns = NEVER;
}

static bool is_alive(const struct ctx_states *states, uint32_t number)
{
	return number < states->n_threads && states->threads[number].mode != NOT_STARTED &&
	       states->threads[number].mode != ENDED;
}

/* Advances the time and emits old spans. */
static enum ctx_status go_on(struct ctx_states *states, uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status;

	if (time_ns > states->latest_ns)
		states->latest_ns = time_ns;
	status = ctx_states_pass_losses(states, states->latest_ns, err);
	states->now_ns = states->latest_ns;
	return status == CTX_OK && states->now_ns > QUEUE_NS
		       ? ctx_span_queue_hand_out(&states->queue, states->now_ns - QUEUE_NS, err)
		       : status;
}

/* Room for one more of each, up to these numbers. */
static enum ctx_status grow(struct ctx_states *states, uint32_t number, uint32_t process, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&states->threads, &states->threads_cap, (size_t)number + 1, err);

	if (status == CTX_OK)
		status = ctx_grow(&states->alive, &states->alive_cap, states->n_alive + 1, err);
	if (status == CTX_OK)
		status = ctx_grow(&states->newest, &states->processes_cap, (size_t)process + 1, err);
	if (status == CTX_OK)
		status = ctx_grow(&states->last_of, &states->last_cap, (size_t)process + 1, err);
	if (status != CTX_OK)
		return status;
	while (states->n_threads <= number)
		states->threads[states->n_threads++] = (struct ctx_states_thread){.mode = NOT_STARTED};
	while (states->n_processes <= process) {
		states->last_of[states->n_processes] = (struct ctx_states_doing){0};
		states->newest[states->n_processes++] = CTX_NONE;
	}
	return CTX_OK;
}

enum ctx_status ctx_states_start(struct ctx_states *states, uint32_t number, uint32_t process,
				 uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = grow(states, number, process, err);

	if (status != CTX_OK)
		return status;
	if (states->threads[number].mode != NOT_STARTED)
		return ctx_err_set(err, CTX_E_FORMAT, "thread %u starts twice", number);
	/* The start may be reported late: the life covers it all the same. */
	states->threads[number] = (struct ctx_states_thread){.mode = NOT_SEEN,
							     .last = {.state = CTX_STATE_USER},
							     .cpu = -1,
							     .process = process,
							     .sibling = states->newest[process],
							     .start_ns = time_ns,
							     .since_ns = time_ns,
							     .wait_ns = time_ns,
							     .known_ns = NEVER,
							     .alive_at = (uint32_t)states->n_alive,
							     .fault_ns = NEVER};
	states->alive[states->n_alive++] = number;
	states->newest[process] = number;
	status = go_on(states, time_ns, err);
	ctx_states_doubt(states, number);
	return status;
}

/*
 * A thread without observations that does not run to its end waits like all others when the
 * recording ends.
 */
static enum ctx_status end_thread(struct ctx_states *states, uint32_t number, uint64_t time_ns, bool ran,
				  struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[number];
	struct ctx_state_span end = {.thread = number};
	struct ctx_states_seen seen;
	enum ctx_status status = CTX_OK;

	/* The end may be reported late. */
	if (time_ns < thread->since_ns) {
		status = ctx_span_queue_take_back(&states->queue, number, time_ns, err);
		thread->since_ns = time_ns;
		thread->woken = thread->woken && thread->wakeup.time_ns <= time_ns;
	}
	if (status != CTX_OK)
		return status;
	/* When the recording ends, a life in doubt has ended where its records were lost. */
	if (thread->doubt.is_on && thread->doubt.may_have_ended && !ran)
		thread->known_ns = time_ns = thread->since_ns;
	states->now_ns = time_ns > thread->since_ns ? time_ns : thread->since_ns;
	end.begin_ns = end.end_ns = states->now_ns;
	seen = (struct ctx_states_seen){.thread = number,
					.follows = !ran || thread->mode == ON_CPU || thread->mode == NOT_SEEN,
					.cpu = thread->doubt.cpu};
	status = settle(states, &seen, err);
	if (status == CTX_OK)
		status = close_span(states, number, !ran, err);
	if (status == CTX_OK)
		status = put_wakeup(states, thread, false, err);
	thread->mode = ENDED;
	states->alive[thread->alive_at] = states->alive[--states->n_alive];
	states->threads[states->alive[thread->alive_at]].alive_at = thread->alive_at;
	states->now_ns = states->latest_ns;
	return status == CTX_OK ? ctx_span_queue_push(&states->queue, &end, err) : status;
}

enum ctx_status ctx_states_end(struct ctx_states *states, uint32_t thread, uint64_t time_ns,
			       struct ctx_err *err)
{
	enum ctx_status status = go_on(states, time_ns, err);

	return status == CTX_OK && is_alive(states, thread) ? end_thread(states, thread, time_ns, true, err)
							    : status;
}

enum ctx_status ctx_states_end_process(struct ctx_states *states, uint32_t process, uint64_t time_ns,
				       struct ctx_err *err)
{
	enum ctx_status status = go_on(states, time_ns, err);

	uint32_t i = process < states->n_processes ? states->newest[process] : CTX_NONE;

	if (status != CTX_OK || i == CTX_NONE)
		return status;
	states->newest[process] = CTX_NONE;
	for (; i != CTX_NONE && status == CTX_OK; i = states->threads[i].sibling) {
		if (is_alive(states, i))
			status = end_thread(states, i, time_ns, true, err);
	}
	return status;
}

static enum ctx_status make_change(struct ctx_states *states, const struct ctx_thread_change *change,
				   struct ctx_err *err)
{
	switch (change->change) {
	case CTX_CHANGE_RUNS:
		return on_runs(states, change, err);
	case CTX_CHANGE_PREEMPTED:
	case CTX_CHANGE_BLOCKED:
	case CTX_CHANGE_STOPPED:
		return on_leaves(states, change, err);
	case CTX_CHANGE_WOKEN:
		return on_woken(states, change, err);
	case CTX_CHANGE_ENTERS:
	case CTX_CHANGE_RETURNS:
		return on_call(states, change, err);
	case CTX_CHANGE_TEXT_FAULT:
		on_text_fault(states, change->thread);
		return CTX_OK;
	default: /* observations are for sched_model */
		break;
	}
	return ctx_err_set(err, CTX_E_FORMAT, "thread %u: a change of unknown kind %d", change->thread,
			   (int)change->change);
}

enum ctx_status ctx_states_change(struct ctx_states *states, const struct ctx_thread_change *change,
				  struct ctx_err *err)
{
	enum ctx_status status = go_on(states, change->time_ns, err);
	bool was_off = change->change == CTX_CHANGE_RUNS || change->change == CTX_CHANGE_WOKEN;
	struct ctx_states_seen seen = {.thread = change->thread, .cpu = was_off ? -1 : change->cpu};

	if (status != CTX_OK || !is_alive(states, change->thread))
		return status;
	seen.follows = can_follow(&states->threads[change->thread], change->change);
	status = settle(states, &seen, err);
	if (status == CTX_OK)
		status = make_change(states, change, err);
	ctx_states_doubt(states, change->thread);
	return status;
}

/*
 * The delay of the tick at `now`. The timer ticks at multiples of its period of the thread's time
 * on this CPU, whether its ticks make samples or not. A tick in between was due while a hypervisor
 * had taken the CPU away, and came when the CPU was back.
 */
static uint64_t tick_lateness(const struct ctx_states *states, const struct ctx_states_thread *thread)
{
	uint64_t period_ns = states->user_clock_ns, jitter_ns = period_ns / 32;
	uint64_t turn_ns = states->now_ns > thread->since_ns ? states->now_ns - thread->since_ns : 0;
	uint64_t off_ns;

	if (!thread->ticked_here)
		return 0;
	if (jitter_ns < TICK_JITTER_NS)
		jitter_ns = TICK_JITTER_NS;
	off_ns = (thread->late_ns + thread->silent_ns + turn_ns) % period_ns;
	return off_ns <= jitter_ns || off_ns + jitter_ns >= period_ns ? 0 : off_ns;
}

/*
 * After a tick: ticks that were due since the turn began, and were not recorded, found the thread
 * in the kernel. After a late tick none were due.
 */
static enum ctx_status put_missed_ticks(struct ctx_states *states, uint32_t number, struct ctx_err *err)
{
	struct ctx_states_thread *thread = &states->threads[number];
	uint64_t now_ns = states->now_ns;
	enum ctx_status status;

	if (states->user_clock_ns == 0)
		return CTX_OK;
	thread->late_ns = tick_lateness(states, thread);
	thread->ticked_here = true;
	thread->silent_ns = 0;
	if (now_ns <= thread->since_ns || !missed_tick(states, now_ns - thread->since_ns) ||
	    thread->late_ns != 0 || now_ns - states->user_clock_ns < states->queue.handed_ns)
		return CTX_OK;
	states->now_ns = now_ns - states->user_clock_ns;
	status = ctx_states_put_span(states, number, CTX_STATE_SYSTEM, 0, err);
	states->now_ns = now_ns;
	return status;
}

enum ctx_status ctx_states_sample(struct ctx_states *states, const struct ctx_thread_sample *sample,
				  struct ctx_err *err)
{
	enum ctx_status status = go_on(states, sample->time_ns, err);
	uint32_t number = sample->thread;
	struct ctx_states_seen seen;
	enum ctx_thread_state state;
	struct ctx_states_thread *thread;

	if (status != CTX_OK || !is_alive(states, number))
		return status;
	thread = &states->threads[number];
	seen = (struct ctx_states_seen){.thread = number,
					.follows = thread->mode == NOT_SEEN ||
						   (thread->mode == ON_CPU && sample->cpu == thread->cpu),
					.cpu = sample->cpu};
	status = settle(states, &seen, err);
	if (status == CTX_OK && (thread->mode == WAITS || thread->mode == WANTS_CPU)) {
		struct ctx_thread_change runs = {
			.thread = number, .change = CTX_CHANGE_RUNS, .cpu = sample->cpu};

		status = on_runs(states, &runs, err);
	}
	if (status == CTX_OK && sample->cpu != thread->cpu) {
		thread->ticked_here = false;
		status = take_cpu(states, number, sample->cpu, err);
	}
	if (status == CTX_OK && thread->mode == ON_CPU && !thread->sees_calls)
		status = put_missed_ticks(states, number, err);
	if (status == CTX_OK)
		status = set_mode(states, thread, ON_CPU, err);
	if (sample->cpu >= 0)
		thread->cpu = sample->cpu;
	state = state_of_sample(states, thread, sample->classes);
	thread->last = (struct ctx_states_doing){
		.state = (uint8_t)state, .known = true, .raw_stack = sample->raw_stack};
	states->last_of[thread->process] = states->last = thread->last;
	if (thread->sees_calls)
		*(thread->in_call ? &thread->inside : &thread->outside) = thread->last;
	if (state == CTX_STATE_USER)
		thread->fault_ns = NEVER;
	return status == CTX_OK ? ctx_states_put_span(states, number, state, sample->raw_stack, err) : status;
}

enum ctx_status ctx_states_lost(struct ctx_states *states, const struct ctx_loss *loss, uint64_t time_ns,
				struct ctx_err *err)
{
	struct ctx_states_doubt doubt = {.is_on = true,
					 .may_have_ended = ctx_loss_hides_lives(loss),
					 .cpu = loss->cpu,
					 .until_ns = loss->time.end_ns};
	uint64_t since_ns = loss->time.begin_ns, now_ns;
	enum ctx_status status = go_on(states, time_ns, err);

	now_ns = states->now_ns;
	/* Older spans have been emitted. */
	if (since_ns < states->queue.handed_ns)
		since_ns = states->queue.handed_ns;
	if (since_ns > now_ns)
		since_ns = now_ns;
	if (doubt.until_ns < since_ns)
		doubt.until_ns = since_ns;
	for (size_t i = 0; i < states->n_alive && status == CTX_OK; i++) {
		struct ctx_states_thread *thread = &states->threads[states->alive[i]];

		if (!ctx_states_concerns(thread, loss->cpu))
			continue;
		/* A new thread without an observation wanted a CPU. */
		states->now_ns = since_ns;
		if (ctx_states_was_known(thread, &doubt))
			status = close_span(states, states->alive[i], true, err);
		ctx_states_add_doubt(thread, &doubt);
	}
	ctx_states_add_loss(states, &doubt);
	states->now_ns = now_ns;
	return status == CTX_OK ? ctx_states_pass_losses(states, now_ns, err) : status;
}

void ctx_states_live(struct ctx_states *states, uint32_t process, uint64_t n_threads)
{
	uint32_t newest = process < states->n_processes ? states->newest[process] : CTX_NONE;

	for (uint32_t i = newest; i != CTX_NONE; i = states->threads[i].sibling)
		n_threads -= states->threads[i].mode != ENDED;
	for (uint32_t i = newest; i != CTX_NONE && n_threads == 0; i = states->threads[i].sibling)
		states->threads[i].doubt.may_have_ended = false;
}

uint64_t ctx_states_known_until(const struct ctx_states *states, uint32_t thread)
{
	return thread < states->n_threads && states->threads[thread].mode == ENDED
		       ? states->threads[thread].known_ns
		       : NEVER;
}

enum ctx_status ctx_states_finish(struct ctx_states *states, uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = go_on(states, time_ns, err);

	for (uint32_t i = 0; i < states->n_threads && status == CTX_OK; i++) {
		if (is_alive(states, i))
			status = end_thread(states, i, time_ns, false, err);
	}
	return status == CTX_OK ? ctx_span_queue_hand_out(&states->queue, UINT64_MAX, err) : status;
}
