/*
 * Stacks along the kernel's frame pointers: made-up stacks are unwound from any part of their copy, and compared with what
 * the whole copy gives; and the start code that such stacks end in.
 */
#include "collect/copy_trial.h"
#include "collect/stack_bottoms.h"
#include "experiment_fixture.h"
#include "own_maps.h"
#include "tests/unit/cfi_assembly.h"
#include "unwind/frame_chain.h"

#include <pthread.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK_AT UINT64_C(0x7ffd00000000)
#define WORDS 256u
#define FRAMES_MAX 40u

/* Functions, each 0x100 bytes. */
enum {
	FRAMED = 0x1000,  /* rbp is its frame pointer */
	KEEPS = 0x1100,	  /* 32 bytes by the stack pointer, rbp is the caller's */
	USES = 0x1200,	  /* the same, rbp is saved and has some number */
	ALIGNED = 0x1300, /* its CFA is rbp + 32: rbp is not where the kernel takes it to be */
	ROOT = 0x1400,
};

static struct ctx_cfi_table *make_table(void)
{
	static const uint8_t framed[] = {0x0c, 6, 16, 0x86, 2};
	static const uint8_t keeps[] = {0x0e, 32};
	static const uint8_t uses[] = {0x0e, 32, 0x86, 2};
	static const uint8_t aligned[] = {0x0c, 6, 32, 0x86, 4};
	static const uint8_t root[] = {0x07, 16};
	struct ctx_cfi_table *table = NULL;
	struct assembly assembly = {0};

	put_cie(&assembly, false);
	put_fde(&assembly, FRAMED, 0x100, framed, sizeof(framed));
	put_fde(&assembly, KEEPS, 0x100, keeps, sizeof(keeps));
	put_fde(&assembly, USES, 0x100, uses, sizeof(uses));
	put_fde(&assembly, ALIGNED, 0x100, aligned, sizeof(aligned));
	put_fde(&assembly, ROOT, 0x100, root, sizeof(root));
	assert_int_equal(build_raw(assembly.buf.bytes, assembly.buf.n, true, &table), CTX_OK);
	ctx_buf_deinit(&assembly.buf);
	return table;
}

static bool find(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	*ret = (struct ctx_unwind_object){0x1000, 0x1500, context, 0, 0, 0};
	return pc >= 0x1000 && pc < 0x1500;
}

/* A thread, which calls functions; its stack grows from the last word downward. */
struct thread {
	uint64_t words[WORDS];
	size_t sp; /* index */
	uint64_t pc, fp;
	uint64_t chain[FRAMES_MAX + 1];
	size_t n_chain;
};

static uint64_t address_of(size_t i)
{
	return STACK_AT + 8 * i;
}

static void push(struct thread *thread, uint64_t word)
{
	thread->words[--thread->sp] = word;
}

/* Numbers as they lie on stacks: also return addresses and frame pointers of others. */
static uint64_t junk(uint64_t *seed)
{
	switch (fixture_random(seed, 4)) {
	case 0:
		return 0x1000 + fixture_random(seed, 0x500);
	case 1:
		return address_of(fixture_random(seed, WORDS));
	default:
		return fixture_random(seed, 1000);
	}
}

static void call(struct thread *thread, uint64_t function, uint64_t *seed)
{
	push(thread, thread->pc);
	switch (function) {
	case FRAMED:
		push(thread, thread->fp);
		thread->fp = address_of(thread->sp);
		for (uint64_t n = fixture_random(seed, 4); n != 0; n--)
			push(thread, junk(seed));
		break;
	case ALIGNED:
		push(thread, junk(seed));
		push(thread, junk(seed));
		push(thread, thread->fp);
		thread->fp = address_of(thread->sp);
		break;
	default:
		push(thread, function == USES ? thread->fp : junk(seed));
		push(thread, junk(seed));
		push(thread, junk(seed));
		if (function == USES)
			thread->fp = junk(seed);
	}
	thread->pc = function + 0x10 + fixture_random(seed, 0x20);
}

