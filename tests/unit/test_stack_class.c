/*
 * Classification of threads by their stacks, with the names of a synthetic kallsyms.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/stack_class.h"
#include "ingest/stackdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define KERNEL UINT64_C(0xffffffff81000000)
#define FRAMES_MAX 6

/* The number of a function is its page. */
static const char *const functions[] = {
	"_text",
	"entry_SYSCALL_64_after_hwframe",
	"do_futex",
	"__schedule",
	"asm_exc_page_fault",
	"handle_mm_fault",
	"ksys_read",
	"asm_sysvec_apic_timer_interrupt",
	"hrtimer_wakeup",
	"do_signal_stop",
	"asm_exc_int3",
	"el0_ia",
	"fault_in_readable",
	"irqentry_exit_to_user_mode",
	"do_exit",
	"el0_da",
	"el0t_64_sync",
	"el0t_64_sync_handler",
	"el1_abort",
	"page_fault",
	"apic_timer_interrupt",
	"ret_from_intr",
	"exit_to_usermode_loop",
};
enum {
	TEXT,
	SYSCALL,
	FUTEX,
	SCHEDULE,
	PAGE_FAULT,
	MM_FAULT,
	READ,
	TIMER,
	WAKEUP,
	STOP,
	INT3,
	EL0_IA,
	FAULT_IN,
	RETURN,
	EXIT,
	EL0_DA,
	EL0_SYNC,
	EL0_HANDLER,
	EL1_ABORT,
	OLD_PAGE_FAULT,
	OLD_TIMER,
	OLD_INTERRUPT,
	OLD_RETURN,
	USER
};

struct world {
	struct ctx_arena arena;
	struct ctx_resolver *resolver;
	struct ctx_stack_forest forest;
	struct ctx_stack_classes classes;
	char path[64];
};

static int setup(void **state)
{
	struct world *world = ctx_calloc(1, sizeof(*world));
	struct ctx_resolver_options options = {.debug_root = "", .symfs = ""};
	FILE *file;
	int fd;

	assert_non_null(world);
	strcpy(world->path, "/tmp/test_stack_class.XXXXXX");
	fd = mkstemp(world->path);
	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	for (size_t i = 0; i < CTX_COUNT_OF(functions); i++)
		fprintf(file, "%llx t %s\n", (unsigned long long)(KERNEL + 4096 * i), functions[i]);
	assert_int_equal(fclose(file), 0);
	options.kallsyms = world->path;
	assert_int_equal(ctx_resolver_create(&options, &world->arena, &world->resolver, NULL), CTX_OK);
	assert_int_equal(ctx_stack_forest_init(&world->forest, world->resolver, NULL), CTX_OK);
	world->classes = (struct ctx_stack_classes){.raw = &world->forest.raw, .resolver = world->resolver};
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	ctx_stack_classes_deinit(&world->classes);
	ctx_stack_forest_deinit(&world->forest);
	ctx_resolver_destroy(world->resolver);
	ctx_arena_deinit(&world->arena);
	unlink(world->path);
	free(world);
	return 0;
}

/* Frames from the root to the leaf; returns the leaf. */
static uint32_t add_stack(struct world *world, const int *frames, size_t n)
{
	uint32_t locations[FRAMES_MAX], nodes[FRAMES_MAX];

	for (size_t i = 0; i < n; i++) {
		uint64_t address = frames[i] == USER ? 0x401000 : KERNEL + 4096 * (uint64_t)frames[i] + 16;

		assert_int_equal(ctx_resolver_absolute(world->resolver, address, &locations[i], NULL),
				 CTX_OK);
	}
	assert_int_equal(ctx_stack_forest_add(&world->forest, CTX_TRIE_ROOT,
					      (struct ctx_trie_keys){locations, n}, nodes, NULL),
			 CTX_OK);
	return nodes[n - 1];
}

static unsigned class_of(struct world *world, const int *frames, size_t n)
{
	uint32_t leaf = add_stack(world, frames, n);
	unsigned first, second;

	assert_int_equal(ctx_stack_class_of(&world->classes, leaf, &first, NULL), CTX_OK);
	/* What is remembered is the same. */
	assert_int_equal(ctx_stack_class_of(&world->classes, leaf, &second, NULL), CTX_OK);
	assert_int_equal(first, second);
	return first;
}

