/*
 * Frames of a sample: chains with every mark, where the leaf comes from, where the caller is not
 * known.
 */
#include "formats/perfdata/pd_chain.h"
#include "model/event_source.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/perfdata_fixture.h"

#define K(n) (UINT64_C(0xffffffff81000000) + (n))
#define U(n) (UINT64_C(0x400000) + (n))
#define MARK_HV ((uint64_t)PERF_CONTEXT_HV)
#define MARK_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define MARK_USER ((uint64_t)PERF_CONTEXT_USER)
#define MARK_GUEST ((uint64_t)PERF_CONTEXT_GUEST)
#define MARK_GUEST_KERNEL ((uint64_t)PERF_CONTEXT_GUEST_KERNEL)
#define MARK_GUEST_USER ((uint64_t)PERF_CONTEXT_GUEST_USER)
#define TRUNCATED CTX_FRAME_TRUNCATED
#define NO_IP UINT64_MAX
#define FRAMES_MAX 12

struct example {
	const char *name;
	uint16_t misc;
	uint64_t ip; /* NO_IP: the sample has none */
	uint64_t chain[FRAMES_MAX];
	size_t n_chain;
	uint64_t frames[FRAMES_MAX];
	uint32_t n_frames;
};

#define LIST(...) {__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8

static const struct example examples[] = {
	{"a user's chain: callers are return addresses - 1", PERF_RECORD_MISC_USER, U(10),
	 LIST(MARK_USER, U(10), U(21), U(31)), LIST(U(10), U(20), U(30))},
	{"both parts: the user's first address is the program counter at its entry to the kernel",
	 PERF_RECORD_MISC_KERNEL, K(10), LIST(MARK_KERNEL, K(10), K(21), MARK_USER, U(10), U(21)),
	 LIST(K(10), K(20), U(10), U(20))},
	{"kernel alone", PERF_RECORD_MISC_KERNEL, K(10), LIST(MARK_KERNEL, K(10), K(21)), LIST(K(10), K(20))},
	{"no marks: all is of the sample's part", PERF_RECORD_MISC_USER, U(10), LIST(U(10), U(21)),
	 LIST(U(10), U(20))},
	{"a precise address is the leaf, the chain was taken a little later", PERF_RECORD_MISC_USER, U(8),
	 LIST(MARK_USER, U(10), U(21)), LIST(U(8), U(20))},
	{"the chain begins in another part: the leaf goes in front of it", PERF_RECORD_MISC_KERNEL, K(10),
	 LIST(MARK_USER, U(10), U(21)), LIST(K(10), U(10), U(20))},
	{"no address of its own", PERF_RECORD_MISC_USER, NO_IP, LIST(MARK_USER, U(10), U(21)),
	 LIST(U(10), U(20))},
	{"no chain", PERF_RECORD_MISC_USER, U(10), {0}, 0, LIST(U(10))},
	{"an empty chain with its mark", PERF_RECORD_MISC_KERNEL, K(10), LIST(MARK_USER), LIST(K(10))},
	{"nothing at all", PERF_RECORD_MISC_USER, NO_IP, {0}, 0, {0}, 0},
	{"addresses that cannot be of their part", PERF_RECORD_MISC_USER, U(10),
	 LIST(MARK_USER, U(10), K(21), U(31), 0), LIST(U(10), 0, U(30), 0)},
	{"a user's address in the kernel's part", PERF_RECORD_MISC_KERNEL, U(10),
	 LIST(MARK_KERNEL, K(10), U(21), 0), LIST(0, 0, 0)},
	{"a kernel of 32 bits is moved to the kernel's half", PERF_RECORD_MISC_KERNEL, 0xc0100010u,
	 LIST(MARK_KERNEL, 0xc0100010u, 0xbf000021u, MARK_USER, 0xb7000010u),
	 LIST(UINT64_C(0xffffffffc0100010), UINT64_C(0xffffffffbf000020), 0xb7000010u)},
	{"the last page of 32 bits is none of a kernel's code, and no mark", PERF_RECORD_MISC_KERNEL,
	 0xfffffffeu, LIST(MARK_KERNEL, 0xfffffffeu, 0xffffeff1u, 0xfffff001u),
	 LIST(0, UINT64_C(0xffffffffffffeff0), 0)},
	{"a leaf that is no address", PERF_RECORD_MISC_KERNEL, TRUNCATED, LIST(MARK_KERNEL, K(10), K(21)),
	 LIST(0, K(20))},
	{"guests and the hypervisor: addresses of another machine", PERF_RECORD_MISC_GUEST_KERNEL, K(10),
	 LIST(MARK_GUEST, MARK_GUEST_KERNEL, K(10), MARK_GUEST_USER, U(10), MARK_HV, K(11)), LIST(0, 0, 0)},
	{"from a guest back to the host", PERF_RECORD_MISC_USER, U(10),
	 LIST(MARK_USER, U(10), MARK_GUEST, U(21), MARK_USER, U(30), U(41)), LIST(U(10), 0, U(30), U(40))},
	{"a mark of the future changes nothing but that what follows is exact", PERF_RECORD_MISC_USER, U(10),
	 LIST(MARK_USER, U(10), UINT64_C(0) - 700, U(20), U(31)), LIST(U(10), U(20), U(30))},
};

