#include "collect/state_records.h"

#include "base/mem.h"
#include "collect/procfs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXTERNAL_WAKERS 256u		       /* remembered at once */
#define EXTERNAL_WAKER_NS UINT64_C(1000000000) /* how long a cached name is valid: ids are reused */
#define ENDED 256u			       /* remembered at once, */
#define ENDED_NS UINT64_C(1000000000)	       /* for so long */
#define NAME_BYTES 64

struct external_waker {
	int64_t tid;
	uint64_t until_ns; /* 0: none */
	uint32_t number;
};

/* A thread that has just ended. */
struct ended {
	uint32_t tid; /* 0: none */
	uint32_t thread;
	uint64_t time_ns;
};

struct ctx_state_records {
	struct ctx_state_records_options options;
	struct external_waker external_wakers[EXTERNAL_WAKERS]; /* by tid, modulo */
	struct ended ended[ENDED];				/* by tid, modulo */
	uint64_t page_size;
	bool is_inner;		       /* our ids differ from those of the initial pid namespace */
	struct ctx_map64 thread_of_id; /* then: kernel's id -> our tid */
};

enum ctx_status ctx_state_records_create(const struct ctx_state_records_options *options,
					 struct ctx_state_records **ret, struct ctx_err *err)
{
	struct ctx_state_records *records = ctx_calloc(1, sizeof(*records));

	if (records == NULL)
		return ctx_err_nomem(err);
	records->options = *options;
	records->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	records->is_inner = ctx_state_events_are_ids_inner();
	*ret = records;
	return CTX_OK;
}

void ctx_state_records_destroy(struct ctx_state_records *records)
{
	if (records == NULL)
		return;
	ctx_map64_deinit(&records->thread_of_id);
	free(records);
}

/* The thread of a record, with its process. */
static bool find_own(const struct ctx_state_records *records, const struct ctx_perf_record *record,
		     struct ctx_exp_state *state)
{
	*state = (struct ctx_exp_state){.time_ns = record->time_ns,
					.cpu = record->cpu,
					.waker = CTX_NONE,
					.external_waker = CTX_NONE};
	/* The idle thread of every CPU has id 0. */
	return record->tid != 0 && record->tid <= INT32_MAX &&
	       ctx_proctree_lookup(records->options.tree, record->tid, &state->process, &state->thread);
}

static enum ctx_status add(struct ctx_state_records *records, const struct ctx_exp_state *state,
			   const struct ctx_perf_record *record, struct ctx_err *err)
{
	return ctx_sample_batch_add_state(records->options.batch, state, record, state->thread, err);
}

/* --- switches --- */

/*
 * The sample before a switch and the SWITCH record after it are one observation: the sample has the
 * stack, the record whether the thread was preempted.
 */
enum ctx_status ctx_state_records_switch(struct ctx_state_records *records,
					 const struct ctx_perf_record *record, struct ctx_err *err)
{
	struct ctx_exp_state state;

	if (!find_own(records, record, &state))
		return CTX_OK;
	ctx_wait_sampling_switch(records->options.sampling, record,
				 (record->misc & PERF_RECORD_MISC_SWITCH_OUT) == 0);
	if ((record->misc & PERF_RECORD_MISC_SWITCH_OUT) == 0)
		state.change = CTX_CHANGE_RUNS;
	else if ((record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0)
		state.change = CTX_SEEN_OFF_PREEMPTED;
	else
		state.change = CTX_SEEN_OFF;
	if (state.change != CTX_CHANGE_RUNS && records->options.events->level != CTX_STATES_SWITCHES &&
	    ctx_sample_batch_join(records->options.batch, state.thread, state.change))
		return CTX_OK;
	return add(records, &state, NULL, err);
}

enum ctx_status ctx_state_records_exec(struct ctx_state_records *records,
				       const struct ctx_perf_record *record, struct ctx_err *err)
{
	struct ctx_exp_state state;

	if (records->options.events->level == CTX_STATES_NONE || !find_own(records, record, &state))
		return CTX_OK;
	state.change = CTX_CHANGE_RUNS;
	ctx_wait_sampling_switch(records->options.sampling, record, true);
	return add(records, &state, NULL, err);
}

void ctx_state_records_exit(struct ctx_state_records *records, const struct ctx_perf_record *record)
{
	struct ctx_exp_state state;

	if (!find_own(records, record, &state))
		return;
	ctx_wait_sampling_switch(records->options.sampling, record, false);
	records->ended[record->tid % ENDED] =
		(struct ended){.tid = record->tid, .thread = state.thread, .time_ns = record->time_ns};
}

/* The thread of a record if it ended just before it, else CTX_NONE. */
static uint32_t find_ended(const struct ctx_state_records *records, const struct ctx_perf_record *record)
{
	const struct ended *ended = &records->ended[record->tid % ENDED];

	return record->tid != 0 && ended->tid == record->tid && record->time_ns <= ended->time_ns + ENDED_NS
		       ? ended->thread
		       : CTX_NONE;
}

/* A field of a tracepoint's sample. */
static enum ctx_status read_field(const struct ctx_pe_field *field, const struct ctx_perf_record *record,
				  int64_t *ret, struct ctx_err *err)
{
	return ctx_pe_field_read(field, record->sample.raw, record->sample.raw_bytes, false, ret)
		       ? CTX_OK
		       : ctx_err_set(err, CTX_E_FORMAT, "a tracepoint's sample ends before its fields");
}

/* Our id of a thread, from its id in the initial namespace. */
static enum ctx_status note_id(struct ctx_state_records *records, const struct ctx_perf_record *record,
			       struct ctx_err *err)
{
	int64_t id;
	uint32_t *place;
	enum ctx_status status = read_field(&records->options.events->prev_pid, record, &id, err);

	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&records->thread_of_id, (uint64_t)id);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = record->tid;
	return CTX_OK;
}

