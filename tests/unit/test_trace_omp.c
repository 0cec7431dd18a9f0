/*
 * Records of OpenMP: what makes no sense is none; the function of a construct becomes the leaf of its stack; what is written in the short
 * way comes out in order, never beyond what was read.
 */
#include "collect/trace_omp.h"
#include "collect/trace_texts.h"

#include "base/mem.h"
#include "model/event_source.h"
#include "runtime/rt_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t frames[] = {0x1111, 0x2222};

static bool read_one(enum ctx_rt_kind kind, uint64_t word, uint64_t body, struct ctx_exp_omp *ret)
{
	static struct ctx_trace_omp room;
	const struct ctx_trace_record record = {
		.kind = kind, .words = {77, word, body}, .frames = frames, .n_frames = CTX_COUNT_OF(frames)};

	*ret = (struct ctx_exp_omp){0};
	return ctx_trace_omp_read(&record, &room, ret);
}

static void test_trace_omp__a_record_has_event_and_value(void **state)
{
	struct ctx_exp_omp omp;

	(void)state;
	assert_true(read_one(CTX_RT_OMP, UINT64_C(0xfffffffe) << 8 | CTX_OMP_JOIN, 0x3333, &omp));
	assert_int_equal(omp.time_ns, 77);
	assert_int_equal(omp.event, CTX_OMP_JOIN);
	assert_int_equal(omp.value, 0xfffffffe);
	assert_int_equal(omp.n_frames, 2);
	assert_int_equal(omp.frames[0], 0x1111);
	assert_false(omp.has_body);
}

static void test_trace_omp__a_function_is_the_leaf(void **state)
{
	struct ctx_exp_omp omp;

	(void)state;
	assert_true(read_one(CTX_RT_OMP_BODY, 5 << 8 | CTX_OMP_REGION_BEGIN, 0x3333, &omp));
	assert_true(omp.has_body);
	assert_int_equal(omp.n_frames, 3);
	assert_int_equal(omp.frames[0], 0x3333);
	assert_int_equal(omp.frames[1], 0x1111);
	assert_int_equal(omp.frames[2], 0x2222);
	/* The target may write anything. */
	assert_true(read_one(CTX_RT_OMP_BODY, 5 << 8 | CTX_OMP_REGION_BEGIN, CTX_KERNEL_START, &omp));
	assert_false(omp.has_body);
	assert_int_equal(omp.n_frames, 2);
}

static void test_trace_omp__other_words_are_damage(void **state)
{
	static const uint64_t words[] = {CTX_OMP_JOIN,
					 1 << 8 | CTX_OMP_EVENT_N,
					 UINT64_C(1) << 40 | CTX_OMP_JOIN,
					 CTX_OMP_IDLE << 8 | CTX_OMP_ENTER,
					 CTX_OMP_STATE_N << 8 | CTX_OMP_LEAVE,
					 0x20 << 8 | CTX_OMP_SHARE_BEGIN,
					 CTX_OMP_SHARE_N << 8 | CTX_OMP_SHARE_END,
					 (CTX_OMP_SCHEDULE_N << 4 | CTX_OMP_SHARE_LOOP) << 8 |
						 CTX_OMP_SCHEDULED,
					 UINT64_MAX};
	struct ctx_exp_omp omp;

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(words); i++)
		assert_false(read_one(CTX_RT_OMP, words[i], 0, &omp));
}

#define RING_BYTES CTX_RT_RING_BYTES_MIN

struct both { /* writer and reader of a ring */
	struct ctx_rt_slot *slot;
	uint64_t *words;
	struct ctx_rt_ring out;
	struct ctx_trace_ring in;
	struct ctx_trace_reader reader;
	struct ctx_trace_pool pool;
	uint64_t n_put, n_plain, n_taken;
};

static enum ctx_status take(void *context, const struct ctx_trace_record *record, struct ctx_err *err)
{
	struct both *both = context;

	(void)err;
	assert_int_equal(record->kind, CTX_RT_OMP);
	assert_int_equal(record->words[0], both->n_taken);
	assert_int_equal(record->words[1], both->n_taken * 3);
	assert_int_equal(record->n_frames, both->n_taken % 7 == 6 ? 2 : 0);
	both->n_taken++;
	return CTX_OK;
}

static void read_all(struct both *both)
{
	size_t n;

	ctx_trace_ring_pull(&both->in, &both->pool);
	ctx_trace_queue_move(&both->in.queue, &both->in.incoming);
	both->reader.take = take;
	both->reader.context = both;
	assert_int_equal(ctx_trace_ring_read(&both->in, &both->reader, &n, NULL), CTX_OK);
	ctx_trace_pool_take_back(&both->pool, both->reader.spent);
	both->reader.spent = NULL;
	assert_int_equal(both->in.torn + both->in.damaged, 0);
}

