#include "formats/calltrace/ct_threads.h"

#include "base/heap.h"
#include "base/mem.h"

#define SEARCHED_MAX 1024u /* calls in which the begin of an end is looked for */
#define OTHER_TIDS 1000000 /* of threads that the text calls by a word, or by 0 */
#define KEEP_ALL UINT32_MAX

struct ctx_ct_thread {
	uint32_t *open; /* owned; functions, from the root */
	size_t n, cap;
	uint64_t leaf_end_ns; /* of the deepest call; only with has_leaf */
	bool has_leaf, known, ended;
};

void ctx_ct_threads_deinit(struct ctx_ct_threads *threads)
{
	for (size_t i = 0; i < threads->n; i++)
		free(threads->threads[i].open);
	free(threads->threads);
	free(threads->ends);
	free(threads->events);
	free(threads->frames);
	free(threads->counted);
	ctx_strtab_deinit(&threads->names);
	ctx_strtab_deinit(&threads->thread_names);
	ctx_strtab_deinit(&threads->keys);
	ctx_strtab_deinit(&threads->counters);
	*threads = (struct ctx_ct_threads){0};
}

static enum ctx_status append(struct ctx_ct_threads *threads, const struct ctx_event *event,
			      struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&threads->events, &threads->events_cap, threads->n_events + 1, err);

	if (status == CTX_OK)
		threads->events[threads->n_events++] = *event;
	return status;
}

static enum ctx_status append_runs(struct ctx_ct_threads *threads, uint32_t number, uint64_t time_ns,
				   struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_STATE, .time_ns = time_ns, .thread = number};

	event.state = (struct ctx_event_state){.change = CTX_CHANGE_RUNS, .cpu = -1, .waker = CTX_NONE};
	return append(threads, &event, err);
}

/* --- names --- */

static enum ctx_status function_of(struct ctx_ct_threads *threads, struct ctx_ct_text name, uint32_t *ret,
				   struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_FUNCTION};
	enum ctx_status status = ctx_strtab_add(&threads->names, name.at, name.n, ret, err);

	if (status != CTX_OK || *ret < threads->n_announced)
		return status;
	threads->n_announced = (size_t)*ret + 1;
	event.function = (struct ctx_event_function){
		.id = *ret, .name = ctx_strtab_get(&threads->names, *ret), .module = threads->module};
	return append(threads, &event, err);
}

static enum ctx_status announce(struct ctx_ct_threads *threads, uint32_t number,
				const struct ctx_ct_record *record, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_THREAD_START, .time_ns = record->time_ns, .thread = number};
	struct ctx_ct_text name = record->thread_name.n != 0 ? record->thread_name : record->thread;
	uint32_t id;
	uint64_t tid;
	enum ctx_status status = ctx_strtab_add(&threads->thread_names, name.at, name.n, &id, err);

	if (status != CTX_OK)
		return status;
	if (!ctx_ct_number(record->thread, &tid) || tid == 0 || tid > INT32_MAX)
		tid = OTHER_TIDS + number;
	event.thread_start.tid = (int64_t)tid;
	event.thread_start.name = ctx_strtab_get(&threads->thread_names, id);
	status = append(threads, &event, err);
	return status == CTX_OK && threads->has_states ? append_runs(threads, number, record->time_ns, err)
						       : status;
}

static enum ctx_status thread_of(struct ctx_ct_threads *threads, const struct ctx_ct_record *record,
				 uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_strtab_add(&threads->keys, record->thread.at, record->thread.n, ret, err);

	if (status == CTX_OK && *ret >= threads->n)
		status = ctx_grow(&threads->threads, &threads->cap, (size_t)*ret + 1, err);
	if (status != CTX_OK)
		return status;
	while (threads->n <= *ret)
		threads->threads[threads->n++] = (struct ctx_ct_thread){0};
	if (threads->threads[*ret].known)
		return CTX_OK;
	threads->threads[*ret].known = true;
	return announce(threads, *ret, record, err);
}

/* --- calls --- */

static bool ends_before(const void *a, const void *b)
{
	const struct ctx_ct_leaf_end *left = a, *right = b;

	return left->time_ns != right->time_ns ? left->time_ns < right->time_ns
					       : left->thread < right->thread;
}

/* The calls above `kept` end. */
static enum ctx_status leave(struct ctx_ct_threads *threads, const struct ctx_ct_leaf_end *end, size_t kept,
			     bool unwound, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_CALL, .time_ns = end->time_ns, .thread = end->thread};
	struct ctx_ct_thread *thread = &threads->threads[end->thread];

	event.call = (struct ctx_event_call){
		.kept = (uint32_t)kept, .code = CTX_CALL_INSTRUMENTED, .unwound = unwound};
	thread->n = kept;
	thread->has_leaf = false;
	return append(threads, &event, err);
}

static enum ctx_status end_leaf(struct ctx_ct_threads *threads, uint32_t number, uint64_t time_ns,
				struct ctx_err *err)
{
	const struct ctx_ct_leaf_end end = {time_ns, number};

	return leave(threads, &end, threads->threads[number].n - 1, false, err);
}

