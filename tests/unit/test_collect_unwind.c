/*
 * The recorder's way from a sample's registers and stack to its frames: on this program's own
 * stack, which is recorded as the kernel would, so that what must come out is known.
 */
#include "collect/sample_batch.h"
#include "collect/stack_memory.h"
#include "collect/unwind_pool.h"
#include "experiment_fixture.h"
#include "own_maps.h"
#include "tests/unit/every.h"
#include "tests/unit/failing_malloc.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#define STACK_MAX 16384u
#define NOINLINE __attribute__((noinline))

/* --- records --- */

struct record_parts {
	uint64_t id; /* 1000: a fixed period, 2000: its own */
	size_t n_chain;
	uint64_t abi, size, filled;
};

/* Of samples with these registers and a stack. */
static struct ctx_perf_layout layout_of(struct ctx_map64 *ids, struct ctx_pe_layout layouts[2],
					uint64_t user_regs)
{
	struct perf_event_attr attr = {.sample_type = CTX_PERF_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER |
						      PERF_SAMPLE_STACK_USER,
				       .sample_regs_user = user_regs};

	layouts[0] = ctx_pe_layout_make(&attr, false);
	attr.sample_type |= PERF_SAMPLE_PERIOD;
	layouts[1] = ctx_pe_layout_make(&attr, false);
	*ctx_map64_place(ids, 1000) = 0;
	*ctx_map64_place(ids, 2000) = 1;
	return (struct ctx_perf_layout){.event_of_id = ids, .events = layouts, .n_events = 2};
}

static uint8_t stack_byte(size_t i)
{
	return (uint8_t)(i * i / 3 + 1);
}

/*
 * As perf_output_sample in the kernel's kernel/events/core.c. Registers are 100, 101, ... in perf's
 * order.
 */
static void make_record(struct ctx_buf *out, const struct record_parts *parts, size_t n_regs)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER};

	ctx_buf_clear(out);
	ctx_buf_put(out, &header, sizeof(header));
	ctx_buf_put_u64(out, parts->id);
	ctx_buf_put_u64(out, 0x401000);
	ctx_buf_put_u32(out, 7);
	ctx_buf_put_u32(out, 8);
	ctx_buf_put_u64(out, 123456);
	ctx_buf_put_u64(out, 3);
	if (parts->id == 2000)
		ctx_buf_put_u64(out, 4242);
	ctx_buf_put_u64(out, parts->n_chain);
	for (size_t i = 0; i < parts->n_chain; i++)
		ctx_buf_put_u64(out, 0x500000 + i);
	ctx_buf_put_u64(out, parts->abi);
	for (size_t i = 0; parts->abi != 0 && i < n_regs; i++)
		ctx_buf_put_u64(out, 100 + i);
	ctx_buf_put_u64(out, parts->size);
	for (size_t i = 0; i < parts->size; i++)
		ctx_buf_put_u8(out, stack_byte(i));
	if (parts->size != 0)
		ctx_buf_put_u64(out, parts->filled);
	assert_false(out->failed);
	assert_true(out->n <= UINT16_MAX);
	memcpy(out->bytes + offsetof(struct perf_event_header, size), &(uint16_t){(uint16_t)out->n}, 2);
}

/*
 * From memory of exactly this size, so that a sanitizer sees a read past it. `*ret`'s borrowed
 * parts are gone.
 */
static enum ctx_status parse_exact(const struct ctx_buf *bytes, size_t n,
				   const struct ctx_perf_layout *layout, const struct record_parts *parts)
{
	struct ctx_perf_record record;
	uint8_t *exact = malloc(n);
	enum ctx_status status;

	assert_non_null(exact);
	memcpy(exact, bytes->bytes, n);
	memcpy(exact + offsetof(struct perf_event_header, size), &(uint16_t){(uint16_t)n}, 2);
	status = ctx_perf_record_parse(exact, n, layout, &record, NULL);
	if (status == CTX_OK && parts != NULL) {
		struct ctx_user_state state, *user = &state;
		size_t want = parts->filled < parts->size ? (size_t)parts->filled : (size_t)parts->size;

		ctx_pe_sample_user_state(&record.sample, user);
		assert_int_equal(record.sample.n_chain, parts->n_chain);
		assert_int_equal(record.sample.period, parts->id == 2000 ? 4242 : 0);
		assert_int_equal(user->stack_bytes, want);
		for (size_t i = 0; i < want; i++)
			assert_int_equal(user->stack[i], stack_byte(i));
		if (parts->abi != PERF_SAMPLE_REGS_ABI_64) {
			assert_int_equal(user->regs.machine, CTX_MACHINE_UNKNOWN);
		} else {
			assert_int_equal(user->regs.machine, ctx_machine_own());
			assert_int_equal(user->regs.value[ctx_machine_pc(ctx_machine_own())],
					 ctx_machine_own() == CTX_MACHINE_X86_64 ? 108 : 132);
			assert_int_equal(user->regs.value[ctx_machine_sp(ctx_machine_own())],
					 ctx_machine_own() == CTX_MACHINE_X86_64 ? 107 : 131);
		}
	}
	free(exact);
	return status;
}

static void test_perfrecord__registers_and_stacks_of_all_sizes_are_found(void **state)
{
	static const uint64_t sizes[] = {0, 8, 16, 1024, 16384, 64000};
	uint64_t mask = ctx_user_regs_perf_mask(ctx_machine_own());
	struct ctx_map64 ids = {0};
	struct ctx_pe_layout layouts[2], layouts_of_all[2];
	struct ctx_perf_layout layout = layout_of(&ids, layouts, mask),
			       all = layout_of(&ids, layouts_of_all, 0x1ff);
	struct ctx_buf bytes = {0};
	size_t n_regs = (size_t)__builtin_popcountll(mask);

	(void)state;
	if (mask == 0) {
		print_message("skipped: this machine's stacks are not unwound\n");
		skip();
	}
	/*
	 * Registers are identified by their position: with the lowest nine asked for, bp sp ip are
	 * 106 107 108 on x86-64.
	 */
	for (size_t s = 0; s < CTX_COUNT_OF(sizes); s++) {
		uint64_t filled[] = {0, sizes[s] / 2, sizes[s], sizes[s] + 8, UINT64_MAX};

		for (unsigned i = 0; i < 3 * CTX_COUNT_OF(filled) * 2 * 2; i++) {
			struct record_parts parts = {.id = i % 2 != 0 ? 1000 : 2000,
						     .n_chain = i / 2 % 2 * 3,
						     .abi = i / 4 % 3,
						     .size = sizes[s],
						     .filled = filled[i / 12]};

			make_record(&bytes, &parts, n_regs);
			if (ctx_machine_own() != CTX_MACHINE_X86_64) {
				assert_int_equal(parse_exact(&bytes, bytes.n, &layout, &parts), CTX_OK);
				continue;
			}
			assert_int_equal(parse_exact(&bytes, bytes.n, &layout, NULL), CTX_OK);
			make_record(&bytes, &parts, 9);
			assert_int_equal(parse_exact(&bytes, bytes.n, &all, &parts), CTX_OK);
		}
	}
	ctx_buf_deinit(&bytes);
	ctx_map64_deinit(&ids);
}

