/*
 * Calls and locks over time in the HTML page: what is encoded is read back, as docs/html-page.md describes it.
 */
#include "base/cursor.h"
#include "base/mem.h"
#include "fake_source.h"
#include "report/html_calls.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAIN = 1, PARSE, LEX, NODES }; /* main > parse > lex */

#define END_NS 1000u
#define THREADS 3u

/* A call that ends at `end`, and a lock that was released then. */
#define CALL(begin, end, node, of, own)                                                                      \
	{                                                                                                    \
		.time_ns = (end), .duration_ns = (end) - (begin), .stack = (node), .thread = (of),           \
		.self_ns = (own), .kind = CTX_TRACED_CALL                                                    \
	}
#define HOLD(begin, end, object, of, node)                                                                   \
	{                                                                                                    \
		.time_ns = (end), .duration_ns = (end) - (begin), .address = (object), .thread = (of),       \
		.stack = (node), .kind = CTX_TRACED_SYNC, .operation = CTX_SYNC_HOLD                         \
	}

static const struct ctx_traced calls_done[] = {
	CALL(110, 120, LEX, 0, 10), CALL(130, 135, LEX, 0, 5),	   CALL(100, 140, PARSE, 0, 25),
	CALL(50, 60, MAIN, 2, 9),   CALL(200, 400, PARSE, 0, 200), CALL(0, 900, MAIN, 0, 660),
};

/* Thread 0 holds two locks at a time, one inside the other and one beyond its end; a wait is no lock. */
static const struct ctx_traced locks_held[] = {
	HOLD(120, 130, 0x20, 0, PARSE),
	HOLD(110, 140, 0x10, 0, PARSE),
	HOLD(130, 150, 0x20, 0, 0),
	{.time_ns = 160, .duration_ns = 5, .kind = CTX_TRACED_SYNC, .operation = CTX_SYNC_MUTEX},
	HOLD(300, 310, 0x10, 2, MAIN),
};

struct fixture {
	struct ctx_profile profile;
	struct ctx_function_info functions[NODES - 1];
	struct ctx_thread_info threads[THREADS];
	struct ctx_interval interval;
	struct fake_source fake;
};

static struct fixture *make(void)
{
	struct fixture *fixture = ctx_calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	assert_int_equal(ctx_trie_init(&fixture->profile.cct, NULL), CTX_OK);
	for (uint32_t i = MAIN; i < NODES; i++) {
		uint32_t node;

		assert_int_equal(ctx_trie_child(&fixture->profile.cct, i - 1, i - 1, &node, NULL), CTX_OK);
	}
	fixture->profile.functions = fixture->functions;
	fixture->profile.n_functions = NODES - 1;
	fixture->profile.threads = fixture->threads;
	fixture->profile.n_threads = THREADS;
	fixture->profile.run.end_ns = END_NS;
	fixture->profile.traced[CTX_TRACED_CALL] = CTX_COUNT_OF(calls_done);
	fixture->profile.traced[CTX_TRACED_SYNC] = CTX_COUNT_OF(locks_held);
	fixture->interval = fixture->profile.run;
	fixture->fake = (struct fake_source){
		.profile = &fixture->profile, .intervals = &fixture->interval, .n_intervals = 1};
	fixture->fake.traced[CTX_TRACED_CALL] =
		(struct ctx_report_traced){calls_done, CTX_COUNT_OF(calls_done)};
	fixture->fake.traced[CTX_TRACED_SYNC] =
		(struct ctx_report_traced){locks_held, CTX_COUNT_OF(locks_held)};
	return fixture;
}

static void drop(struct fixture *fixture)
{
	ctx_trie_deinit(&fixture->profile.cct);
	free(fixture);
}

