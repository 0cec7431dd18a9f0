/*
 * An experiment with many heap operations, for the ingest of them: gen_heap OUT.er MILLIONS [LIVE]
 *
 * Four threads, 400 stacks; most allocations are freed soon and in reverse order, others live for long: LIVE of
 * them (in thousands, default 1000) at a time, freed at random. Addresses are reused. Always the same bytes.
 */
#include "formats/experiment/exp_writer.h"

#include "base/err.h"
#include "base/mem.h"
#include "model/traced.h"

#include <stdio.h>
#include <stdlib.h>

#define THREADS 4u
#define STACKS 400u
#define DEPTH 12u
#define SHORT 16u /* short-lived ones of a thread at a time */
#define GAP_NS 120u

struct state {
	struct ctx_exp_writer *writer;
	uint64_t seed, now_ns;
	uint32_t process, threads[THREADS];
	uint64_t stacks[STACKS][DEPTH];
	uint64_t *lasting; /* addresses */
	uint64_t n_lasting, n_live;
	uint64_t shorts[THREADS][SHORT];
	unsigned n_short[THREADS];
};

static uint64_t random_below(struct state *state, uint64_t n)
{
	state->seed = state->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state->seed >> 33) % n;
}

static void check(enum ctx_status status, const struct ctx_err *err)
{
	if (status == CTX_OK)
		return;
	fprintf(stderr, "gen_heap: %s\n", err->msg);
	exit(1);
}

static void put(struct state *state, unsigned operation, uint32_t thread, uint64_t address)
{
	uint64_t stack = random_below(state, 5) != 0 ? thread * 7 : random_below(state, STACKS);
	struct ctx_exp_heap heap = {.time_ns = state->now_ns += random_below(state, 2 * GAP_NS),
				    .process = state->process,
				    .thread = state->threads[thread],
				    .operation = (uint8_t)operation,
				    .address = address};
	struct ctx_err err = {0};

	if (operation != CTX_HEAP_FREE) {
		heap.size =
			16 + stack % 40 * 8 + (random_below(state, 20) == 0 ? random_below(state, 500) : 0);
		heap.frames = state->stacks[stack];
		heap.n_frames = DEPTH;
	}
	check(ctx_exp_heap(state->writer, &heap, &err), &err);
}

static void step(struct state *state)
{
	uint32_t thread = (uint32_t)(state->now_ns / 5000 % THREADS);
	unsigned *n = &state->n_short[thread];
	uint64_t *lasting;

	if (random_below(state, 16) == 0) { /* a long life ends, another one begins at this address */
		lasting = &state->lasting[random_below(state, state->n_lasting)];
		if (*lasting != 0)
			put(state, CTX_HEAP_FREE, thread, *lasting);
		*lasting = UINT64_C(0x7f0000000000) + (uint64_t)(lasting - state->lasting) * 96;
		put(state, CTX_HEAP_ALLOCATE, thread, *lasting);
	} else if (*n == SHORT || (*n != 0 && random_below(state, 2) == 0)) {
		put(state, CTX_HEAP_FREE, thread, state->shorts[thread][--*n]);
	} else {
		state->shorts[thread][*n] = UINT64_C(0x550000000000) + thread * 0x100000 + *n * 64;
		put(state, CTX_HEAP_ALLOCATE, thread, state->shorts[thread][(*n)++]);
	}
}

static void begin(struct state *state, const char *path)
{
	static const struct ctx_exp_metric metrics[] = {
		{.name = "cpu-clock", .file = "profile", .period = 1000000, .unit = "ns"}};
	struct ctx_exp_options options = {.path = path,
					  .overwrite = true,
					  .has_heap = true,
					  .comment = "",
					  .metrics = metrics,
					  .n_metrics = 1,
					  .start_ns = 1};
	struct ctx_exp_process process = {.origin = CTX_EXP_ROOT_PROCESS,
					  .parent = CTX_NONE,
					  .pid = 100,
					  .command = "made",
					  .time_ns = 1};
	struct ctx_err err = {0};

	check(ctx_exp_create(&options, &state->writer, &err), &err);
	check(ctx_exp_process_start(state->writer, &process, &state->process, &err), &err);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct ctx_exp_thread thread = {
			.process = state->process, .tid = 100 + i, .name = "made", .time_ns = 1};

		check(ctx_exp_thread_start(state->writer, &thread, &state->threads[i], &err), &err);
	}
	for (uint32_t i = 0; i < STACKS; i++) {
		for (uint32_t k = 0; k < DEPTH; k++)
			state->stacks[i][k] = 0x400000 + (i >> (2 * k > 8 ? 8 : 2 * k)) * 64 + k * 0x10000;
	}
}

int main(int argc, char **argv)
{
	static struct state state = {.seed = 1};
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	struct ctx_err err = {0};

	if (n == 0) {
		fprintf(stderr, "usage: gen_heap OUT.er MILLIONS [LIVE]\n");
		return 2;
	}
	state.n_lasting = (argc > 3 ? strtoull(argv[3], NULL, 10) : 1000) * 1000;
	state.lasting = ctx_calloc(state.n_lasting, sizeof(*state.lasting));
	if (state.lasting == NULL)
		return 1;
	begin(&state, argv[1]);
	for (uint64_t i = 0; i < n; i++) {
		step(&state);
		if (i % 100000 == 0)
			check(ctx_exp_tick(state.writer, state.now_ns, &err), &err);
	}
	check(ctx_exp_close(state.writer, state.now_ns, &err), &err);
	free(state.lasting);
	return 0;
}