static void put_chain(uint8_t *bytes, const uint64_t *chain, size_t n, bool swap)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = swap ? __builtin_bswap64(chain[i]) : chain[i];

		memcpy(bytes + 8 * i, &value, 8);
	}
}

static void check_frames(const struct ctx_pd_chain *chain, const uint64_t *want, uint32_t n)
{
	assert_int_equal(chain->n, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(chain->frames[i], want[i]);
	assert_int_equal(chain->truncated, n != 0 && want[n - 1] == TRUNCATED);
}

/* Of the machine that reads, and of the other byte order. */
static const struct ctx_pe_layout orders[2] = {{.swap = false}, {.swap = true}};

static void test_perfdata_chain__examples_give_these_frames(void **state)
{
	struct ctx_pd_chain chain = {0};
	struct ctx_pd_event event = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(examples); i++) {
		for (int swap = 0; swap < 2; swap++) {
			const struct example *example = &examples[i];
			uint8_t bytes[8 * FRAMES_MAX + 1];
			struct ctx_pe_sample sample = {.layout = &orders[swap],
						       .ip = example->ip,
						       .has_ip = example->ip != NO_IP,
						       .chain = bytes + 1, /* nothing is aligned */
						       .n_chain = example->n_chain};

			put_chain(bytes + 1, example->chain, example->n_chain, swap != 0);
			assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, example->misc, NULL),
					 CTX_OK);
			check_frames(&chain, example->frames, example->n_frames);
		}
	}
	ctx_pd_chain_deinit(&chain);
}

static void test_perfdata_chain__a_chain_as_long_as_it_may_be_is_truncated(void **state)
{
	static const uint16_t limits[] = {0, 1, 5, 127, 200};
	struct ctx_pd_chain chain = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(limits); i++) {
		size_t limit = limits[i] != 0 ? limits[i] : 127;
		struct ctx_pd_event event = {.max_stack = limits[i]};

		for (size_t n = 0; n < 210; n++) {
			uint64_t entries[220];
			size_t at = 0, half = n / 2;
			struct ctx_pe_sample sample = {.layout = &orders[0],
						       .chain = (const uint8_t *)entries};

			entries[at++] = MARK_KERNEL; /* marks do not count */
			for (size_t k = 0; k < half; k++)
				entries[at++] = K(100 + k);
			entries[at++] = MARK_USER;
			for (size_t k = half; k < n; k++)
				entries[at++] = U(100 + k);
			sample.n_chain = at;
			assert_int_equal(
				ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_KERNEL, NULL),
				CTX_OK);
			assert_int_equal(chain.truncated, n == limit);
			assert_int_equal(chain.n, n + (n == limit));
			if (n == limit)
				assert_int_equal(chain.frames[chain.n - 1], TRUNCATED);
		}
	}
	ctx_pd_chain_deinit(&chain);
}

