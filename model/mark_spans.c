#include "model/mark_spans.h"

#include "base/mem.h"
#include "base/near.h"
#include "model/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "mark:"
#define BETWEEN "..mark:"

/* Spans */

void ctx_mark_spans_deinit(struct ctx_mark_spans *spans)
{
	free(spans->items);
	*spans = (struct ctx_mark_spans){0};
}

static enum ctx_status add(struct ctx_mark_spans *spans, const struct ctx_traced *operation,
			   enum ctx_mark_kind kind, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&spans->items, &spans->cap, spans->n + 1, err);

	if (status == CTX_OK)
		spans->items[spans->n++] =
			(struct ctx_mark_span){operation->time_ns - operation->duration_ns,
					       operation->time_ns, operation->file, operation->thread, kind};
	return status;
}

static int compare(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int by_begin(const void *a, const void *b)
{
	const struct ctx_mark_span *left = a, *right = b;

	if (left->begin_ns != right->begin_ns)
		return compare(left->begin_ns, right->begin_ns);
	if (left->end_ns != right->end_ns)
		return compare(right->end_ns, left->end_ns);
	return left->name != right->name ? compare(left->name, right->name)
					 : compare(left->kind, right->kind);
}

/* Those that end come before the begins that may be theirs. */
static int by_name_and_begin(const void *a, const void *b)
{
	const struct ctx_mark_span *left = a, *right = b;
	bool left_pauses = left->kind == CTX_MARK_IS_PAUSE, right_pauses = right->kind == CTX_MARK_IS_PAUSE;

	if (left_pauses != right_pauses)
		return compare(left_pauses, right_pauses);
	if (left->name != right->name)
		return compare(left->name, right->name);
	if (left->begin_ns != right->begin_ns)
		return compare(left->begin_ns, right->begin_ns);
	return compare(right->end_ns, left->end_ns);
}

/*
 * `opens` are begins, and `spans` has what ended: of each name and moment as many begins are open as are more than
 * ended.
 */
static enum ctx_status add_open(struct ctx_mark_spans *spans, struct ctx_mark_spans *opens, uint64_t end_ns,
				struct ctx_err *err)
{
	size_t n = spans->n, at = 0;
	enum ctx_status status = CTX_OK;

	if (n != 0)
		qsort(spans->items, n, sizeof(*spans->items), by_name_and_begin);
	if (opens->n != 0)
		qsort(opens->items, opens->n, sizeof(*opens->items), by_name_and_begin);
	for (size_t i = 0; i < opens->n && status == CTX_OK; i++) {
		struct ctx_mark_span *open = &opens->items[i];
		struct ctx_mark_span key = *open;

		key.end_ns = UINT64_MAX; /* before all that have its name and begin */
		while (at < n && (spans->items[at].kind == CTX_MARK_IS_POINT ||
				  by_name_and_begin(&spans->items[at], &key) < 0))
			at++;
		if (at < n && spans->items[at].name == open->name &&
		    spans->items[at].begin_ns == open->begin_ns &&
		    (spans->items[at].kind == CTX_MARK_IS_PAUSE) == (open->kind == CTX_MARK_IS_PAUSE)) {
			at++;
			continue;
		}
		open->end_ns = end_ns > open->begin_ns ? end_ns : open->begin_ns;
		status = ctx_grow(&spans->items, &spans->cap, spans->n + 1, err);
		if (status == CTX_OK)
			spans->items[spans->n++] = *open;
	}
	return status;
}

enum ctx_status ctx_mark_spans_make(const struct ctx_traced *operations, size_t n, uint64_t end_ns,
				    struct ctx_mark_spans *ret, struct ctx_err *err)
{
	struct ctx_mark_spans spans = {0}, opens = {0};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		const struct ctx_traced *operation = &operations[i];

		if (operation->operation == CTX_MARK_POINT)
			status = add(&spans, operation, CTX_MARK_IS_POINT, err);
		else if (operation->operation == CTX_MARK_BEGIN || operation->operation == CTX_MARK_BEGIN_ID)
			status = add(&opens, operation, CTX_MARK_IS_OPEN, err);
		else if (operation->operation == CTX_MARK_PAUSE)
			status = add(&opens, operation, CTX_MARK_IS_PAUSE, err);
		else if (ctx_mark_has_duration(operation))
			status = add(&spans, operation,
				     operation->operation == CTX_MARK_RESUME ? CTX_MARK_IS_PAUSE
									     : CTX_MARK_IS_INTERVAL,
				     err);
	}
	if (status == CTX_OK)
		status = add_open(&spans, &opens, end_ns, err);
	ctx_mark_spans_deinit(&opens);
	if (status != CTX_OK) {
		ctx_mark_spans_deinit(&spans);
		return status;
	}
	if (spans.n != 0)
		qsort(spans.items, spans.n, sizeof(*spans.items), by_begin);
	*ret = spans;
	return CTX_OK;
}

