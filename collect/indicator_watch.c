#include "collect/indicator_watch.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define OF_PROCESS (UINT64_C(1) << 32)
#define CALLS_MAX 65536u /* open ones of a thread; deeper ones are not measured */

struct window { /* of a thread or process */
	uint64_t n_starts;
	bool is_open;
};

struct call {
	uint64_t time_ns, sp;
	uint32_t event;
};

struct calls {		    /* of a thread */
	struct call *items; /* owned */
	size_t n, cap;
};

struct ctx_indicator_watch {
	struct ctx_indicator_rule *rules;
	size_t n_rules;
	bool has_windows;
	struct ctx_map64 window_of; /* tid, or pid with OF_PROCESS -> number */
	struct window *windows;
	size_t n_windows, windows_cap;
	struct ctx_map64 calls_of; /* tid -> number */
	struct calls *calls;
	size_t n_calls, calls_cap;
};

enum ctx_status ctx_indicator_watch_create(const struct ctx_indicator_rule *rules, size_t n,
					   struct ctx_indicator_watch **ret, struct ctx_err *err)
{
	struct ctx_indicator_watch *watch = ctx_calloc(1, sizeof(*watch));

	if (watch == NULL)
		return ctx_err_nomem(err);
	watch->rules = ctx_calloc(n + 1, sizeof(*rules));
	if (watch->rules == NULL) {
		free(watch);
		return ctx_err_nomem(err);
	}
	if (n != 0)
		memcpy(watch->rules, rules, n * sizeof(*rules));
	watch->n_rules = n;
	for (size_t i = 0; i < n; i++)
		watch->has_windows = watch->has_windows || rules[i].role == CTX_INDICATOR_STARTS;
	*ret = watch;
	return CTX_OK;
}

void ctx_indicator_watch_destroy(struct ctx_indicator_watch *watch)
{
	if (watch == NULL)
		return;
	for (size_t i = 0; i < watch->n_calls; i++)
		free(watch->calls[i].items);
	free(watch->calls);
	free(watch->windows);
	free(watch->rules);
	ctx_map64_deinit(&watch->window_of);
	ctx_map64_deinit(&watch->calls_of);
	free(watch);
}

/* NULL: no memory. */
static struct window *window_of(struct ctx_indicator_watch *watch, uint64_t key)
{
	uint32_t *place = ctx_map64_place(&watch->window_of, key);

	if (place == NULL ||
	    ctx_grow(&watch->windows, &watch->windows_cap, watch->n_windows + 1, NULL) != CTX_OK)
		return NULL;
	if (*place == CTX_MAP64_NONE) {
		*place = (uint32_t)watch->n_windows;
		watch->windows[watch->n_windows++] = (struct window){0};
	}
	return &watch->windows[*place];
}

static struct calls *calls_of(struct ctx_indicator_watch *watch, uint32_t tid)
{
	uint32_t *place = ctx_map64_place(&watch->calls_of, tid);

	if (place == NULL || ctx_grow(&watch->calls, &watch->calls_cap, watch->n_calls + 1, NULL) != CTX_OK)
		return NULL;
	if (*place == CTX_MAP64_NONE) {
		*place = (uint32_t)watch->n_calls;
		watch->calls[watch->n_calls++] = (struct calls){0};
	}
	return &watch->calls[*place];
}

static bool is_open(const struct ctx_indicator_watch *watch, uint64_t key)
{
	uint32_t number = ctx_map64_get(&watch->window_of, key);

	return number != CTX_MAP64_NONE && watch->windows[number].is_open;
}

static bool is_inside(const struct ctx_indicator_watch *watch, const struct ctx_indicator_hit *hit)
{
	return !watch->has_windows || is_open(watch, hit->tid) || is_open(watch, hit->pid | OF_PROCESS);
}

