# ctxrec --openmp: work as the program's own clock has it, within 1 %; what recording a region costs is at most 3 % of one that takes 10 us.
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

# check_cost: the fastest rounds of empty regions, bare and recorded in turn: a round is so short that many have no sample, which costs any program the same.
check_cost() {
	bare= recorded=
	for _ in 1 2 3 4 5; do
		bare="$bare $(./cost 0 | cut -d' ' -f1)"
		recorded="$recorded $(ctxrec -q -O -o cost.er --openmp -- ./cost 0 | cut -d' ' -f1)"
	done
	least() { printf '%s\n' "$@" | sort -n | head -1; }
	echo "an empty region: $(least $bare) ns, recorded $(least $recorded) ns"
	[ $(($(least $recorded) - $(least $bare))) -le 300 ]
}

for compiler in gcc clang; do
	$compiler -g -O2 -fopenmp "$targets/openmp.c" -o program 2>/dev/null && $compiler -g -O2 -fopenmp "$targets/openmp_cost.c" -o cost || { leave_out "$compiler with OpenMP"; continue; }
	repeat 3 check_times || fail "$compiler: times"
	repeat 3 check_cost || fail "$compiler: cost"
done
finish
