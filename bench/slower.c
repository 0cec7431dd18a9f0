/*
 * A program of which one function can be made slower: slower PERCENT [SCALE [ROUNDS]]. Of its time hash has a half,
 * parse and render a quarter each, tiny a fortieth; render takes PERCENT longer. SCALE 1: one second, in ROUNDS rounds
 * of all four functions: 3,000 (a third of a millisecond each) if not said.
 */
#include <stdint.h>
#include <stdlib.h>

static volatile uint64_t sink;

#define WORK(name)                                                                                           \
	__attribute__((noinline)) void name(long n);                                                         \
	__attribute__((noinline)) void name(long n)                                                          \
	{                                                                                                    \
		uint64_t x = (uint64_t)n | 1;                                                                \
		for (long i = 0; i < n; i++) {                                                               \
			x ^= x << 13;                                                                        \
			x ^= x >> 7;                                                                         \
			x ^= x << 17;                                                                        \
		}                                                                                            \
		sink += x;                                                                                   \
	}

WORK(parse)
WORK(hash)
WORK(render)
WORK(tiny)

int main(int argc, char **argv)
{
	long percent = argc > 1 ? atol(argv[1]) : 0, scale = argc > 2 ? atol(argv[2]) : 1;
	long rounds = argc > 3 ? atol(argv[3]) : 3000 * scale, step;

	if (scale < 1 || rounds < 1)
		return 2;
	step = 1200000 * scale / rounds;
	for (long i = 0; i < rounds; i++) {
		parse(100 * step);
		hash(200 * step);
		render((100 + percent) * step);
		tiny(10 * step);
	}
	return 0;
}
