# Phases and periods of kept recordings of programs that are known: phases_kept.py; and what the command line says of them.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

for kept in recordings/phases recordings/served recordings/spin recordings/tight recordings/convoy recordings/execs recordings/deep states/lock_convoy states/producer_consumer; do
	unpack $kept
done
python3 "$source_dir/tests/flow/phases_kept.py" . || fail "phases"

expect 1 "interval 'phase:D': there are the phases 1 to 5, with the letters A to C .-r phases." ctxan -q served.er -i phase:D
expect 1 "interval 'phase:6': there are the phases 1 to 5" ctxan -q served.er -i phase:6
expect 1 "interval 'phase:B': there is one phase alone, phase:A" ctxan -q tight.er -i phase:B
expect 1 'phases cannot be sorted: it is in order of time' ctxan -q served.er -r phases --sort begin
ctxan -q served.er -r phases --width 80 >narrow.txt || fail "80 columns"
awk 'length($0) > 200 { exit 1 }' narrow.txt || fail "80 columns: $(cat narrow.txt)"
grep -q '^Period: 20\.[0-9]* ms, jitter ' narrow.txt || fail "the period is not named: $(cat narrow.txt)"
ctxan -q tight.er -r phases | grep -qx 'One phase: nothing changes by more than by chance.' || fail "one phase is not said"
ctxan -q served.er --width 120 | grep -q '^Phase (-r phases)    A*B*C*A*C* *$' || fail "first screen: $(ctxan -q served.er --width 120)"
ctxan -q tight.er --width 120 | grep -q '^Phase' && fail "the first screen has a line for one phase"
ctxan -q served.er -r timeline --width 120 | grep -q '^phase -i phase:B A*B*C*A*C*$' || fail "time line: $(ctxan -q served.er -r timeline --width 120)"
ctxan -q served.er --export html -o page.html && grep -q '"names":\["phase A","phase B","phase C"\]' page.html || fail "the page does not mark phases"
ctxan -q served.er -r phases --format html -o tables.html && grep -q 'load_index' tables.html || fail "HTML"
# Few samples: it cannot tell, in any format.
ctxan -q served.er -r phases -i 0:100 | grep -q '^[0-9]* samples: too few to tell phases apart (200 are needed)$' || fail "few samples"
[ "$(ctxan -q served.er -r phases -i 0:100 --format csv | wc -l)" = 1 ] || fail "few samples in CSV"

# Of one process: the group of the report, by its name; times alone.
ctxan -q execs.er -r phases --format csv | grep '^15178,' | cut -d , -f 1-5 >group.csv
ctxan -q execs.er -r phases --process consumer --format csv | tail -n +2 | cut -d , -f 2-5 >alone.csv
cut -d , -f 2- group.csv | cmp -s - alone.csv && [ -s alone.csv ] || fail "phases of one process: $(cat group.csv alone.csv)"
ctxan -q execs.er -r functions -i phase:consumer/A --format json >out.json || fail "phase of a process"
grep -q "\"intervals_ns\":\[\[$(head -1 group.csv | cut -d , -f 4,5)\]\]" out.json || fail "its interval: $(head -c 200 out.json)"
grep -q '"threads":null' out.json || fail "a phase of a process selects no threads"
expect 1 "interval 'phase:nosuch/A': no process 'nosuch'" ctxan -q execs.er -i phase:nosuch/A
expect 1 "interval 'phase:consumer/B': there is one phase alone, phase:A" ctxan -q execs.er -i phase:consumer/B

finish