/* As perf_callchain_user in the kernel's arch/x86/events/core.c. */
static void follow_frame_pointers(struct thread *thread)
{
	uint64_t fp = thread->fp;

	thread->n_chain = 0;
	thread->chain[thread->n_chain++] = thread->pc;
	while (thread->n_chain < FRAMES_MAX && fp >= STACK_AT && fp % 8 == 0 &&
	       fp + 16 <= address_of(WORDS)) {
		size_t i = (size_t)(fp - STACK_AT) / 8;

		thread->chain[thread->n_chain++] = thread->words[i + 1];
		fp = thread->words[i];
	}
}

static void make_thread(struct thread *thread, uint64_t *seed)
{
	static const uint64_t functions[] = {FRAMED, FRAMED, FRAMED, FRAMED, FRAMED, KEEPS, USES, ALIGNED};
	uint64_t n = 1 + fixture_random(seed, 25);
	/* Most programs are of one kind. */
	uint64_t kinds = fixture_random(seed, 3) == 0 ? CTX_COUNT_OF(functions) : 1;

	*thread = (struct thread){.sp = WORDS - 2, .pc = ROOT + 8, .fp = junk(seed)};
	while (n-- != 0)
		call(thread, functions[fixture_random(seed, kinds)], seed);
	if (fixture_random(seed, 2) == 0)
		call(thread, KEEPS, seed); /* the leaf */
	follow_frame_pointers(thread);
}

struct result {
	struct ctx_unwind_frame frames[FRAMES_MAX];
	size_t n;
	enum ctx_truncation end;
	struct ctx_unwind_steps steps;
};

static void unwind(struct ctx_cfi_table *table, const struct thread *thread, size_t n_words, bool has_chain,
		   struct result *ret)
{
	const struct ctx_unwind_chain chain = {(const uint8_t *)thread->chain, thread->n_chain};
	struct ctx_unwind_space space = {
		.find = find, .context = table, .steps = &ret->steps, .chain = has_chain ? &chain : NULL};
	struct ctx_user_state state = {.regs.machine = CTX_MACHINE_X86_64,
				       .regs.valid = (UINT64_C(1) << 17) - 1,
				       .stack = (const uint8_t *)&thread->words[thread->sp],
				       .stack_bytes = n_words * 8};

	state.regs.value[6] = thread->fp;
	state.regs.value[7] = address_of(thread->sp);
	state.regs.value[16] = thread->pc;
	ret->steps = (struct ctx_unwind_steps){0};
	ret->end = ctx_unwind(&space, &state, ret->frames, FRAMES_MAX, &ret->n);
}

/* Whether the part is the stack, or its begin up to a frame without a frame pointer. */
static void check(struct ctx_cfi_table *table, const struct result *whole, const struct result *part)
{
	const struct ctx_unwind_space space = {.find = find, .context = table};

	assert_true(part->n >= 1 && part->n <= whole->n);
	for (size_t i = 0; i < part->n; i++)
		assert_int_equal(part->frames[i].address, whole->frames[i].address);
	if (part->end == CTX_TRUNCATED_NOT)
		assert_int_equal(part->n, whole->n);
	else if (part->steps.by_chain != 0)
		assert_false(ctx_frame_chain_has(&space, part->frames[part->n - 1].address));
}

static void test_frame_chain__any_part_of_a_copy_leads_to_the_same_stack(void **state)
{
	struct ctx_cfi_table *table = make_table();
	unsigned n_root = 0, n_other = 0, n_none = 0;
	struct result whole, part;
	struct thread thread;
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		make_thread(&thread, &seed);
		unwind(table, &thread, WORDS - thread.sp, false, &whole);
		if (whole.end != CTX_TRUNCATED_NOT)
			continue; /* junk that looks like a smaller stack */
		for (size_t n = 0; n < WORDS - thread.sp; n += 1 + fixture_random(&seed, 3)) {
			unwind(table, &thread, n, true, &part);
			check(table, &whole, &part);
			n_root += part.end == CTX_TRUNCATED_NOT && part.steps.by_chain != 0;
			n_other += part.end != CTX_TRUNCATED_NOT && part.steps.by_chain != 0;
			n_none += part.end != CTX_TRUNCATED_NOT && part.steps.by_chain == 0;
		}
	}
	assert_true(n_root > 10000 && n_other > 1000 && n_none > 1000);
	ctx_cfi_table_close(table);
}

