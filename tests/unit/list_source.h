/*
 * An event source made of arrays, and its events: the input of an ingest is known, so its output is
 * too.
 */
#ifndef CTX_TESTS_UNIT_LIST_SOURCE_H
#define CTX_TESTS_UNIT_LIST_SOURCE_H

#include "model/event_source.h"

/* A source that emits an array of events. */
struct list_source {
	struct ctx_event_source source;
	struct ctx_event *events;
	size_t n, at;
};

static inline enum ctx_status list_next(struct ctx_event_source *source, struct ctx_event *ret,
					struct ctx_err *err)
{
	struct list_source *list = source->impl;

	(void)err;
	if (list->at == list->n)
		return CTX_END;
	*ret = list->events[list->at++];
	return CTX_OK;
}

static inline uint64_t list_progress(const struct ctx_event_source *source)
{
	(void)source;
	return 0;
}

static struct ctx_source_metric clock_metric = {
	.name = "cpu-clock", .kind = CTX_METRIC_CPU_TIME, .unit = CTX_UNIT_NS};

static inline void list_open(struct list_source *list, struct ctx_event *events, size_t n,
			     uint64_t duration_ns)
{
	*list = (struct list_source){.events = events, .n = n};
	list->source.impl = list;
	list->source.next = list_next;
	list->source.progress = list_progress;
	list->source.info = (struct ctx_source_info){
		.name = "list.er",
		.format = "list",
		.duration_ns = duration_ns,
		.closed = true,
		.notes = "",
		.kallsyms = "",
		.fallback_root = "",
		.metrics = &clock_metric,
		.n_metrics = 1,
	};
}

static inline struct ctx_event process_start(uint64_t time, uint32_t process, int64_t pid)
{
	struct ctx_event event = {.kind = CTX_EV_PROCESS_START, .time_ns = time, .process = process};

	event.process_start.pid = pid;
	event.process_start.parent = CTX_NONE;
	event.process_start.command = "command";
	event.process_start.lineage = "";
	return event;
}

static inline struct ctx_event thread_start(uint64_t time, uint32_t process, uint32_t thread, int64_t tid)
{
	struct ctx_event event = {
		.kind = CTX_EV_THREAD_START, .time_ns = time, .process = process, .thread = thread};

	event.thread_start.tid = tid;
	event.thread_start.name = "name";
	return event;
}

static inline struct ctx_event map_event(uint64_t time, uint64_t address, uint64_t size, const char *path)
{
	struct ctx_event event = {.kind = CTX_EV_MAP, .time_ns = time};

	event.map = (struct ctx_map_event){.address = address,
					   .size = size,
					   .path = path,
					   .build_id = "",
					   .archive = "",
					   .function = ""};
	return event;
}

static inline struct ctx_event sample_event(uint64_t time, uint32_t process, uint32_t thread, uint32_t stack)
{
	struct ctx_event event = {
		.kind = CTX_EV_SAMPLE, .time_ns = time, .process = process, .thread = thread};

	event.sample = (struct ctx_event_sample){.weight = 10, .cpu = 1, .stack.id = stack};
	return event;
}

static inline struct ctx_event stacks_event(uint64_t time, uint32_t n, const uint32_t *parents,
					    const uint64_t *addresses)
{
	struct ctx_event event = {.kind = CTX_EV_STACKS, .time_ns = time};

	event.stacks.first = 1;
	event.stacks.n = n;
	event.stacks.parents = parents;
	event.stacks.addresses = addresses;
	return event;
}

static inline struct ctx_event change_event(uint64_t time, uint32_t thread, enum ctx_state_change change)
{
	struct ctx_event event = {.kind = CTX_EV_STATE, .time_ns = time, .thread = thread};

	event.state = (struct ctx_event_state){.change = change, .cpu = 1, .waker = CTX_NONE};
	return event;
}

#endif
