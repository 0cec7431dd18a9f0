/*
 * The guarantees of every event source (model/event_source.h), checked event by event: numbers are
 * dense and announced before use, parents come before their children, and no time is outside the
 * range reported when the source was opened.
 */
#ifndef CTX_TESTS_UNIT_SOURCE_CHECK_H
#define CTX_TESTS_UNIT_SOURCE_CHECK_H

#include "base/mem.h"
#include "model/event_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct source_check { /* all zero is a valid one */
	uint32_t n_processes;
	uint32_t *process_of_thread; /* owned; by number */
	bool *ended;		     /* owned; of threads */
	size_t n_threads, threads_cap, ended_cap;
	uint64_t last_ns; /* of what has to be in order: samples, maps, throttling */
	uint64_t late;	  /* times that it was not */
	uint64_t samples;
	bool may_disagree; /* the owner of a thread may be damaged: its samples can be of another process */
};

static inline void source_check_deinit(struct source_check *check)
{
	free(check->process_of_thread);
	free(check->ended);
	*check = (struct source_check){0};
}

static inline bool source_check_has_process(const struct ctx_event *event)
{
	switch (event->kind) {
	case CTX_EV_FUNCTION:
	case CTX_EV_LOST:
	case CTX_EV_THROTTLE:
	case CTX_EV_DAMAGE:
	case CTX_EV_WARNING:
	case CTX_EV_PROPERTY:
		return false;
	case CTX_EV_MAP:
	case CTX_EV_UNMAP:
		return event->process != CTX_NONE; /* the kernel's */
	default:
		return true;
	}
}

/* Starts and ends have their own time and are emitted when they matter; the others are in order. */
static inline bool source_check_is_ordered(enum ctx_event_kind kind)
{
	return kind == CTX_EV_SAMPLE || kind == CTX_EV_STATE || kind == CTX_EV_MAP || kind == CTX_EV_UNMAP ||
	       kind == CTX_EV_FORK_MAPS || kind == CTX_EV_THROTTLE || kind == CTX_EV_THREAD_NAME;
}

static inline void source_check_start(struct source_check *check, const struct ctx_event *event)
{
	if (event->kind == CTX_EV_PROCESS_START) {
		assert_int_equal(event->process, check->n_processes);
		assert_true(event->process_start.parent == CTX_NONE ||
			    event->process_start.parent < event->process);
		assert_non_null(event->process_start.command);
		assert_non_null(event->process_start.lineage);
		check->n_processes++;
		return;
	}
	assert_int_equal(event->thread, check->n_threads);
	assert_non_null(event->thread_start.name);
	assert_int_equal(ctx_grow(&check->process_of_thread, &check->threads_cap, check->n_threads + 1, NULL),
			 CTX_OK);
	assert_int_equal(ctx_grow(&check->ended, &check->ended_cap, check->n_threads + 1, NULL), CTX_OK);
	check->process_of_thread[check->n_threads] = event->process;
	check->ended[check->n_threads++] = false;
}

static inline void source_check_process(const struct source_check *check, uint32_t process, uint32_t thread)
{
	if (!check->may_disagree)
		assert_int_equal(process, check->process_of_thread[thread]);
}

/* For a thread that is woken by another one, the process is the waker's. */
static inline void source_check_state(const struct source_check *check, const struct ctx_source_info *info,
				      const struct ctx_event *event)
{
	bool woken = ctx_state_change_has_waker(event->state.change);

	assert_true(info->has_states);
	assert_true(event->thread < check->n_threads);
	assert_true((unsigned)event->state.change < CTX_CHANGE_N);
	assert_true(event->state.waker == CTX_NONE || (woken && event->state.waker < check->n_threads));
	assert_true(event->state.external_waker == NULL || (woken && event->state.waker == CTX_NONE));
	source_check_process(check, event->process,
			     event->state.waker != CTX_NONE ? event->state.waker : event->thread);
}

static inline void source_check_event(struct source_check *check, const struct ctx_source_info *info,
				      const struct ctx_event *event)
{
	assert_true(event->time_ns < info->duration_ns);
	if (source_check_is_ordered(event->kind)) {
		check->late += event->time_ns < check->last_ns;
		if (event->time_ns > check->last_ns)
			check->last_ns = event->time_ns;
	}
	if (event->kind != CTX_EV_PROCESS_START && source_check_has_process(event))
		assert_true(event->process < check->n_processes);
	if (event->kind == CTX_EV_PROCESS_START || event->kind == CTX_EV_THREAD_START)
		source_check_start(check, event);
	if (event->kind == CTX_EV_SAMPLE || event->kind == CTX_EV_THREAD_NAME ||
	    event->kind == CTX_EV_THREAD_EXIT) {
		assert_true(event->thread < check->n_threads);
		source_check_process(check, event->process, event->thread);
		assert_false(check->ended[event->thread]);
	}
	if (event->kind == CTX_EV_THREAD_EXIT)
		check->ended[event->thread] = true;
	if (event->kind == CTX_EV_SAMPLE) {
		assert_true(event->sample.metric < info->n_metrics);
		check->samples++;
	}
	if (event->kind == CTX_EV_STATE)
		source_check_state(check, info, event);
	if (event->kind == CTX_EV_FUNCTION) {
		assert_non_null(event->function.name);
		assert_non_null(event->function.module);
	}
	if (event->kind == CTX_EV_FORK_MAPS) {
		assert_true(event->maps_of < check->n_processes);
		assert_int_not_equal(event->maps_of, event->process);
	}
	if (event->kind == CTX_EV_MAP) {
		assert_true(event->map.size <= UINT64_MAX - event->map.address);
		assert_non_null(event->map.path);
		assert_non_null(event->map.build_id);
		assert_non_null(event->map.function);
	}
}

#endif