static void test_perfrecord__cut_records_and_sizes_that_lie_are_refused(void **state)
{
	struct ctx_map64 ids = {0};
	struct ctx_pe_layout layouts[2];
	struct ctx_perf_layout layout = layout_of(&ids, layouts, 0x1ff);
	struct ctx_buf bytes = {0};
	struct record_parts parts = {.id = 2000, .n_chain = 3, .size = 64, .filled = 64};

	(void)state;
	for (parts.abi = 0; parts.abi < 3; parts.abi++) {
		size_t at_size;

		make_record(&bytes, &parts, 9);
		for (size_t n = sizeof(struct perf_event_header); n < bytes.n; n++)
			assert_int_equal(parse_exact(&bytes, n, &layout, NULL), CTX_E_FORMAT);
		assert_int_equal(parse_exact(&bytes, bytes.n, &layout, NULL), CTX_OK);
		at_size = bytes.n - 8 - 64 - 8;
		for (uint64_t left = 64 + 8, size = 0; size < left + 9; size++) {
			memcpy(bytes.bytes + at_size, &size, sizeof(size));
			assert_int_equal(parse_exact(&bytes, bytes.n, &layout, NULL),
					 size > 64 ? CTX_E_FORMAT : CTX_OK);
			memcpy(bytes.bytes + at_size, &(uint64_t){UINT64_MAX - size}, sizeof(size));
			assert_int_equal(parse_exact(&bytes, bytes.n, &layout, NULL), CTX_E_FORMAT);
		}
	}
	ctx_buf_deinit(&bytes);
	ctx_map64_deinit(&ids);
}

/* --- this program, recorded --- */

struct shot {
	struct ctx_user_state state;
	uint64_t values[CTX_USER_REGS_MAX]; /* its registers in perf's order */
	uint8_t stack[STACK_MAX];
	uint64_t depth; /* frames of deep on it */
};

static uint64_t stack_end; /* nothing is mapped from here on */

static int find_stack_end(void **state)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4300];
	unsigned long begin, end;

	(void)state;
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && (uintptr_t)line >= begin &&
		    (uintptr_t)line < end)
			stack_end = end;
	}
	return maps == NULL || fclose(maps) != 0 || stack_end == 0;
}

#if defined(__x86_64__)
/* The sanitizer's red zones are part of the stack. */
__attribute__((no_sanitize("address", "undefined", "thread"))) static void copy_stack(struct shot *shot,
										      uint64_t sp)
{
	const volatile uint8_t *from =
		(const volatile uint8_t *)sp; /* NOLINT: that is what a stack pointer is */

	for (size_t i = 0; i < shot->state.stack_bytes; i++)
		shot->stack[i] = from[i];
}

static NOINLINE void take(struct shot *shot, size_t n_bytes)
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
	shot->state.stack = shot->stack;
	shot->state.stack_bytes =
		n_bytes < stack_end - regs->value[7] ? n_bytes : (size_t)(stack_end - regs->value[7]);
	copy_stack(shot, regs->value[7]);
}
#else
static NOINLINE void take(struct shot *shot, size_t n_bytes)
{
	(void)shot;
	(void)n_bytes;
	print_message("skipped: this machine's stacks are not unwound\n");
	skip();
}
#endif

static NOINLINE void deep(struct shot *shot, uint64_t depth, size_t n_bytes)
{
	if (depth > 1)
		deep(shot, depth - 1, n_bytes);
	else
		take(shot, n_bytes);
	__asm__ volatile("" : : "r"(shot) : "memory"); /* no tail call */
}

static NOINLINE void also_deep(struct shot *shot, size_t n_bytes)
{
	deep(shot, 3, n_bytes);
	__asm__ volatile("" : : "r"(shot) : "memory");
}

static NOINLINE struct shot *shoot(uint64_t depth, size_t n_bytes)
{
	struct shot *shot = calloc(1, sizeof(*shot));

	assert_non_null(shot);
	shot->depth = depth;
	deep(shot, depth, n_bytes);
	return shot;
}

/* A recording of this program, with the maps that it has. */
struct world {
	char *directory, *path;
	struct ctx_exp_writer *writer;
	uint32_t process; /* 0, with the threads 0 and 1 */
	char own_path[4096];
};

static void world_begin(struct world *world)
{
	struct ctx_exp_process root_process = {CTX_EXP_ROOT_PROCESS, CTX_NONE, getpid(), "app",
					       FIXTURE_START_NS,     NULL,     0};
	struct ctx_exp_options options;
	uint32_t number;
	ssize_t n;

	*world = (struct world){.directory = fixture_directory()};
	world->path = ctx_path_join(world->directory, "run.er");
	options = fixture_options(world->path);
	assert_int_equal(ctx_exp_create(&options, &world->writer, NULL), CTX_OK);
	assert_int_equal(ctx_exp_process_start(world->writer, &root_process, &world->process, NULL), CTX_OK);
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			ctx_exp_thread_start(world->writer,
					     &(struct ctx_exp_thread){0, 50000 + i, "t", FIXTURE_START_NS, 0},
					     &number, NULL),
			CTX_OK);
	put_own_maps(world->writer, world->process);
	n = readlink("/proc/self/exe", world->own_path, sizeof(world->own_path) - 1);
	assert_true(n > 0);
}

static void world_end(struct world *world)
{
	if (world->writer != NULL)
		assert_int_equal(ctx_exp_close(world->writer, FIXTURE_START_NS + 1000000, NULL), CTX_OK);
	free(world->path);
	fixture_remove(world->directory);
}

/* --- code maps --- */

#define PAGE UINT64_C(4096)
#define PAGES 64u
#define PROCESSES_MAX 40u

struct page {
	uint32_t object; /* CTX_NONE: nothing there */
	uint64_t offset;
};

struct model {
	struct page pages[PROCESSES_MAX][PAGES];
	uint32_t n;
};

/* Where this program's code is: in the file, and as the linker numbered it. */
static int note_segment(struct dl_phdr_info *info, size_t size, void *context)
{
	ElfW(Phdr) *segment = context;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0)
			*segment = info->dlpi_phdr[i];
	}
	return 1; /* the first is the program */
}

