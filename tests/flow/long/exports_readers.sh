# speedscope, Firefox and Chrome trace, of fresh and of kept recordings: what the tools' own readers find in our exports is what ctxan reports
# (exports_json.py). The readers are npm packages, pinned in tests/flow/readers, which tools/check.sh --long installs.
. "$(dirname "$0")/../common.sh" "$@"
need python3 node xz
readers=$source_dir/tests/flow/readers
packages=$readers/node_modules
[ -d "$packages/speedscope" ] && [ -d "$packages/@firefox-devtools/profiler-cli" ] ||
	skip "the readers are not installed: npm --prefix $readers ci --ignore-scripts"
# check RECORDING [METRIC]...
check() {
	recording=$1
	shift
	python3 "$source_dir/tests/flow/exports_json.py" "$recording" "$packages" "$@" || fail "$recording"
}

unpack recordings/phases recordings/execs
check phases.er page-faults
check execs.er

# An interval without samples is a file that its tool opens.
ctxan -q phases.er --export speedscope -i 0ns:1ns -o empty.speedscope.json || fail "empty: speedscope"
node "$source_dir/tests/flow/exports_json_speedscope.cjs" "$packages/speedscope" empty.speedscope.json >empty.json || fail "empty: not read"
grep -q '"weight": 0' empty.json || fail "empty: $(cat empty.json)"

[ "$failures" = 0 ] || finish # need_perf may end the test as a skip
need_perf
expect 0 '' ctxrec -q --no-archive -e cpu-clock,page-faults -o fresh_phases.er -- phases
check fresh_phases.er page-faults
expect 0 '' ctxrec -q --no-archive -F 4999 -o fresh_execs.er -- sh -c 'execchain; execchain; seq 1 300000 | sort -n | tail -n 1'
check fresh_execs.er

finish
