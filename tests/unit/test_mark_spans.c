/* Spans of what programs say of themselves, against a slow search; percentiles; which of them a text names. */
#include "model/mark_spans.h"

#include "base/mem.h"
#include "chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OPERATIONS 400u
#define NAMES 4u

/* Begins and ends as a reader of a recording puts them together: a stack of open intervals for each thread. */
static size_t make(uint64_t seed, struct ctx_traced *operations)
{
	struct {
		uint64_t begin_ns;
		uint32_t name, thread;
	} open[OPERATIONS];
	size_t n = 20 + random_below(&seed, OPERATIONS - 20), n_open = 0;
	uint64_t now = 0;

	for (size_t i = 0; i < n; i++) {
		struct ctx_traced *operation = &operations[i];

		now += random_below(&seed, 3); /* many at the same moment */
		*operation = (struct ctx_traced){.time_ns = now,
						 .kind = CTX_TRACED_MARK,
						 .file = (uint32_t)random_below(&seed, NAMES),
						 .thread = (uint32_t)random_below(&seed, 2)};
		switch (random_below(&seed, 6)) {
		case 0:
			operation->operation = CTX_MARK_POINT;
			break;
		case 1:
			operation->operation = CTX_MARK_COUNTER;
			break;
		case 2:
		case 3:
			operation->operation = CTX_MARK_BEGIN;
			open[n_open].begin_ns = now;
			open[n_open].name = operation->file;
			open[n_open++].thread = operation->thread;
			break;
		default:
			operation->operation = CTX_MARK_END;
			operation->failed = true;
			for (size_t k = n_open; k-- > 0;) {
				if (open[k].name != operation->file || open[k].thread != operation->thread)
					continue;
				operation->failed = false;
				operation->duration_ns = now - open[k].begin_ns;
				n_open--;
				memmove(&open[k], &open[k + 1], (n_open - k) * sizeof(open[0]));
				break;
			}
		}
	}
	return n;
}

/* How many of the spans are like this one. */
static size_t count(const struct ctx_mark_spans *spans, const struct ctx_mark_span *like)
{
	size_t n = 0;

	for (size_t i = 0; i < spans->n; i++)
		n += spans->items[i].begin_ns == like->begin_ns && spans->items[i].end_ns == like->end_ns &&
		     spans->items[i].name == like->name && spans->items[i].kind == like->kind;
	return n;
}

/* The begins of a name and a moment, less the intervals that began then: so many are open. */
static size_t slowly_open(const struct ctx_traced *operations, size_t n, uint32_t name, uint64_t begin_ns)
{
	size_t begins = 0, ends = 0;

	for (size_t i = 0; i < n; i++) {
		if (operations[i].file != name)
			continue;
		begins += operations[i].operation == CTX_MARK_BEGIN && operations[i].time_ns == begin_ns;
		ends += operations[i].operation == CTX_MARK_END && !operations[i].failed &&
			operations[i].time_ns - operations[i].duration_ns == begin_ns;
	}
	return begins - ends;
}

static void test_mark_spans__spans_are_what_a_slow_search_finds(void **state)
{
	struct ctx_traced operations[OPERATIONS];

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		size_t n = make(seed, operations), n_spans = 0, n_open = 0;
		struct ctx_mark_spans spans;

		assert_int_equal(ctx_mark_spans_make(operations, n, 5000, &spans, NULL), CTX_OK);
		for (size_t i = 0; i < n; i++) {
			const struct ctx_traced *operation = &operations[i];
			struct ctx_mark_span like = {operation->time_ns - operation->duration_ns,
						     operation->time_ns, operation->file, 0,
						     CTX_MARK_IS_POINT};

			if (operation->operation == CTX_MARK_END && !operation->failed)
				like.kind = CTX_MARK_IS_INTERVAL;
			else if (operation->operation != CTX_MARK_POINT)
				continue;
			assert_true(count(&spans, &like) != 0);
			n_spans++;
		}
		for (uint32_t name = 0; name < NAMES; name++) {
			for (uint64_t at = 0; at <= operations[n - 1].time_ns; at++) {
				const struct ctx_mark_span like = {at, 5000, name, 0, CTX_MARK_IS_OPEN};
				size_t open = slowly_open(operations, n, name, at);

				assert_int_equal(count(&spans, &like), open);
				n_open += open;
			}
		}
		assert_int_equal(spans.n, n_spans + n_open);
		for (size_t i = 1; i < spans.n; i++)
			assert_true(spans.items[i - 1].begin_ns <= spans.items[i].begin_ns);
		ctx_mark_spans_deinit(&spans);
	}
}