/* A start opens before it is judged, a stop closes afterwards: both are inside. */
static enum ctx_status turn_window(struct ctx_indicator_watch *watch, const struct ctx_indicator_rule *rule,
				   const struct ctx_indicator_hit *hit, struct ctx_indicator_verdict *ret)
{
	struct window *window = window_of(watch, rule->of_process ? hit->pid | OF_PROCESS : hit->tid);

	if (window == NULL)
		return CTX_E_NOMEM;
	ret->of_process = rule->of_process;
	if (rule->role == CTX_INDICATOR_STARTS && ++window->n_starts >= rule->from && !window->is_open) {
		window->is_open = true;
		ret->turn = CTX_INDICATOR_OPENS;
	} else if (rule->role == CTX_INDICATOR_STOPS && window->is_open) {
		ret->turn = CTX_INDICATOR_CLOSES;
	}
	ret->keeps = is_inside(watch, hit);
	if (ret->turn == CTX_INDICATOR_CLOSES)
		window->is_open = false;
	return CTX_OK;
}

/* Stacks grow down: what lies below the new call, or where it is, has been left without a return. */
static void drop_left(struct calls *calls, uint64_t sp)
{
	while (calls->n != 0 && calls->items[calls->n - 1].sp <= sp)
		calls->n--;
}

static enum ctx_status enter(struct ctx_indicator_watch *watch, const struct ctx_indicator_hit *hit)
{
	struct calls *calls = calls_of(watch, hit->tid);

	if (calls == NULL)
		return CTX_E_NOMEM;
	drop_left(calls, hit->sp);
	if (calls->n == CALLS_MAX)
		return CTX_OK;
	if (ctx_grow(&calls->items, &calls->cap, calls->n + 1, NULL) != CTX_OK)
		return CTX_E_NOMEM;
	calls->items[calls->n++] = (struct call){hit->time_ns, hit->sp, hit->event};
	return CTX_OK;
}

/* At the return the stack pointer is one word above that of the entry: all calls below it are over, and the last of them is it. */
static bool is_slow(struct ctx_indicator_watch *watch, const struct ctx_indicator_hit *hit, uint64_t slow_ns)
{
	uint32_t number = ctx_map64_get(&watch->calls_of, hit->tid);
	struct calls *calls = number != CTX_MAP64_NONE ? &watch->calls[number] : NULL;
	struct call call = {.sp = 0};

	while (calls != NULL && calls->n != 0 && calls->items[calls->n - 1].sp < hit->sp)
		call = calls->items[--calls->n];
	return call.sp != 0 && call.event + 1 == hit->event && hit->time_ns - call.time_ns >= slow_ns;
}

enum ctx_status ctx_indicator_watch_take(struct ctx_indicator_watch *watch,
					 const struct ctx_indicator_hit *hit,
					 struct ctx_indicator_verdict *ret, struct ctx_err *err)
{
	const struct ctx_indicator_rule *rule =
		hit->event < watch->n_rules ? &watch->rules[hit->event] : NULL;
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_indicator_verdict){.keeps = is_inside(watch, hit)};
	if (rule == NULL)
		return CTX_OK;
	if (rule->role == CTX_INDICATOR_STARTS || rule->role == CTX_INDICATOR_STOPS)
		status = turn_window(watch, rule, hit, ret);
	else if (rule->role == CTX_INDICATOR_ENTERS)
		status = enter(watch, hit);
	else if (rule->role == CTX_INDICATOR_RETURNS)
		ret->keeps = is_slow(watch, hit, rule->slow_ns) && ret->keeps;
	return status == CTX_OK ? CTX_OK : ctx_err_nomem(err);
}

void ctx_indicator_watch_end_thread(struct ctx_indicator_watch *watch, uint32_t tid)
{
	uint32_t window = ctx_map64_get(&watch->window_of, tid);
	uint32_t calls = ctx_map64_get(&watch->calls_of, tid);

	if (window != CTX_MAP64_NONE)
		watch->windows[window] = (struct window){0};
	if (calls != CTX_MAP64_NONE) {
		free(watch->calls[calls].items);
		watch->calls[calls] = (struct calls){0};
	}
}