/* perf record --call-graph lbr: a branch is three words, from, to and flags; none is aligned. */
static void test_perfdata_chain__calls_in_the_branch_stack_are_the_users_callers(void **state)
{
	static const struct ctx_pe_layout layouts[2] = {{.sample_type = PERF_SAMPLE_BRANCH_STACK,
							 .branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK},
							{.sample_type = PERF_SAMPLE_BRANCH_STACK,
							 .branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK,
							 .swap = true}};
	static const uint64_t in_user[] = {MARK_USER, U(10), U(21)};
	static const uint64_t in_kernel[] = {MARK_KERNEL, K(10), K(21), MARK_USER, U(11), U(21)};
	const uint64_t callers[] = {U(40), K(50), U(60), 0};
	struct ctx_pd_event event = {0};
	struct ctx_pd_chain chain = {0};

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		uint8_t branches[32 * 24 + 1] = {0}, bytes[8 * FRAMES_MAX];
		struct ctx_pe_sample sample = {.layout = &layouts[swap],
					       .ip = U(10),
					       .has_ip = true,
					       .chain = bytes,
					       .branches = branches + 1,
					       .n_branches = CTX_COUNT_OF(callers)};

		for (size_t i = 0; i < CTX_COUNT_OF(callers); i++)
			put_chain(branches + 1 + 24 * i, &callers[i], 1, swap != 0);
		put_chain(bytes, in_user, sample.n_chain = CTX_COUNT_OF(in_user), swap != 0);
		assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_USER, NULL),
				 CTX_OK);
		check_frames(&chain, (uint64_t[]){U(10), U(40), U(60)}, 3);
		sample.ip = K(10);
		put_chain(bytes, in_kernel, sample.n_chain = CTX_COUNT_OF(in_kernel), swap != 0);
		assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_KERNEL, NULL),
				 CTX_OK);
		check_frames(&chain, (uint64_t[]){K(10), K(20), U(11), U(40), U(60)}, 5);
		sample.n_branches = 32; /* all registers of the processor */
		assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_KERNEL, NULL),
				 CTX_OK);
		assert_int_equal(chain.n, 6);
		assert_int_equal(chain.frames[5], ctx_frame_truncated(CTX_TRUNCATED_DEPTH));
		assert_true(chain.truncated);
		sample.n_branches = 0; /* none was taken: the chain has the callers */
		assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_KERNEL, NULL),
				 CTX_OK);
		check_frames(&chain, (uint64_t[]){K(10), K(20), U(11), U(20)}, 4);
	}
	ctx_pd_chain_deinit(&chain);
}

/*
 * perf record --call-graph dwarf: the user's part is a copy of the stack, which is not walked here.
 */
static void test_perfdata_chain__a_copied_stack_leaves_the_users_counter_and_a_truncation(void **state)
{
	static const uint64_t kernel_part[] = {MARK_KERNEL, K(10), K(21)}, pc = U(10);
	static const struct ctx_pe_layout layout = {.n_regs = 1}, without_pc = {.n_regs = 1, .pc_reg = -1};
	struct ctx_pd_event event = {.exclude_callchain_user = true};
	struct ctx_pe_sample sample = {.layout = &layout,
				       .ip = K(10),
				       .has_ip = true,
				       .chain = (const uint8_t *)kernel_part,
				       .n_chain = 3,
				       .user_regs = (const uint8_t *)&pc};
	struct ctx_pd_chain chain = {0};

	(void)state;
	assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_KERNEL, NULL), CTX_OK);
	check_frames(&chain, (uint64_t[]){K(10), K(20), U(10), TRUNCATED}, 4);
	sample.layout = &without_pc;
	assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_KERNEL, NULL), CTX_OK);
	check_frames(&chain, (uint64_t[]){K(10), K(20), TRUNCATED}, 3);
	sample = (struct ctx_pe_sample){
		.layout = &layout, .ip = U(10), .has_ip = true, .user_regs = (const uint8_t *)&pc};
	assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_USER, NULL), CTX_OK);
	check_frames(&chain, (uint64_t[]){U(10), TRUNCATED}, 2);
	sample.user_regs = NULL; /* a kernel thread has no user's part */
	assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_USER, NULL), CTX_OK);
	check_frames(&chain, (uint64_t[]){U(10)}, 1);
	ctx_pd_chain_deinit(&chain);
}