static void test_mark_spans__a_pause_is_no_interval_of_its_name(void **state)
{
	const struct ctx_traced operations[] = {
		{.time_ns = 10, .operation = CTX_MARK_BEGIN, .file = 0},
		{.time_ns = 10, .operation = CTX_MARK_PAUSE, .file = 0},
		{.time_ns = 30, .operation = CTX_MARK_RESUME, .duration_ns = 20, .file = 0},
		{.time_ns = 40, .operation = CTX_MARK_PAUSE, .file = 0},
	};
	const struct ctx_mark_span wanted[] = {{10, 90, 0, 0, CTX_MARK_IS_OPEN},
					       {10, 30, 0, 0, CTX_MARK_IS_PAUSE},
					       {40, 90, 0, 0, CTX_MARK_IS_PAUSE}};
	struct ctx_mark_spans spans;

	(void)state;
	assert_int_equal(ctx_mark_spans_make(operations, CTX_COUNT_OF(operations), 90, &spans, NULL), CTX_OK);
	assert_int_equal(spans.n, CTX_COUNT_OF(wanted));
	for (size_t i = 0; i < spans.n; i++)
		assert_int_equal(count(&spans, &wanted[i]), 1);
	ctx_mark_spans_deinit(&spans);
}

/* By counting: at least so many percent are not above it, and of no smaller value so. */
static void test_mark_spans__a_percentile_is_the_smallest_value_that_reaches_it(void **state)
{
	uint64_t values[120], seed = 3;

	(void)state;
	for (size_t n = 1; n <= CTX_COUNT_OF(values); n++) {
		values[n - 1] = (n > 1 ? values[n - 2] : 0) + random_below(&seed, 3);
		for (unsigned percent = 0; percent <= 100; percent++) {
			uint64_t got = ctx_mark_percentile(values, n, percent), wanted = values[n - 1];

			for (size_t i = n; i-- > 0;) {
				size_t below = 0;

				while (below < n && values[below] <= values[i])
					below++;
				if (below * 100 >= (size_t)percent * n)
					wanted = values[i];
			}
			assert_int_equal(got, wanted);
		}
	}
}

static const char *const names[] = {"load", "ready", "done", "a#2", "a", "file", "twice"};

static const struct ctx_mark_span items[] = {
	{0, 0, 1, 0, CTX_MARK_IS_POINT},	/* ready */
	{100, 200, 0, 0, CTX_MARK_IS_INTERVAL}, /* load */
	{150, 250, 0, 1, CTX_MARK_IS_INTERVAL}, /* load */
	{300, 300, 2, 0, CTX_MARK_IS_POINT},	/* done */
	{350, 360, 3, 0, CTX_MARK_IS_INTERVAL}, /* a#2 */
	{400, 450, 4, 0, CTX_MARK_IS_INTERVAL}, /* a */
	{410, 420, 4, 0, CTX_MARK_IS_INTERVAL}, /* a */
	{500, 500, 1, 0, CTX_MARK_IS_POINT},	/* ready */
	{600, 1000, 6, 0, CTX_MARK_IS_OPEN},	/* twice */
	{700, 800, 0, 0, CTX_MARK_IS_PAUSE},	/* no interval, whatever it is called */
	{900, 900, 2, 0, CTX_MARK_IS_POINT},	/* done */
};

static const struct ctx_mark_spans all = {.items = (struct ctx_mark_span *)(uintptr_t)items,
					  .n = CTX_COUNT_OF(items)};

static enum ctx_status find(const char *text, struct ctx_mark_intervals *ret, struct ctx_err *err)
{
	const struct ctx_mark_view view = {&all, names, CTX_COUNT_OF(names), {0, 1000}};

	*ret = (struct ctx_mark_intervals){0};
	assert_true(ctx_mark_text_is(text));
	return ctx_mark_intervals_find(&view, text, ret, err);
}

