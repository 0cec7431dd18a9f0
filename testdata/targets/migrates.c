/*
 * One thread on two processors: migrates [MILLISECONDS]
 *
 * It computes, and moves itself to the other of its first two processors after each 5 ms of CPU
 * time there (compute_here), each second time on the second one 10 ms. A line of JSON says how much
 * CPU time it used on each, and one how long it all took (own_times.h).
 */
#include "own_times.h"

#include <sched.h>
#include <stdbool.h>

#define TURN_NS (5 * MS)

static int find_cpus(int *ret_cpus, int n)
{
	cpu_set_t allowed;
	int found = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	for (size_t cpu = 0; cpu < CPU_SETSIZE && found < n; cpu++) {
		if (CPU_ISSET(cpu, &allowed))
			ret_cpus[found++] = (int)cpu;
	}
	return found;
}

static bool go_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0;
}

NOINLINE void compute_here(int64_t length_ns)
{
	compute_until(cpu_ns() + length_ns);
}

int main(int argc, char **argv)
{
	struct own_times begin = own_times();
	int64_t length_ns = (argc > 1 ? atoi(argv[1]) : 600) * MS;
	int64_t used_ns[2] = {0}, moves = 0;
	int cpus[2];

	if (find_cpus(cpus, 2) < 2) {
		printf("{\"refused\":\"there is one processor only\"}\n");
		return 0;
	}
	while (used_ns[0] + used_ns[1] < length_ns) {
		int turn = moves++ % 2 == 0 ? 0 : 1;
		int64_t before_ns;

		if (!go_to(cpus[turn]))
			return 1;
		before_ns = cpu_ns();
		compute_here(moves % 4 == 0 ? 2 * TURN_NS : TURN_NS);
		used_ns[turn] += cpu_ns() - before_ns;
	}
	for (int turn = 0; turn < 2; turn++)
		printf("{\"cpu\":%d,\"used\":%" PRId64 "}\n", cpus[turn], used_ns[turn]);
	printf("{\"moves\":%" PRId64 "}\n", moves);
	print_phase("migrates", getpid(), "main", begin, own_times());
	return 0;
}
