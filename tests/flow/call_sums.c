/*
 * What a source of calls says, summed in the obvious way, for comparison with other programs:
 *
 *	call_sums uftrace DIRECTORY [events]
 *	call_sums trace FILE [events]
 *
 * A line for each function, by name: its calls, their time from entry to exit (without calls inside another one of the same
 * function), the part of it outside of others, and the name; all in ns. With `events` a line for each entry
 * and exit instead: time from the begin, tid, "entry" or "exit", depth, name. Then what the source warns of, and its marks.
 */
#include "base/map64.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "formats/traceevent/traceevent.h"
#include "formats/uftrace/uftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct sum {
	uint64_t calls, total_ns, self_ns;
};

struct open_call {
	uint32_t name;
	uint64_t begin_ns, inside_ns;
};

struct thread {
	struct open_call *open;
	size_t n, cap;
	int64_t tid;
	uint64_t last_ns; /* of its last event */
	bool ended;
};

struct reading {
	struct ctx_strtab names;
	uint32_t *name_of; /* by function */
	size_t name_of_cap;
	struct sum *sums; /* by name */
	size_t sums_cap, n_sums;
	struct thread *threads;
	size_t n_threads, threads_cap;
	bool prints_events;
};

static void check(enum ctx_status status, const struct ctx_err *err)
{
	if (status >= 0)
		return;
	fprintf(stderr, "call_sums: %s\n", err->msg);
	exit(1);
}

static uint32_t name_of(struct reading *reading, uint64_t frame)
{
	struct ctx_err err = {0};
	char text[32];
	uint32_t ret;

	if (ctx_frame_is_named(frame))
		return reading->name_of[ctx_frame_function(frame)];
	snprintf(text, sizeof(text), "0x%" PRIx64, frame);
	check(ctx_strtab_add_text(&reading->names, text, &ret, &err), &err);
	return ret;
}

static struct sum *sum_of(struct reading *reading, uint32_t name)
{
	struct ctx_err err = {0};

	check(ctx_grow(&reading->sums, &reading->sums_cap, (size_t)name + 1, &err), &err);
	while (reading->n_sums <= name)
		reading->sums[reading->n_sums++] = (struct sum){0};
	return &reading->sums[name];
}

static void print_event(const struct reading *reading, const struct thread *thread, uint64_t time_ns,
			const char *what, size_t depth)
{
	if (reading->prints_events)
		printf("%" PRIu64 " %" PRId64 " %s %zu %s\n", time_ns, thread->tid, what, depth,
		       ctx_strtab_get(&reading->names, thread->open[depth].name));
}

static void end_call(struct reading *reading, struct thread *thread, uint64_t time_ns)
{
	struct open_call *call = &thread->open[--thread->n];
	struct sum *sum = sum_of(reading, call->name);
	uint64_t ns = time_ns - call->begin_ns;
	bool is_recursive = false;

	print_event(reading, thread, time_ns, "exit", thread->n);
	for (size_t i = 0; i < thread->n; i++)
		is_recursive = is_recursive || thread->open[i].name == call->name;
	sum->calls++;
	sum->total_ns += is_recursive ? 0 : ns;
	sum->self_ns += ns - call->inside_ns;
	if (thread->n != 0)
		thread->open[thread->n - 1].inside_ns += ns;
}

static void end_all(struct reading *reading, struct thread *thread, uint64_t time_ns)
{
	while (thread->n != 0)
		end_call(reading, thread, time_ns);
	thread->ended = true;
}

static void take_call(struct reading *reading, const struct ctx_event *event)
{
	struct thread *thread = &reading->threads[event->thread];
	struct ctx_err err = {0};

	while (thread->n > event->call.kept)
		end_call(reading, thread, event->time_ns);
	if (event->call.frame == 0)
		return;
	check(ctx_grow(&thread->open, &thread->cap, thread->n + 1, &err), &err);
	thread->open[thread->n++] =
		(struct open_call){name_of(reading, event->call.frame), event->time_ns, 0};
	print_event(reading, thread, event->time_ns, "entry", thread->n - 1);
}

