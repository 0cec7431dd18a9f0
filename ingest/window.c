#include "ingest/window.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void ctx_window_deinit(struct ctx_window *window)
{
	free(window->samples);
	free(window->wakeups);
	free(window->traced);
	free(window->begins);
	*window = (struct ctx_window){0};
}

/* The dropped part of an array is used again when it is half of it: each item moves once. */
static void close_gap(void *items, size_t size, size_t *first, size_t *n)
{
	if (*first < *n - *first)
		return;
	memmove(items, (char *)items + *first * size, (*n - *first) * size);
	*n -= *first;
	*first = 0;
}

static bool begins_interval(const struct ctx_traced *operation)
{
	return operation->kind == CTX_TRACED_MARK &&
	       (operation->operation == CTX_MARK_BEGIN || operation->operation == CTX_MARK_BEGIN_ID ||
		operation->operation == CTX_MARK_PAUSE);
}

/* Removes the begin of what ends. */
static void end_interval(struct ctx_window *window, const struct ctx_traced *end)
{
	uint64_t begin_ns = end->time_ns - end->duration_ns;
	size_t i = 0;

	while (i < window->n_begins &&
	       (window->begins[i].time_ns != begin_ns || window->begins[i].file != end->file ||
		(window->begins[i].operation == CTX_MARK_PAUSE) != (end->operation == CTX_MARK_RESUME)))
		i++;
	if (i == window->n_begins)
		return;
	window->n_begins--;
	memmove(window->begins + i, window->begins + i + 1, (window->n_begins - i) * sizeof(*window->begins));
}

/* The operation is before the window: intervals that it begins or ends are open, or are not. */
static enum ctx_status pass(struct ctx_window *window, const struct ctx_traced *operation,
			    struct ctx_err *err)
{
	enum ctx_status status;

	if (operation->kind == CTX_TRACED_MARK && ctx_mark_has_duration(operation))
		end_interval(window, operation);
	if (!begins_interval(operation))
		return CTX_OK;
	status = ctx_grow(&window->begins, &window->begins_cap, window->n_begins + 1, err);
	if (status != CTX_OK)
		return status;
	if (window->n_begins == CTX_WINDOW_BEGINS_MAX)
		memmove(window->begins, window->begins + 1, --window->n_begins * sizeof(*window->begins));
	window->begins[window->n_begins++] = *operation;
	return CTX_OK;
}

enum ctx_status ctx_window_move(struct ctx_window *window, uint64_t begin_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (begin_ns <= window->begin_ns)
		return CTX_OK;
	window->begin_ns = begin_ns;
	while (window->first_sample < window->n_samples &&
	       window->samples[window->first_sample].time_ns < begin_ns)
		window->first_sample++;
	while (window->first_wakeup < window->n_wakeups &&
	       window->wakeups[window->first_wakeup].time_ns < begin_ns)
		window->first_wakeup++;
	window->n_dropped = 0;
	while (window->first_traced < window->n_traced &&
	       window->traced[window->first_traced].time_ns < begin_ns && status == CTX_OK)
		status = pass(window, &window->traced[window->first_traced++], err);
	if (window->first_traced != 0)
		close_gap(window->traced, sizeof(*window->traced), &window->first_traced, &window->n_traced);
	if (window->first_sample != 0)
		close_gap(window->samples, sizeof(*window->samples), &window->first_sample,
			  &window->n_samples);
	if (window->first_wakeup != 0)
		close_gap(window->wakeups, sizeof(*window->wakeups), &window->first_wakeup,
			  &window->n_wakeups);
	return status;
}

enum ctx_status ctx_window_add(struct ctx_window *window, const struct ctx_sample *sample,
			       struct ctx_err *err)
{
	enum ctx_status status;

	if (sample->time_ns < window->begin_ns)
		return CTX_OK;
	status = ctx_grow(&window->samples, &window->samples_cap, window->n_samples + 1, err);
	if (status == CTX_OK)
		window->samples[window->n_samples++] = *sample;
	return status;
}

enum ctx_status ctx_window_add_wakeup(struct ctx_window *window, const struct ctx_wakeup *wakeup,
				      struct ctx_err *err)
{
	enum ctx_status status;

	if (wakeup->time_ns < window->begin_ns)
		return CTX_OK;
	status = ctx_grow(&window->wakeups, &window->wakeups_cap, window->n_wakeups + 1, err);
	if (status == CTX_OK)
		window->wakeups[window->n_wakeups++] = *wakeup;
	return status;
}

enum ctx_status ctx_window_add_traced(struct ctx_window *window, const struct ctx_traced *operation,
				      struct ctx_err *err)
{
	enum ctx_status status;

	if (operation->time_ns < window->begin_ns)
		return pass(window, operation, err);
	if (window->n_traced - window->first_traced == CTX_WINDOW_TRACED_MAX) {
		status = pass(window, &window->traced[window->first_traced++], err);
		if (status != CTX_OK)
			return status;
		window->n_dropped++;
		close_gap(window->traced, sizeof(*window->traced), &window->first_traced, &window->n_traced);
	}
	status = ctx_grow(&window->traced, &window->traced_cap, window->n_traced + 1, err);
	if (status == CTX_OK)
		window->traced[window->n_traced++] = *operation;
	return status;
}

enum ctx_status ctx_window_put(const struct ctx_window *window, struct ctx_tree_forest *trees,
			       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = window->first_sample; i < window->n_samples && status == CTX_OK; i++)
		status = ctx_tree_forest_add(trees, &window->samples[i], err);
	for (size_t i = window->first_wakeup; i < window->n_wakeups && status == CTX_OK; i++)
		status = ctx_tree_forest_add_wakeup(trees, &window->wakeups[i], err);
	for (size_t i = 0; i < window->n_begins && status == CTX_OK; i++)
		status = ctx_tree_forest_add_traced(trees, &window->begins[i], err);
	for (size_t i = window->first_traced; i < window->n_traced && status == CTX_OK; i++)
		status = ctx_tree_forest_add_traced(trees, &window->traced[i], err);
	return status;
}
