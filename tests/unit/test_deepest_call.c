/*
 * The deepest call with more than half of a time, and calls without those of hidden frames: each against the slow way.
 */
#include "base/mem.h"
#include "query/deepest_call.h"
#include "report/hidden_calls.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define NODES 30u
#define THREADS 2u
#define CALLS_MAX 400u

static void make_tree(struct ctx_trie *cct)
{
	uint32_t node = 0;

	assert_int_equal(ctx_trie_init(cct, NULL), CTX_OK);
	while (cct->n < NODES)
		assert_int_equal(
			ctx_trie_child(cct, (uint32_t)below(cct->n), (uint32_t)below(9), &node, NULL),
			CTX_OK);
}

static bool is_below(const struct ctx_trie *cct, uint32_t node, uint32_t above)
{
	while (node != above && node != CTX_TRIE_ROOT)
		node = cct->parent[node];
	return node == above;
}

static void test_deepest_call__is_that_of_a_look_at_every_node(void **state)
{
	unsigned found = 0;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct ctx_deepest_call deepest = {0};
		struct ctx_trie cct = {0};

		make_tree(&cct);
		for (unsigned again = 0; again < 3; again++) {
			struct ctx_histogram histogram = {0};
			uint64_t whole, entered = 0;
			uint32_t wanted = CTX_TRIE_ROOT;

			for (uint64_t n = below(12); n != 0; n--)
				assert_int_equal(ctx_histogram_add(&histogram,
								   (struct ctx_hist_entry){
									   .stack = (uint32_t)below(cct.n),
									   .weight = below(4) * 10,
									   .samples = 1,
									   .calls = (int64_t)below(5) - 1},
								   NULL),
						 CTX_OK);
			whole = histogram.weight + below(20);
			for (uint32_t node = 1; node < cct.n; node++) {
				uint64_t weight = 0;
				int64_t calls = 0;

				for (size_t i = 0; i < histogram.n; i++) {
					if (!is_below(&cct, histogram.entries[i].stack, node))
						continue;
					weight += histogram.entries[i].weight;
					calls += histogram.entries[i].calls;
				}
				if (weight * 2 <= whole)
					continue;
				if (wanted == CTX_TRIE_ROOT || cct.depth[node] > cct.depth[wanted]) {
					wanted = node;
					entered = calls > 0 ? (uint64_t)calls : 0;
				}
			}
			assert_int_equal(ctx_deepest_call_find(&deepest, &cct, &histogram, whole, NULL),
					 CTX_OK);
			assert_int_equal(deepest.found, wanted);
			assert_int_equal(deepest.entered, entered);
			found += wanted != CTX_TRIE_ROOT;
			ctx_histogram_deinit(&histogram);
		}
		ctx_deepest_call_deinit(&deepest);
		ctx_trie_deinit(&cct);
	}
	assert_true(found > 100);
}

/* --- hidden calls --- */

struct shown {
	struct ctx_traced calls[CALLS_MAX];
	bool passes[CALLS_MAX];
	size_t n;
};

static enum ctx_status take(void *context, const struct ctx_traced *call, bool passes, struct ctx_err *err)
{
	struct shown *shown = context;

	(void)err;
	shown->passes[shown->n] = passes;
	shown->calls[shown->n++] = *call;
	return CTX_OK;
}

struct done {
	struct ctx_traced call;
	uint32_t caller; /* index of a later call; CTX_NONE */
	bool hidden;
};

/* A call of `node`, after the calls that it makes; those of a thread in order of their ends. */
static uint32_t simulate(const struct ctx_trie *cct, const bool *hidden, struct done *done, size_t *n,
			 uint32_t node, uint32_t thread)
{
	size_t first[8], n_inner = 0;

	for (uint32_t child = 1; child < cct->n && n_inner < 8 && *n < CALLS_MAX - 8; child++) {
		if (child != node && cct->parent[child] == node && below(3) != 0)
			first[n_inner++] = simulate(cct, hidden, done, n, child, thread);
	}
	for (size_t i = 0; i < n_inner; i++)
		done[first[i]].caller = (uint32_t)*n;
	done[*n] =
		(struct done){.call = {.time_ns = *n, .self_ns = below(100), .stack = node, .thread = thread},
			      .caller = CTX_NONE,
			      .hidden = hidden[node]};
	return (uint32_t)(*n)++;
}

