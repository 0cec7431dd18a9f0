/*
 * A program with a regression that is chosen: `regression PERCENT ROUNDS`. Of the work of a round solve does a tenth, and
 * PERCENT more (may be negative). Calls are long beside the period of sampling, so that each run measures them well.
 */
#include "noinline.h"

#include <stdlib.h>

#define UNIT 400000u /* steps; a hundred units are a round */

static volatile unsigned state = 1;

/* In each function by itself: an inlined one would have all the time. */
#define STEP(n)                                                                                              \
	for (unsigned i = 0; i < (n); i++)                                                                   \
	state = state * 1664525u + 1013904223u

NOINLINE static void parse(void)
{
	STEP(30 * UNIT);
}

NOINLINE static void solve(int percent)
{
	STEP(10 * UNIT / 100 * (unsigned)(100 + percent));
}

NOINLINE static void render(void)
{
	STEP(25 * UNIT);
}

NOINLINE static void store(void)
{
	STEP(20 * UNIT);
}

NOINLINE static void hash(void)
{
	STEP(15 * UNIT);
}

int main(int argc, char **argv)
{
	int percent = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 20;

	for (int i = 0; i < rounds; i++) {
		parse();
		solve(percent);
		render();
		store();
		hash();
	}
	return 0;
}
