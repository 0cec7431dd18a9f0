/*
 * Events of calls through a whole ingest, without a file: how many a processor takes in a second.
 *
 *	call_events EVENTS THREADS FUNCTIONS FILE.db
 *
 * Each thread goes up and down a tree of calls of FUNCTIONS functions, up to 12 deep; a call takes 20 to
 * 1000 ns. Prints events, seconds of CPU, events per second, and bytes of the database per event.
 */
#include "base/clock.h"
#include "ingest/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define THREADS_MAX 64u
#define DEPTH 12u

struct walker {
	uint32_t functions[DEPTH], depth;
};

struct generator {
	struct ctx_event_source source;
	uint64_t n, at, time_ns, random;
	uint32_t n_threads, n_functions, announced;
	struct walker threads[THREADS_MAX];
	char name[32];
};

static uint64_t next_random(struct generator *it)
{
	it->random = it->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return it->random >> 33;
}

/* The callees of a function are few: two of its neighbours. */
static void step(struct generator *it, struct ctx_event *ret)
{
	uint32_t number = (uint32_t)(it->at % it->n_threads);
	struct walker *walker = &it->threads[number];
	uint64_t chance = next_random(it);
	uint32_t above = walker->depth != 0 ? walker->functions[walker->depth - 1] : 0;

	it->time_ns += 20 + chance % 980;
	*ret = (struct ctx_event){.kind = CTX_EV_CALL, .time_ns = it->time_ns, .thread = number};
	if (walker->depth != 0 && (walker->depth == DEPTH || chance % 2 == 0)) {
		ret->call = (struct ctx_event_call){.kept = --walker->depth, .code = CTX_CALL_INSTRUMENTED};
		return;
	}
	walker->functions[walker->depth++] = (above * 2 + 1 + (uint32_t)(chance / 2 % 2)) % it->n_functions;
	ret->call = (struct ctx_event_call){.kept = UINT32_MAX,
					    .frame = ctx_frame_named(walker->functions[walker->depth - 1], 0),
					    .code = CTX_CALL_INSTRUMENTED};
}

static enum ctx_status next(struct ctx_event_source *source, struct ctx_event *ret, struct ctx_err *err)
{
	struct generator *it = source->impl;
	uint32_t announced = it->announced;

	(void)err;
	if (announced > it->n_functions + it->n_threads) {
		if (it->at == it->n)
			return CTX_END;
		step(it, ret);
		it->at++;
		return CTX_OK;
	}
	it->announced++;
	*ret = (struct ctx_event){.kind = CTX_EV_PROCESS_START};
	if (announced == 0) {
		ret->process_start = (struct ctx_event_process_start){
			.pid = 1, .parent = CTX_NONE, .command = "bench", .lineage = ""};
	} else if (announced <= it->n_functions) {
		ret->kind = CTX_EV_FUNCTION;
		snprintf(it->name, sizeof(it->name), "f%u", announced - 1);
		ret->function =
			(struct ctx_event_function){.id = announced - 1, .name = it->name, .module = "bench"};
	} else {
		ret->kind = CTX_EV_THREAD_START;
		ret->thread = announced - it->n_functions - 1;
		ret->thread_start = (struct ctx_event_thread_start){.tid = announced, .name = "t"};
	}
	return CTX_OK;
}

static uint64_t progress(const struct ctx_event_source *source)
{
	(void)source;
	return 0;
}

int main(int argc, char **argv)
{
	struct ctx_ingest_options options = {
		.tree = ctx_timetree_default_params(), .debug_root = "", .symfs = "", .fingerprint = "bench"};
	static struct generator it = {.random = 1};
	struct ctx_err err = {0};
	struct stat info = {0};
	double seconds;

	if (argc != 5) {
		fprintf(stderr, "call_events EVENTS THREADS FUNCTIONS FILE.db\n");
		return 2;
	}
	it.n = strtoull(argv[1], NULL, 10);
	it.n_threads = (uint32_t)strtoul(argv[2], NULL, 10);
	it.n_functions = (uint32_t)strtoul(argv[3], NULL, 10);
	if (it.n == 0 || it.n_threads == 0 || it.n_threads > THREADS_MAX || it.n_functions == 0)
		return 2;
	it.source = (struct ctx_event_source){.impl = &it, .next = next, .progress = progress};
	it.source.info = (struct ctx_source_info){.name = "bench",
						  .format = "bench",
						  .duration_ns = it.n * 1000 + 1,
						  .closed = true,
						  .notes = "",
						  .kallsyms = "",
						  .fallback_root = "",
						  .n_threads = it.n_threads,
						  .has_calls = true};
	seconds = (double)ctx_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
	if (ctx_ingest(&it.source, argv[4], &options, NULL, &err) != CTX_OK) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	seconds = (double)ctx_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9 - seconds;
	stat(argv[4], &info);
	printf("%llu events, %u threads: %.2f s CPU, %.2f M events/s, %.2f bytes/event\n",
	       (unsigned long long)it.n, it.n_threads, seconds, (double)it.n / seconds / 1e6,
	       (double)info.st_size / (double)it.n);
	return 0;
}