static void test_frame_chain__needs_no_copy_where_the_leaf_has_a_frame_pointer(void **state)
{
	struct ctx_cfi_table *table = make_table();
	struct thread thread = {.sp = WORDS - 2, .pc = ROOT + 8};
	struct result result;
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20; i++)
		call(&thread, FRAMED, &seed);
	follow_frame_pointers(&thread);
	unwind(table, &thread, 0, true, &result);
	assert_int_equal(result.end, CTX_TRUNCATED_NOT);
	assert_int_equal(result.n, 21);
	assert_int_equal(result.steps.by_chain, 20);
	/* A chain that the kernel has cut, or that is of another pc, is none. */
	thread.n_chain = 15;
	unwind(table, &thread, 0, true, &result);
	assert_int_equal(result.end, CTX_TRUNCATED_COPY);
	assert_int_equal(result.n, 1);
	follow_frame_pointers(&thread);
	thread.chain[0]++;
	unwind(table, &thread, 0, true, &result);
	assert_int_equal(result.n, 1);
	ctx_cfi_table_close(table);
}

/* At the first instruction of a probed function the kernel's chain has the word at the stack pointer besides. */
static void test_frame_chain__an_entry_more_is_seen(void **state)
{
	struct ctx_cfi_table *table = make_table();
	struct thread thread = {.sp = WORDS - 2, .pc = ROOT + 8};
	struct result result;
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20; i++)
		call(&thread, FRAMED, &seed);
	call(&thread, KEEPS, &seed);
	follow_frame_pointers(&thread);
	memmove(&thread.chain[2], &thread.chain[1], (thread.n_chain++ - 1) * sizeof(*thread.chain));
	thread.chain[1] = thread.words[thread.sp];
	for (size_t n = 1; n < 15; n++) {
		unwind(table, &thread, n, true, &result);
		assert_int_equal(result.end, CTX_TRUNCATED_COPY);
		assert_int_equal(result.steps.by_chain, 0);
	}
	ctx_cfi_table_close(table);
}

/* --- start code --- */

#if defined(__x86_64__)
static __attribute__((noinline)) uint64_t return_address(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
}

/* A recording of this program, with the maps that it has. */
struct world {
	char *directory, *path;
	struct ctx_exp_writer *writer;
	struct ctx_code_view view;
	struct ctx_stack_bottoms bottoms;
};