/* As the runtime does: each seventh has a stack. False: there is no room. */
static bool put(struct both *both)
{
	const struct ctx_rt_word0 word = {.words = 3, .kind = CTX_RT_OMP};
	struct ctx_rt_operation operation = {.kind = CTX_RT_OMP, .words = {both->n_put, both->n_put * 3}};

	if (both->n_put % 7 == 6) {
		operation.frames = frames;
		operation.n_new = 2;
	} else if (ctx_rt_ring_put_plain(&both->out, &word, operation.words, 2)) {
		both->n_plain++;
		both->n_put++;
		return true;
	}
	if (!ctx_rt_ring_has_room(&both->out))
		return false;
	ctx_rt_ring_put(&both->out, &operation);
	ctx_rt_ring_plan(&both->out);
	both->n_put++;
	return true;
}

static void test_trace_omp__short_records_come_out_in_order_and_overtake_nobody(void **state)
{
	struct both both = {.n_put = 0};

	(void)state;
	both.slot = aligned_alloc(64, sizeof(*both.slot));
	both.words = ctx_calloc(RING_BYTES / 8, sizeof(*both.words));
	assert_true(both.slot != NULL && both.words != NULL);
	memset(both.slot, 0, sizeof(*both.slot));
	both.out = (struct ctx_rt_ring){.slot = both.slot, .words = both.words, .bytes = RING_BYTES};
	both.in = (struct ctx_trace_ring){.slot = both.slot, .words = both.words, .bytes = RING_BYTES};
	/* What was not planned is not written: nobody knows whether times are ticks. */
	assert_false(ctx_rt_ring_put_plain(&both.out, &(struct ctx_rt_word0){.words = 3, .kind = CTX_RT_OMP},
					   (const uint64_t[]){0, 0}, 2));
	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < 100 + round * 100 && put(&both); i++)
			assert_true(both.out.head - atomic_load(&both.slot->tail) <= RING_BYTES);
		read_all(&both);
		assert_int_equal(both.n_taken, both.n_put);
	}
	assert_true(both.n_plain > both.n_put / 2);
	while (put(&both))
		assert_true(both.out.head - atomic_load(&both.slot->tail) <= RING_BYTES);
	read_all(&both);
	assert_int_equal(both.n_taken, both.n_put);
	ctx_trace_ring_clear(&both.in, &both.pool);
	ctx_trace_ring_deinit(&both.in);
	ctx_trace_reader_deinit(&both.reader);
	ctx_trace_pool_deinit(&both.pool);
	free(both.slot);
	free(both.words);
}

/* How many texts there are; `said` is the last one. */
static unsigned say(const struct ctx_trace_counts *counts, const struct ctx_rec_trace *trace,
		    char said[CTX_TRACE_TEXT_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < CTX_TRACE_TEXTS; i++) {
		char text[CTX_TRACE_TEXT_MAX];

		if (!ctx_trace_text(counts, trace, i, text))
			continue;
		strcpy(said, text);
		n++;
	}
	return n;
}

static void test_trace_omp__what_became_of_other_tools_is_said_once(void **state)
{
	struct ctx_trace_counts counts = {.processes = 1, .omp_kept = 1};
	struct ctx_rec_trace trace = {.omp = true, .omp_library = "libomp.so"};
	char said[CTX_TRACE_TEXT_MAX];

	(void)state;
	unsetenv("OMP_TOOL");
	assert_int_equal(say(&counts, &trace, said), 1);
	assert_non_null(strstr(said, "OpenMP of 1 process is not recorded"));
	counts = (struct ctx_trace_counts){.processes = 1, .omp = 5, .omp_replaced = 1};
	assert_int_equal(say(&counts, &trace, said), 1);
	assert_non_null(strstr(said, "were not started"));
	/* A tool in the program is asked first, and ours never; not so gcc's runtime. */
	trace.omp_has_tool = true;
	counts = (struct ctx_trace_counts){0};
	assert_int_equal(say(&counts, &trace, said), 1);
	assert_non_null(strstr(said, "a tool for OpenMP of its own"));
	counts.omp = 3;
	counts.processes = 1;
	assert_int_equal(say(&counts, &trace, said), 0);
	/* libomp takes what it does not know for "disabled"; a program without regions is no news otherwise. */
	trace.omp_has_tool = false;
	counts = (struct ctx_trace_counts){0};
	assert_int_equal(say(&counts, &trace, said), 0);
	setenv("OMP_TOOL", "wrong", 1);
	assert_int_equal(say(&counts, &trace, said), 1);
	assert_non_null(strstr(said, "OMP_TOOL=wrong"));
	setenv("OMP_TOOL", "enabled", 1);
	assert_int_equal(say(&counts, &trace, said), 0);
	unsetenv("OMP_TOOL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_omp__a_record_has_event_and_value),
		cmocka_unit_test(test_trace_omp__a_function_is_the_leaf),
		cmocka_unit_test(test_trace_omp__other_words_are_damage),
		cmocka_unit_test(test_trace_omp__what_became_of_other_tools_is_said_once),
		cmocka_unit_test(test_trace_omp__short_records_come_out_in_order_and_overtake_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