static void test_stack_class__kernel_functions_classify_the_stack(void **state)
{
	enum { TRAP = CTX_STACK_KERNEL | CTX_STACK_TRAP };
	static const struct {
		int frames[FRAMES_MAX];
		size_t n;
		unsigned want;
	} cases[] = {
		{{USER}, 1, 0},
		{{USER, SYSCALL, READ}, 3, CTX_STACK_KERNEL},
		{{USER, SYSCALL, FUTEX, SCHEDULE}, 4, CTX_STACK_KERNEL | CTX_STACK_FUTEX},
		{{USER, PAGE_FAULT, MM_FAULT, SCHEDULE}, 4, TRAP | CTX_STACK_FAULT},
		{{USER, SYSCALL, READ, PAGE_FAULT, MM_FAULT}, 5, TRAP | CTX_STACK_KERNEL_FAULT},
		{{USER, SYSCALL, READ, MM_FAULT, SCHEDULE}, 5, CTX_STACK_KERNEL | CTX_STACK_KERNEL_FAULT},
		/* aarch64 comes in by functions of any exception. */
		{{USER, EL0_SYNC, EL0_HANDLER, EL0_IA, MM_FAULT, SCHEDULE},
		 6,
		 TRAP | CTX_STACK_FAULT | CTX_STACK_TEXT_FAULT},
		{{USER, EL0_SYNC, EL0_HANDLER, EL0_DA, MM_FAULT, SCHEDULE}, 6, TRAP | CTX_STACK_FAULT},
		{{USER, EL0_SYNC, EL0_HANDLER, EL1_ABORT, MM_FAULT, SCHEDULE},
		 6,
		 TRAP | CTX_STACK_KERNEL_FAULT},
		/* Before Linux 5.8. */
		{{USER, OLD_PAGE_FAULT, MM_FAULT, SCHEDULE}, 4, TRAP | CTX_STACK_FAULT},
		{{USER, SYSCALL, READ, OLD_PAGE_FAULT, MM_FAULT}, 5, TRAP | CTX_STACK_KERNEL_FAULT},
		{{USER, OLD_TIMER, WAKEUP}, 3, TRAP | CTX_STACK_INTERRUPT},
		{{USER, SYSCALL, FUTEX, OLD_INTERRUPT, WAKEUP},
		 5,
		 TRAP | CTX_STACK_INTERRUPT | CTX_STACK_FUTEX},
		{{USER, OLD_TIMER, OLD_RETURN, STOP, SCHEDULE}, 5, TRAP | CTX_STACK_STOP},
		{{USER, INT3, STOP, SCHEDULE}, 4, TRAP | CTX_STACK_STOP},
		{{USER, SYSCALL, STOP, SCHEDULE}, 4, CTX_STACK_KERNEL | CTX_STACK_STOP},
		{{USER, TIMER, WAKEUP}, 3, TRAP | CTX_STACK_INTERRUPT},
		{{USER, SYSCALL, FUTEX, TIMER, WAKEUP}, 5, TRAP | CTX_STACK_INTERRUPT | CTX_STACK_FUTEX},
		{{SYSCALL, SCHEDULE}, 2, CTX_STACK_KERNEL},
		/* On the way back to the program: a signal's work is the thread's own. */
		{{USER, TIMER, RETURN, EXIT, WAKEUP}, 5, TRAP},
		{{USER, TIMER, RETURN, STOP, SCHEDULE}, 5, TRAP | CTX_STACK_STOP},
		{{USER, TIMER, RETURN, TIMER, WAKEUP}, 5, TRAP | CTX_STACK_INTERRUPT},
		{{USER, PAGE_FAULT, RETURN, EXIT, SCHEDULE}, 5, TRAP},
		{{USER, PAGE_FAULT, RETURN, PAGE_FAULT, MM_FAULT}, 5, TRAP | CTX_STACK_KERNEL_FAULT},
	};
	struct world *world = *state;

	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++)
		assert_int_equal(class_of(world, cases[i].frames, cases[i].n), cases[i].want);
	/* Again, when all functions are known. */
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++)
		assert_int_equal(class_of(world, cases[i].frames, cases[i].n), cases[i].want);
}

static void test_stack_class__a_wait_ends_where_the_scheduler_was_called(void **state)
{
	static const int frames[] = {USER, SYSCALL, FUTEX, SCHEDULE, SCHEDULE};
	struct world *world = *state;
	uint32_t leaf, found, alone;

	class_of(world, frames, 5);
	leaf = world->forest.raw.n - 1;
	assert_int_equal(ctx_stack_without_scheduler(&world->classes, leaf, &found, NULL), CTX_OK);
	assert_int_equal(found, leaf - 2);
	/* A second time nothing is removed, nor are frames of the program, nor the last frame. */
	assert_int_equal(ctx_stack_without_scheduler(&world->classes, found, &found, NULL), CTX_OK);
	assert_int_equal(found, leaf - 2);
	class_of(world, frames + 3, 1);
	alone = world->forest.raw.n - 1;
	assert_int_equal(ctx_stack_without_scheduler(&world->classes, alone, &found, NULL), CTX_OK);
	assert_int_equal(found, alone);
}

static void test_stack_class__an_interrupt_begins_where_the_first_one_came_in(void **state)
{
	static const struct {
		int frames[FRAMES_MAX];
		size_t n, above; /* frames between it and the leaf */
	} cases[] = {
		{{USER, TIMER, WAKEUP}, 3, 1},
		{{USER, SYSCALL, FUTEX, TIMER, WAKEUP}, 5, 1},
		{{USER, TIMER, WAKEUP, TIMER, WAKEUP, WAKEUP}, 6, 4},
		{{TIMER}, 1, 0},
		{{USER, SYSCALL, FUTEX}, 3, 3},	     /* none */
		{{TIMER, USER, SYSCALL}, 3, 3},	     /* nor is one that is not of this entry */
		{{USER, TIMER, RETURN, EXIT}, 4, 4}, /* nor one that is over */
		{{USER, TIMER, RETURN, TIMER, WAKEUP}, 5, 1},
	};
	struct world *world = *state;

	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		uint32_t want = add_stack(world, cases[i].frames, cases[i].n), found;

		assert_int_equal(ctx_stack_interrupt_entry(&world->classes, want, &found, NULL), CTX_OK);
		for (size_t k = 0; k < cases[i].above; k++)
			want = world->forest.raw.parent[want];
		assert_int_equal(found, want);
	}
}

static void test_stack_class__the_empty_stack_has_no_class(void **state)
{
	struct world *world = *state;
	unsigned classes = 77;

	assert_int_equal(ctx_stack_class_of(&world->classes, CTX_TRIE_ROOT, &classes, NULL), CTX_OK);
	assert_int_equal(classes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stack_class__kernel_functions_classify_the_stack, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_stack_class__a_wait_ends_where_the_scheduler_was_called,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_stack_class__an_interrupt_begins_where_the_first_one_came_in, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stack_class__the_empty_stack_has_no_class, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