enum ctx_status ctx_ct_threads_go_on(struct ctx_ct_threads *threads, uint64_t time_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && threads->n_ends != 0 && threads->ends[0].time_ns <= time_ns) {
		const struct ctx_ct_leaf_end end = threads->ends[0];
		const struct ctx_ct_thread *thread = &threads->threads[end.thread];

		threads->ends[0] = threads->ends[--threads->n_ends];
		ctx_heap_sink(threads->ends, threads->n_ends, sizeof(*threads->ends), ends_before);
		if (thread->has_leaf && thread->leaf_end_ns == end.time_ns)
			status = end_leaf(threads, end.thread, end.time_ns, err);
	}
	return status;
}

static enum ctx_status enter(struct ctx_ct_threads *threads, uint32_t number, uint64_t time_ns,
			     struct ctx_ct_text name, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_CALL, .time_ns = time_ns, .thread = number};
	struct ctx_ct_thread *thread = &threads->threads[number];
	uint32_t function;
	enum ctx_status status = function_of(threads, name, &function, err);

	if (status == CTX_OK)
		status = ctx_grow(&thread->open, &thread->cap, thread->n + 1, err);
	if (status != CTX_OK)
		return status;
	thread->open[thread->n++] = function;
	event.call = (struct ctx_event_call){
		.kept = KEEP_ALL, .frame = ctx_frame_named(function, 0), .code = CTX_CALL_INSTRUMENTED};
	return append(threads, &event, err);
}

static enum ctx_status enter_leaf(struct ctx_ct_threads *threads, uint32_t number,
				  const struct ctx_ct_record *record, struct ctx_err *err)
{
	struct ctx_ct_thread *thread = &threads->threads[number];
	enum ctx_status status = enter(threads, number, record->time_ns, record->name, err);

	if (status != CTX_OK)
		return status;
	if (record->duration_ns == 0)
		return end_leaf(threads, number, record->time_ns, err);
	status = ctx_grow(&threads->ends, &threads->ends_cap, threads->n_ends + 1, err);
	if (status != CTX_OK)
		return status;
	thread->has_leaf = true;
	thread->leaf_end_ns = record->time_ns + record->duration_ns;
	threads->ends[threads->n_ends++] = (struct ctx_ct_leaf_end){thread->leaf_end_ns, number};
	ctx_heap_rise(threads->ends, threads->n_ends, sizeof(*threads->ends), ends_before);
	return CTX_OK;
}

/* An end of a call that is not the deepest: the ends of those above it are missing. */
static enum ctx_status leave_named(struct ctx_ct_threads *threads, uint32_t number,
				   const struct ctx_ct_record *record, struct ctx_err *err)
{
	const struct ctx_ct_leaf_end end = {record->time_ns, number};
	struct ctx_ct_thread *thread = &threads->threads[number];
	uint32_t function = ctx_strtab_find(&threads->names, record->name.at, record->name.n);
	size_t at = thread->n, least = thread->n > SEARCHED_MAX ? thread->n - SEARCHED_MAX : 0;
	enum ctx_status status = CTX_OK;

	while (at != least && record->name.n != 0 && thread->open[at - 1] != function)
		at--;
	if (at == least) {
		threads->unmatched++;
		return CTX_OK;
	}
	threads->mended += thread->n - at;
	if (at != thread->n)
		status = leave(threads, &end, at, true, err);
	return status == CTX_OK ? leave(threads, &end, at - 1, false, err) : status;
}

/* "A;B;C": the next one of the list. */
static bool next_frame(struct ctx_ct_text *list, struct ctx_ct_text *ret)
{
	while (list->n != 0) {
		*ret = (struct ctx_ct_text){list->at, ctx_ct_find(*list, ";")};
		ctx_ct_skip(list, ret->n < list->n ? ret->n + 1 : ret->n);
		ctx_ct_trim(ret);
		if (ret->n != 0)
			return true;
	}
	return false;
}

/* Calls that are in both stacks, from the root, go on. */
static enum ctx_status set_stack(struct ctx_ct_threads *threads, uint32_t number,
				 const struct ctx_ct_record *record, struct ctx_err *err)
{
	const struct ctx_ct_leaf_end end = {record->time_ns, number};
	struct ctx_ct_thread *thread = &threads->threads[number];
	struct ctx_ct_text list = record->name, rest = list, frame;
	enum ctx_status status = CTX_OK;
	size_t kept = 0;

	for (; kept < thread->n && next_frame(&rest, &frame); kept++, list = rest) {
		if (ctx_strtab_find(&threads->names, frame.at, frame.n) != thread->open[kept])
			break;
	}
	if (kept < thread->n)
		status = leave(threads, &end, kept, false, err);
	while (status == CTX_OK && next_frame(&list, &frame))
		status = enter(threads, number, record->time_ns, frame, err);
	return status;
}

/* --- the rest --- */