static void change(struct world *world, struct model *model, uint64_t *seed, uint64_t code)
{
	uint32_t process = (uint32_t)fixture_random(seed, model->n);
	uint64_t at = fixture_random(seed, PAGES), n = 1 + fixture_random(seed, PAGES / 2);
	uint32_t object = (uint32_t)fixture_random(seed, 3), child;
	const char *const paths[] = {world->own_path, "/no/such/file", "//anon"};
	struct ctx_exp_process start = {CTX_EXP_FORK, process, 100000 + model->n, "child", FIXTURE_START_NS,
					NULL,	      0};
	struct ctx_exp_map map = {
		at * PAGE, n * PAGE,	    code + fixture_random(seed, 4) * PAGE, 5, paths[object],
		"",	   FIXTURE_START_NS};

	n = at + n > PAGES ? PAGES - at : n;
	map.size = n * PAGE;
	switch (fixture_random(seed, 12)) {
	case 0:
	case 1:
		if (model->n == PROCESSES_MAX)
			break;
		if (fixture_random(seed, 2) != 0)
			start.origin = CTX_EXP_EXEC;
		assert_int_equal(ctx_exp_process_start(world->writer, &start, &child, NULL), CTX_OK);
		assert_int_equal(child, model->n);
		memset(model->pages[child], 0xff, sizeof(model->pages[child]));
		if (start.origin == CTX_EXP_FORK) {
			assert_int_equal(
				ctx_exp_fork_maps(world->writer, process, child, FIXTURE_START_NS, NULL),
				CTX_OK);
			memcpy(model->pages[child], model->pages[process], sizeof(model->pages[child]));
		}
		model->n++;
		break;
	case 2:
	case 3:
	case 4:
		assert_int_equal(ctx_exp_unmap(world->writer, process,
					       &(struct ctx_exp_map){.address = at * PAGE,
								     .size = n * PAGE,
								     .time_ns = FIXTURE_START_NS},
					       NULL),
				 CTX_OK);
		for (uint64_t i = at; i < at + n; i++)
			model->pages[process][i].object = CTX_NONE;
		break;
	default:
		assert_int_equal(ctx_exp_map(world->writer, process, &map, NULL), CTX_OK);
		for (uint64_t i = at; i < at + n; i++)
			model->pages[process][i] = (struct page){object, map.file_offset + (i - at) * PAGE};
		break;
	}
}

static void check_pc(struct ctx_codemaps *maps, const struct model *model, const ElfW(Phdr) * code,
		     uint32_t process, uint64_t pc)
{
	struct ctx_code_view view = {.maps = maps, .process = process};
	struct ctx_unwind_space space = ctx_code_view_space(&view);
	struct ctx_unwind_object found;
	const struct page *page = &model->pages[process][pc / PAGE], *other;
	uint64_t offset = page->offset + pc % PAGE;

	assert_int_equal(space.find(space.context, pc, &found), page->object != CTX_NONE);
	if (page->object == CTX_NONE)
		return;
	/* What it says of the mapping is so: the same file, one piece. */
	assert_true(pc >= found.begin && pc < found.end && found.end <= PAGES * PAGE);
	for (uint64_t i = found.begin / PAGE; i < found.end / PAGE; i++) {
		other = &model->pages[process][i];
		assert_int_equal(other->object, page->object);
		assert_int_equal(other->offset + (pc / PAGE * PAGE), page->offset + i * PAGE);
	}
	if (page->object != 0) {
		assert_null(found.table);
	} else if (offset >= code->p_offset && offset < code->p_offset + code->p_filesz) {
		assert_non_null(found.table);
		assert_int_equal(pc - found.bias, offset - code->p_offset + code->p_vaddr);
	}
}

static void test_codemaps__are_those_of_a_slow_table_of_pages(void **state)
{
	static struct model model;
	struct world world;
	struct ctx_codemaps *maps;
	ElfW(Phdr) code = {0};
	uint64_t seed = 77;

	(void)state;
	dl_iterate_phdr(note_segment, &code);
	assert_true(code.p_filesz != 0);
	world_begin(&world);
	assert_int_equal(ctx_codemaps_create(world.writer, &maps, NULL), CTX_OK);
	memset(&model, 0xff, sizeof(model));
	model.n = 1; /* its own maps lie above the pages */
	for (int round = 0; round < 3000; round++) {
		change(&world, &model, &seed, code.p_offset / PAGE * PAGE);
		assert_int_equal(ctx_codemaps_refresh(maps, NULL), CTX_OK);
		for (int i = 0; i < 8; i++)
			check_pc(maps, &model, &code, (uint32_t)fixture_random(&seed, model.n),
				 fixture_random(&seed, PAGES * PAGE));
	}
	ctx_codemaps_destroy(maps);
	world_end(&world);
}

/* Its last samples are unwound after it has ended; what was never read is not known. */
static void test_codemaps__code_in_memory_outlives_its_process(void **state)
{
	uint8_t *code = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)code + PAGE - 8;
	struct ctx_code_view view = {0};
	struct ctx_unwind_space space;
	struct ctx_exp_map map;
	struct world world;
	uint8_t bytes[16];
	pid_t child;

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	for (size_t i = 0; i < 3 * PAGE; i++)
		code[i] = (uint8_t)(i * 7 / 3);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	memset(code, 0xcc, 3 * PAGE); /* the child has the bytes, and this process others */
	world_begin(&world);
	map = (struct ctx_exp_map){at - PAGE + 8, 3 * PAGE, 0, 5, "//anon", "", FIXTURE_START_NS};
	assert_int_equal(ctx_exp_map(world.writer, world.process, &map, NULL), CTX_OK);
	assert_int_equal(ctx_codemaps_create(world.writer, &view.maps, NULL), CTX_OK);
	assert_int_equal(ctx_codemaps_refresh(view.maps, NULL), CTX_OK);
	view.process = world.process;
	view.pid = child;
	space = ctx_code_view_space(&view);
	for (int ended = 0; ended < 2; ended++) {
		memset(bytes, 0, sizeof(bytes));
		assert_int_equal(space.read_code(space.context, at, bytes, sizeof(bytes)), sizeof(bytes));
		for (size_t i = 0; i < sizeof(bytes); i++)
			assert_int_equal(bytes[i], (uint8_t)((PAGE - 8 + i) * 7 / 3));
		if (ended == 0) {
			kill(child, SIGKILL);
			assert_int_equal(waitpid(child, NULL, 0), child);
			usleep(300000); /* longer than instructions are remembered */
			assert_int_equal(ctx_codemaps_refresh(view.maps, NULL), CTX_OK);
		}
	}
	assert_int_equal(space.read_code(space.context, at + 2 * PAGE, bytes, 8), 0);
	ctx_codemaps_destroy(view.maps);
	world_end(&world);
	munmap(code, 3 * PAGE);
}

