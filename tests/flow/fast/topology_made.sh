# Processors by core, socket, NUMA node and PMU of a recording that was made of a machine with several of each.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/made_program.sh"
need python3

made_program "$work/program"
python3 "$source_dir/tests/flow/perfdata_make.py" topology "$work/program" made.data >answers.json || fail "perfdata_make.py"
topology_as_made
expect 0 '' ctxan made.data -r header
grep -q '^sockets *0: 0-4,6-7,16-19; 3: 8-15,20-23$' out.txt || fail "the header: $(cat out.txt)"
expect 0 '' ctxan made.data --by core --sort core
awk '$4 ~ /^S[0-9]/ { print $4 }' out.txt | head -4 | tr '\n' ' ' | grep -qx 'S0-D0-C0 S0-D0-C4 S0-D0-C8 S0-D0-C12 ' ||
	fail "cores are not in order: $(cat out.txt)"
unpack perfdata/same
expect 1 'does not tell the pmus of its processors' ctxan flat.data --by pmu
finish
