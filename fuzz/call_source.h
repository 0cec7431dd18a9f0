/*
 * Reads a source of calls to its end and holds its events against the rules of model/event_source.h: in order of time, everything
 * announced before its use.
 */
#ifndef CTX_FUZZ_CALL_SOURCE_H
#define CTX_FUZZ_CALL_SOURCE_H

#include "model/event_source.h"

#include <stdlib.h>

static inline void require(bool holds)
{
	if (!holds)
		abort();
}

struct announced {
	uint64_t last_ns;
	uint32_t processes, threads;
};

static inline void check_event(struct announced *announced, const struct ctx_event_source *source,
			       const struct ctx_event *event)
{
	bool of_thread = event->kind == CTX_EV_CALL || event->kind == CTX_EV_TRACED ||
			 event->kind == CTX_EV_STATE || event->kind == CTX_EV_THREAD_EXIT ||
			 event->kind == CTX_EV_THREAD_NAME;

	if (event->kind == CTX_EV_WARNING || event->kind == CTX_EV_DAMAGE) {
		require(event->text[0] != '\0');
		return;
	}
	if (event->kind == CTX_EV_FUNCTION) {
		require(event->function.name != NULL && event->function.module != NULL);
		return;
	}
	require(event->time_ns >= announced->last_ns && event->time_ns < source->info.duration_ns);
	announced->last_ns = event->time_ns;
	if (event->kind == CTX_EV_PROCESS_START)
		require(event->process == announced->processes++);
	if (event->kind == CTX_EV_THREAD_START)
		require(event->thread == announced->threads++);
	if (event->kind != CTX_EV_LOST)
		require(event->process < announced->processes);
	if (of_thread)
		require(event->thread < announced->threads);
}

static inline void check_source(struct ctx_event_source *source)
{
	struct announced announced = {0};
	struct ctx_event event;
	enum ctx_status status;

	while ((status = source->next(source, &event, NULL)) == CTX_OK)
		check_event(&announced, source, &event);
	require(status == CTX_END || status == CTX_E_LIMIT);
	source->close(source);
}

#endif
