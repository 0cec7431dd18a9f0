/*
 * Exceptions through functions that are counted, with destructors on their way, thrown again, and caught in the middle. Prints NAME COUNT as calls.c
 * does, and what values of all kinds came back.
 */
#include <cstdio>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

namespace
{
long n_thrower, n_cleaner, n_catcher, n_again, n_two, n_ended, n_main;
volatile long sink;

struct Pair {
	double first, second;
};

struct Guard {
	NOINLINE ~Guard()
	{
		n_ended++;
		sink = sink + 1;
	}
};

NOINLINE void thrower(int n)
{
	n_thrower++;
	if (n == 0)
		throw 42;
	thrower(n - 1);
	sink = sink + 1;
}

NOINLINE void cleaner(int n)
{
	n_cleaner++;
	Guard guard;
	thrower(n);
	sink = sink + 1;
}

NOINLINE void again(int n)
{
	n_again++;
	try {
		cleaner(n);
	} catch (int) {
		sink = sink + 1;
		throw;
	}
}

NOINLINE int catcher(int n)
{
	n_catcher++;
	try {
		again(n);
	} catch (int value) {
		return value;
	}
	return 0;
}

NOINLINE Pair two(double x)
{
	n_two++;
	return Pair{x + 1, x + 2};
}
} // namespace

int main()
{
	int sum = 0;
	Pair pair;

	n_main++;
	for (int i = 0; i < 50; i++)
		sum += catcher(i);
	pair = two(3);
	std::printf("main %ld\nthrower %ld\ncleaner %ld\ncatcher %ld\nagain %ld\ntwo %ld\n~Guard %ld\n",
		    n_main, n_thrower, n_cleaner, n_catcher, n_again, n_two, n_ended);
	return sum == 50 * 42 && pair.first + pair.second == 9 ? 0 : 1;
}