/* What a JIT compiler has changed is seen in the next round, not by each look into the page. */
static void test_codemaps__a_page_of_code_in_memory_is_read_once_in_a_round(void **state)
{
	uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ctx_code_view view = {0};
	struct ctx_unwind_space space;
	struct ctx_exp_map map = {(uint64_t)(uintptr_t)code, PAGE, 0, 5, "//anon", "", FIXTURE_START_NS};
	struct world world;
	uint8_t byte;

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	world_begin(&world);
	assert_int_equal(ctx_exp_map(world.writer, world.process, &map, NULL), CTX_OK);
	assert_int_equal(ctx_codemaps_create(world.writer, &view.maps, NULL), CTX_OK);
	view.process = world.process;
	view.pid = getpid();
	space = ctx_code_view_space(&view);
	for (uint8_t round = 1; round < 4; round++) {
		assert_int_equal(ctx_codemaps_refresh(view.maps, NULL), CTX_OK);
		memset(code, round, PAGE);
		for (size_t at = 0; at < PAGE; at += 512) {
			assert_int_equal(space.read_code(space.context, map.address + at, &byte, 1), 1);
			assert_int_equal(byte, round);
			memset(code, 0xcc, PAGE);
		}
	}
	ctx_codemaps_destroy(view.maps);
	world_end(&world);
	munmap(code, PAGE);
}

/* --- stack memory --- */

#define KEPT_MAX 64u

/* The slow one: the last whole stacks of a thread, the newest first. */
struct history {
	struct ctx_unwind_frame frames[CTX_STACK_MEMORY_STACKS][KEPT_MAX];
	size_t n[CTX_STACK_MEMORY_STACKS];
	size_t n_stacks;
};

static void note_stack(struct history *history, const struct ctx_unwind_frame *frames, size_t n)
{
	size_t last = CTX_STACK_MEMORY_STACKS - 1;

	memmove(history->frames[1], history->frames[0], last * sizeof(history->frames[0]));
	memmove(&history->n[1], &history->n[0], last * sizeof(history->n[0]));
	memcpy(history->frames[0], frames, n * sizeof(*frames));
	history->n[0] = n;
	history->n_stacks += history->n_stacks < CTX_STACK_MEMORY_STACKS;
}

static uint64_t function_of(uint64_t address)
{
	const uint64_t all[] = {(uint64_t)(uintptr_t)deep, (uint64_t)(uintptr_t)also_deep,
				(uint64_t)(uintptr_t)shoot};

	for (size_t i = 0; i < CTX_COUNT_OF(all); i++) {
		if (address - all[i] < 2)
			return all[i];
	}
	fail();
	return 0;
}

/* How many stacks have the frame, with their callers; false: they do not agree. */
static bool search(const struct history *history, const struct ctx_unwind_frame *last, size_t *ret_n,
		   const struct ctx_unwind_frame **ret, size_t *ret_n_callers)
{
	bool agree = true;

	*ret_n = 0;
	for (size_t s = 0; s < history->n_stacks; s++) {
		const struct ctx_unwind_frame *frames = history->frames[s];

		for (size_t i = 0; i < history->n[s]; i++) {
			size_t n = history->n[s] - i - 1;

			if (frames[i].cfa != last->cfa ||
			    function_of(frames[i].address) != function_of(last->address))
				continue;
			if (++*ret_n == 1) {
				*ret = frames + i + 1;
				*ret_n_callers = n;
			} else if (n != *ret_n_callers ||
				   memcmp(*ret, frames + i + 1, n * sizeof(*frames)) != 0) {
				agree = false;
			}
			break;
		}
	}
	return agree;
}

/*
 * A stack at ascending places; which function is at a place hardly ever changes. Some have their first
 * frames elsewhere, as a handler on an alternate stack.
 */
static size_t draw_stack(uint64_t *seed, struct ctx_unwind_frame *frames, size_t max)
{
	const uint64_t functions[] = {(uint64_t)(uintptr_t)deep, (uint64_t)(uintptr_t)also_deep,
				      (uint64_t)(uintptr_t)shoot};
	uint64_t at = 1 + fixture_random(seed, 10), first = at;
	uint64_t elsewhere = fixture_random(seed, 3) == 0 ? 3 : 0;
	size_t n = 0;

	for (; n < max && at < 20; n++, at += fixture_random(seed, 40) == 0 ? 2 : 1) {
		uint64_t other = fixture_random(seed, 30) == 0;

		frames[n] = (struct ctx_unwind_frame){functions[(at + other) % 3] + other,
						      (at < first + elsewhere ? 0x9000 : 0x7000) + 16 * at};
	}
	return n;
}

/* One stack may be enough, or not; more that agree are, and more that do not are not. */
static void test_stack_memory__joins_where_a_slow_search_does(void **state)
{
	static const uint32_t threads[4] = {0, CTX_STACK_MEMORY_THREADS, 1, CTX_STACK_MEMORY_THREADS + 1};
	static struct history histories[4];
	struct ctx_stack_memory memory;
	struct ctx_codemaps *maps;
	struct world world;
	struct ctx_code_view view;
	unsigned n_joined = 0, n_disagree = 0;
	uint64_t seed = 3;

	(void)state;
	world_begin(&world);
	assert_int_equal(ctx_codemaps_create(world.writer, &maps, NULL), CTX_OK);
	assert_int_equal(ctx_codemaps_refresh(maps, NULL), CTX_OK);
	view = (struct ctx_code_view){.maps = maps, .process = world.process};
	assert_true(ctx_code_view_same_function(&view, (uintptr_t)deep, (uintptr_t)deep + 1));
	assert_false(ctx_code_view_same_function(&view, (uintptr_t)deep, (uintptr_t)also_deep));
	assert_int_equal(ctx_stack_memory_init(&memory, NULL), CTX_OK);
	for (int round = 0; round < 20000; round++) {
		/* The first of a pair has the place most of the time. */
		uint32_t t = (uint32_t)(fixture_random(&seed, 2) * 2 + (fixture_random(&seed, 60) == 0));
		const struct ctx_unwind_frame *want = NULL;
		struct ctx_stack_part found;
		struct ctx_unwind_frame frames[KEPT_MAX];
		size_t n = draw_stack(&seed, frames, KEPT_MAX), n_want = 0, n_have;
		bool agree;

		if (fixture_random(&seed, 3) == 0) {
			ctx_stack_memory_keep(&memory, threads[t], (struct ctx_stack_part){frames, n},
					      (struct ctx_stack_part){0});
			note_stack(&histories[t], frames, n);
			histories[t ^ 1].n_stacks = 0;
			continue;
		}
		n = 1 + fixture_random(&seed, n);
		found = ctx_stack_memory_callers(&memory, threads[t], &view,
						 (struct ctx_stack_part){frames, n});
		agree = search(&histories[t], &frames[n - 1], &n_have, &want, &n_want);
		if (n_have == 0)
			assert_null(found.frames);
		if (n_have >= 2)
			assert_int_equal(found.frames != NULL, agree);
		n_disagree += !agree;
		if (found.frames == NULL)
			continue;
		n_joined++;
		assert_int_equal(found.n, n_want);
		assert_memory_equal(found.frames, want, n_want * sizeof(*want));
		ctx_stack_memory_keep(&memory, threads[t], (struct ctx_stack_part){frames, n}, found);
		memcpy(frames + n, want, n_want * sizeof(*want));
		note_stack(&histories[t], frames, n + n_want);
		histories[t ^ 1].n_stacks = 0;
	}
	assert_true(n_joined > 1000);
	assert_true(n_disagree > 100);
	ctx_stack_memory_deinit(&memory);
	ctx_codemaps_destroy(maps);
	world_end(&world);
}