static void world_begin(struct world *world)
{
	struct ctx_exp_process root = {CTX_EXP_ROOT_PROCESS, CTX_NONE, getpid(), "app",
				       FIXTURE_START_NS,     NULL,     0};
	struct ctx_exp_options options;

	*world = (struct world){.directory = fixture_directory()};
	world->path = ctx_path_join(world->directory, "run.er");
	options = fixture_options(world->path);
	assert_int_equal(ctx_exp_create(&options, &world->writer, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(world->writer, &root, &world->view.process, NULL), CTX_OK);
	put_own_maps(world->writer, world->view.process);
	assert_int_equal(ctx_codemaps_create(world->writer, &world->view.maps, NULL), CTX_OK);
	assert_int_equal(ctx_codemaps_refresh(world->view.maps, NULL), CTX_OK);
	assert_int_equal(ctx_stack_bottoms_init(&world->bottoms, NULL), CTX_OK);
}

static void world_end(struct world *world)
{
	ctx_stack_bottoms_deinit(&world->bottoms);
	ctx_codemaps_destroy(world->view.maps);
	assert_int_equal(ctx_exp_close(world->writer, FIXTURE_START_NS + 1000000, NULL), CTX_OK);
	free(world->path);
	fixture_remove(world->directory);
}

/* This function has a frame pointer, and those of the C library begin without one. */
static void test_stack_bottoms__are_learned_while_they_are_always_the_same(void **state)
{
	struct world world;
	struct ctx_code_view *view = &world.view;
	struct ctx_stack_bottoms *bottoms = &world.bottoms;
	uint64_t own = return_address(), run = (uint64_t)(uintptr_t)qsort, clone = (uint64_t)(uintptr_t)abort;
	struct ctx_unwind_frame usual[] = {{own, 8}, {own, 16}, {run, 24}, {clone, 0}};
	struct ctx_unwind_frame between[] = {{own, 8}, {run, 16}, {own, 24}, {run, 32}, {clone, 0}};
	struct ctx_unwind_frame other[] = {{own, 8}, {clone, 16}, {run, 24}, {own, 32}};
	struct ctx_unwind_frame deeper[] = {{own, 8}, {run + 1, 16}, {run, 24}, {run, 32}, {clone, 0}};
	struct ctx_stack_part part;

	(void)state;
	world_begin(&world);
	for (unsigned i = 0; i < CTX_STACK_BOTTOM_WITNESSES; i++) {
		assert_null(ctx_stack_bottoms_callers(bottoms, view->process, run).frames);
		ctx_stack_bottoms_offer(bottoms, view, (struct ctx_stack_part){usual, 4});
		/* Not: what goes on with frame pointers, and what is longer than start code. */
		ctx_stack_bottoms_offer(bottoms, view, (struct ctx_stack_part){other, 4});
		ctx_stack_bottoms_offer(bottoms, view, (struct ctx_stack_part){deeper + 1, 4});
	}
	part = ctx_stack_bottoms_callers(bottoms, view->process, run);
	/* In `other` and `deeper` it was elsewhere. */
	assert_null(part.frames);
	ctx_stack_bottoms_deinit(bottoms);
	assert_int_equal(ctx_stack_bottoms_init(bottoms, NULL), CTX_OK);
	for (unsigned i = 0; i < CTX_STACK_BOTTOM_WITNESSES; i++)
		ctx_stack_bottoms_offer(bottoms, view, (struct ctx_stack_part){usual, 4});
	part = ctx_stack_bottoms_callers(bottoms, view->process, run);
	assert_int_equal(part.n, 1);
	assert_int_equal(part.frames[0].address, clone);
	assert_null(ctx_stack_bottoms_callers(bottoms, view->process + 1, run).frames);
	assert_null(ctx_stack_bottoms_callers(bottoms, view->process, clone).frames);
	assert_null(ctx_stack_bottoms_callers(bottoms, view->process, run + 1).frames);
	/* One stack has it in the middle: never again. */
	ctx_stack_bottoms_offer(bottoms, view, (struct ctx_stack_part){between, 5});
	assert_null(ctx_stack_bottoms_callers(bottoms, view->process, run).frames);
	for (unsigned i = 0; i < 2 * CTX_STACK_BOTTOM_WITNESSES; i++)
		ctx_stack_bottoms_offer(bottoms, view, (struct ctx_stack_part){usual, 4});
	assert_null(ctx_stack_bottoms_callers(bottoms, view->process, run).frames);
	world_end(&world);
}

/* --- a thread of this program, whose stack is taken as the kernel does --- */

#define STACK_BYTES ((size_t)1 << 18)

struct shot {
	struct ctx_user_state state;
	uint8_t copy[STACK_BYTES];
	uint64_t chain[100];
	size_t n_chain;
	int depth;
};

static _Alignas(4096) uint8_t stack_of_thread[STACK_BYTES];

/* The sanitizer's red zones are part of the stack. */
__attribute__((no_sanitize("address", "undefined", "thread"))) static void copy_stack(struct shot *shot,
										      uint64_t sp,
										      uint64_t fp)
{
	uint64_t end = (uint64_t)(uintptr_t)(stack_of_thread + STACK_BYTES);
	const volatile uint8_t *from = (const volatile uint8_t *)sp; /* NOLINT: a stack pointer */

	shot->state.stack_bytes = (size_t)(end - sp);
	for (size_t i = 0; i < shot->state.stack_bytes; i++)
		shot->copy[i] = from[i];
	while (shot->n_chain < CTX_COUNT_OF(shot->chain) && fp >= sp && fp + 16 <= end) {
		const uint64_t *frame = (const uint64_t *)fp; /* NOLINT: a frame pointer */

		shot->chain[shot->n_chain++] = frame[1];
		fp = frame[0];
	}
}

static __attribute__((noinline)) void take(struct shot *shot)
{
	static const uint8_t number[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	struct ctx_user_regs *regs = &shot->state.regs;
	ucontext_t here;

	assert_int_equal(getcontext(&here), 0);
	regs->machine = CTX_MACHINE_X86_64;
	for (size_t i = 0; i < CTX_COUNT_OF(number); i++) {
		regs->valid |= UINT64_C(1) << i;
		regs->value[i] = (uint64_t)here.uc_mcontext.gregs[number[i]];
	}
	shot->state.stack = shot->copy;
	shot->chain[shot->n_chain++] = regs->value[16];
	copy_stack(shot, regs->value[7], regs->value[6]);
}

static __attribute__((noinline)) void deep(struct shot *shot, int depth)
{
	char room[200];

	if (depth > 0)
		deep(shot, depth - 1);
	else
		take(shot);
	__asm__ volatile("" : : "r"(room) : "memory"); /* no tail call */
}

static void *run_thread(void *context)
{
	struct shot *shot = context;

	deep(shot, shot->depth);
	return NULL;
}

static void shoot(struct shot *shot)
{
	pthread_attr_t attr;
	pthread_t thread;

	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstack(&attr, stack_of_thread, STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attr, run_thread, shot), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attr);
}

static void test_copy_trial__fails_where_a_stack_would_be_another(void **state)
{
	static struct ctx_unwind_frame frames[2][200];
	static struct shot shot = {.depth = 20};
	struct ctx_unwind_job job = {.state = &shot.state, .frames = frames[0], .max = 200};
	struct ctx_copy_trial trial = {.bytes = 4096, .frames = frames[1], .max = 200};
	struct world world;

	(void)state;
	shoot(&shot);
	world_begin(&world);
	trial.bottoms = &world.bottoms;
	job.view = world.view;
	ctx_unwind_job_do(&job);
	assert_int_equal(job.end, CTX_TRUNCATED_NOT);
	assert_true(job.n >= 24);
	job.chain = (struct ctx_unwind_chain){(const uint8_t *)shot.chain, shot.n_chain};
	ctx_copy_trial_take(&trial, &job);
	assert_int_equal(trial.stacks, 0);
	trial.is_on = true;
	/* Nothing is known yet of what calls the thread's function. */
	ctx_copy_trial_take(&trial, &job);
	assert_true(trial.stacks == 1 && trial.deep == 1 && trial.failed == 1);
	for (unsigned i = 0; i < CTX_STACK_BOTTOM_WITNESSES; i++)
		ctx_stack_bottoms_offer(&world.bottoms, &world.view,
					(struct ctx_stack_part){job.frames, job.n});
	ctx_copy_trial_take(&trial, &job);
	assert_true(trial.stacks == 2 && trial.deep == 2 && trial.failed == 1);
	/* Another stack, and one without a chain. */
	job.frames[10].address++;
	ctx_copy_trial_take(&trial, &job);
	assert_int_equal(trial.failed, 2);
	job.frames[10].address--;
	job.chain.n = 0;
	ctx_copy_trial_take(&trial, &job);
	assert_int_equal(trial.failed, 3);
	/* It is not deeper than that. */
	trial.bytes = shot.state.stack_bytes - 8;
	ctx_copy_trial_take(&trial, &job);
	assert_true(trial.stacks == 5 && trial.deep == 4 && trial.failed == 3);
	world_end(&world);
}
#else
static void test_stack_bottoms__are_learned_while_they_are_always_the_same(void **state)
{
	(void)state;
	skip();
}

static void test_copy_trial__fails_where_a_stack_would_be_another(void **state)
{
	(void)state;
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_chain__any_part_of_a_copy_leads_to_the_same_stack),
		cmocka_unit_test(test_frame_chain__needs_no_copy_where_the_leaf_has_a_frame_pointer),
		cmocka_unit_test(test_frame_chain__an_entry_more_is_seen),
		cmocka_unit_test(test_stack_bottoms__are_learned_while_they_are_always_the_same),
		cmocka_unit_test(test_copy_trial__fails_where_a_stack_would_be_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