static void take_function(struct reading *reading, const struct ctx_event_function *function)
{
	struct ctx_err err = {0};

	check(ctx_grow(&reading->name_of, &reading->name_of_cap, (size_t)function->id + 1, &err), &err);
	check(ctx_strtab_add_text(&reading->names, function->name, &reading->name_of[function->id], &err),
	      &err);
}

static void take_thread(struct reading *reading, const struct ctx_event *event)
{
	struct ctx_err err = {0};

	check(ctx_grow(&reading->threads, &reading->threads_cap, (size_t)event->thread + 1, &err), &err);
	while (reading->n_threads <= event->thread)
		reading->threads[reading->n_threads++] = (struct thread){0};
	reading->threads[event->thread].tid = event->thread_start.tid;
}

static void take_traced(const struct ctx_event *event)
{
	const struct ctx_traced *operation = event->traced.operation;

	printf("mark %" PRIu64 " %s %s", event->time_ns,
	       ctx_traced_operation_name((enum ctx_traced_kind)operation->kind, operation->operation),
	       event->traced.file);
	if (operation->operation == CTX_MARK_COUNTER)
		printf(" %" PRId64, operation->value);
	putchar('\n');
}

static void take(struct reading *reading, const struct ctx_event *event)
{
	switch (event->kind) {
	case CTX_EV_FUNCTION:
		take_function(reading, &event->function);
		break;
	case CTX_EV_THREAD_START:
		take_thread(reading, event);
		break;
	case CTX_EV_THREAD_EXIT:
		end_all(reading, &reading->threads[event->thread], event->time_ns);
		break;
	case CTX_EV_CALL:
		take_call(reading, event);
		break;
	case CTX_EV_TRACED:
		take_traced(event);
		break;
	case CTX_EV_WARNING:
	case CTX_EV_DAMAGE:
		printf("%s: %s\n", event->kind == CTX_EV_DAMAGE ? "damage" : "warning", event->text);
		break;
	default:
		break;
	}
}

static void print_sums(struct reading *reading)
{
	for (size_t i = 0; i < reading->n_sums; i++) {
		const struct sum *sum = &reading->sums[i];

		if (sum->calls != 0)
			printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", sum->calls, sum->total_ns,
			       sum->self_ns, ctx_strtab_get(&reading->names, (uint32_t)i));
	}
}

int main(int argc, char **argv)
{
	struct reading reading = {.prints_events = argc > 3 && strcmp(argv[3], "events") == 0};
	struct ctx_event_source *source;
	struct ctx_err err = {0};
	struct ctx_event event;
	enum ctx_status status;
	uint64_t last_ns = 0;

	if (argc < 3)
		return 2;
	check(strcmp(argv[1], "uftrace") == 0 ? ctx_uftrace_open(argv[2], &source, &err)
					      : ctx_traceevent_open(argv[2], &source, &err),
	      &err);
	while ((status = source->next(source, &event, &err)) == CTX_OK) {
		if (event.kind != CTX_EV_WARNING && event.kind != CTX_EV_DAMAGE &&
		    event.kind != CTX_EV_FUNCTION) {
			if (event.time_ns < last_ns)
				printf("out of order: %" PRIu64 " after %" PRIu64 "\n", event.time_ns,
				       last_ns);
			last_ns = event.time_ns;
		}
		take(&reading, &event);
	}
	check(status, &err);
	for (size_t i = 0; i < reading.n_threads; i++)
		end_all(&reading, &reading.threads[i], last_ns);
	if (!reading.prints_events)
		print_sums(&reading);
	source->close(source);
	for (size_t i = 0; i < reading.n_threads; i++)
		free(reading.threads[i].open);
	free(reading.threads);
	free(reading.sums);
	free(reading.name_of);
	ctx_strtab_deinit(&reading.names);
	return 0;
}
