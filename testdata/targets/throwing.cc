/*
 * throwing SECONDS: three threads that recurse, sort and catch what one call in 64 throws. SECONDS are CPU time of each. Built by the
 * flow that records it, with -O2 and without frame pointers.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <time.h>
#include <vector>

namespace
{
struct Guard { /* what unwinding has to clean up */
	explicit Guard(unsigned long seed) : text(std::to_string(seed)) {}
	~Guard() { sum += text.size(); }
	std::string text;
	static thread_local unsigned long sum;
};
thread_local unsigned long Guard::sum;

__attribute__((noinline)) unsigned long descend(unsigned depth, unsigned long seed)
{
	Guard guard(seed);
	if (depth == 0) {
		if (seed % 64 == 0)
			throw std::runtime_error(guard.text);
		std::vector<unsigned long> values(200);
		for (auto &value : values)
			value = seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		std::sort(values.begin(), values.end(), [](auto a, auto b) { return a % 1001 < b % 1001; });
		return values[values.size() / 2];
	}
	return descend(depth - 1, seed + depth) + guard.text.size();
}

__attribute__((noinline)) unsigned long attempt(unsigned long seed)
{
	try {
		return descend(3 + seed % 30, seed);
	} catch (const std::exception &error) {
		return std::strtoul(error.what(), nullptr, 10);
	}
}

double cpu_seconds()
{
	timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void work(double seconds, unsigned long seed, unsigned long *ret)
{
	std::map<std::string, unsigned long> seen;
	while (cpu_seconds() < seconds) {
		for (int i = 0; i < 1000; i++, seed++)
			seen[std::to_string(seed % 5000)] += attempt(seed);
	}
	*ret = seen.size() + Guard::sum;
}
} // namespace

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	std::vector<std::thread> threads;
	unsigned long sums[3] = {};
	for (unsigned long i = 0; i < 3; i++)
		threads.emplace_back(work, seconds, i * 1000003, &sums[i]);
	for (auto &thread : threads)
		thread.join();
	std::printf("%lu\n", sums[0] + sums[1] + sums[2]);
}
