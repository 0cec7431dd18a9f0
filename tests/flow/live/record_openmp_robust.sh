# ctxrec --openmp where teams change their size, target regions run on the host, and other tools for OpenMP are about: the program does as
# without, and what is not recorded is said once.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_runtime

unset OMP_TOOL OMP_TOOL_LIBRARIES OMP_NUM_THREADS OMP_THREAD_LIMIT OMP_DYNAMIC
targets=$source_dir/testdata/targets

# region FUNCTION FILTER: of the rows of regions in a function.
region() {
	ctxan run.er -r omp-regions --format json | jq -r --arg f "$1 -- OMP parallel region" "[.rows[] | select(.function | startswith(\$f))] | $2"
}

for compiler in gcc clang; do
	$compiler -g -O1 -fopenmp "$targets/openmp_limits.c" -o limits 2>/dev/null || { leave_out "$compiler with OpenMP"; continue; }
	OMP_THREAD_LIMIT=3 ctxrec -q -O -o run.er --openmp -- ./limits >out.txt 2>err.txt || fail "limits, $compiler: exit status"
	[ "$(cat out.txt)" = 3996000 ] || fail "limits, $compiler: another output: $(cat out.txt)"
	grep ctxrec err.txt && fail "limits, $compiler: messages"
	[ "$(region sum_of 'map(.executions) | add')" = 5 ] || fail "limits, $compiler: executions"
	[ "$(region sum_of 'map(.threads) | max')" = 3 ] || fail "limits, $compiler: OMP_THREAD_LIMIT: $(region sum_of .)"
	[ "$(region many '.[0] | [.executions, .threads] | tostring')" = '[1,3]' ] || fail "limits, $compiler: a team of 8: $(region many .)"
	[ "$(region on_host '.[0] | [.executions, .threads] | tostring')" = '[1,2]' ] || fail "limits, $compiler: on the host: $(region on_host .)"
	# gcc runs the teams of a league one after the other; clang's are threads of the teams construct.
	if [ $compiler = gcc ]; then
		[ "$(region league 'map(.executions) | add')" = 2 ] || fail "limits, gcc: league: $(region league .)"
	else
		[ "$(region league 'map(.threads) | max')" = 2 ] || fail "limits, clang: league: $(region league .)"
	fi
done

cat >program.c <<'END'
#include <stdio.h>
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		sum += 1;
	}
	printf("%d\n", sum);
	return 0;
}
END
clang -g -O1 -fopenmp program.c -o program 2>/dev/null || { leave_out "clang with OpenMP"; finish; exit; }
clang -O1 -fPIC -shared "$targets/openmp_tool.c" -o libtool.so && clang -g -O1 -fopenmp program.c "$targets/openmp_tool.c" -o with_tool || fail "the tool"

# check WHAT TOOL SAID REGIONS COMMAND...: whether the program's tool has run, the one message (""; none), and how many regions were recorded.
check() {
	what=$1 tool=$2 said=$3 regions=$4
	shift 4
	rm -rf run.er
	env "$@" >out.txt 2>err.txt || fail "$what: exit status: $(cat err.txt)"
	grep -qx 6 out.txt || fail "$what: another output: $(cat out.txt)"
	[ "$(grep -c '^tool: 3 regions' out.txt)" = "$tool" ] || fail "$what: the program's tool: $(cat out.txt err.txt)"
	grep '^ctxrec: ' err.txt >messages.txt || true
	if [ -n "$said" ]; then
		[ "$(wc -l <messages.txt)" = 1 ] && grep -q "$said" messages.txt || fail "$what: not said once: $(cat err.txt)"
	else
		[ -s messages.txt ] && fail "$what: messages: $(cat messages.txt)"
	fi
	recorded=$(ctxan run.er -r omp-regions --format json 2>/dev/null | jq '[.rows[].executions] | add // 0')
	[ "${recorded:-0}" = "$regions" ] || fail "$what: $recorded regions"
}

record="ctxrec -q -O -o run.er"
# gcc's program with libomp, which says its version when it is asked to; one that cannot be found.
if gcc -g -O1 -fopenmp program.c -o by_gcc && [ -n "$(ldconfig -p | grep 'libomp.so.5')" ]; then
	check "gcc's program with libomp" 0 "" 3 KMP_VERSION=1 $record --openmp=libomp -- ./by_gcc
	grep -q 'LLVM OMP' err.txt || fail "gcc's program with libomp: it is not: $(cat err.txt)"
	ctxan run.er -r header | grep -q 'on, with libomp in place of libgomp' || fail "gcc's program with libomp: the header"
else
	leave_out "libomp.so.5 where the loader finds it"
fi
check "a tool of the list" 1 "a tool for OpenMP of the program's own runs" 0 OMP_TOOL_LIBRARIES="/none.so:$PWD/libtool.so" $record -- ./program
check "the same, asked for" 0 "OMP_TOOL_LIBRARIES were not started" 3 OMP_TOOL_LIBRARIES="$PWD/libtool.so" $record --openmp -- ./program
check "a wrong list" 0 "" 3 OMP_TOOL_LIBRARIES="/none.so:$PWD/program.c::" $record -- ./program
check "a wrong OMP_TOOL" 0 "OMP_TOOL=wrong forbids" 0 OMP_TOOL=wrong $record -- ./program
check "a tool in the program" 1 "has a tool for OpenMP of its own" 0 $record --openmp -- ./with_tool
finish