static enum ctx_status take_switch(struct ctx_state_records *records, const struct ctx_perf_record *record,
				   struct ctx_err *err)
{
	static const enum ctx_state_change changes[] = {
		[CTX_PE_LEAVING_PREEMPTED] = CTX_CHANGE_PREEMPTED,
		[CTX_PE_LEAVING_BLOCKED] = CTX_CHANGE_BLOCKED,
		[CTX_PE_LEAVING_STOPPED] = CTX_CHANGE_STOPPED,
		[CTX_PE_LEAVING_DEAD] = CTX_SEEN_DEAD,
	};
	struct ctx_exp_state state;
	int64_t prev_state;
	enum ctx_status status = read_field(&records->options.events->prev_state, record, &prev_state, err);

	if (status != CTX_OK || !find_own(records, record, &state))
		return status;
	state.change = changes[ctx_pe_leaving_of(&records->options.events->prev_states, prev_state)];
	if (records->is_inner)
		status = note_id(records, record, err);
	return status == CTX_OK ? add(records, &state, state.change != CTX_SEEN_DEAD ? record : NULL, err)
				: status;
}

/* --- wake-ups --- */

static void name_external_waker(const struct ctx_perf_record *record, bool is_idle, char name[NAME_BYTES])
{
	if (is_idle)
		snprintf(name, NAME_BYTES, "<idle>");
	else if (record->tid == 0 || record->tid > INT32_MAX)
		snprintf(name, NAME_BYTES, "<another container>");
	else if (ctx_procfs_comm(record->tid, 0, name, NAME_BYTES, NULL) != CTX_OK)
		snprintf(name, NAME_BYTES, "<ended>");
}

static enum ctx_status find_external_waker(struct ctx_state_records *records,
					   const struct ctx_perf_record *record, bool is_idle, uint32_t *ret,
					   struct ctx_err *err)
{
	/* The idle thread and those of other containers all have id 0 here. */
	int64_t tid = is_idle ? -1 : (int64_t)record->tid;
	struct external_waker *external_waker = &records->external_wakers[record->tid % EXTERNAL_WAKERS];
	char name[NAME_BYTES];
	enum ctx_status status;

	if (external_waker->tid == tid && record->time_ns < external_waker->until_ns) {
		*ret = external_waker->number;
		return CTX_OK;
	}
	name_external_waker(record, is_idle, name);
	status = ctx_exp_external_waker(records->options.writer, name, record->time_ns, ret, err);
	if (status == CTX_OK)
		*external_waker = (struct external_waker){
			.tid = tid, .until_ns = record->time_ns + EXTERNAL_WAKER_NS, .number = *ret};
	return status;
}

