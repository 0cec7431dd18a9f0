/* Records of OpenMP: what makes no sense is none; the function of a construct becomes the leaf of its stack. */
#include "collect/trace_omp.h"

#include "base/mem.h"
#include "model/event_source.h"

#include <setjmp.h>
#include <stdarg.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_omp__a_record_has_event_and_value),
		cmocka_unit_test(test_trace_omp__a_function_is_the_leaf),
		cmocka_unit_test(test_trace_omp__other_words_are_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
