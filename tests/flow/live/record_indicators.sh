# ctxrec --indicator: counts are exact, by function, thread and caller, in threads and children; inlined calls, lines, instructions, data;
# thresholds; what cannot be is refused before the program runs; nothing is left behind. What the program prints is the same.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc
need_perf
targets=$source_dir/testdata/targets
gcc -O2 -g "$targets/indicators.c" -o ind -pthread || exit 1
./ind 2 1 >wanted.txt
wanted() { awk -v name="$1" '$1 == name { print $2 }' wanted.txt; }
line=$(grep -n 'LINE \*/' "$targets/indicators.c" | cut -d: -f1)

# rows JQ: of the last recording.
rows() { ctxan run.er -r indicators --format json | jq -e "$1" >/dev/null || fail "$2: $(ctxan run.er -r indicators)"; }
record() {
	ctxrec -q -O -o run.er "$@" >out.txt 2>err.txt || fail "$*: exit status $?: $(cat err.txt)"
}

# By hardware breakpoints, which need no privileges.
has_data=yes
ctxrec -q -O -o run.er --indicator counter:rw -- ./ind >out.txt 2>err.txt || {
	grep -q 'hardware breakpoint' err.txt || fail "data: $(cat err.txt)"
	has_data=
	leave_out "hardware breakpoints: $(head -n 1 err.txt)"
}
if [ -n "$has_data" ]; then
	record --indicator counter:rw --indicator counter:w --indicator table+8,len=4:w:threshold=10 -- ./ind 2 1
	cmp -s wanted.txt out.txt || fail "data: the program prints something else"
	rows "[.rows[] | .count] == [$(wanted accesses), $(wanted writes), $(wanted writes)]" data
	rows '[.rows[] | .function] == ["touch", "touch", "touch"] and .rows[0].threads == 4 and (.rows[0].by_thread | map(.count) == [600, 600, 600, 600]) and
		.rows[2].threshold == 10 and .rows[2].raised > 0 and .rows[2].callers[0].function == "work" and .rows[0].mechanism == "hardware breakpoint"' "data in detail"
	# Eight bytes are one register; the program has four.
	expect 1 'table:w.: needs 4 hardware breakpoints; 3 of ' ctxrec -q -O -o no.er --indicator counter:w --indicator table:w -- ./ind
fi

# In the program's own memory, where entries have room for a jump; no privileges are needed.
if [ -e "$bin/libctxrt.so" ]; then
	gcc -O2 -g -fpatchable-function-entry=5 "$targets/indicators.c" -o room -pthread || exit 1
	record --indicator leaf --indicator often:threshold=100 --indicator 'oft*' --indicator never -- ./room 2 1
	cmp -s wanted.txt out.txt || fail "in memory: the program prints something else"
	rows "[.rows[] | .count] == [$(wanted leaf), $(wanted often), $(wanted often), 0]" "in memory"
	rows '([.rows[] | .mechanism] | unique) == ["in-process counter"] and (.rows[0].by_thread | map(.count)) == [2120, 2120, 2120, 2120] and .rows[1].raised == 40' "in memory, in detail"
	ctxan run.er -r tree --metric 'often:threshold=100 raised' --function main --format json | jq -e '.rows | map(.function) | index("often") and index("work")' >/dev/null ||
		fail "call stacks of in-process counters: $(ctxan run.er -r tree --metric 'often:threshold=100 raised')"
	for flags in '-pg -mfentry -mnop-mcount -mrecord-mcount -fno-pie -no-pie' '-fcf-protection -fpatchable-function-entry=8,3'; do
		gcc -O2 -g $flags "$targets/indicators.c" -o room -pthread || exit 1
		record --indicator leaf -- ./room 2 1
		rows "[.rows[] | [.count, .mechanism]] == [[$(wanted leaf), \"in-process counter\"]]" "$flags"
	done
	gcc -O2 -g -fpatchable-function-entry=5 "$targets/counted.c" -o counted -pthread || exit 1
	printf 'static volatile int sink;\nvoid from_library(void) { sink++; }\n' >library.c
	gcc -O2 -fpatchable-function-entry=5 -shared -fPIC library.c -o library.so || exit 1
	for how in '' kill signals; do
		record --indicator f --indicator f:threshold=10 -- ./counted $how
		rows "[.rows[] | .count] == [$(cat out.txt), $(cat out.txt)] and .rows[0].mechanism == \"in-process counter\" and .lost_samples == 0" "counted $how"
	done
	record --indicator ./library.so:from_library -- ./counted library ./library.so
	rows '[.rows[] | .count] == [100] and .rows[0].mechanism == "in-process counter"' "a library that is opened twice"
	LD_LIBRARY_PATH=. record --indicator ./library.so:from_library -- ./counted library library.so
	rows '[.rows[] | .count] == [100]' "a library that is opened by its name alone"
	# What the command executes is named by its path.
	record --indicator ./counted:g -- sh -c 'exec ./counted exec 0'
	rows '[.rows[] | [.count, .mechanism]] == [[7, "in-process counter"]]' "a program that is executed"
	# What needs the kernel is counted by it, at this place by all.
	if [ "$(id -u)" = 0 ] && [ -e /sys/kernel/tracing/uprobe_events ]; then
		record --indicator f --indicator f:callers --indicator g -- ./counted exec 0
		rows '[.rows[] | [.count, .mechanism]] == [[7, "uprobe"], [7, "uprobe"], [7, "in-process counter"]] and .rows[1].callers[0].function == "main"' "callers of each"
		record --calls --indicator g -- ./counted exec 0
		rows '[.rows[] | [.count, .mechanism]] == [[7, "uprobe"]]' "beside --calls"
	fi