/* "begin-end:what", of a run with its calls and "*" if they are of several; its elapsed and self time, and the longest. */
static void read_row(struct ctx_cursor *cursor, struct ctx_buf *text)
{
	uint64_t n = ctx_cursor_get_varint(cursor), begins[8], ends[8], calls[8], end = 0;
	int64_t gaps[8], whats[8], others[8], what = 0;

	assert_true(n <= 8);
	for (uint64_t i = 0; i < n; i++)
		gaps[i] = ctx_cursor_get_zigzag(cursor);
	for (uint64_t i = 0; i < n; i++) {
		begins[i] = end + (uint64_t)gaps[i];
		ends[i] = end = begins[i] + ctx_cursor_get_varint(cursor);
	}
	for (uint64_t i = 0; i < n; i++)
		whats[i] = what += ctx_cursor_get_zigzag(cursor);
	for (uint64_t i = 0; i < n; i++)
		calls[i] = ctx_cursor_get_varint(cursor);
	for (uint64_t i = 0; i < n; i++)
		others[i] = ctx_cursor_get_zigzag(cursor);
	for (uint64_t i = 0; i < n; i++) {
		int64_t elapsed = (int64_t)(ends[i] - begins[i]);

		ctx_buf_printf(text, " %" PRIu64 "-%" PRIu64 ":%" PRId64, begins[i], ends[i], whats[i]);
		if (calls[i] / 2 != 1) {
			elapsed -= ctx_cursor_get_zigzag(cursor);
			ctx_buf_printf(text, "x%" PRIu64 "%s e%" PRId64 " l%" PRId64, calls[i] / 2,
				       calls[i] % 2 != 0 ? "*" : "", elapsed,
				       elapsed - ctx_cursor_get_zigzag(cursor));
		}
		ctx_buf_printf(text, " s%" PRId64, elapsed - others[i]);
	}
}

static void read_rows(struct ctx_cursor *cursor, const char *name, struct ctx_buf *text)
{
	uint64_t n = ctx_cursor_get_varint(cursor);

	for (uint64_t i = 0; i < n; i++) {
		ctx_buf_printf(text, "%s%" PRIu64 ":", name, i);
		read_row(cursor, text);
		ctx_buf_put_u8(text, '\n');
	}
}

/* The bytes in words; nodes are ten times their ids. */
static void expect(const struct ctx_html_calls *calls, const char *wanted)
{
	static const uint32_t nodes[NODES] = {0, 10, 20, 30};
	struct ctx_buf bytes CTX_AUTO_BUF = {0}, text CTX_AUTO_BUF = {0};
	struct ctx_cursor cursor;
	uint64_t n;

	ctx_html_calls_put(calls, nodes, &bytes);
	assert_false(bytes.failed);
	cursor = ctx_cursor_make(bytes.bytes, bytes.n);
	ctx_buf_printf(&text, "width %" PRIu64, ctx_cursor_get_varint(&cursor));
	ctx_buf_printf(&text, " from %" PRIu64, ctx_cursor_get_varint(&cursor));
	ctx_buf_printf(&text, " for %" PRIu64 "\n", ctx_cursor_get_varint(&cursor));
	n = ctx_cursor_get_varint(&cursor);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t length = ctx_cursor_get_varint(&cursor);

		ctx_buf_printf(&text, "lock %.*s", (int)length,
			       (const char *)ctx_cursor_get_bytes(&cursor, (size_t)length));
		ctx_buf_printf(&text, " %" PRIu64 "\n", ctx_cursor_get_varint(&cursor));
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		ctx_buf_printf(&text, "thread %u\n", i);
		read_rows(&cursor, "depth ", &text);
		read_rows(&cursor, "locks ", &text);
	}
	assert_false(cursor.failed);
	assert_int_equal(ctx_cursor_left(&cursor), 0);
	ctx_buf_put_u8(&text, '\0');
	assert_string_equal((const char *)text.bytes, wanted);
}

#define LOCKS "lock 0x10 10\nlock 0x10 20\nlock 0x20 0\nlock 0x20 20\n"

