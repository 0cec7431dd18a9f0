/*
 * Calls at levels of detail, against the list of all calls: sums of each thread and depth, and that long calls stay as
 * they are.
 */
#include "base/mem.h"
#include "report/call_spans.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define THREADS 3u
#define DEPTHS 6u
#define CALLS_MAX 20000u

struct world {
	struct ctx_call_span calls[CALLS_MAX]; /* in order of ends, the deeper first */
	size_t n;
};

static uint64_t length_of(const struct ctx_call_span *span)
{
	return span->end_ns - span->begin_ns;
}

/* A call from begin to at most `end`, after those that it makes. */
static uint64_t simulate(struct world *world, uint32_t thread, uint32_t depth, uint64_t begin, uint64_t end)
{
	uint64_t now = begin, inner = 0, to;
	struct ctx_call_span call = {.begin_ns = begin, .calls = 1, .thread = thread, .depth = depth};

	while (depth + 1 < DEPTHS && now < end && world->n + DEPTHS < CALLS_MAX && below(5) != 0) {
		uint64_t left = end - now, gap = below(4) == 0 ? below(left + 1) : below(3);
		uint64_t from = now + (gap < left ? gap : left), room = end - from;

		now = simulate(world, thread, depth + 1, from,
			       from + (below(3) == 0 ? below(room + 1) : below((room < 9 ? room : 9) + 1)));
		inner += now - from;
	}
	to = now + (now < end ? below(end - now + 1) : 0);
	call.end_ns = to;
	call.elapsed_ns = call.longest_ns = to - begin;
	call.self_ns = to - begin - inner;
	call.what = 1 + (uint32_t)below(4);
	world->calls[world->n++] = call;
	return to;
}

static void make(struct world *world)
{
	world->n = 0;
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		uint64_t now = below(100);

		for (uint64_t n = below(40); n != 0 && world->n + DEPTHS < CALLS_MAX; n--)
			now = simulate(world, thread, 0, now + below(20), now + 20 + below(3000));
	}
}

/* Whether all of the call's figures are in a span alone. */
static bool is_there(const struct ctx_call_spans *spans, const struct ctx_call_span *call)
{
	for (size_t i = 0; i < spans->n; i++) {
		const struct ctx_call_span *span = &spans->items[i];

		if (span->calls == 1 && span->thread == call->thread && span->depth == call->depth &&
		    span->begin_ns == call->begin_ns && span->end_ns == call->end_ns &&
		    span->self_ns == call->self_ns && span->what == call->what && !span->is_mixed)
			return true;
	}
	return false;
}

/* The span against the calls that lie inside it. */
static void check_span(const struct world *world, const struct ctx_call_span *span)
{
	uint64_t calls = 0, elapsed = 0, self = 0, longest = 0, first = UINT64_MAX, last = 0;
	bool has_other = false, has_what = false;

	for (size_t i = 0; i < world->n; i++) {
		const struct ctx_call_span *call = &world->calls[i];

		if (call->thread != span->thread || call->depth != span->depth ||
		    call->begin_ns < span->begin_ns || call->end_ns > span->end_ns)
			continue;
		/* One without length may belong to the run beside this one. */
		if (length_of(call) == 0 && span->begin_ns != span->end_ns &&
		    (call->begin_ns == span->begin_ns || call->end_ns == span->end_ns))
			continue;
		calls++;
		elapsed += call->elapsed_ns;
		self += call->self_ns;
		longest = call->longest_ns > longest ? call->longest_ns : longest;
		first = call->begin_ns < first ? call->begin_ns : first;
		last = call->end_ns > last ? call->end_ns : last;
		has_other |= call->what != span->what;
		has_what |= call->what == span->what && call->longest_ns == span->longest_ns;
	}
	assert_true(calls <= span->calls || span->begin_ns == span->end_ns);
	if (length_of(span) != 0 && span->longest_ns != 0) {
		assert_int_equal(elapsed, span->elapsed_ns);
		assert_int_equal(self, span->self_ns);
		assert_int_equal(longest, span->longest_ns);
		assert_true(has_what);
		assert_true(span->is_mixed || !has_other);
	}
}

