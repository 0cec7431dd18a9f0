# ctxrec --openmp: work as the program's own clock has it, within 1 %; what a region of 10 us costs more, at most 3 %.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_runtime
. "$(dirname "$0")/../openmp_facts.sh"

unset OMP_TOOL OMP_TOOL_LIBRARIES
export OMP_DYNAMIC=false
targets=$source_dir/testdata/targets
openmp_source=$targets/openmp.c

# is_near A B PERCENT
is_near() {
	awk -v a="$1" -v b="$2" -v percent="$3" 'BEGIN { d = a > b ? a - b : b - a; exit !(d * 100 <= percent * b) }'
}

# check_times: what it says of its own work, and what was recorded.
check_times() {
	ctxrec -q -O -o run.er --openmp -- ./program 20 >out.txt || fail "exit status"
	read -r _ uneven held <out.txt
	look
	echo "uneven: $uneven ns, recorded $(region uneven .work_ns); held: $held ns, recorded $(region held .work_ns)"
	is_near "$(region uneven .work_ns)" "$uneven" 1 && is_near "$(region held .work_ns)" "$held" 1
}

# check_cost: the fastest rounds of both.
check_cost() {
	read -r bare steps <<-END
		$(./cost)
	END
	recorded=$(ctxrec -q -O -o cost.er --openmp -- ./cost "$steps" | cut -d' ' -f1)
	echo "a region: $bare ns, recorded $recorded ns"
	is_near "$recorded" "$bare" 3
}

for compiler in gcc clang; do
	$compiler -g -O2 -fopenmp "$targets/openmp.c" -o program 2>/dev/null && $compiler -g -O2 -fopenmp "$targets/openmp_cost.c" -o cost || { leave_out "$compiler with OpenMP"; continue; }
	repeat 3 check_times || fail "$compiler: times"
	repeat 5 check_cost || fail "$compiler: cost"
done
finish