static void test_html_calls__calls_and_locks_are_read_back(void **state)
{
	struct fixture *fixture = make();
	struct ctx_html_calls calls = {.input = fake_export(&fixture->fake)};
	bool used[NODES] = {false};

	(void)state;
	assert_true(ctx_html_calls_are_there(&fixture->profile));
	assert_int_equal(ctx_html_calls_collect(&calls, 1000, NULL), CTX_OK);
	assert_int_equal(calls.n_calls, CTX_COUNT_OF(calls_done));
	expect(&calls, "width 0 from 0 for 1000\n" LOCKS "thread 0\n"
		       "depth 0: 0-900:10 s660\n"
		       "depth 1: 100-140:20 s25 200-400:20 s200\n"
		       "depth 2: 110-120:30 s10 130-135:30 s5\n"
		       "locks 0: 110-140:1 s30\n"
		       "locks 1: 120-130:3 s10 130-150:2 s20\n"
		       "thread 1\n"
		       "thread 2\n"
		       "depth 0: 50-60:10 s9\n"
		       "locks 0: 300-310:0 s10\n");
	ctx_html_calls_mark(&calls, used);
	for (uint32_t i = 0; i < NODES; i++)
		assert_true(used[i]);
	ctx_html_calls_deinit(&calls);
	drop(fixture);
}

static void test_html_calls__runs_are_those_of_the_width(void **state)
{
	struct fixture *fixture = make();
	struct ctx_html_calls calls = {.input = fake_export(&fixture->fake)};

	(void)state;
	assert_int_equal(ctx_html_calls_collect(&calls, 1000, NULL), CTX_OK);
	assert_int_equal(ctx_html_calls_reduce(&calls, 5, NULL), CTX_OK);
	assert_int_equal(ctx_html_calls_width(&calls), 64);
	expect(&calls, "width 64 from 0 for 1000\n" LOCKS "thread 0\n"
		       "depth 0: 0-900:10 s660\n"
		       "depth 1: 100-140:20 s25 200-400:20 s200\n"
		       "depth 2: 110-135:30x2 e15 l10 s15\n"
		       "locks 0: 110-140:1 s30\n"
		       "locks 1: 120-130:3 s10 130-150:2 s20\n"
		       "thread 1\n"
		       "thread 2\n"
		       "depth 0: 50-60:10 s9\n"
		       "locks 0: 300-310:0 s10\n");
	ctx_html_calls_deinit(&calls);
	drop(fixture);
}

static void test_html_calls__a_selection_has_the_calls_that_overlap_it(void **state)
{
	static const uint32_t threads[] = {0};
	struct fixture *fixture = make();
	struct ctx_html_calls calls = {.is_restricted = true};

	(void)state;
	fixture->interval = (struct ctx_interval){135, 250};
	fixture->fake.threads = threads;
	fixture->fake.n_threads = 1;
	fixture->fake.traced[CTX_TRACED_SYNC].n = 0;
	calls.input = fake_export(&fixture->fake);
	assert_int_equal(ctx_html_calls_collect(&calls, 1000, NULL), CTX_OK);
	assert_int_equal(calls.n_calls, 3);
	expect(&calls, "width 0 from 135 for 115\nthread 0\n"
		       "depth 0: 0-900:10 s660\n"
		       "depth 1: 100-140:20 s25 200-400:20 s200\n"
		       "thread 1\nthread 2\n");
	ctx_html_calls_deinit(&calls);
	drop(fixture);
}

static void test_html_calls__sums_of_calls_are_no_calls(void **state)
{
	struct fixture *fixture = make();
	struct ctx_html_calls calls = {.input = fake_export(&fixture->fake)};

	(void)state;
	fixture->profile.losses.call_log = true;
	assert_true(ctx_html_calls_are_there(&fixture->profile));
	assert_int_equal(ctx_html_calls_collect(&calls, 1000, NULL), CTX_OK);
	assert_int_equal(calls.n_calls, 0);
	expect(&calls, "width 0 from 0 for 1000\n" LOCKS "thread 0\n"
		       "locks 0: 110-140:1 s30\n"
		       "locks 1: 120-130:3 s10 130-150:2 s20\n"
		       "thread 1\n"
		       "thread 2\n"
		       "locks 0: 300-310:0 s10\n");
	ctx_html_calls_deinit(&calls);
	fixture->profile.traced[CTX_TRACED_SYNC] = 0;
	assert_false(ctx_html_calls_are_there(&fixture->profile));
	drop(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html_calls__calls_and_locks_are_read_back),
		cmocka_unit_test(test_html_calls__runs_are_those_of_the_width),
		cmocka_unit_test(test_html_calls__a_selection_has_the_calls_that_overlap_it),
		cmocka_unit_test(test_html_calls__sums_of_calls_are_no_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