static void test_mark_spans__a_text_names_intervals(void **state)
{
	static const struct {
		const char *text;
		struct ctx_interval wanted[3];
	} cases[] = {
		{"mark:load", {{100, 201}}},
		{"mark:load#1", {{100, 201}}},
		{"mark:load#2", {{150, 251}}},
		{"mark:load#*", {{100, 201}, {150, 251}}},
		{"mark:a#2", {{350, 361}}}, /* a name with the character is taken first */
		{"mark:a", {{400, 451}}},
		{"mark:a#1", {{400, 451}}},
		{"mark:twice", {{600, 1000}}},
		{"mark:ready..mark:done", {{0, 301}}},
		{"mark:load..mark:done", {{100, 301}}},
		{"mark:load#2..mark:load#1", {{150, 201}}},
		{"mark:ready#2..mark:done", {{500, 901}}},
		{"mark:ready..mark:done#2", {{0, 901}}},
		{"mark:done..", {{300, 1000}}},
		{"mark:done#2..", {{900, 1000}}},
		{"..mark:done", {{0, 301}}},
		{"..mark:load", {{0, 201}}},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_mark_intervals got;
		struct ctx_err err = {0};
		size_t n = 0;

		if (find(cases[i].text, &got, &err) != CTX_OK)
			fail_msg("%s: %s", cases[i].text, err.msg);
		while (n < 3 && cases[i].wanted[n].end_ns != 0)
			n++;
		assert_int_equal(got.n, n);
		for (size_t k = 0; k < n; k++) {
			if (got.items[k].begin_ns != cases[i].wanted[k].begin_ns ||
			    got.items[k].end_ns != cases[i].wanted[k].end_ns)
				fail_msg("%s: %llu:%llu", cases[i].text,
					 (unsigned long long)got.items[k].begin_ns,
					 (unsigned long long)got.items[k].end_ns);
		}
		free(got.items);
	}
}

static void test_mark_spans__a_text_that_names_nothing_is_refused_with_what_there_is(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"mark:lod", "no mark 'lod'; there are: 'load'"},
		{"mark:", "there are: 'load', 'ready', 'done', 'a#2', 'a'"},
		{"mark:file", "no mark 'file'"}, /* a name of something else */
		{"mark:ready", "is a point"},
		{"mark:load#3", "'load' is there 2 times"},
		{"mark:load#0", "no mark 'load#0'"},
		{"mark:load#99999999999", "no mark 'load#99999999999'"},
		{"mark:load#*..mark:done", "there is no such mark"},
		{"mark:done#2..mark:ready", "no mark 'ready' is behind its begin"},
		{"mark:done#2..mark:ready#1", "ends before it begins"},
		{"mark:nothing..mark:done", "no mark 'nothing'"},
		{"..mark:nothing", "no mark 'nothing'"},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_mark_intervals got;
		struct ctx_err err = {0};

		assert_int_equal(find(cases[i].text, &got, &err), CTX_E_ARG);
		assert_int_equal(got.n, 0);
		if (strstr(err.msg, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].text, err.msg);
	}
	assert_false(ctx_mark_text_is("300:700"));
	assert_false(ctx_mark_text_is(":"));
}

static void test_mark_spans__a_recording_without_marks_says_so(void **state)
{
	const struct ctx_mark_spans none = {0};
	const struct ctx_mark_view view = {&none, NULL, 0, {0, 1000}};
	struct ctx_mark_intervals got = {0};
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(ctx_mark_intervals_find(&view, "mark:load", &got, &err), CTX_E_ARG);
	assert_non_null(strstr(err.msg, "has no marks"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mark_spans__spans_are_what_a_slow_search_finds),
		cmocka_unit_test(test_mark_spans__a_pause_is_no_interval_of_its_name),
		cmocka_unit_test(test_mark_spans__a_percentile_is_the_smallest_value_that_reaches_it),
		cmocka_unit_test(test_mark_spans__a_text_names_intervals),
		cmocka_unit_test(test_mark_spans__a_text_that_names_nothing_is_refused_with_what_there_is),
		cmocka_unit_test(test_mark_spans__a_recording_without_marks_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
