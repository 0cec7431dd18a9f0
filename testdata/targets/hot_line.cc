/*
 * A fixed amount of work in an optimised program with an inlined function, built and recorded by the flows record_code*: the hot line is the one that
 * says so.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

static inline double root_sum(double x)
{
	double sum = 0;
	for (int i = 0; i < 50; i++)
		sum += std::sqrt(x + i); // the hot line
	return sum;
}

__attribute__((noinline)) double work(int n)
{
	std::vector<double> values(1000);
	double total = 0;
	for (int k = 0; k < n; k++) {
		for (std::size_t i = 0; i < values.size(); i++)
			values[i] = (double)((i * 7919 + (std::size_t)k) % 1000);
		std::sort(values.begin(), values.end());
		for (double value : values)
			total += root_sum(value);
	}
	return total;
}

int main()
{
	std::printf("%f\n", work(5000));
}