static void check_sums(const struct world *world, const struct ctx_call_spans *spans)
{
	uint64_t sums[THREADS][DEPTHS][3] = {{{0}}}, wanted[THREADS][DEPTHS][3] = {{{0}}};

	for (size_t i = 0; i < world->n; i++) {
		uint64_t *sum = wanted[world->calls[i].thread][world->calls[i].depth];

		sum[0]++;
		sum[1] += world->calls[i].elapsed_ns;
		sum[2] += world->calls[i].self_ns;
	}
	for (size_t i = 0; i < spans->n; i++) {
		uint64_t *sum = sums[spans->items[i].thread][spans->items[i].depth];

		sum[0] += spans->items[i].calls;
		sum[1] += spans->items[i].elapsed_ns;
		sum[2] += spans->items[i].self_ns;
	}
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		for (uint32_t depth = 0; depth < DEPTHS; depth++) {
			for (unsigned k = 0; k < 3; k++)
				assert_int_equal(sums[thread][depth][k], wanted[thread][depth][k]);
		}
	}
}

/* Runs are short enough, no two overlap, and what was called by a call that is by itself stays inside it. */
static void check_places(const struct ctx_call_spans *spans)
{
	for (size_t i = 0; i < spans->n; i++) {
		const struct ctx_call_span *span = &spans->items[i];

		if (span->calls > 1)
			assert_true(length_of(span) <= spans->width_ns);
		if (i != 0 && span[-1].thread == span->thread && span[-1].depth == span->depth)
			assert_true(span[-1].end_ns <= span->begin_ns);
		for (size_t k = 0; k < spans->n && span->calls > 1; k++) {
			const struct ctx_call_span *caller = &spans->items[k];

			if (caller->thread != span->thread || caller->depth + 1 != span->depth ||
			    length_of(caller) < spans->width_ns || caller->end_ns <= span->begin_ns ||
			    caller->begin_ns >= span->end_ns)
				continue;
			assert_true(caller->begin_ns <= span->begin_ns && span->end_ns <= caller->end_ns);
		}
	}
}

static void check(const struct world *world, const struct ctx_call_spans *spans)
{
	check_sums(world, spans);
	check_places(spans);
	for (size_t i = 0; i < spans->n; i++)
		check_span(world, &spans->items[i]);
	for (size_t i = 0; i < world->n; i++) {
		if (spans->width_ns == 0 || length_of(&world->calls[i]) >= spans->width_ns)
			assert_true(is_there(spans, &world->calls[i]));
	}
}

static void fill(const struct world *world, struct ctx_call_spans *spans)
{
	for (size_t i = 0; i < world->n; i++)
		assert_int_equal(ctx_call_spans_add(spans, &world->calls[i], NULL), CTX_OK);
	assert_int_equal(ctx_call_spans_end(spans, NULL), CTX_OK);
}

static struct world *new_world(void)
{
	struct world *world = ctx_calloc(1, sizeof(*world));

	assert_non_null(world);
	return world;
}

static void test_call_spans__sums_and_long_calls_are_exact_at_every_width(void **state)
{
	static const uint64_t widths[] = {0, 1, 2, 8, 30, 100, 1000, UINT64_MAX};
	struct world *world = new_world();

	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		make(world);
		for (size_t i = 0; i < CTX_COUNT_OF(widths); i++) {
			struct ctx_call_spans spans = {.most = SIZE_MAX / 2, .width_ns = widths[i]};

			fill(world, &spans);
			assert_int_equal(spans.width_ns, widths[i]);
			if (widths[i] == 0)
				assert_int_equal(spans.n, world->n);
			check(world, &spans);
			ctx_call_spans_deinit(&spans);
		}
	}
	free(world);
}