static void test_stack_memory__is_bounded_and_drops_stacks_that_do_not_fit(void **state)
{
	struct ctx_stack_memory memory;
	struct ctx_unwind_frame *frames = calloc(CTX_STACK_MEMORY_FRAMES + 1, sizeof(*frames));
	const struct ctx_stack_part leaf = {frames, 1};
	struct ctx_stack_part callers;
	struct ctx_code_view view = {0}; /* not used: the addresses are equal */

	(void)state;
	assert_non_null(frames);
	for (size_t i = 0; i <= CTX_STACK_MEMORY_FRAMES; i++)
		frames[i] = (struct ctx_unwind_frame){0x1000 + i, 0x7000 + 16 * i};
	assert_int_equal(ctx_stack_memory_init(&memory, NULL), CTX_OK);
	for (int i = 0; i < 100; i++)
		ctx_stack_memory_keep(&memory, 5, (struct ctx_stack_part){frames, CTX_STACK_MEMORY_FRAMES},
				      (struct ctx_stack_part){0});
	callers = ctx_stack_memory_callers(&memory, 5, &view, leaf);
	assert_non_null(callers.frames);
	assert_int_equal(callers.n, CTX_STACK_MEMORY_FRAMES - 1);
	assert_null(ctx_stack_memory_callers(&memory, 5 + CTX_STACK_MEMORY_THREADS, &view, leaf).frames);
	assert_null(ctx_stack_memory_callers(&memory, 6, &view, leaf).frames);
	for (uint32_t i = 0; i < 100 * CTX_STACK_MEMORY_STACKS; i++)
		ctx_stack_memory_keep(&memory, 100 + i % 100,
				      (struct ctx_stack_part){frames, CTX_STACK_MEMORY_FRAMES},
				      (struct ctx_stack_part){0});
	assert_in_range(memory.n_frames, 1,
			CTX_STACK_MEMORY_ALL + 2 * CTX_STACK_MEMORY_STACKS * CTX_STACK_MEMORY_FRAMES);
	ctx_stack_memory_keep(&memory, 5, (struct ctx_stack_part){frames, CTX_STACK_MEMORY_FRAMES + 1},
			      (struct ctx_stack_part){0});
	assert_null(ctx_stack_memory_callers(&memory, 5, &view, leaf).frames);
	for (long i = 0; i < 2; i++) {
		ctx_stack_memory_keep(&memory, 7, (struct ctx_stack_part){frames, 10},
				      (struct ctx_stack_part){0});
		ctx_stack_memory_keep(&memory, 7, (struct ctx_stack_part){frames, 10},
				      (struct ctx_stack_part){0});
		fail_after = 0;
		ctx_stack_memory_keep(&memory, 7, (struct ctx_stack_part){frames, 10},
				      (struct ctx_stack_part){0});
		fail_after = -1;
	}
	assert_null(ctx_stack_memory_callers(&memory, 7, &view, leaf).frames);
	ctx_stack_memory_deinit(&memory);
	free(frames);
}

/* --- the pool --- */

#define JOBS 200u
#define FRAMES 256u

static void fill_jobs(struct ctx_unwind_job *jobs, struct shot **shots, struct ctx_unwind_frame *frames,
		      struct ctx_codemaps *maps)
{
	memset(frames, 0, JOBS * FRAMES * sizeof(*frames));
	for (size_t i = 0; i < JOBS; i++)
		jobs[i] = (struct ctx_unwind_job){.state = &shots[i]->state,
						  .view = {.maps = maps, .process = 0},
						  .frames = frames + i * FRAMES,
						  .max = i % 11 == 10 ? 4 : FRAMES};
}

static bool is_in(const struct ctx_unwind_frame *frame, const void *function)
{
	return frame->address - (uint64_t)(uintptr_t)function < 400;
}

static void test_unwind_pool__finds_the_same_with_any_number_of_threads(void **state)
{
	static const unsigned counts[] = {0, 1, 2, 4};
	static struct ctx_unwind_job first[JOBS], jobs[JOBS];
	struct ctx_unwind_frame *want = calloc(JOBS * FRAMES, sizeof(*want));
	struct ctx_unwind_frame *frames = calloc(JOBS * FRAMES, sizeof(*frames));
	struct shot *shots[JOBS];
	struct world world;
	uint64_t seed = 9;
	size_t n_whole = 0;

	(void)state;
	assert_true(want != NULL && frames != NULL);
	world_begin(&world);
	for (size_t i = 0; i < JOBS; i++) {
		shots[i] = shoot(1 + i % 20, i % 5 == 4 ? 500 : STACK_MAX);
		for (int harm = i % 3 == 2 ? 5 : 0; harm > 0; harm--)
			shots[i]->stack[fixture_random(&seed, 600)] ^= (uint8_t)fixture_random(&seed, 256);
	}
	for (size_t c = 0; c < CTX_COUNT_OF(counts); c++) {
		struct ctx_unwind_pool *pool;
		struct ctx_codemaps *maps;

		/* Tables are read anew, by whichever thread comes first. */
		assert_int_equal(ctx_codemaps_create(world.writer, &maps, NULL), CTX_OK);
		assert_int_equal(ctx_codemaps_refresh(maps, NULL), CTX_OK);
		assert_int_equal(ctx_unwind_pool_create(counts[c], &pool, NULL), CTX_OK);
		for (size_t round = 0; round < 30; round++) {
			size_t n = round % 3 == 0 ? JOBS : round;

			fill_jobs(jobs, shots, frames, maps);
			ctx_unwind_pool_run(pool, jobs, n);
			if (c == 0 && round == 0) {
				memcpy(first, jobs, sizeof(first));
				memcpy(want, frames, JOBS * FRAMES * sizeof(*want));
			}
			for (size_t i = 0; i < n; i++) {
				assert_int_equal(jobs[i].n, first[i].n);
				assert_int_equal(jobs[i].end, first[i].end);
				assert_memory_equal(jobs[i].frames, want + i * FRAMES,
						    jobs[i].n * sizeof(*frames));
			}
		}
		ctx_unwind_pool_destroy(pool);
		ctx_codemaps_destroy(maps);
	}
	/* And it is what it was: take, deep as often as it called itself, shoot. */
	for (size_t i = 0; i < JOBS; i++) {
		if (i % 3 == 2 || i % 5 == 4 || i % 11 == 10)
			continue;
		assert_int_equal(first[i].end, CTX_TRUNCATED_NOT);
		assert_true(first[i].n > shots[i]->depth + 3);
		for (size_t f = 1; f <= shots[i]->depth; f++)
			assert_true(is_in(&want[i * FRAMES + f], (const void *)deep));
		assert_true(is_in(&want[i * FRAMES + shots[i]->depth + 1], (const void *)shoot));
		n_whole++;
	}
	assert_true(n_whole > 50);
	for (size_t i = 0; i < JOBS; i++)
		free(shots[i]);
	free(want);
	free(frames);
	world_end(&world);
}