/*
 * Whatever is in a chain: as many frames as entries, and none that is a mark or ours of a
 * truncation.
 */
static void test_perfdata_chain__frames_of_any_noise_are_addresses_or_nothing(void **state)
{
	static const uint64_t kinds[] = {MARK_USER,
					 MARK_KERNEL,
					 MARK_GUEST,
					 MARK_HV,
					 0,
					 1,
					 U(5),
					 K(5),
					 UINT64_C(0) - 4096,
					 UINT64_C(0) - 4095,
					 TRUNCATED,
					 UINT64_MAX,
					 CTX_KERNEL_START,
					 CTX_KERNEL_START - 1,
					 CTX_KERNEL_START + 1};
	struct ctx_pd_chain chain = {0};
	struct ctx_pd_event event = {.max_stack = 60000};
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint64_t entries[40];
		size_t n_entries = 0;
		struct ctx_pe_sample sample = {
			.layout = &orders[0], .has_ip = round % 2 != 0, .chain = (const uint8_t *)entries};

		sample.n_chain = pd_random(&seed, 40);
		sample.ip = kinds[pd_random(&seed, CTX_COUNT_OF(kinds))];
		for (size_t i = 0; i < sample.n_chain; i++) {
			entries[i] = kinds[pd_random(&seed, CTX_COUNT_OF(kinds))];
			n_entries += entries[i] < UINT64_C(0) - 4095;
		}
		assert_int_equal(
			ctx_pd_chain_set(&chain, &sample, &event, (uint16_t)pd_random(&seed, 8), NULL),
			CTX_OK);
		assert_in_range(chain.n, n_entries + (sample.has_ip && n_entries == 0),
				n_entries + sample.has_ip);
		assert_false(chain.truncated);
		for (uint32_t i = 0; i < chain.n; i++)
			assert_true(chain.frames[i] < UINT64_C(0) - 4095);
	}
	ctx_pd_chain_deinit(&chain);
}

static void test_perfdata_chain__memory_that_is_short_fails_and_keeps_the_chain_usable(void **state)
{
	static const uint64_t entries[] = {MARK_USER, U(1), U(2)};
	struct ctx_pe_sample sample = {.layout = &orders[0], .chain = (const uint8_t *)entries, .n_chain = 3};
	struct ctx_pd_event event = {0};
	struct ctx_pd_chain chain = {0};

	(void)state;
	fail_after = 0;
	assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_USER, NULL), CTX_E_NOMEM);
	fail_after = -1;
	assert_int_equal(ctx_pd_chain_set(&chain, &sample, &event, PERF_RECORD_MISC_USER, NULL), CTX_OK);
	check_frames(&chain, (uint64_t[]){U(1), U(1)}, 2);
	ctx_pd_chain_deinit(&chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfdata_chain__examples_give_these_frames),
		cmocka_unit_test(test_perfdata_chain__a_chain_as_long_as_it_may_be_is_truncated),
		cmocka_unit_test(test_perfdata_chain__calls_in_the_branch_stack_are_the_users_callers),
		cmocka_unit_test(
			test_perfdata_chain__a_copied_stack_leaves_the_users_counter_and_a_truncation),
		cmocka_unit_test(test_perfdata_chain__frames_of_any_noise_are_addresses_or_nothing),
		cmocka_unit_test(test_perfdata_chain__memory_that_is_short_fails_and_keeps_the_chain_usable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
