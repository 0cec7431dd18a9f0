# What ctxan exports of fresh recordings for gprofng (of kept ones: export_gprofng_kept): gprofng opens it and prints what ctxan reports, and so does ctxan itself (export_gprofng.py compares).
. "$(dirname "$0")/../common.sh" "$@"
need gprofng python3 cc c++
need_perf

. "$source_dir/tests/flow/export_gprofng_checks.sh"

# One program in all ways of selecting; states of threads are microstates to gprofng, other events a hardware counter.
ctxrec -q -e cpu-clock,page-faults -o phases.er -- phases >/dev/null || fail "recording phases"
compare phases.er totalcpu
compare phases.er totalcpu -i 300:700
compare phases.er totalcpu -i 10%:20% -i 1500: --thread 1,2
compare phases.er totalcpu --filter 'STACK SOME IN "work_a"'
compare phases.er +page-faults --metric page-faults
if ctxan -q phases.er -r header | grep -q 'metric wall'; then
	compare phases.er total --metric wall
	compare phases.er wait --metric wait-cpu -i 300:900
	compare phases.er lock --metric lock
else
	leave_out "no states of threads can be recorded here"
fi

check_times phases.er
check_alone phases.er work_a

# Threads; processes that fork and execute programs; C++ with a shared library.
flags=-fno-omit-frame-pointer
. "$source_dir/tests/flow/gprofng_programs.sh"
cp "$source_dir/testdata/recordings/deep.c" "$source_dir/testdata/recordings/hostile_names.c" .
cc $g -O1 -pthread -o deep deep.c || fail "deep.c"
ctxrec -q -F 4999 -o deep.er -- ./deep || fail "recording deep"
compare deep.er totalcpu
ctxrec -q -o family.er -- ./family || fail "recording family"
compare family.er totalcpu
ctxrec -q -o shapes.er -- ./shapes || fail "recording shapes"
compare shapes.er totalcpu

ctxrec -q -c 2000000 -e cpu-clock -o even.er -- ./deep || fail "recording evenly"
check_even even.er burn 'sink += i'
compare even.er totalcpu

# The dynamic linker binds a symbol at its first call: each of thousands is called once, again and again.
awk -v n=4000 'BEGIN {
	for (i = 0; i < n; i++) {
		printf "void f%d(void) {}\n", i >"bound.c"
		printf "void f%d(void);\n", i >"binds.c"
	}
	print "int main(void) {" >"binds.c"
	for (i = 0; i < n; i++)
		printf "f%d();\n", i >"binds.c"
	print "return 0; }" >"binds.c"
}'
cc $flags -O1 -fPIC -shared -o libbound.so bound.c && cc $flags -O1 -o binds binds.c -L. -lbound -Wl,-rpath,. -Wl,-z,lazy || fail "binds.c"
ctxrec -q -o binds.er -- env -u LD_BIND_NOW sh -c 'for i in $(seq 100); do ./binds; done' || fail "recording binds"
compare binds.er totalcpu
ctxan -q binds.er -r functions --limit 0 | grep -q ' f[0-9]*@plt ' || fail "no sample while a symbol was bound"

# Names of functions that are anything; a path with characters that XML has a use for.
odd='o<d>&d "x"'
if mkdir "$odd" && cc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$odd/hostile" hostile_names.c 2>err.txt; then
	ctxrec -q -F 2999 -o hostile.er -- "$odd/hostile" || fail "recording hostile"
	compare hostile.er totalcpu
else
	leave_out "no hostile names: $(head -n 1 err.txt)"
fi

# perf's files, with functions that were made at run time where perf and node are here.
if command -v perf >/dev/null 2>&1 && perf record -q -e cpu-clock -F 2500 -g -o deep.data -- ./deep 2>err.txt; then
	compare deep.data totalcpu
	# perf writes no build id of an object that is never on top of a stack; here of none. Its file is exported all the same.
	perf record -q -B -e cpu-clock -F 20000 -g -o no_ids.data -- ./deep 2>err.txt && compare no_ids.data totalcpu
	ctxan -q no_ids.data --export gprofng -o no_ids.er || fail "no_ids.data"
	gprofng display text -source burn no_ids.er | grep -q 'sink += i' || fail "without build ids gprofng shows no source of burn"
	if command -v node >/dev/null 2>&1 && perf record -q -e cpu-clock -F 2500 -g -o jit.data -- node --perf-basic-prof -e \
		'let s = 0; function hot(n) { let a = 0; for (let i = 0; i < n; i++) a += Math.sqrt(i) * i % 7; return a } for (let k = 0; k < 200; k++) s += hot(200000)' >/dev/null 2>err.txt; then
		ctxan -q jit.data --export gprofng -o jit.er || fail "jit.data"
		gprofng display text -functions jit.er | grep -q 'JS:.*hot' || fail "gprofng has no function made by node"
		ctxan -q jit.er -r functions | grep -q 'JS:.*hot .*perf-[0-9]*.map' || fail "back: no function made by node"
	fi
else
	leave_out "perf cannot record here"
fi

# gprofng's own.
if collect own -p on -F on ./family && [ -s own.er/log.xml ]; then
	compare own.er totalcpu
else
	leave_out "gprofng collects nothing here: $(head -n 1 own.out)"
fi

# Nothing selected is an experiment without events.
ctxan -q phases.er --export gprofng -i 0:1ns -o empty.er || fail "nothing selected"
gprofng display text -functions empty.er >empty.txt 2>&1 || fail "nothing selected: $(cat empty.txt)"
finish