static enum ctx_status add_sample(struct ctx_ct_threads *threads, uint32_t number,
				  const struct ctx_ct_record *record, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_SAMPLE, .time_ns = record->time_ns, .thread = number};
	struct ctx_ct_text list = record->name, frame;
	size_t n = 0;

	while (next_frame(&list, &frame)) {
		uint32_t function;
		enum ctx_status status = function_of(threads, frame, &function, err);

		if (status == CTX_OK)
			status = ctx_grow(&threads->frames, &threads->frames_cap, n + 1, err);
		if (status != CTX_OK)
			return status;
		threads->frames[n++] = ctx_frame_named(function, 0);
	}
	for (size_t i = 0; i < n / 2; i++) {
		uint64_t other = threads->frames[i];

		threads->frames[i] = threads->frames[n - 1 - i];
		threads->frames[n - 1 - i] = other;
	}
	event.sample = (struct ctx_event_sample){
		.weight = 1, .cpu = -1, .stack = {.frames = threads->frames, .n_frames = (uint32_t)n}};
	return append(threads, &event, err);
}

static enum ctx_status add_count(struct ctx_ct_threads *threads, uint32_t number,
				 const struct ctx_ct_record *record, struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_CALL, .time_ns = record->time_ns, .thread = number};
	uint32_t counter = ctx_strtab_find(&threads->counters, record->name.at, record->name.n);

	if (counter == UINT32_MAX)
		return CTX_OK;
	if (threads->counted == NULL)
		threads->counted = ctx_calloc(threads->counters.n, sizeof(*threads->counted));
	if (threads->counted == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < threads->counters.n; i++)
		threads->counted[i] = i == counter ? record->number : 0;
	event.call = (struct ctx_event_call){
		.kept = KEEP_ALL, .code = CTX_CALL_INSTRUMENTED, .counted = threads->counted};
	return append(threads, &event, err);
}

static enum ctx_status add_change(struct ctx_ct_threads *threads, uint32_t number,
				  const struct ctx_ct_record *record, struct ctx_err *err)
{
	static const struct {
		const char *word;
		enum ctx_wait wait;
	} waits[] = {{"lock", CTX_WAIT_LOCK}, {"sleep", CTX_WAIT_TIME}, {"io", CTX_WAIT_IO}};
	struct ctx_event event = {.kind = CTX_EV_STATE, .time_ns = record->time_ns, .thread = number};

	event.state = (struct ctx_event_state){
		.change = CTX_CHANGE_RUNS, .cpu = -1, .wait = CTX_WAIT_OTHER, .waker = CTX_NONE};
	if (record->kind == CTX_CT_OFF)
		event.state.change =
			ctx_ct_is(record->name, "preempted") ? CTX_CHANGE_PREEMPTED : CTX_CHANGE_BLOCKED;
	for (size_t i = 0; i < CTX_COUNT_OF(waits); i++) {
		if (ctx_ct_is(record->name, waits[i].word))
			event.state.wait = waits[i].wait;
	}
	return append(threads, &event, err);
}

static enum ctx_status end_thread(struct ctx_ct_threads *threads, uint32_t number, uint64_t time_ns,
				  struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_THREAD_EXIT, .time_ns = time_ns, .thread = number};
	struct ctx_ct_thread *thread = &threads->threads[number];

	thread->ended = true;
	thread->n = 0;
	return append(threads, &event, err);
}

static enum ctx_status add_known(struct ctx_ct_threads *threads, uint32_t number,
				 const struct ctx_ct_record *record, struct ctx_err *err)
{
	switch (record->kind) {
	case CTX_CT_ENTER:
		return enter(threads, number, record->time_ns, record->name, err);
	case CTX_CT_EXIT:
		return leave_named(threads, number, record, err);
	case CTX_CT_LEAF:
		return enter_leaf(threads, number, record, err);
	case CTX_CT_STACK:
		return set_stack(threads, number, record, err);
	case CTX_CT_SAMPLE:
		return add_sample(threads, number, record, err);
	case CTX_CT_COUNT:
		return add_count(threads, number, record, err);
	case CTX_CT_ON:
	case CTX_CT_OFF:
		return add_change(threads, number, record, err);
	case CTX_CT_END:
		return end_thread(threads, number, record->time_ns, err);
	case CTX_CT_NOTHING:
	case CTX_CT_PART:
		break;
	}
	return CTX_OK;
}

enum ctx_status ctx_ct_threads_add(struct ctx_ct_threads *threads, const struct ctx_ct_record *record,
				   struct ctx_err *err)
{
	uint32_t number;
	enum ctx_status status = ctx_ct_threads_go_on(threads, record->time_ns, err);

	if (status == CTX_OK)
		status = thread_of(threads, record, &number, err);
	if (status != CTX_OK || threads->threads[number].ended)
		return status;
	/* A leaf calls nothing: it has ended before this, whatever rounding says. */
	if (threads->threads[number].has_leaf)
		status = end_leaf(threads, number, record->time_ns, err);
	return status == CTX_OK ? add_known(threads, number, record, err) : status;
}

uint64_t ctx_ct_threads_count_open(const struct ctx_ct_threads *threads)
{
	uint64_t n = 0;

	for (size_t i = 0; i < threads->n; i++)
		n += threads->threads[i].n;
	return n;
}
