# ctxrec --openmp: regions, tasks and threads of programs whose numbers are known, in C, C++ and Fortran, by gcc (libgomp) and clang (libomp);
# what states sum up to; programs that cannot be seen.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_runtime

export OMP_DYNAMIC=false
unset OMP_TOOL OMP_TOOL_LIBRARIES OMP_NUM_THREADS OMP_THREAD_LIMIT

# compile COMPILER SOURCE OUTPUT [OPTIONS]: with OpenMP; false: it cannot.
compile() {
	compiler=$1 source=$2 output=$3
	shift 3
	command -v "$compiler" >/dev/null 2>&1 && "$compiler" -g -O2 -fopenmp "$@" "$source" -o "$output" 2>compile.txt
}

. "$(dirname "$0")/../openmp_facts.sh"
targets=$source_dir/testdata/targets

# Each compiler with one language: record_openmp_measured has all four.
checked=0
for compiler in gcc clang; do
	language=c library=
	[ $compiler = gcc ] || { language=c++ library=-lstdc++; }
	compile $compiler "$targets/openmp.c" program -x $language $library || { leave_out "$compiler for $language with OpenMP"; continue; }
	./program 2 >alone.txt || fail "$compiler, $language: the program alone"
	rm -rf run.er
	ctxrec -q -o run.er --openmp --trace-full wait -- ./program 2 >out.txt 2>err.txt || fail "$compiler, $language: exit status"
	[ "$(cut -d' ' -f1 out.txt)" = "$(cut -d' ' -f1 alone.txt)" ] || fail "$compiler, $language: another output: $(cat out.txt)"
	[ -s err.txt ] && fail "$compiler, $language: messages: $(cat err.txt)"
	check_openmp "$compiler, $language" "$targets/openmp.c"
	jq -c '[.rows[].line] | sort' regions.json >$compiler.lines
	checked=$((checked + 1))
done
[ $checked != 0 ] || skip "no compiler for OpenMP"

for compiler in gcc clang; do
	compile $compiler "$targets/openmp_shares.c" program || continue
	ctxrec -q -O -o run.er --openmp --trace-full wait -F 2000 -- ./program >out.txt 2>err.txt || fail "shares, $compiler: exit status"
	[ "$(cat out.txt)" = 46 ] || fail "shares, $compiler: another output: $(cat out.txt)"
	check_shares "shares, $compiler" "$targets/openmp_shares.c"
done

for compiler in gcc clang; do
	compile $compiler "$targets/openmp_kernels.c" program -lm || continue
	./program 2 >kernels.txt
	ctxrec -q -O -o run.er --openmp --trace-full wait -- ./program 2 >out.txt 2>err.txt || fail "kernels, $compiler: exit status"
	[ "$(cut -d' ' -f1 out.txt)" = "$(cut -d' ' -f1 kernels.txt)" ] || fail "kernels, $compiler: another output: $(cat out.txt)"
	check_kernels "kernels, $compiler"
done

# gcc's program with libomp in place of libgomp is seen once, by the tool.
library=$(clang -print-file-name=libomp.so.5 2>/dev/null || true)
if [ -e "$library" ] && compile gcc "$targets/openmp.c" program; then
	ctxrec -q -O -o run.er --openmp --trace-full wait -- env LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$library" ./program 2 >out.txt 2>err.txt || fail "libomp for gcc: exit status"
	[ "$(cut -d' ' -f1 out.txt)" = "$(cut -d' ' -f1 alone.txt)" ] || fail "libomp for gcc: another output: $(cat out.txt)"
	look
	equal "libomp for gcc: regions" "$(jq '.rows | length' regions.json)" 10
	equal "libomp for gcc: lines of regions" "$(jq -c '[.rows[].line] | sort' regions.json)" "$(cat gcc.lines)"
	equal "libomp for gcc: tasks" "$(jq '[.rows[].count] | add' tasks.json)" 76
	ctxan run.er -q -r tree --metric omp-wait --format json | jq -e 'any(.rows[]; .function == "<OMP-explicit_barrier>")' >one.txt || fail "libomp for gcc: no barrier of the program's own"
	check_sums "libomp for gcc"
	check_views "libomp for gcc"
else
	leave_out "libomp for a program of gcc"
fi

if compile gfortran "$targets/openmp.f90" program; then
	ctxrec -q -O -o run.er --openmp --trace-full wait -- ./program >out.txt 2>err.txt || fail "gfortran: exit status"
	[ "$(cat out.txt)" = 5059 ] || fail "gfortran: another output: $(cat out.txt)"
	check_fortran "$targets/openmp.f90"
else
	leave_out "gfortran with OpenMP"
fi

# Without OpenMP, or with a runtime inside the program, there is nothing to see, and that is said once.
ctxrec -O -o none.er --openmp -- true >/dev/null 2>err.txt || fail "no OpenMP: exit status"
[ "$(grep -c 'no runtime of OpenMP was seen' err.txt)" = 1 ] || fail "no OpenMP: not said: $(cat err.txt)"
ctxan none.er -r omp-regions >none.txt 2>&1 || fail "no OpenMP: the report: $(cat none.txt)"
# It records itself where a runtime is among the program's libraries, unless it is told not to; statically linked programs run as they are.
if compile gcc "$targets/openmp.c" program; then
	ctxrec -q -O -o auto.er -- ./program 1 >out.txt 2>err.txt || fail "automatic: exit status"
	[ -s err.txt ] && fail "automatic: messages: $(cat err.txt)"
	ctxan auto.er -r header | grep -q "^OpenMP trace .*libgomp.so is among the command's libraries" || fail "automatic: not in the header"
	[ "$(ctxan auto.er -r omp-regions --format json | jq '.rows | length')" = 10 ] || fail "automatic: no regions"
	ctxrec -q -O -o auto.er --openmp=off -- ./program 1 >out.txt 2>err.txt || fail "off: exit status"
	ctxan auto.er -r omp-regions >none.txt 2>&1 && fail "off: OpenMP was recorded"
	if gcc -g -O2 -fopenmp -static "$targets/openmp.c" -o static 2>compile.txt; then
		ctxrec -O -o none.er --openmp -- ./static 1 >out.txt 2>err.txt || fail "statically linked: exit status: $(cat err.txt)"
		[ "$(grep -c 'OpenMP of static is not recorded: statically linked' err.txt)" = 1 ] || fail "statically linked: not said: $(cat err.txt)"
		ctxan none.er -r header | grep -q 'OpenMP of static is not recorded' || fail "statically linked: not in the header"
	fi
fi
if compile clang "$targets/openmp.c" program; then
	OMP_TOOL=disabled ctxrec -O -o none.er --openmp -- ./program >out.txt 2>err.txt || fail "OMP_TOOL=disabled: exit status"
	[ "$(cut -d' ' -f1 out.txt)" = "$(cut -d' ' -f1 alone.txt)" ] || fail "OMP_TOOL=disabled: another output: $(cat out.txt)"
	[ "$(grep -c 'OMP_TOOL=disabled' err.txt)" = 1 ] || fail "OMP_TOOL=disabled: not said: $(cat err.txt)"
fi
ctxan run.er -r leaks >/dev/null 2>&1 && fail "a report of what was not traced"
finish
