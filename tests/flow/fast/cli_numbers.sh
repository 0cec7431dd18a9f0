# Numbers and orders that misled: an empty selection has no totals of the whole run, the heaviest comes first, what is left out is counted, and a
# selection that hits nothing says why.
. "$(dirname "$0")/../common.sh" "$@"
need jq xz

gen_experiment --samples 4000 --threads 20 --stacks 30 --depth 6 --seed 5 --duration-ms 2000 -o run.er || fail "gen_experiment"

# No thread has samples there: so has the report.
ctxan -q run.er -r functions --per-thread -i 0.0001:0.0002 --format json >empty.json || fail "an empty selection"
[ "$(jq -c '[.samples, .weight, (.rows | length)]' empty.json)" = "[0,0,0]" ] || fail "an empty selection: $(jq -c 'del(.rows)' empty.json)"
ctxan -q run.er -r functions --per-thread -i 0.0001:0.0002 --width 200 >empty.txt || fail "an empty selection"
grep -q '| 0 samples | 0.000 ms' empty.txt || fail "the header of an empty selection: $(cat empty.txt)"
grep -q 'no samples in this selection, which is 100 ns of 2.000 s (numbers without a unit are ms)' empty.txt || fail "no hint: $(cat empty.txt)"
functions() { ctxan -q run.er -r functions --format json "$@" | jq -c .rows; }
[ "$(functions -i 1s:+200ms)" = "$(functions -i 1000:1200)" ] || fail "-i 1s:+200ms"

# Threads without a strip are counted; --limit 0 has all.
ctxan -q run.er -r timeline --width 100 >strips.txt || fail "timeline"
grep -q '^(4 more threads have no strip of their own: --limit 0)$' strips.txt || fail "timeline: $(tail -n 12 strips.txt)"
ctxan -q run.er -r timeline --width 100 --limit 3 | grep -q '^(17 more threads' || fail "timeline --limit 3"
ctxan -q run.er -r timeline --width 100 --limit 0 | grep -q 'more threads' && fail "timeline --limit 0 leaves threads out"
[ "$(ctxan -q run.er -r timeline --limit 0 --format json | jq '[.rows[].thread] | unique | length')" = 21 ] || fail "timeline --limit 0: not all threads and the sum of them"

# A tree of N rows has the N heaviest nodes, parents before their children.
unpack recordings/phases recordings/execs
for limit in 1 8 30; do
	ctxan -q phases.er -r tree --format json --limit $limit | jq -c '[.rows[].cum]' >kept.json || fail "tree --limit $limit"
	ctxan -q phases.er -r tree --format json --limit 0 | jq -c "[.rows[].cum] | sort | reverse | .[:$limit]" >heaviest.json
	[ "$(jq -c 'sort | reverse' kept.json)" = "$(cat heaviest.json)" ] || fail "tree --limit $limit: $(cat kept.json), not $(cat heaviest.json)"
	ctxan -q phases.er -r tree --format json --limit $limit | jq -e '[.rows[].level] | . as $l | all(range(1; length); $l[.] <= $l[. - 1] + 1)' >order.txt ||
		fail "tree --limit $limit: a node without its parent"
done

# Processes: the heaviest first, and named by the program's file name too.
ctxan -q execs.er -r processes --format json --limit 0 >processes.json || fail "processes"
jq -e '[.rows[].weight] | length > 2 and . == (sort | reverse)' processes.json >order.txt || fail "processes: $(jq -c '[.rows[].weight]' processes.json)"
# A process is one row, whatever it executes, and not its own parent; the header counts processes.
jq -e '.rows | length == 5 and (map(.images | length) | add) == 19 and all(.process != .parent) and (map(.samples) | add) == (map(.images[].samples) | add)' processes.json >order.txt ||
	fail "processes with images: $(jq -c '[.rows[] | [.process, .parent, (.images | length)]]' processes.json)"
ctxan -q execs.er -r header | grep -q '^processes  *5$' || fail "header: $(ctxan -q execs.er -r header | grep '^processes')"
# The directory of a process opens that process alone, in reports and exports.
lineage=$(jq -r '[.rows[].images[] | select(.lineage != "" and .samples > 0)][1].lineage' processes.json)
number=$(jq -r --arg l "$lineage" '.rows[].images[] | select(.lineage == $l).process_id' processes.json)
[ -d "execs.er/$lineage.er" ] || fail "no directory $lineage.er"
for report in functions tree threads stacks; do
	ctxan -q execs.er --process "$number" -r $report --format json --limit 0 | jq -S 'del(.experiment)' >whole.json
	ctxan -q "execs.er/$lineage.er/" -r $report --format json --limit 0 | jq -S 'del(.experiment)' >alone.json
	[ -s alone.json ] && cmp -s whole.json alone.json || fail "$lineage.er: $report"
done
ctxan -q execs.er --process "$number" --export folded >whole.txt
(cd execs.er && ctxan -q "$lineage.er" --export folded) >alone.txt
[ -s alone.txt ] && cmp -s whole.txt alone.txt || fail "$lineage.er: --export folded"
# Nor does the process need a directory: its data is found in the files of the root process too.
for file in "execs.er/$lineage.er"/*; do
	case $file in
	*/log.xml) ;;
	*.xml) tail -n +2 "$file" >>execs.er/map.xml ;;
	*) if [ -e "execs.er/${file##*/}" ]; then tail -c +17 "$file" >>"execs.er/${file##*/}"; else cp "$file" execs.er/; fi ;;
	esac
done
rm -r "execs.er/$lineage.er"
ctxan -q "execs.er/$lineage.er" --export folded >moved.txt
cmp -s whole.txt moved.txt || fail "$lineage.er without a directory: $(diff whole.txt moved.txt | head -n 5)"
expect 1 'no process _f99.er' ctxan execs.er/_f99.er
command=$(jq -r '[.rows[].command | select(test("^[^ ]*/[^ /]+( |$)"))][0]' processes.json)
[ "$command" != null ] || fail "no process with a path"
program=$(basename "${command%% *}")
ctxan -q execs.er --process "$program" -r functions >named.txt || fail "--process $program"
ctxan -q execs.er --process "${program}x" -r functions 2>err.txt && fail "--process ${program}x"
finish