/* Texts */

bool ctx_mark_text_is(const char *text)
{
	return strncmp(text, PREFIX, strlen(PREFIX)) == 0 || strncmp(text, BETWEEN, strlen(BETWEEN)) == 0;
}

struct wanted { /* a name, and which one of it */
	const char *text;
	size_t n;	/* bytes of the name */
	uint64_t which; /* from 1; 0: the first that fits */
	bool all;
};

static bool is_name(const struct ctx_mark_view *view, uint32_t name, const struct wanted *wanted)
{
	return name < view->n_names && strlen(view->names[name]) == wanted->n &&
	       memcmp(view->names[name], wanted->text, wanted->n) == 0;
}

static bool is_wanted(const struct ctx_mark_view *view, const struct ctx_mark_span *span,
		      const struct wanted *wanted)
{
	return span->kind != CTX_MARK_IS_PAUSE && is_name(view, span->name, wanted);
}

static const struct ctx_mark_span *find_from(const struct ctx_mark_view *view, const struct wanted *wanted,
					     size_t *at)
{
	for (; *at < view->spans->n; (*at)++) {
		if (is_wanted(view, &view->spans->items[*at], wanted))
			return &view->spans->items[(*at)++];
	}
	return NULL;
}

/* "load#2": the second "load", unless there is a name with the '#'. */
static struct wanted read_wanted(const struct ctx_mark_view *view, const char *text, size_t n)
{
	struct wanted wanted = {.text = text, .n = n};
	const char *number = memrchr(text, '#', n);
	size_t at = 0, digits;

	if (number == NULL || find_from(view, &wanted, &at) != NULL)
		return wanted;
	digits = (size_t)(text + n - number) - 1;
	if (digits == 1 && number[1] == '*')
		wanted.all = true;
	else if (digits == 0 || digits > 9 || strspn(number + 1, "0123456789") < digits ||
		 strtoull(number + 1, NULL, 10) == 0)
		return wanted;
	else
		wanted.which = strtoull(number + 1, NULL, 10);
	wanted.n = (size_t)(number - text);
	return wanted;
}

static enum ctx_status refuse(const struct ctx_mark_view *view, const char *text, const struct wanted *wanted,
			      struct ctx_err *err)
{
	struct ctx_near near = {0};
	char list[256] = "";
	size_t at = 0, n = 0;
	int shown = (int)(wanted->n < 60 ? wanted->n : 60);

	while (find_from(view, wanted, &at) != NULL)
		n++;
	if (n != 0 && wanted->which == 0 && !wanted->all)
		return ctx_err_set(err, CTX_E_ARG, "interval '%s': no mark '%.*s' is behind its begin", text,
				   shown, wanted->text);
	if (n != 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "interval '%s': there is no such mark: '%.*s' is there %zu time%s", text,
				   shown, wanted->text, n, n == 1 ? "" : "s");
	if (view->spans->n == 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "interval '%s': the recording has no marks (ctx_trace.h, ctxrec --marks)",
				   text);
	for (uint32_t name = 0; name < view->n_names; name++) {
		const struct wanted other = {.text = view->names[name], .n = strlen(view->names[name])};

		at = 0;
		if (find_from(view, &other, &at) != NULL)
			ctx_near_consider(&near, other.text, other.n, wanted->text, wanted->n);
	}
	if (near.n == 0) /* none is near: some that there are */
		for (uint32_t name = 0; name < view->n_names && near.n < CTX_NEAR_MAX; name++) {
			const struct wanted other = {.text = view->names[name],
						     .n = strlen(view->names[name])};

			at = 0;
			if (find_from(view, &other, &at) != NULL)
				ctx_near_consider(&near, other.text, other.n, other.text, other.n);
		}
	ctx_near_list(&near, list, sizeof(list));
	return ctx_err_set(err, CTX_E_ARG, "interval '%s': no mark '%.*s'; there are: %s", text, shown,
			   wanted->text, list);
}

