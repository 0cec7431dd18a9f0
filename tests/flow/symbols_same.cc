/* Optimised C++ with inlined calls of every kind, for symbols_same.sh: templates, lambdas, local and anonymous classes. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{
struct point {
	double x, y;
	double norm() const { return x * x + y * y; }
};

inline double mix(double a, double b)
{
	return a * 0.3 + b * 0.7;
}

template <class T> T fold(const std::vector<T> &values)
{
	T sum{};

	for (auto &value : values)
		sum = T(mix(double(sum), double(value)));
	return sum;
}
} // namespace

namespace outer
{
namespace inner
{
class shape
{
      public:
	std::string name;
	std::vector<point> points;

	double area() const;
	void add(double x, double y) { points.push_back({x, y}); }
};

double shape::area() const
{
	return std::accumulate(points.begin(), points.end(), 0.0,
			       [](double a, const point &p) { return mix(a, p.norm()); });
}

static __attribute__((noinline)) double all(std::vector<shape> &shapes)
{
	std::map<std::string, double> areas;
	std::unordered_map<std::string, int> counts;
	double total = 0;

	std::sort(shapes.begin(), shapes.end(), [](const shape &a, const shape &b) {
		return a.area() < b.area() || a.name < b.name;
	});
	for (auto &shape : shapes) {
		areas[shape.name] += shape.area();
		counts[shape.name]++;
	}
	for (auto &entry : areas)
		total += entry.second * counts[entry.first];
	return total;
}
} // namespace inner
} // namespace outer

static int local(int n)
{
	struct checked {
		int thrice(int a)
		{
			if (a > 100)
				abort();
			return a * 3;
		}
	} value;

	return value.thrice(n) + value.thrice(n + 1);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 50;
	std::vector<outer::inner::shape> shapes;
	std::vector<double> numbers(n);
	std::vector<int> threes(n, 3);

	for (int i = 0; i < n; i++) {
		shapes.emplace_back();
		shapes.back().name = std::to_string(i % 7);
		for (int j = 0; j < 9; j++)
			shapes.back().add(i, j * 1.5);
	}
	std::iota(numbers.begin(), numbers.end(), 0);
	printf("%g %g %d %d\n", outer::inner::all(shapes), fold(numbers), fold(threes), local(argc));
	return 0;
}