static void test_call_spans__any_number_of_calls_becomes_a_few(void **state)
{
	struct world *world = new_world();
	bool any = false;

	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		struct ctx_call_spans spans = {.most = 1 + below(300)};
		size_t before;

		make(world);
		fill(world, &spans);
		assert_true(spans.n <= spans.most || spans.width_ns == UINT64_MAX);
		assert_true(spans.n <= spans.most || spans.n <= (size_t)THREADS * DEPTHS * 40);
		check(world, &spans);
		before = spans.n;
		assert_int_equal(ctx_call_spans_reduce(&spans, before / 3, NULL), CTX_OK);
		assert_true(spans.n <= before);
		check(world, &spans);
		any |= spans.width_ns != 0 && spans.width_ns != UINT64_MAX && spans.n > 20;
		ctx_call_spans_deinit(&spans);
	}
	assert_true(any);
	free(world);
}

/* Every call but the innermost ends when the innermost has: as many open runs as there are depths. */
static void test_call_spans__deep_recursion_takes_time_by_calls_not_by_depths(void **state)
{
	const uint32_t deepest = 100000;
	struct ctx_call_spans spans = {.most = SIZE_MAX / 2, .width_ns = 1u << 30};
	uint64_t calls = 0, self = 0;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t depth = deepest; depth-- != 0;) {
			struct ctx_call_span call = {.begin_ns = round * 1000000 + depth,
						     .end_ns = round * 1000000 + 2 * deepest - depth,
						     .calls = 1,
						     .self_ns = 2,
						     .what = 1,
						     .depth = depth};

			call.elapsed_ns = call.longest_ns = length_of(&call);
			assert_int_equal(ctx_call_spans_add(&spans, &call, NULL), CTX_OK);
		}
	}
	assert_int_equal(ctx_call_spans_end(&spans, NULL), CTX_OK);
	assert_int_equal(spans.n, deepest);
	for (size_t i = 0; i < spans.n; i++) {
		calls += spans.items[i].calls;
		self += spans.items[i].self_ns;
	}
	assert_int_equal(calls, 2 * deepest);
	assert_int_equal(self, 4 * deepest);
	ctx_call_spans_deinit(&spans);
}

/* The picture of the header. */
static void test_call_spans__runs_end_where_what_called_them_does(void **state)
{
	static const uint64_t ends[][3] = {/* begin, end, depth */
					   {2, 3, 2},	{1, 4, 1},   {5, 6, 2},	  {4, 7, 1},
					   {8, 9, 2},	{7, 10, 1},  {20, 40, 1}, {51, 52, 2},
					   {50, 53, 1}, {54, 55, 2}, {53, 56, 1}, {0, 60, 0}};
	static const uint64_t wanted[][4] = {/* begin, end, depth, calls */
					     {0, 60, 0, 1},  {1, 10, 1, 3}, {20, 40, 1, 1},
					     {50, 56, 1, 2}, {2, 9, 2, 3},  {51, 55, 2, 2}};
	struct ctx_call_spans spans = {.most = 1000, .width_ns = 10};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(ends); i++) {
		struct ctx_call_span call = {.begin_ns = ends[i][0],
					     .end_ns = ends[i][1],
					     .calls = 1,
					     .what = 1,
					     .depth = (uint32_t)ends[i][2]};

		assert_int_equal(ctx_call_spans_add(&spans, &call, NULL), CTX_OK);
	}
	assert_int_equal(ctx_call_spans_end(&spans, NULL), CTX_OK);
	assert_int_equal(spans.n, CTX_COUNT_OF(wanted));
	for (size_t i = 0; i < spans.n; i++) {
		assert_int_equal(spans.items[i].begin_ns, wanted[i][0]);
		assert_int_equal(spans.items[i].end_ns, wanted[i][1]);
		assert_int_equal(spans.items[i].depth, wanted[i][2]);
		assert_int_equal(spans.items[i].calls, wanted[i][3]);
	}
	ctx_call_spans_deinit(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_spans__sums_and_long_calls_are_exact_at_every_width),
		cmocka_unit_test(test_call_spans__any_number_of_calls_becomes_a_few),
		cmocka_unit_test(test_call_spans__deep_recursion_takes_time_by_calls_not_by_depths),
		cmocka_unit_test(test_call_spans__runs_end_where_what_called_them_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