/* A table that could not be read for want of memory is read when it is needed again. */
static void test_unwind_pool__a_failing_allocation_costs_one_round(void **state)
{
	struct shot *shot = shoot(5, STACK_MAX);
	struct ctx_unwind_frame frames[FRAMES];
	struct ctx_unwind_pool *pool;
	struct world world;
	unsigned n_poorer = 0;
	bool failed = true;

	(void)state;
	world_begin(&world);
	assert_int_equal(ctx_unwind_pool_create(0, &pool, NULL), CTX_OK);
	for (long n = 0; failed && n < 1000; n += EVERY) {
		struct ctx_codemaps *maps;
		struct ctx_unwind_job job;

		assert_int_equal(ctx_codemaps_create(world.writer, &maps, NULL), CTX_OK);
		assert_int_equal(ctx_codemaps_refresh(maps, NULL), CTX_OK);
		job = (struct ctx_unwind_job){
			.state = &shot->state, .view = {.maps = maps}, .frames = frames, .max = FRAMES};
		fail_after = n;
		ctx_unwind_pool_run(pool, &job, 1);
		failed = fail_after < 0;
		fail_after = -1;
		n_poorer += job.end != CTX_TRUNCATED_NOT;
		ctx_unwind_pool_run(pool, &job, 1);
		assert_int_equal(job.end, CTX_TRUNCATED_NOT);
		ctx_codemaps_destroy(maps);
	}
	assert_true(n_poorer > 3);
	ctx_unwind_pool_destroy(pool);
	free(shot);
	world_end(&world);
}

/* --- batches --- */

static const struct ctx_pe_layout *layout_of_shots(void)
{
	static struct ctx_pe_layout layout;
	struct perf_event_attr attr = {.sample_type = CTX_PERF_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER |
						      PERF_SAMPLE_STACK_USER,
				       .sample_regs_user = ctx_user_regs_perf_mask(ctx_machine_own())};

	layout = ctx_pe_layout_make(&attr, false);
	return &layout;
}

/* Registers of perf's whose values are their own positions say which of ours they are. */
static void put_values(struct shot *shot)
{
	uint64_t positions[CTX_USER_REGS_MAX];
	struct ctx_user_regs position_of;

	for (size_t i = 0; i < CTX_USER_REGS_MAX; i++)
		positions[i] = i;
	ctx_user_regs_from_perf(&position_of, ctx_machine_own(), layout_of_shots()->regs_user,
				(const uint8_t *)positions, false);
	for (size_t i = 0; i < CTX_USER_REGS_MAX; i++) {
		if ((position_of.valid >> i & 1) != 0)
			shot->values[position_of.value[i]] = shot->state.regs.value[i];
	}
}

static struct ctx_perf_record record_of(struct shot *shot, uint64_t time_ns)
{
	static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402001};
	struct ctx_perf_record record = {.type = PERF_RECORD_SAMPLE,
					 .misc = PERF_RECORD_MISC_USER,
					 .time_ns = FIXTURE_START_NS + time_ns,
					 .pid = (uint32_t)getpid(),
					 .event = 0};

	record.sample.ip = chain[1];
	record.sample.layout = layout_of_shots();
	record.sample.chain = (const uint8_t *)chain;
	record.sample.n_chain = CTX_COUNT_OF(chain);
	if (shot == NULL)
		return record;
	put_values(shot);
	record.sample.regs_abi = PERF_SAMPLE_REGS_ABI_64;
	record.sample.user_regs = (const uint8_t *)shot->values;
	record.sample.user_stack = shot->state.stack;
	record.sample.user_stack_bytes = shot->state.stack_bytes;
	return record;
}

static struct ctx_sample_batch *make_batch(const struct world *world, unsigned n_threads)
{
	struct ctx_sample_batch_options options = {
		.writer = world->writer, .max_stack = 127, .stack_bytes = STACK_MAX, .n_threads = n_threads};
	struct ctx_sample_batch *batch = NULL;

	assert_int_equal(ctx_sample_batch_create(&options, &batch, NULL), CTX_OK);
	return batch;
}

