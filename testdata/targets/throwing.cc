/*
 * throwing SECONDS: three threads that recurse, sort and catch what one call in 64 throws. Built by the flow that records it, with
 * -O2 and without frame pointers.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
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

void work(std::chrono::steady_clock::time_point end, unsigned long seed, unsigned long *ret)
{
	std::map<std::string, unsigned long> seen;
	while (std::chrono::steady_clock::now() < end) {
		for (int i = 0; i < 100; i++, seed++)
			seen[std::to_string(seed % 5000)] += attempt(seed);
	}
	*ret = seen.size() + Guard::sum;
}
} // namespace

int main(int argc, char **argv)
{
	auto seconds = std::chrono::duration<double>(argc > 1 ? std::atof(argv[1]) : 1);
	auto end = std::chrono::steady_clock::now() +
		   std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds);
	std::vector<std::thread> threads;
	unsigned long sums[3] = {};
	for (unsigned long i = 0; i < 3; i++)
		threads.emplace_back(work, end, i * 1000003, &sums[i]);
	for (auto &thread : threads)
		thread.join();
	std::printf("%lu\n", sums[0] + sums[1] + sums[2]);
}