fi

# By uprobes.
if need_tracefs && [ "$(id -u)" = 0 ] && [ -e /sys/kernel/tracing/uprobe_events ]; then
	record --indicator leaf --indicator often:threshold=100 --indicator inlined --indicator "indicators.c:$line" --indicator seldom%return --indicator never -- ./ind 2 1
	cmp -s wanted.txt out.txt || fail "code: the program prints something else"
	rows "[.rows[] | .count] == [$(wanted leaf), $(wanted often), $(wanted inlined), $(wanted line), $(wanted seldom), 0]" code
	rows '(.rows[0].callers | map({(.function): .count}) | add) == {often: 8000, seldom: 400, with_two_inlined: 80}' callers
	rows '.rows[0].threads == 4 and (.rows[0].by_thread | map(.count)) == [2120, 2120, 2120, 2120] and .rows[1].raised > 0 and .rows[1].raised <= 40 and
		.rows[2].inlined == 3 and .rows[2].places == 3 and .rows[5].function == "never" and .lost_samples == 0' "code in detail"
	ctxan run.er -r tree --metric leaf --format json | jq -e '.weight == 8480' >/dev/null || fail "a metric of its own: $(ctxan run.er -r tree --metric leaf)"
	ctxan run.er -r tree --metric 'often:threshold=100 raised' --function main --format json | jq -e '.rows | map(.function) | index("often") and index("work")' >/dev/null ||
		fail "call stacks: $(ctxan run.er -r tree --metric 'often:threshold=100 raised')"
	record --indicator range:leaf..seldom --indicator object:ind --indicator '*_inlined' -- ./ind 2 1
	rows "([.rows[] | select(.indicator == \"range:leaf..seldom\") | {(.function): .count}] | add) == {leaf: $(wanted leaf), often: $(wanted often), seldom: $(wanted seldom)}" range
	rows '([.rows[] | select(.indicator == "range:leaf..seldom") | {(.function): .entries}] | add) == {leaf: 80, often: 4000, seldom: 400}' "entries of a range"
	rows '[.rows[] | select(.indicator == "object:ind" and .function == "with_inlined")][0].count == 200' object
	rows '([.rows[] | select(.indicator == "*_inlined") | .count]) == [200, 80]' pattern
	record --indicator malloc --indicator libc.so:write -- sh -c 'exec echo something'
	rows '.rows[0].count > 0 and (.rows[0].object | test("libc")) and .rows[1].count > 0' libraries
	# From the 4th call of one function to the next of another: seven windows of seven calls, each of two.
	record --indicator often --indicator leaf --indicator seldom --indicator begin_window:start=4 --indicator end_window:stop -- ./ind 0 0 windows
	rows '[.rows[] | .count] == [49, 98, 0, 7, 7]' "start and stop"
	ctxan run.er -r marks --format json | jq -e '.rows | map(select(.section == "interval")) | .[0].name == "begin_window:start=4" and .[0].count == 7' >/dev/null || fail "windows as intervals: $(ctxan run.er -r marks)"
	ctxan run.er -i 'mark:begin_window:start=4#*' -r indicators --format json | jq -e '[.rows[] | .count] == [49, 98, 0, 7, 7]' >/dev/null || fail "-i mark: $(ctxan run.er -i 'mark:begin_window:start=4#*' -r indicators)"
	record --indicator sometimes_slow:slower-than=50ms -- ./ind 0 0 windows
	rows '.rows[0].count == 30 and .rows[0].slower >= 3 and .rows[0].slower < 30 and .rows[0].slower_than == 50000000' slower-than
	ctxan run.er -r tree --metric 'sometimes_slow:slower-than=50ms slower' --format json | jq -e '.rows | map(.function) | index("windows") and index("main")' >/dev/null || fail "slow calls: $(ctxan run.er -r tree --metric 'sometimes_slow:slower-than=50ms slower')"
	# An address of an instruction, not of its middle.
	second=$(objdump -d ./ind | awk '/<often>:/ { getline; getline; sub(":", "", $1); print $1 }')
	first=$(nm ./ind | awk '$3 == "often" { print $1 }')
	offset=$((0x$second - 0x$first))
	record --indicator "often+$offset" -- ./ind
	rows '[.rows[] | .count] == [1000]' "often+$offset"
	if [ "$offset" -gt 1 ]; then expect 1 'middle of an instruction' ctxrec -q -O -o no.er --indicator "often+$((offset - 1))" -- ./ind; fi
	# Suggested, checked, counted; another build is refused.
	ctxrec -q -O -o profile.er --indicator leaf -- ./ind || fail "a profile to suggest from"
	ctxan profile.er --metric leaf --suggest-indicators >next.xml || fail "--suggest-indicators"
	ctxan --check-indicators next.xml | awk -F '\t' '{ print $2, $6, $7 }' >said.txt
	echo 'execute count raise leaf' >wanted_said.txt
	cmp -s said.txt wanted_said.txt || fail "--check-indicators: $(cat said.txt next.xml)"
	record --indicators next.xml -- ./ind 2 1
	rows ".rows[0].count == $(wanted leaf) and .rows[0].threshold == 1000 and .rows[0].raised > 0" --indicators
	sed 's/build_id="..../build_id="0000/' next.xml >old.xml
	expect 1 'has the build id' ctxan --check-indicators old.xml
	expect 1 'has the build id' ctxrec -q -O -o no.er --indicators old.xml -- ./ind
	record --indicators old.xml --match-symbols -- ./ind 2 1
	rows ".rows[0].count == $(wanted leaf)" --match-symbols
	grep -q "ctxrec_$$/" /sys/kernel/tracing/uprobe_events && fail "definitions are left"