/* NULL: there is none. `after_ns`: the first that ends behind it, if no number is given. */
static const struct ctx_mark_span *find(const struct ctx_mark_view *view, const struct wanted *wanted,
					uint64_t after_ns)
{
	const struct ctx_mark_span *span, *first = NULL;
	uint64_t number = 0;
	size_t at = 0;

	while ((span = find_from(view, wanted, &at)) != NULL) {
		number++;
		if (wanted->which != 0 && number == wanted->which)
			return span;
		if (wanted->which == 0 && span->end_ns >= after_ns &&
		    (first == NULL || span->end_ns < first->end_ns))
			first = span;
	}
	return first;
}

static enum ctx_status put(struct ctx_mark_intervals *ret, const struct ctx_mark_view *view,
			   struct ctx_interval interval, struct ctx_err *err)
{
	enum ctx_status status;

	if (interval.end_ns > view->run.end_ns)
		interval.end_ns = view->run.end_ns;
	if (ctx_interval_is_empty(interval) || ret->n >= CTX_MARK_INTERVALS_MAX)
		return CTX_OK;
	status = ctx_grow(&ret->items, &ret->cap, ret->n + 1, err);
	if (status == CTX_OK)
		ret->items[ret->n++] = interval;
	return status;
}

/* "mark:NAME" */
static enum ctx_status put_named(const struct ctx_mark_view *view, const char *text,
				 struct ctx_mark_intervals *ret, struct ctx_err *err)
{
	struct wanted wanted = read_wanted(view, text + strlen(PREFIX), strlen(text) - strlen(PREFIX));
	const struct ctx_mark_span *span;
	enum ctx_status status = CTX_OK;
	uint64_t number = 0, wants = wanted.which != 0 ? wanted.which : 1;
	bool some = false, is_point = false;
	size_t at = 0;

	while (status == CTX_OK && (span = find_from(view, &wanted, &at)) != NULL) {
		is_point |= span->kind == CTX_MARK_IS_POINT;
		if (span->kind == CTX_MARK_IS_POINT || (++number != wants && !wanted.all))
			continue;
		some = true;
		status = put(ret, view, (struct ctx_interval){span->begin_ns, span->end_ns + 1}, err);
	}
	if (status == CTX_OK && !some && is_point && number == 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "interval '%s': the mark is a point: '%s..' is all behind it, and "
				   "'%s..mark:OTHER' what is between two",
				   text, text, text);
	return status == CTX_OK && !some ? refuse(view, text, &wanted, err) : status;
}

enum ctx_status ctx_mark_intervals_find(const struct ctx_mark_view *view, const char *text,
					struct ctx_mark_intervals *ret, struct ctx_err *err)
{
	const char *between = strstr(text, BETWEEN);
	size_t n = strlen(text), n_first = between != NULL ? (size_t)(between - text) : n;
	struct ctx_interval found = view->run;
	struct wanted wanted;
	const struct ctx_mark_span *span;

	if (between == NULL && (n < 2 || strcmp(text + n - 2, "..") != 0))
		return put_named(view, text, ret, err);
	if (between == NULL)
		n_first = n - 2;
	if (n_first != 0) {
		wanted = read_wanted(view, text + strlen(PREFIX), n_first - strlen(PREFIX));
		/* The first by its begin. */
		wanted.which = wanted.which != 0 ? wanted.which : 1;
		span = wanted.all ? NULL : find(view, &wanted, 0);
		if (span == NULL)
			return refuse(view, text, &wanted, err);
		found.begin_ns = span->begin_ns;
	}
	if (between != NULL) {
		const char *name = between + strlen(BETWEEN);

		wanted = read_wanted(view, name, strlen(name));
		span = wanted.all ? NULL : find(view, &wanted, found.begin_ns);
		if (span == NULL)
			return refuse(view, text, &wanted, err);
		found.end_ns = span->end_ns + 1;
	}
	if (found.end_ns <= found.begin_ns)
		return ctx_err_set(err, CTX_E_ARG, "interval '%s' ends before it begins", text);
	return put(ret, view, found, err);
}

uint64_t ctx_mark_percentile(const uint64_t *values, size_t n, unsigned percent)
{
	size_t rank = (size_t)(((__uint128_t)n * percent + 99) / 100);

	return values[rank != 0 ? rank - 1 : 0];
}