static void test_hidden_calls__what_they_ran_is_their_callers(void **state)
{
	struct done *done = ctx_calloc(CALLS_MAX, sizeof(*done));
	struct shown *shown = ctx_calloc(1, sizeof(*shown));

	(void)state;
	assert_true(done != NULL && shown != NULL);
	for (unsigned round = 0; round < 200; round++) {
		struct ctx_trie cct = {0};
		bool hidden[NODES] = {false};
		uint32_t stack_of[NODES] = {0};
		struct ctx_hidden_calls calls = {
			.cct = &cct, .stack_of = stack_of, .each = take, .context = shown};
		size_t n = 0, at = 0;

		make_tree(&cct);
		for (uint32_t node = 1; node < cct.n; node++) {
			hidden[node] = below(3) == 0;
			/* Any number tells those apart that are left. */
			stack_of[node] = hidden[node] ? stack_of[cct.parent[node]] : 1000 + node;
		}
		for (uint32_t thread = 0; thread < THREADS; thread++) {
			for (uint32_t node = 1; node < cct.n; node++) {
				if (cct.parent[node] == CTX_TRIE_ROOT && n < CALLS_MAX - 8)
					simulate(&cct, hidden, done, &n, node, thread);
			}
		}
		shown->n = 0;
		for (size_t i = 0; i < n; i++)
			assert_int_equal(ctx_hidden_calls_pass(&calls, &done[i].call, i % 2 == 0, NULL),
					 CTX_OK);
		/* Slowly: what is hidden goes up by itself. */
		for (size_t i = 0; i < n; i++) {
			if (done[i].hidden && done[i].caller != CTX_NONE)
				done[done[i].caller].call.self_ns += done[i].call.self_ns;
		}
		for (size_t i = 0; i < n; i++) {
			if (done[i].hidden)
				continue;
			assert_true(at < shown->n);
			assert_int_equal(shown->calls[at].time_ns, i);
			assert_int_equal(shown->calls[at].self_ns, done[i].call.self_ns);
			assert_int_equal(shown->calls[at].stack, 1000 + done[i].call.stack);
			assert_int_equal(shown->passes[at], i % 2 == 0);
			at++;
		}
		assert_int_equal(shown->n, at);
		ctx_hidden_calls_deinit(&calls);
		ctx_trie_deinit(&cct);
	}
	free(done);
	free(shown);
}

/* a > b > c: of sums, the time of hidden paths is their caller's, and durations of hidden functions are left out. */
static void test_hidden_calls__time_of_hidden_sums_is_their_callers(void **state)
{
	enum { A = 1, B, C, N };
	const struct ctx_traced given[] = {{.time_ns = 9, .self_ns = 5, .stack = C},
					   {.time_ns = 9, .value = 7, .stack = C},
					   {.time_ns = 9, .self_ns = 3, .stack = B},
					   {.time_ns = 8, .duration_ns = 2, .value = 7, .stack = A},
					   {.time_ns = 9, .value = 1, .stack = A}};
	const struct {
		uint32_t stack_of[N];
		struct shown_sum {
			uint32_t stack;
			int64_t calls;
			uint64_t self_ns, duration_ns;
		} want[CTX_COUNT_OF(given)];
		size_t n;
	} cases[] = {
		{{0, A, B, C}, {{C, 0, 5, 0}, {C, 7, 0, 0}, {B, 0, 3, 0}, {A, 7, 0, 2}, {A, 1, 0, 0}}, 5},
		{{0, A, A, C}, {{C, 0, 5, 0}, {C, 7, 0, 0}, {A, 0, 3, 0}, {A, 7, 0, 2}, {A, 1, 0, 0}}, 5},
		{{0, A, B, B}, {{B, 0, 5, 0}, {B, 0, 0, 0}, {B, 0, 3, 0}, {A, 7, 0, 2}, {A, 1, 0, 0}}, 5},
		{{0, 0, B, C}, {{C, 0, 5, 0}, {C, 7, 0, 0}, {B, 0, 3, 0}}, 3},
	};
	struct shown *shown = ctx_calloc(1, sizeof(*shown));
	struct ctx_trie cct;
	uint32_t node = CTX_TRIE_ROOT;

	(void)state;
	assert_non_null(shown);
	assert_int_equal(ctx_trie_init(&cct, NULL), CTX_OK);
	for (uint32_t i = A; i < N; i++)
		assert_int_equal(ctx_trie_child(&cct, node, i, &node, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		struct ctx_hidden_calls calls = {.cct = &cct,
						 .stack_of = cases[i].stack_of,
						 .sums = true,
						 .each = take,
						 .context = shown};

		shown->n = 0;
		for (size_t k = 0; k < CTX_COUNT_OF(given); k++)
			assert_int_equal(ctx_hidden_calls_pass(&calls, &given[k], true, NULL), CTX_OK);
		assert_int_equal(shown->n, cases[i].n);
		for (size_t k = 0; k < shown->n; k++) {
			assert_int_equal(shown->calls[k].stack, cases[i].want[k].stack);
			assert_int_equal(shown->calls[k].value, cases[i].want[k].calls);
			assert_int_equal(shown->calls[k].self_ns, cases[i].want[k].self_ns);
			assert_int_equal(shown->calls[k].duration_ns, cases[i].want[k].duration_ns);
		}
		ctx_hidden_calls_deinit(&calls);
	}
	ctx_trie_deinit(&cct);
	free(shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deepest_call__is_that_of_a_look_at_every_node),
		cmocka_unit_test(test_hidden_calls__what_they_ran_is_their_callers),
		cmocka_unit_test(test_hidden_calls__time_of_hidden_sums_is_their_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