else
	leave_out "uprobes: root and tracefs are needed"
	expect 1 'uprobe' ctxrec -q -O -o no.er --indicator 'leaf%return' -- ./ind
fi

# Refused before the program runs.
expect 1 'no function nope, neither in .*/ind nor in its libraries' ctxrec -q -O -o no.er --indicator nope -- ./ind
expect 1 'line 1 of indicators.c has no code; the next one that has is ' ctxrec -q -O -o no.er --indicator indicators.c:1 -- ./ind
expect 1 'no code of a source file nowhere.c' ctxrec -q -O -o no.er --indicator nowhere.c:1 -- ./ind
expect 1 'libnone.so is none of the program' ctxrec -q -O -o no.er --indicator libnone.so:f -- ./ind
expect 1 'has 8 bytes' ctxrec -q -O -o no.er --indicator counter+8:w -- ./ind
expect 1 'leaf has .* bytes' ctxrec -q -O -o no.er --indicator leaf+99999 -- ./ind
expect 1 'a range is FIRST..LAST' ctxrec -q -O -o no.er --indicator range:leaf -- ./ind
expect 1 'Start tag expected' ctxrec -q -O -o no.er --indicators "$targets/indicators.c" -- ./ind
expect 1 'match-symbols needs' ctxrec -q -O -o no.er --match-symbols -- ./ind
expect 1 'none of the program.s load objects' ctxrec -q -O -o no.er --indicator other:f -- ./ind
# Without permission: returns need uprobes. The others are as for everybody.
if command -v setpriv >/dev/null && chmod 755 . && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$bin/ctxrec" -a -x ./ind; then
	expect 1 'returns need uprobes: ' setpriv --reuid=65534 --regid=65534 --clear-groups ctxrec -q -O -o no.er --indicator leaf%return -- ./ind
else
	leave_out "without permission: another user cannot be, or cannot read the programs"
fi
# The program cannot begin.
expect 127 'no/such' ctxrec -q -O -o no.er --indicator leaf -- ./no/such
expect 1 'user mode' ctxrec -q -O -o no.er --indicator leaf -a -- ./ind
[ -e no.er ] && fail "a refused recording is left"
ctxrec -q -O -o plain.er -- ./ind >out.txt 2>err.txt || fail "plain: $(cat err.txt)"
expect 1 'nothing was counted .ctxrec --indicator' ctxan plain.er -r indicators
finish
