/*
 * A program of which one function can be made slower: slower PERCENT [SCALE]. Of its time hash has a half, parse and
 * render a quarter each, tiny a fortieth; render takes PERCENT longer. SCALE 1: one second.
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

	for (long i = 0; i < 3000 * scale; i++) {
		parse(40000);
		hash(80000);
		render(400 * (100 + percent));
		tiny(4000);
	}
	return 0;
}
