/*
 * The outermost frames of a cut stack: of this program's own, in a recursion that is deeper than what is
 * copied of it.
 */
#include "collect/outermost.h"
#include "experiment_fixture.h"
#include "own_maps.h"
#include "tests/unit/every.h"
#include "unwind/outer_chain.h"
#include "unwind/return_address.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))
#define DEPTH 3000
#define COPIED 2048u
#define FRAMES_MAX (DEPTH + 256)
#define SECOND UINT64_C(1000000000)

#if defined(__x86_64__)

struct story {
	struct ctx_code_view view;
	struct ctx_user_state state;
	struct ctx_unwind_frame frames[FRAMES_MAX]; /* of the whole stack */
	size_t n, n_cut;			    /* all; those of a copy that is too short */
	uint64_t stack_end;
	void (*at_bottom)(struct story *story);
};

/* Of live memory: the kernel copies it, which knows nothing of what sanitizers put between variables. */
static uint8_t *copy_of(uint64_t begin, size_t n)
{
	uint8_t *bytes = malloc(n);
	struct iovec to = {.iov_base = bytes, .iov_len = n};
	struct iovec from = {.iov_base = (void *)(uintptr_t)begin, .iov_len = n};

	assert_non_null(bytes);
	assert_int_equal(process_vm_readv(getpid(), &to, 1, &from, 1, 0), (ssize_t)n);
	return bytes;
}

static void take_registers(struct story *story)
{
	/* In DWARF's order. */
	static const int numbers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				      REG_RBP, REG_RSP, REG_R8,	 REG_R9,  REG_R10, REG_R11,
				      REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	ucontext_t context;

	assert_int_equal(getcontext(&context), 0);
	story->state = (struct ctx_user_state){.regs.machine = CTX_MACHINE_X86_64,
					       .regs.valid = (UINT64_C(1) << CTX_COUNT_OF(numbers)) - 1};
	for (size_t i = 0; i < CTX_COUNT_OF(numbers); i++)
		story->state.regs.value[i] = (uint64_t)context.uc_mcontext.gregs[numbers[i]];
}

/* Its own frame is gone when the story's words are read: the registers are those of its caller's. */
static NOINLINE void bottom(struct story *story)
{
	struct ctx_unwind_space space = ctx_code_view_space(&story->view);
	uint8_t *stack;

	take_registers(story);
	story->state.regs.value[16] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	story->state.regs.value[7] = (uint64_t)(uintptr_t)__builtin_dwarf_cfa();
	story->state.regs.value[6] = *(uint64_t *)__builtin_frame_address(0);
	story->state.stack_bytes = story->stack_end - story->state.regs.value[7];
	stack = copy_of(story->state.regs.value[7], story->state.stack_bytes);
	story->state.stack = stack;
	assert_int_equal(ctx_unwind_caller(&space, &story->state, story->frames, FRAMES_MAX, &story->n),
			 CTX_TRUNCATED_NOT);
	free(stack);
	for (story->n_cut = 1; story->frames[story->n_cut].cfa - story->state.regs.value[7] < COPIED;)
		story->n_cut++;
	story->at_bottom(story);
}

static NOINLINE int deepen(struct story *story, int n)
{
	volatile char room[32];

	room[n % 32] = 1;
	if (n > 0)
		n = deepen(story, n - 1);
	else
		bottom(story);
	return n + room[n % 32];
}

static uint64_t find_stack_end(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin, end = 0;
	char line[4300];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		if (strstr(line, "[stack]") != NULL)
			assert_int_equal(sscanf(line, "%lx-%lx", &begin, &end), 2);
	}
	fclose(maps);
	return end;
}

