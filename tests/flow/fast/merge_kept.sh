# --merge: kept recordings as one: placed by their clocks or --offset, all of their samples, and what cannot be merged is refused.
. "$(dirname "$0")/../common.sh" "$@"

# samples FILE: the sum over all threads of the metric of the header.
samples() { tail -n +2 "$1" | awk -F, -v c="$(head -1 "$1" | tr , '\n' | grep -nx samples | cut -d: -f1)" '{ n += $c } END { print n + 0 }'; }
# run_ns EXPERIMENT: when it began, in ns of CLOCK_MONOTONIC.
run_ns() { text "$1/log.xml" | sed -n 's/.*kind="run" tstamp="\([0-9]*\)\.\([0-9]*\)".*/\1\2/p'; }

unpack recordings/marks
unpack perfdata/same
unpack jfr/known

# Of one host, by CLOCK_MONOTONIC.
expect 0 '' ctxan --merge run.er pause.er -q -r header
apart=$(($(run_ns pause.er) - $(run_ns run.er)))
grep -q "pause.er: experiment 2, from 0.$(printf %09d $apart) s on (CLOCK_MONOTONIC)" out.txt || fail "not $apart ns apart: $(cat out.txt)"
grep -q '^command (pause.er)' out.txt || fail "the command of the second recording is missing"
[ -z "$(ls ./*.ctxan.db run.er/ctxan.db 2>/dev/null)" ] || fail "a database beside a recording"
ls "$HOME"/.cache/ctxan/*.db >/dev/null || fail "no database in the cache"
# The order of the command line does not matter for times.
expect 0 '' ctxan --merge pause.er run.er -q -r marks --format csv
sort out.txt | sed 's/,[^,]*$//' >two.txt
expect 0 '' ctxan --merge run.er pause.er -q -r marks --format csv
sort out.txt | sed 's/,[^,]*$//' >one.txt
[ "$(wc -l <one.txt)" = "$(wc -l <two.txt)" ] || fail "marks depend on the order"

# All samples of all, however they are placed.
expect 0 '' ctxan good.data -q -r threads --format csv
a=$(samples out.txt)
expect 0 '' ctxan two.data -q -r threads --format csv
b=$(samples out.txt)
expect 0 '' ctxan --merge good.data two.data -q -r threads --format csv
[ "$(samples out.txt)" = $((a + b)) ] || fail "$a and $b samples are $(samples out.txt)"
expect 0 '' ctxan --merge good.data two.data -q -r processes --format csv
grep -q 'two.data:_f1' out.txt || fail "lineages do not tell the recordings apart"
# perf's own clock, and the wall clock of Java's recordings, have nothing in common.
expect 1 'g1.jfr has no clock in common with good.data.*--offset g1.jfr=NS' ctxan --merge good.data g1.jfr
expect 0 '' ctxan --merge good.data g1.jfr --offset g1.jfr=-2ms -q -r header
grep -q 'good.data: perf.data, from 0.002000000 s on' out.txt || fail "--offset -2ms"
expect 0 '' ctxan --merge run.er good.data --offset good.data=1000 -q -r header
grep -q 'good.data: perf.data, from 0.000001000 s on (--offset)' out.txt || fail "--offset 1000"
# States are those of the threads that have them.
expect 0 '' ctxan run.er -q -r states --format csv
cp out.txt alone.csv
expect 0 '' ctxan --merge run.er good.data --offset good.data=0 -q -r states --format csv
[ "$(wc -l <out.txt)" = "$(wc -l <alone.csv)" ] || fail "threads of good.data have states"

# A database of its own, an export, one file twice compressed.
gzip -ckn good.data >good.data.gz
expect 0 '' ctxan --merge good.data.gz two.data -q --db all.db -r threads --format csv
[ "$(samples out.txt)" = $((a + b)) ] || fail "a compressed recording"
expect 0 '' ctxan all.db -r threads --format csv
[ "$(samples out.txt)" = $((a + b)) ] || fail "the database alone"
expect 0 '' ctxan --merge good.data two.data -q --export folded
[ -s out.txt ] || fail "nothing exported"

expect 1 'which recordings' ctxan --merge good.data
expect 1 '--offset requires --merge' ctxan good.data --offset good.data=1
expect 1 "no recording 'x' is merged" ctxan --merge good.data two.data --offset x=1
expect 1 'expected FILE=NS' ctxan --merge good.data two.data --offset 17
expect 1 'expected a whole number' ctxan --merge good.data two.data --offset two.data=soon
expect 1 'expected a whole number' ctxan --merge good.data two.data --offset two.data=99999999999999s
expect 1 'a database' ctxan --merge good.data all.db
expect 1 'No such file' ctxan --merge good.data missing.data
expect 1 '--merge excludes --diff' ctxan --merge --diff good.data two.data
expect 1 "--merge excludes '-'" ctxan --merge good.data -
head -c 90 good.data >cut.data
expect 1 'cut.data' ctxan --merge two.data cut.data
finish
