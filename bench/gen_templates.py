#!/usr/bin/env python3
"""Writes N C++ files that use much of the standard library, each with templates of its own: gen_templates.py N FOLDER"""
import random, sys
n, folder = int(sys.argv[1]), sys.argv[2]
random.seed(1)
containers = ["std::map<std::string, T>", "std::unordered_map<std::string, T>"]
for i in range(n):
    parts = []
    calls = []
    for j in range(14):
        container = random.choice(containers)
        parts.append(f"""
template <class T> struct shape_{i}_{j} {{
	T weight; std::string name; std::vector<T> points;
	explicit shape_{i}_{j}(T w, std::string s) : weight(w), name(std::move(s)) {{ for (int k = 0; k < {j + 3}; k++) points.push_back(w + k); }}
	T area() const {{ return std::accumulate(points.begin(), points.end(), T{{}}, [this](T a, T b) {{ return a + b * weight; }}); }}
}};
template <class T> static inline T total_{i}_{j}(std::vector<shape_{i}_{j}<T>> &all) {{
	std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {{ return a.area() < b.area() || a.name < b.name; }});
	{container} seen; T sum{{}};
	for (auto &one : all) {{ seen[one.name] += one.area(); sum += seen[one.name]; }}
	std::set<T> unique; for (auto &s : seen) unique.insert(s.second);
	return sum + T(unique.size());
}}
""")
        calls.append(f"""	{{
		std::vector<shape_{i}_{j}<double>> d; std::vector<shape_{i}_{j}<long>> l;
		for (int k = 0; k < n; k++) {{ d.emplace_back(k * {j + 1.5}, std::to_string(k)); l.emplace_back(k + {j}, "x" + std::to_string(k)); }}
		r += total_{i}_{j}(d) + double(total_{i}_{j}(l));
	}}
""")
    with open(f"{folder}/unit_{i}.cc", "w") as f:
        f.write("""#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>
""" + "".join(parts) + f"""
double run_{i}(int n) {{
	double r = 0;
{''.join(calls)}	return r;
}}
""")
with open(f"{folder}/main.cc", "w") as f:
    f.write("#include <cstdio>\n#include <cstdlib>\n" + "".join(f"double run_{i}(int);\n" for i in range(n)))
    f.write("int main(int c, char **v) {\n\tint n = c > 1 ? atoi(v[1]) : 3;\n\tdouble r = 0;\n" + "".join(f"\tr += run_{i}(n);\n" for i in range(n)) + '\tprintf("%g\\n", r);\n}\n')