static void read_back(struct world *world, struct fixture_contents *out)
{
	struct ctx_err err = {0};

	assert_int_equal(ctx_exp_close(world->writer, FIXTURE_START_NS + 1000000, NULL), CTX_OK);
	world->writer = NULL;
	if (fixture_read(world->path, out, &err) != CTX_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(out->n_damage, 0);
}

static void add(struct ctx_sample_batch *batch, struct shot *shot, uint64_t time_ns, uint32_t process,
		uint32_t thread)
{
	struct ctx_perf_record record = record_of(shot, time_ns);

	assert_int_equal(ctx_sample_batch_add(batch, &record, process, thread, NULL), CTX_OK);
}

static void test_sample_batch__samples_keep_their_order_with_any_unwinder_thread(void **state)
{
	/* Not on the stack, which copies of a limited length have to reach the end of. */
	static struct fixture_contents first, out;
	struct shot *shots[150];

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(shots); i++)
		shots[i] = shoot(1 + i % 20, STACK_MAX);
	for (unsigned n_threads = 0; n_threads <= 4; n_threads += 2) {
		struct ctx_sample_batch *batch;
		struct ctx_exp_unwinding counts;
		struct world world;

		world_begin(&world);
		batch = make_batch(&world, n_threads);
		for (size_t i = 0; i < CTX_COUNT_OF(shots); i++) {
			ctx_sample_batch_hurry(batch, i >= 140);
			add(batch, i % 7 == 6 ? NULL : shots[i], 1000 + i, 0, i % 2);
			if (i % 40 == 39)
				assert_int_equal(ctx_sample_batch_flush(batch, NULL), CTX_OK);
		}
		assert_int_equal(ctx_sample_batch_flush(batch, NULL), CTX_OK);
		counts = ctx_sample_batch_counts(batch);
		assert_int_equal(counts.ends[CTX_TRUNCATED_NOT], 120);
		assert_int_equal(counts.ends[CTX_TRUNCATED_SKIPPED], 9);
		assert_int_equal(counts.joined, 0);
		ctx_sample_batch_destroy(batch);
		read_back(&world, &out);
		assert_int_equal(out.n_samples, CTX_COUNT_OF(shots));
		for (size_t i = 0; i < out.n_samples; i++) {
			const struct fixture_sample *sample = &out.samples[i];

			assert_int_equal(sample->time_ns, 1000 + i);
			if (i % 7 == 6 || i >= 140) {
				assert_int_equal(sample->frames[0], 0x401000);
				assert_int_equal(sample->frames[1], 0x402000);
				assert_int_equal(sample->n_frames, i % 7 == 6 ? 2 : 3);
				assert_true(i % 7 == 6 ||
					    sample->frames[2] == ctx_frame_truncated(CTX_TRUNCATED_SKIPPED));
				continue;
			}
			assert_true(sample->n_frames > shots[i]->depth + 3);
			for (uint64_t f = 1; f <= shots[i]->depth; f++)
				assert_in_range(sample->frames[f], (uint64_t)(uintptr_t)deep,
						(uint64_t)(uintptr_t)deep + 400);
			assert_int_equal(ctx_frame_truncation(sample->frames[sample->n_frames - 1]),
					 CTX_TRUNCATED_NOT);
		}
		if (n_threads == 0)
			first = out;
		for (size_t i = 0; n_threads != 0 && i < out.n_samples; i++)
			assert_memory_equal(out.samples[i].frames, first.samples[i].frames,
					    sizeof(first.samples[i].frames));
		if (n_threads != 0)
			fixture_contents_deinit(&out);
		world_end(&world);
	}
	fixture_contents_deinit(&first);
	for (size_t i = 0; i < CTX_COUNT_OF(shots); i++)
		free(shots[i]);
}

/*
 * Of thread 0 the whole stack is known when its cut ones come; of thread 1, and of thread 2 after
 * an exec, it is not.
 */
static void test_sample_batch__cut_stacks_are_joined_within_their_thread_alone(void **state)
{
	enum { N = 60 };
	static const uint32_t process_of[] = {0, 0, 1};
	struct ctx_exp_process image = {CTX_EXP_EXEC, 0, getpid(), "app", FIXTURE_START_NS + 5, NULL, 0};
	struct fixture_contents out;
	struct ctx_sample_batch *batch;
	struct shot *shots[N];
	struct world world;
	uint32_t number;
	size_t n_joined = 0, n_cut = 0;

	(void)state;
	world_begin(&world);
	assert_int_equal(ctx_exp_process_start(world.writer, &image, &number, NULL), CTX_OK);
	put_own_maps(world.writer, number);
	assert_int_equal(
		ctx_exp_thread_start(world.writer,
				     &(struct ctx_exp_thread){number, 50002, "t", FIXTURE_START_NS + 5, 0},
				     &number, NULL),
		CTX_OK);
	batch = make_batch(&world, 0);
	for (size_t i = 0; i < N; i++)
		shots[i] = shoot(12, i == 0 ? STACK_MAX : i * 40);
	for (uint32_t i = 0; i < 3; i++)
		add(batch, shots[0], 900 + i, 0, 0);
	for (uint32_t t = 0; t < 3; t++) {
		for (size_t i = 1; i < N; i++)
			add(batch, shots[i], 1000 + 100 * t + i, process_of[t], t);
	}
	assert_int_equal(ctx_sample_batch_flush(batch, NULL), CTX_OK);
	assert_true(ctx_sample_batch_counts(batch).joined > 10);
	n_joined = ctx_sample_batch_counts(batch).joined;
	ctx_sample_batch_destroy(batch);
	read_back(&world, &out);
	assert_int_equal(out.n_samples, 3 * N);
	for (size_t i = 0; i < out.n_samples; i++) {
		const struct fixture_sample *sample = &out.samples[i], *whole = &out.samples[0];
		enum ctx_truncation end = ctx_frame_truncation(sample->frames[sample->n_frames - 1]);
		size_t marks = 0;

		for (size_t f = 0; f < sample->n_frames; f++) {
			if (sample->frames[f] == CTX_FRAME_JOINED)
				marks++;
			else if (end == CTX_TRUNCATED_NOT)
				assert_int_equal(sample->frames[f], whole->frames[f - marks]);
		}
		if (end == CTX_TRUNCATED_NOT)
			assert_int_equal(sample->n_frames - marks, whole->n_frames);
		if (sample->tid == 50000) {
			assert_int_equal(end, CTX_TRUNCATED_NOT);
			n_joined -= marks;
		} else {
			assert_int_equal(marks, 0);
			n_cut += end == CTX_TRUNCATED_COPY;
		}
	}
	assert_int_equal(n_joined, 0);
	assert_true(n_cut > 20);
	fixture_contents_deinit(&out);
	for (size_t i = 0; i < N; i++)
		free(shots[i]);
	world_end(&world);
}

/*
 * A new image that has not run yet: the registers are still the old one's, and nothing is where they
 * point. Once it has run, such a place is a stack that could not be followed.
 */