/* The woken thread. */
static bool find_woken(const struct ctx_state_records *records, int64_t id, struct ctx_exp_state *state)
{
	if (id <= 0)
		return false;
	if (records->is_inner) {
		uint32_t tid = ctx_map64_get(&records->thread_of_id, (uint64_t)id);

		if (tid == CTX_MAP64_NONE)
			return false;
		id = tid;
	}
	return ctx_proctree_lookup(records->options.tree, id, &state->process, &state->thread);
}

/*
 * The stack of a waker outside of the recording is the kernel part only, and is kept with the process of the woken
 * thread. So is that of a thread that notifies its parent when it exits: it has no memory any more, and its process can
 * have ended.
 */
static enum ctx_status take_waking(struct ctx_state_records *records, const struct ctx_perf_record *record,
				   enum ctx_state_event event, struct ctx_err *err)
{
	/* The registers of a brief one are those of the thread that an interrupt came to. */
	bool has_stack;
	const struct ctx_state_events *events = records->options.events;
	struct ctx_perf_record of_kernel;
	struct ctx_exp_state state, by;
	int64_t woken, by_id;
	bool is_by_thread = find_own(records, record, &by);
	enum ctx_status status = read_field(&events->pid, record, &woken, err);

	if (status == CTX_OK)
		status = read_field(&events->common_pid, record, &by_id, err);
	if (status != CTX_OK)
		return status;
	state = by;
	if (!find_woken(records, woken, &state))
		return CTX_OK;
	state.waker = is_by_thread ? by.thread : find_ended(records, record);
	if (state.waker == CTX_NONE)
		status = find_external_waker(records, record, by_id == 0, &state.external_waker, err);
	if (status != CTX_OK)
		return status;
	state.change = CTX_SEEN_WAKING;
	state.cpu = -1;
	if (is_by_thread) {
		state.process = by.process;
	} else {
		of_kernel = *record;
		ctx_perf_record_drop_user(&of_kernel);
		record = &of_kernel;
	}
	has_stack = is_by_thread || event != CTX_STATE_EVENT_WAKING_BRIEF;
	return ctx_sample_batch_add_state(records->options.batch, &state, has_stack ? record : NULL,
					  is_by_thread ? by.thread : state.thread, err);
}

/* --- faults --- */

/*
 * A fault for the instruction itself, or for its rest in the next page. The sample is taken when
 * the page is present, thus after the wait.
 */
static enum ctx_status take_fault(struct ctx_state_records *records, const struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	uint64_t page = record->sample.address / records->page_size;
	uint64_t page_of_ip = record->sample.ip / records->page_size;
	bool is_user = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	struct ctx_exp_state state;

	if (!is_user || (page != page_of_ip && page != page_of_ip + 1) || !find_own(records, record, &state))
		return CTX_OK;
	state.change = CTX_CHANGE_TEXT_FAULT;
	return add(records, &state, NULL, err);
}

/* --- system calls, switches without a reason --- */

static enum ctx_status take_own(struct ctx_state_records *records, const struct ctx_perf_record *record,
				enum ctx_state_change change, struct ctx_err *err)
{
	struct ctx_exp_state state;

	if (!find_own(records, record, &state))
		return CTX_OK;
	state.change = change;
	return add(records, &state, change == CTX_SEEN_LEAVES ? record : NULL, err);
}

enum ctx_status ctx_state_records_sample(struct ctx_state_records *records, enum ctx_state_event event,
					 const struct ctx_perf_record *record, struct ctx_err *err)
{
	if (!ctx_wait_sampling_takes(records->options.sampling, event, record))
		return CTX_OK;
	switch (event) {
	case CTX_STATE_EVENT_SWITCH:
	case CTX_STATE_EVENT_SWITCH_BRIEF:
	case CTX_STATE_EVENT_SWITCH_DISK:
		return take_switch(records, record, err);
	case CTX_STATE_EVENT_WAKING:
	case CTX_STATE_EVENT_WAKING_BRIEF:
		return take_waking(records, record, event, err);
	case CTX_STATE_EVENT_LEAVES:
	case CTX_STATE_EVENT_LEAVES_BRIEF:
		return take_own(records, record, CTX_SEEN_LEAVES, err);
	case CTX_STATE_EVENT_ENTER:
		return take_own(records, record, CTX_CHANGE_ENTERS, err);
	case CTX_STATE_EVENT_RETURN:
		return take_own(records, record, CTX_CHANGE_RETURNS, err);
	default:
		return take_fault(records, record, err);
	}
}
