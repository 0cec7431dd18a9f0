/*
 * Common parts of the generators of experiments: size of the load, seeded random numbers, and the
 * hot stacks.
 */
#ifndef CTX_BENCH_GENERATED_LOAD_H
#define CTX_BENCH_GENERATED_LOAD_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define HOT 25u	   /* number of stacks that have half of the samples at any time */
#define PHASES 20u /* parts of a run: the hot stacks change from one to the next */

/* Size, seed and destination of the generated load. */
struct load {
	uint64_t samples, stacks, seed;
	uint32_t threads, depth;
	const char *path;
};

/* For getopt_long; take_load_option handles them. */
/* clang-format off */
#define LOAD_OPTIONS \
	{"samples", required_argument, NULL, 'n'}, \
	{"threads", required_argument, NULL, 't'}, \
	{"stacks", required_argument, NULL, 's'}, \
	{"depth", required_argument, NULL, 'd'}, \
	{"seed", required_argument, NULL, 'k'}, \
	{"output", required_argument, NULL, 'o'}
/* clang-format on */

/* False: not one of LOAD_OPTIONS. `text` is borrowed. */
static inline bool take_load_option(struct load *load, int option, const char *text)
{
	uint64_t value = text != NULL ? strtoull(text, NULL, 10) : 0;

	switch (option) {
	case 'n':
		load->samples = value;
		return true;
	case 't':
		load->threads = (uint32_t)value;
		return true;
	case 's':
		load->stacks = value;
		return true;
	case 'd':
		load->depth = (uint32_t)value;
		return true;
	case 'k':
		load->seed = value;
		return true;
	case 'o':
		load->path = text;
		return true;
	default:
		return false;
	}
}

static inline uint64_t next_random(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t z = *state;

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* The stack of sample `i`: one of the hot ones of its time, or any. */
static inline uint32_t pick_stack(const struct load *load, uint64_t i, uint64_t *random)
{
	uint64_t choice = next_random(random), phase = i * PHASES / load->samples;

	if (choice % 2 == 0) {
		uint64_t hot = (choice >> 8) % HOT;

		hot = hot * hot / HOT; /* some are hotter than others */
		return (uint32_t)((phase * 7919 + hot * 104729) % load->stacks);
	}
	return (uint32_t)((choice >> 8) % load->stacks);
}

#endif