static void tell(void (*at_bottom)(struct story *story))
{
	struct ctx_exp_process root_process = {CTX_EXP_ROOT_PROCESS, CTX_NONE, getpid(), "app",
					       FIXTURE_START_NS,     NULL,     0};
	struct story *story = calloc(1, sizeof(*story));
	char *directory = fixture_directory(), *path = ctx_path_join(directory, "run.er");
	struct ctx_exp_options options = fixture_options(path);
	struct ctx_exp_writer *writer;
	struct ctx_codemaps *maps;
	uint32_t process;

	assert_non_null(story);
	assert_int_equal(ctx_exp_create(&options, &writer, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(writer, &root_process, &process, NULL), CTX_OK);
	put_own_maps(writer, process);
	assert_int_equal(ctx_codemaps_create(writer, &maps, NULL), CTX_OK);
	assert_int_equal(ctx_codemaps_refresh(maps, NULL), CTX_OK);
	story->view = (struct ctx_code_view){maps, process, getpid()};
	story->stack_end = find_stack_end();
	story->at_bottom = at_bottom;
	assert_true(deepen(story, DEPTH) > 0);
	ctx_codemaps_destroy(maps);
	assert_int_equal(ctx_exp_close(writer, FIXTURE_START_NS + 1000000, NULL), CTX_OK);
	free(path);
	fixture_remove(directory);
	free(story);
}

/* Searches take cpu_ns of CPU each. */
static uint64_t now_ns, cpu_ns, spent_ns;

static uint64_t clock_of(clockid_t clock)
{
	if (clock == CLOCK_MONOTONIC)
		return now_ns;
	spent_ns += cpu_ns;
	return spent_ns;
}

static struct ctx_outermost_cut cut_of(struct story *story)
{
	now_ns = SECOND;
	cpu_ns = 0;
	return (struct ctx_outermost_cut){.view = &story->view,
					  .thread = 3,
					  .sp = story->state.regs.value[7],
					  .part = {story->frames, story->n_cut}};
}

static void find_twice(struct story *story)
{
	struct ctx_outermost_cut cut = cut_of(story);
	struct ctx_outermost *outermost;
	struct ctx_stack_part found;

	assert_true(story->n > DEPTH);
	assert_int_equal(ctx_outermost_create(clock_of, &outermost, NULL), CTX_OK);
	/* Of a thread whose first stack this is nothing is read: without a search the CPU clock is asked once. */
	cpu_ns = 1;
	spent_ns = 0;
	assert_null(ctx_outermost_find(outermost, &cut).frames);
	cut.time_ns += CTX_OUTERMOST_APART_NS - 1;
	assert_null(ctx_outermost_find(outermost, &cut).frames);
	assert_int_equal(spent_ns, 2);
	cut.time_ns += 1;
	/* One read proves little, and a second one at once no more. */
	assert_null(ctx_outermost_find(outermost, &cut).frames);
	assert_int_equal(spent_ns, 4);
	cpu_ns = 0;
	now_ns += CTX_OUTERMOST_APART_NS - 1;
	assert_null(ctx_outermost_find(outermost, &cut).frames);
	/* The window grows to what the program's outermost frames need. */
	for (int i = 0; i < 5; i++) {
		now_ns += CTX_OUTERMOST_APART_NS;
		found = ctx_outermost_find(outermost, &cut);
	}
	assert_non_null(found.frames);
	assert_true(found.n >= 3 && found.n < DEPTH);
	assert_memory_equal(found.frames, story->frames + story->n - found.n,
			    found.n * sizeof(*found.frames));
	/* Another thread has its own. */
	cut.thread++;
	assert_null(ctx_outermost_find(outermost, &cut).frames);
	cut.time_ns += CTX_OUTERMOST_APART_NS;
	assert_null(ctx_outermost_find(outermost, &cut).frames);
	assert_int_equal(ctx_outermost_unread(outermost), 0);
	ctx_outermost_destroy(outermost);
}

static void test_outermost__a_cut_recursion_goes_on_at_its_other_end(void **state)
{
	(void)state;
	tell(find_twice);
}

static bool is_found(struct ctx_outermost *outermost, struct ctx_outermost_cut *cut, uint32_t thread)
{
	cut->thread = thread;
	cut->time_ns = now_ns;
	return ctx_outermost_find(outermost, cut).frames != NULL;
}

/* After a search that took 1 ms there is none for 100 ms, of whatever thread; what is known is used. */
static void find_seldom(struct story *story)
{
	struct ctx_outermost_cut cut = cut_of(story);
	struct ctx_outermost *outermost;

	assert_int_equal(ctx_outermost_create(clock_of, &outermost, NULL), CTX_OK);
	for (int i = 0; i < 7; i++) {
		is_found(outermost, &cut, 3);
		now_ns += CTX_OUTERMOST_APART_NS;
	}
	assert_true(is_found(outermost, &cut, 3));
	now_ns += CTX_OUTERMOST_APART_NS;
	cpu_ns = SECOND / 1000;
	assert_true(is_found(outermost, &cut, 3)); /* a read of it is due */
	cpu_ns = 0;
	for (int i = 0; i < 9; i++) {
		now_ns += CTX_OUTERMOST_APART_NS;
		assert_true(is_found(outermost, &cut, 3));
		assert_false(is_found(outermost, &cut, 4));
	}
	now_ns += CTX_OUTERMOST_APART_NS - 1;
	assert_false(is_found(outermost, &cut, 4));
	/* From here on thread 4 is searched as thread 3 was. */
	now_ns += 1;
	for (int i = 0; i < 6; i++) {
		is_found(outermost, &cut, 4);
		now_ns += CTX_OUTERMOST_APART_NS;
	}
	assert_true(is_found(outermost, &cut, 4));
	ctx_outermost_destroy(outermost);
}

static void test_outermost__searches_take_one_hundredth_of_the_time(void **state)
{
	(void)state;
	tell(find_seldom);
}

static void find_elsewhere(struct story *story)
{
	struct ctx_outermost_cut cut = cut_of(story);
	struct ctx_unwind_frame other = {(uint64_t)(uintptr_t)find_twice + 1, story->frames[0].cfa};
	struct ctx_outermost *outermost;

	assert_int_equal(ctx_outermost_create(clock_of, &outermost, NULL), CTX_OK);
	cut.part = (struct ctx_stack_part){&other, 1};
	for (int i = 0; i < 8; i++) {
		cut.time_ns = now_ns;
		assert_null(ctx_outermost_find(outermost, &cut).frames);
		now_ns += CTX_OUTERMOST_APART_NS;
	}
	ctx_outermost_destroy(outermost);
}

static void test_outermost__a_stack_of_other_functions_is_not_continued(void **state)
{
	(void)state;
	tell(find_elsewhere);
}

static void find_after_change(struct story *story)
{
	struct ctx_outermost_cut cut = cut_of(story);
	struct ctx_outermost *outermost;
	struct ctx_stack_part found = {0};
	uint64_t *slot = NULL, was;
	size_t n;

	assert_int_equal(ctx_outermost_create(clock_of, &outermost, NULL), CTX_OK);
	for (int i = 0; i < 9; i++) {
		cut.time_ns = now_ns;
		found = ctx_outermost_find(outermost, &cut);
		now_ns += CTX_OUTERMOST_APART_NS;
	}
	n = found.n;
	/* The fourth frame from the leaf is none any more. */
	slot = (uint64_t *)(uintptr_t)(found.frames[2].cfa - 8);
	was = *slot;
	assert_int_equal(was, found.frames[3].address + 1);
	*slot = found.frames[2].address; /* no call stands before it */
	found = ctx_outermost_find(outermost, &cut);
	*slot = was;
	assert_int_equal(found.n, n - 4);
	/* What the reads have in common is left, until that one is forgotten. */
	now_ns += CTX_OUTERMOST_APART_NS;
	found = ctx_outermost_find(outermost, &cut);
	assert_int_equal(found.n, n - 4);
	for (int i = 0; i < 32; i++) {
		now_ns += CTX_OUTERMOST_APART_NS;
		found = ctx_outermost_find(outermost, &cut);
	}
	assert_int_equal(found.n, n);
	assert_memory_equal(found.frames, story->frames + story->n - found.n,
			    found.n * sizeof(*found.frames));
	ctx_outermost_destroy(outermost);
}

static void test_outermost__what_reads_do_not_agree_on_is_left_out(void **state)
{
	(void)state;
	tell(find_after_change);
}

/* --- calls that name what they enter --- */

static uint64_t returns_of[2], slot_of_second;

static NOINLINE int first_callee(int n)
{
	returns_of[0] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	return n + 1;
}

static NOINLINE int second_callee(struct story *story)
{
	slot_of_second = (uint64_t)(uintptr_t)__builtin_dwarf_cfa() - 8;
	returns_of[1] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	return 1 + deepen(story, 8);
}

static NOINLINE int calls_both(struct story *story)
{
	int n = first_callee(1);

	return n + second_callee(story);
}

static void find_in_window(struct story *story)
{
	struct ctx_unwind_space space = ctx_code_view_space(&story->view);
	uint64_t root = story->frames[story->n - 2].cfa, begin = slot_of_second - 512, *slot;
	struct ctx_outer_window window = {.n = root - begin, .address = begin};
	uint8_t *bytes = copy_of(begin, window.n);
	struct ctx_unwind_frame *frames = calloc(FRAMES_MAX, sizeof(*frames));
	uint64_t found;
	size_t n;

	assert_non_null(frames);
	window.bytes = bytes;
	assert_true(ctx_outer_chain_root(&space, &window, &found));
	assert_int_equal(found, root - 8);
	n = ctx_outer_chain_find(&space, &window, frames, FRAMES_MAX);
	assert_true(n >= 3 && n < story->n);
	assert_memory_equal(frames, story->frames + story->n - n, n * sizeof(*frames));
	/* The same frame, but behind the call of another function: nothing inside it can be right. */
	slot = (uint64_t *)(void *)(bytes + (slot_of_second - begin));
	assert_int_equal(*slot, returns_of[1]);
	*slot = returns_of[0];
	n = ctx_outer_chain_find(&space, &window, frames, FRAMES_MAX);
	assert_true(n >= 1 && frames[0].cfa > slot_of_second + 8);
	free(frames);
	free(bytes);
}

/*
 * What bottom() called before it called begin_story left its frames on the stack, and who is called through a
 * pointer can be any of both: they would be a chain to the root as well.
 */
static NOINLINE void wipe_stack(void)
{
	char room[16384];

	explicit_bzero(room, sizeof(room));
}

static void begin_story(struct story *story)
{
	wipe_stack();
	story->at_bottom = find_in_window;
	assert_true(calls_both(story) > 0);
}

static void test_outer_chain__a_call_of_another_function_is_not_followed(void **state)
{
	(void)state;
	tell(begin_story);
}

/* --- what a candidate costs --- */

static size_t n_code_bytes;
static size_t (*read_code)(void *context, uint64_t address, uint8_t *out, size_t n);

static size_t count_code(void *context, uint64_t address, uint8_t *out, size_t n)
{
	n_code_bytes += n;
	return read_code(context, address, out, n);
}

static void look_for_calls(struct story *story)
{
	struct ctx_unwind_space space = ctx_code_view_space(&story->view);

	read_code = space.read_code;
	space.read_code = count_code;
	n_code_bytes = 0;
	assert_true(ctx_unwind_follows_call(&space, story->frames[2].address + 1));
	assert_false(ctx_unwind_follows_call(&space, story->frames[2].address));
	/* Each word of a window is one: the code is not followed. */
	assert_in_range(n_code_bytes, 4, 32);
}

static void test_outer_chain__to_look_for_a_call_reads_a_few_bytes(void **state)
{
	(void)state;
	tell(look_for_calls);
}

#else

static void test_outermost__is_for_x86_64(void **state)
{
	(void)state;
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(test_outermost__a_cut_recursion_goes_on_at_its_other_end),
		cmocka_unit_test(test_outermost__searches_take_one_hundredth_of_the_time),
		cmocka_unit_test(test_outermost__a_stack_of_other_functions_is_not_continued),
		cmocka_unit_test(test_outermost__what_reads_do_not_agree_on_is_left_out),
		cmocka_unit_test(test_outer_chain__a_call_of_another_function_is_not_followed),
		cmocka_unit_test(test_outer_chain__to_look_for_a_call_reads_a_few_bytes),
#else
		cmocka_unit_test(test_outermost__is_for_x86_64),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
