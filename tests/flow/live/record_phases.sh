# The structure of a recording of testdata/phases.c: threads, functions, who calls whom, the recursion, and sums. The shares of time are checked by
# record_phases_shares and record_phases_kept.
. "$(dirname "$0")/../common.sh" "$@"
need jq
need_perf

ctxrec -q -o phases.er -- phases >out.txt || fail "recording"
grep -q '^phases: done' out.txt || fail "the program did not run to its end"
json() { ctxan -q phases.er --no-inlines --format json --limit 0 "$@"; }
weight() { json -r functions "$@" | jq .weight; }

# Three threads; the parts are the whole, by thread and by interval.
[ "$(json -r threads | jq -r '[.rows[].name] | sort | join(" ")')" = "phases worker-1 worker-2" ] || fail "threads: $(json -r threads | jq -c .rows)"
total=$(weight)
[ "$total" -gt 0 ] || fail "no samples"
sum=0
for thread in 0 1 2; do
	sum=$((sum + $(weight --thread $thread)))
done
[ "$sum" = "$total" ] || fail "the threads have $sum ns, the whole $total"
end=$(json -r header | jq '.intervals_ns[0][1]')
for thread in 0 worker-1 worker-2; do
	parts=$(($(weight --thread $thread -i 0ns:$((end / 3))ns) + $(weight --thread $thread -i $((end / 3))ns:$((end / 2))ns) + $(weight --thread $thread -i $((end / 2))ns:${end}ns)))
	[ "$parts" = "$(weight --thread $thread)" ] || fail "thread $thread: the intervals have $parts ns, the whole $(weight --thread $thread)"
done

# Each function burns at least 100 ms of CPU time, in its own thread only; the functions' own times are the whole.
json -r functions >functions.json
for function in work_a work_b multiply phase_report tokenize build_ast; do
	jq -e --arg f $function '[.rows[] | select(.function == $f and .exclusive > 0)] | length == 1' functions.json >/dev/null || fail "$function has no time of its own"
done
[ "$(jq '[.rows[] | select(.function != "<Total>") | .exclusive] | add' functions.json)" = "$total" ] || fail "the functions do not add up to $total"
json -r functions --thread 0 | jq -e '[.rows[] | select(.function | startswith("work_"))] == []' >/dev/null || fail "the main thread has functions of the workers"
for worker in worker-1 worker-2; do
	json -r functions --thread $worker | jq -e '[.rows[].function] | (index("work_a") and index("work_b")) and (map(select(startswith("phase_") or . == "multiply")) == [])' >/dev/null ||
		fail "functions of $worker: $(json -r functions --thread $worker | jq -c '[.rows[].function]')"
done

# Who calls whom: no function of the program appears below any but its own caller.
json -r stacks >stacks.json
while read -r caller callee; do
	jq -e --arg caller $caller --arg callee $callee '[.rows[].frames | map(.function) | . as $names | range(length) | select($names[.] == $callee) | $names[. - 1]] | length > 0 and all(. == $caller or . == $callee)' \
		stacks.json >/dev/null || fail "$callee is not called by $caller alone"
done <<'PAIRS'
main phase_parse
main phase_solve
main phase_report
phase_parse tokenize
phase_parse build_ast
phase_solve solve_step
solve_step multiply
worker work_a
worker work_b
PAIRS

# The recursion: five deep, and counted once: solve_step has the time of all stacks in which it is, however often.
json -r tree --thread 0 >tree.json
[ "$(jq -c '[.rows[] | select(.function == "solve_step") | .recursion_level] | unique' tree.json)" = "[0,1,2,3,4]" ] ||
	fail "recursion levels of solve_step: $(jq -c '[.rows[] | select(.function == "solve_step") | .recursion_level]' tree.json)"
for function in solve_step phase_solve multiply; do
	want=$(jq --arg f $function '[.rows[] | select(any(.frames[]; .function == $f)) | .exclusive] | add' stacks.json)
	have=$(jq --arg f $function '.rows[] | select(.function == $f) | .inclusive' functions.json)
	[ "$have" = "$want" ] || fail "$function has $have ns, the stacks with it $want"
done
json -r callers-callees --thread 0 | jq -e '[.rows[] | select(.function == "solve_step") | (.parents | map(.cum) | add) == .cum] | length > 0 and all' >/dev/null || fail "stanza of solve_step"

# As the README has it.
mkdir here && mv phases.er here/ && cd here
ctxan --interval 300:700 >out.txt 2>err.txt || fail "ctxan --interval 300:700"
grep -q 'phases.er' err.txt || fail "the experiment that was chosen is not named"
ctxan phases.er --report tree >tree.txt || fail "ctxan phases.er --report tree"
grep -q 'solve_step' tree.txt || fail "the tree has no solve_step"
finish
