# made_program FILE: a program of twelve functions of some hundred bytes, f_a to f_l, for recordings that are made. Not one of the build: sanitizers add
# functions to those.
made_program() {
	for letter in a b c d e f g h i j k l; do
		printf 'int f_%s(int x)\n{\n' $letter
		for step in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do printf '\tx = x * %d + (x >> %d);\n' $((step + 2)) "$step"; done
		printf '\treturn x;\n}\n'
	done >made.c
	echo 'int main(void) { return f_a(f_b(f_c(f_d(f_e(f_f(f_g(f_h(f_i(f_j(f_k(f_l(1)))))))))))) == 1; }' >>made.c
	"${CC:-cc}" -O0 -o "$1" made.c || fail "made.c"
}

# memory_as_made [PERF.txt]: the reports of made.data have the accesses that answers.json says it was made of, and those that perf says.
memory_as_made() {
	expect 0 '' ctxan made.data -r memory --format json
	cp out.txt memory.json
	expect 0 '' ctxan made.data -r cachelines --format json
	cp out.txt cachelines.json
	expect 0 '' ctxan made.data --by page4k --metric memory-accesses --format json
	cp out.txt pages.json
	python3 "$source_dir/tests/flow/memory_made.py" memory.json cachelines.json pages.json answers.json "$@"
}

# topology_as_made: made.data has the weights by core, socket, node and PMU that answers.json says it was made of.
topology_as_made() {
	for key in core socket node pmu; do
		expect 0 '' ctxan made.data --by $key --format json
		python3 - out.txt answers.json $key <<-'EOF' || fail "--by $key: $(cat out.txt)"
		import json, sys
		report, answers = (json.load(open(path)) for path in sys.argv[1:3])
		sys.exit({str(row[sys.argv[3]]): row['weight'] for row in report['rows']} != answers[sys.argv[3]])
		EOF
	done
}