static void test_sample_batch__an_exec_in_progress_has_the_kernels_frames_alone(void **state)
{
	static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010,
					 0xffffffff81000021, (uint64_t)PERF_CONTEXT_USER, 0x401000};
	struct ctx_exp_process image = {CTX_EXP_EXEC, 0, getpid(), "app", FIXTURE_START_NS + 5, NULL, 0};
	struct ctx_perf_record record;
	struct fixture_contents out;
	struct ctx_sample_batch *batch;
	struct shot *shot = shoot(3, STACK_MAX);
	struct world world;
	uint64_t pc = shot->state.regs.value[16];
	uint32_t process, thread;

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	world_begin(&world);
	assert_int_equal(ctx_exp_process_start(world.writer, &image, &process, NULL), CTX_OK);
	assert_int_equal(
		ctx_exp_thread_start(world.writer,
				     &(struct ctx_exp_thread){process, 50002, "t", FIXTURE_START_NS + 5, 0},
				     &thread, NULL),
		CTX_OK);
	batch = make_batch(&world, 0);
	for (uint32_t i = 0; i < 3; i++) {
		if (i == 1) {
			put_own_maps(world.writer, process);
			add(batch, shot, 1000 + i, process, thread);
		} else {
			shot->state.regs.value[16] = 0x1234000;
			record = record_of(shot, 1000 + i);
			record.misc = PERF_RECORD_MISC_KERNEL;
			record.sample.ip = chain[1];
			record.sample.chain = (const uint8_t *)chain;
			record.sample.n_chain = CTX_COUNT_OF(chain);
			assert_int_equal(ctx_sample_batch_add(batch, &record, process, thread, NULL), CTX_OK);
		}
		assert_int_equal(ctx_sample_batch_flush(batch, NULL), CTX_OK);
		shot->state.regs.value[16] = pc;
	}
	assert_int_equal(ctx_sample_batch_counts(batch).ends[CTX_TRUNCATED_NOT], 2);
	assert_int_equal(ctx_sample_batch_counts(batch).exec, 1);
	ctx_sample_batch_destroy(batch);
	read_back(&world, &out);
	assert_int_equal(out.samples[0].n_frames, 3);
	assert_int_equal(out.samples[0].frames[0], chain[1]);
	assert_int_equal(out.samples[0].frames[1], chain[2] - 1);
	assert_int_equal(out.samples[0].frames[2], CTX_FRAME_EXEC);
	assert_int_equal(out.samples[2].frames[2], 0x1234000);
	assert_int_not_equal(ctx_frame_truncation(out.samples[2].frames[out.samples[2].n_frames - 1]),
			     CTX_TRUNCATED_NOT);
	fixture_contents_deinit(&out);
	free(shot);
	world_end(&world);
}

#ifdef __x86_64__
/* The pc behind the system call in libc's execve; 0: not found. */
static uint64_t behind_execve(void)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)dlsym(RTLD_DEFAULT, "execve");

	for (size_t i = 0; code != NULL && i < 32; i++) {
		if (code[i] == 0x0f && code[i + 1] == 0x05)
			return (uint64_t)(uintptr_t)code + i + 2;
	}
	return 0;
}
#endif

/* The kernel has taken the old stack away: nothing of it was copied. Elsewhere such a stack is cut. */
static void test_sample_batch__an_execve_that_has_taken_its_stack_is_whole(void **state)
{
#ifndef __x86_64__
	(void)state;
	skip();
#else
	static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010,
					 (uint64_t)PERF_CONTEXT_USER, 0x401000};
	struct shot *shot = shoot(3, STACK_MAX);
	uint64_t pcs[] = {behind_execve(), shot->state.regs.value[16]};
	struct ctx_sample_batch *batch;
	struct ctx_perf_record record;
	struct fixture_contents out;
	struct world world;

	(void)state;
	if (pcs[0] == 0)
		skip();
	world_begin(&world);
	batch = make_batch(&world, 0);
	shot->state.stack_bytes = 0;
	for (size_t i = 0; i < 2; i++) {
		shot->state.regs.value[16] = pcs[i];
		record = record_of(shot, 1000 + i);
		record.misc = PERF_RECORD_MISC_KERNEL;
		record.sample.chain = (const uint8_t *)chain;
		record.sample.n_chain = CTX_COUNT_OF(chain);
		assert_int_equal(ctx_sample_batch_add(batch, &record, 0, 0, NULL), CTX_OK);
		assert_int_equal(ctx_sample_batch_flush(batch, NULL), CTX_OK);
	}
	assert_int_equal(ctx_sample_batch_counts(batch).exec, 1);
	ctx_sample_batch_destroy(batch);
	read_back(&world, &out);
	assert_int_equal(out.samples[0].n_frames, 3);
	assert_int_equal(out.samples[0].frames[0], chain[1]);
	assert_int_equal(out.samples[0].frames[1], pcs[0]);
	assert_int_equal(out.samples[0].frames[2], CTX_FRAME_EXEC);
	assert_int_equal(out.samples[1].frames[out.samples[1].n_frames - 1],
			 ctx_frame_truncated(CTX_TRUNCATED_COPY));
	fixture_contents_deinit(&out);
	free(shot);
	world_end(&world);
#endif
}

static void test_sample_batch__a_failing_allocation_is_a_status(void **state)
{
	struct shot *shot = shoot(5, STACK_MAX);
	enum ctx_status status = CTX_E_NOMEM;
	unsigned failures = 0;
	bool failed = true;

	(void)state;
	for (long n = 0; failed && n < 1000; n += EVERY) {
		struct ctx_sample_batch_options options = {
			.max_stack = 127, .stack_bytes = 2048, .keep_stacks = true, .n_threads = 2};
		struct ctx_sample_batch *batch = NULL;
		struct world world;

		world_begin(&world);
		options.writer = world.writer;
		fail_after = n;
		status = ctx_sample_batch_create(&options, &batch, NULL);
		for (uint32_t i = 0; i < 70 && status == CTX_OK; i++) {
			struct ctx_perf_record record = record_of(shot, 1000 + i);

			status = ctx_sample_batch_add(batch, &record, 0, 0, NULL);
		}
		if (status == CTX_OK)
			status = ctx_sample_batch_flush(batch, NULL);
		failed = fail_after < 0;
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		failures += status == CTX_E_NOMEM;
		ctx_sample_batch_destroy(batch);
		world_end(&world);
	}
	assert_false(failed);
	assert_int_equal(status, CTX_OK);
	assert_true(failures > 8 / EVERY);
	free(shot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_perfrecord__registers_and_stacks_of_all_sizes_are_found),
		cmocka_unit_test(test_perfrecord__cut_records_and_sizes_that_lie_are_refused),
		cmocka_unit_test(test_codemaps__are_those_of_a_slow_table_of_pages),
		cmocka_unit_test(test_codemaps__code_in_memory_outlives_its_process),
		cmocka_unit_test(test_codemaps__a_page_of_code_in_memory_is_read_once_in_a_round),
		cmocka_unit_test(test_stack_memory__joins_where_a_slow_search_does),
		cmocka_unit_test(test_stack_memory__is_bounded_and_drops_stacks_that_do_not_fit),
		cmocka_unit_test(test_unwind_pool__finds_the_same_with_any_number_of_threads),
		cmocka_unit_test(test_unwind_pool__a_failing_allocation_costs_one_round),
		cmocka_unit_test(test_sample_batch__samples_keep_their_order_with_any_unwinder_thread),
		cmocka_unit_test(test_sample_batch__cut_stacks_are_joined_within_their_thread_alone),
		cmocka_unit_test(test_sample_batch__an_exec_in_progress_has_the_kernels_frames_alone),
		cmocka_unit_test(test_sample_batch__an_execve_that_has_taken_its_stack_is_whole),
		cmocka_unit_test(test_sample_batch__a_failing_allocation_is_a_status),
	};

	return cmocka_run_group_tests(tests, find_stack_end, NULL);
}
