# perf and ctxan together: a perf that is killed, a pipe from perf record, several events, directories, the newest recording. What can be told from one file
# is in perfdata_robust.
. "$(dirname "$0")/../common.sh" "$@"
need perf jq pgrep
need_perf

# A second of CPU time at most, some 0.2 s as a rule.
spin='i=0; while [ $i -lt 250000 ]; do i=$((i+1)); done'
record() { perf record -q -F 4000 "$@" >perf.out 2>&1 || fail "perf record $*: $(head -c 300 perf.out)"; }
samples() { ctxan -q "$1" -r functions --format json | jq .samples; }
head_of() { ctxan -q "$1" --reingest -r header; }
samples_in() { sed -n 's/^cpu-clock *\([0-9]*\) samples.*/\1/p' "$1"; }

# perf is killed: the header says nothing of the data, which exists. A file, a compressed one, a directory.
for option in '' -z --threads; do
	name=killed$option.data
	perf record -q -e cpu-clock -F 4000 -g -m 16 $option -o "$name" -- sh -c 'while :; do :; done' >/dev/null 2>killed.err &
	recorder=$!
	# Until there are 80 kB of samples.
	while kill -0 $recorder 2>/dev/null && [ "$(du -sb "$name" 2>/dev/null | cut -f1)0" -lt 800000 ]; do
		sleep 0.1
	done
	target=$(pgrep -P $recorder | head -n 1)
	kill -9 $recorder 2>/dev/null || {
		leave_out "this perf cannot record ${option:-a file}: $(head -n 1 killed.err)"
		continue
	}
	wait $recorder 2>/dev/null
	kill -9 "$target" 2>/dev/null
	header=$name
	[ ! -d "$name" ] || header=$name/data
	[ "$(od -An -tu8 -j48 -N8 "$header" | tr -d ' ')" = 0 ] || fail "$name: the header has a size; the test is not about it"
	head_of "$name" >killed.txt || fail "$name"
	grep -Eq '^closed +no' killed.txt || fail "$name: closed: $(cat killed.txt)"
	grep -q '^note: the run was not closed' killed.txt || fail "$name: no note"
	[ "$(samples_in killed.txt)" -ge 10 ] || fail "$name: only $(samples_in killed.txt) samples"
done

# Several events; their modifiers need not be typed where one name is meant.
record -e cpu-clock,page-faults -o two.data -- sh -c "$spin; cat /proc/self/maps"
ctxan -q two.data -r header | grep -Eq '^page-faults +[0-9]+ samples, [0-9]+ events' || fail "two events: page-faults is not in the header"
ctxan -q two.data -r header | grep -Eq '^cpu-clock +[0-9]+ samples, [0-9.]+ m?s' || fail "two events: cpu-clock is not in the header"
[ "$(ctxan -q two.data -r functions --metric page-faults --format json | jq .samples)" -gt 0 ] || fail "two events: no page faults"
[ "$(ctxan -q two.data -r functions --metric cpu-clock --format json | jq .samples)" -gt 0 ] || fail "two events: no clock samples"
record -e page-faults:u,cpu-clock:u,cpu-clock:k -o modified.data -- sh -c "$spin"
ctxan -q modified.data --metric page-faults -r functions | grep -q 'page-faults:u' || fail "page-faults does not find page-faults:u"
ctxan -q modified.data --metric cpu-clock:k -r functions | grep -q 'cpu-clock:k' || fail "cpu-clock:k does not find itself"
expect 1 "more than one metric 'cpu-clock' \(recorded: page-faults:u, cpu-clock:u, cpu-clock:k\)" ctxan -q modified.data --metric cpu-clock

# Without an argument: the newest of *.er and perf.data.
mkdir here
(cd here && perf record -q -e cpu-clock -- sh -c "$spin" >/dev/null 2>&1) || fail "perf record without -o"
expect 0 "the newest recording here is perf.data" sh -c 'cd here && ctxan -r functions'
[ -e here/perf.data.ctxan.db ] || fail "the database is not beside perf.data"
mkdir there
if perf record -q -e cpu-clock --threads -o there/perf.data -- sh -c "$spin" >/dev/null 2>threads.err; then
	expect 0 "the newest recording here is perf.data" sh -c 'cd there && ctxan -r functions'
	[ -e there/perf.data.ctxan.db ] || fail "the database is not beside the directory perf.data"
else
	leave_out "this perf cannot record --threads: $(head -n 1 threads.err)"
fi

# A pipe: what perf has written into it is what ctxan has read.
mkdir temporary
TMPDIR=$work/temporary
export TMPDIR
perf record -q -e cpu-clock -F 4000 -g -o - -- sh -c "$spin" 2>/dev/null | tee piped.data | ctxan - -r header,functions >piped.txt 2>piped.err || fail "standard input"
[ ! -s piped.err ] || fail "standard input: $(cat piped.err)"
grep -Eq '^standard input: functions .* [0-9]+ samples' piped.txt || fail "standard input: $(head -n 3 piped.txt)"
[ "$(samples_in piped.txt)" -ge 10 ] && [ "$(samples_in piped.txt)" = "$(samples piped.data)" ] ||
	fail "standard input: $(samples_in piped.txt) samples of $(samples piped.data)"
[ -z "$(ls -A temporary)" ] || fail "left in the temporary directory: $(find temporary)"
finish
