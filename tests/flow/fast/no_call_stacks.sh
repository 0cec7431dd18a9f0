# Recordings without callers: of perf without -g, and ours with --unwind none. Their reports say so and invent no callers.
. "$(dirname "$0")/../common.sh" "$@"
need jq

unpack perfdata/same
says() { grep -c "no call stacks in this recording: $1" "$2"; }

ctxan -q --symfs symfs flat.data -r functions >functions.txt || fail "functions"
[ "$(says 'record with .* -g' functions.txt)" = 1 ] || fail "functions says nothing, or twice: $(head -n 4 functions.txt)"
grep -q 'Total ' functions.txt && fail "functions has a column of inclusive weights"
grep -q ' spin \[noreturn\]' functions.txt || fail "functions has lost its rows"
ctxan -q --symfs symfs flat.data -r functions --format json >functions.json || fail "functions, json"
[ "$(jq -c '[.call_stacks, (.rows | length > 5), (.rows | map(.inclusive) | unique)]' functions.json)" = '[false,true,[null]]' ] ||
	fail "functions, json: $(head -c 300 functions.json)"
for report in tree callers-callees stacks; do
	ctxan -q --symfs symfs flat.data -r $report >$report.txt || fail "$report"
	[ "$(says 'record with .* -g' $report.txt)" = 1 ] || fail "$report says nothing, or twice"
	grep -q spin $report.txt && fail "$report invents callers"
	[ "$(ctxan -q --symfs symfs flat.data -r $report --format json | jq -c '[.call_stacks, .rows]')" = '[false,[]]' ] || fail "$report, json"
done
ctxan -q --symfs symfs flat.data >default.txt || fail "the default reports"
grep -q '^#1 ' default.txt && fail "the default reports have stacks"

# With chains nothing changes.
ctxan -q --symfs symfs good.data -r functions,tree >good.txt || fail "good"
grep -q 'no call stacks' good.txt && fail "good.data has call stacks"
grep -q '^ *Self ms.*Total ms' good.txt || fail "good.data has inclusive weights"
ctxan -q --symfs symfs good.data -r tree --format json | jq -e 'has("call_stacks") | not' >has.txt || fail "good, json"

# Ours, one frame each, because none more were taken.
gen_experiment --samples 100 --threads 1 --stacks 1 --depth 1 --seed 3 --duration-ms 100 -o ours.er || fail "gen_experiment"
ctxan -q ours.er -r functions >ours.txt || fail "ours"
grep -q 'no call stacks' ours.txt && fail "one frame each is no proof that none were taken"
sed -i '2i <setting name="collector" value="ctxrec 0.1.0"/>\n<setting name="stacks" value="program counter alone"/>' ours.er/log.xml
ctxan -q --reingest ours.er -r functions >ours.txt || fail "ours, program counter alone"
[ "$(says 'record without --unwind none' ours.txt)" = 1 ] || fail "ours: $(head -n 4 ours.txt)"
finish
