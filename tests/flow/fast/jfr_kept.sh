# What ctxan says of kept recordings of Java's Flight Recorder (testdata/jfr) is what jfr said of them, event for event: jfr_same.py compares, here
# without Java. Files one behind the other, a directory and a compressed file are the same recordings.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz jq

unpack jfr/known
for name in serial g1; do
	python3 "$source_dir/tests/flow/jfr_same.py" $name.jfr --least jdk.ExecutionSample=10 jdk.ObjectAllocationInNewTLAB=50 \
		jdk.JavaMonitorEnter=2 jdk.GCPhasePause=2 jdk.ExecuteVMOperation=2 jdk.FileWrite=2 || fail "$name"
done

# own RECORDING: samples and weights of the metrics, and the number of marks.
own() { ctxan -q "$1" --format json --sql 'select m.name, m.samples, m.weight, (select count(*) from traced) as traced from metric as m where m.samples > 0 order by m.name'; }

# The virtual machines: one row each, collections and pauses those of the marks, every sample in one of three columns.
row=$(ctxan -q serial.jfr -r vms --format json | jq -c '.rows[] | [.collector, .heap_max_bytes, .gc_count, .gc_ns, .inside_samples + .gc_samples + .outside_samples]')
want=$(ctxan -q serial.jfr --format json --sql "select (select count(*) from traced as t join traced_file as f on f.id = t.file where f.name like 'GC: %') as n,
	(select sum(duration_ns) from traced as t join traced_file as f on f.id = t.file where f.name = 'GC Phase Pause') as ns, (select samples from metric where id = 0) as samples" |
	jq -c '.[0] | ["Serial", 67108864, .n, .ns, .samples]')
[ "$row" = "$want" ] || fail "vms: $row, not $want"
[ "$(ctxan -q serial.jfr -r vms --format json | jq '.rows[0] | .classes > 0 and .compilations > 0 and .allocated_bytes > 0 and .safepoint_ns > .gc_ns')" = true ] ||
	fail "vms: $(ctxan -q serial.jfr -r vms --format json)"
for view in user expert machine; do
	ctxan -q serial.jfr -r threads --view $view --format json | jq -c '[.rows[] | [.thread, .inside_samples, .gc_samples, .outside_samples]]' >$view.threads
done
cmp -s user.threads expert.threads && cmp -s user.threads machine.threads || fail "views: $(cat ./*.threads)"
jq -e 'all(.[]; .[1] != null)' user.threads >/dev/null || fail "threads without samples by kind: $(cat user.threads)"
cat serial.jfr g1.jfr >both.jfr
[ "$(ctxan -q both.jfr -r vms --format json | jq -c '[.rows[].collector] | sort')" = '["G1","Serial"]' ] || fail "both: $(ctxan -q both.jfr -r vms)"
mkdir both
cp serial.jfr g1.jfr both
gzip -nk serial.jfr
own both.jfr >whole.json
own both >parts.json
cmp -s whole.json parts.json || fail "a directory: $(diff whole.json parts.json)"
[ "$(ctxan -q both --format json --sql 'select count(*) as n from process' | jq .[0].n)" = 2 ] || fail "both: not two processes"
own serial.jfr >serial.json
own serial.jfr.gz >packed.json
cmp -s serial.json packed.json || fail "compressed: $(diff serial.json packed.json)"
own g1.jfr >g1.json
jq -n --slurpfile a serial.json --slurpfile b g1.json '[$a[0][], $b[0][]] | group_by(.name) | map({name: .[0].name, samples: map(.samples) | add, weight: map(.weight) | add})' >sum.json
jq 'map(del(.traced))' whole.json | diff -q - sum.json >/dev/null || fail "both: not the sum of the two"

# What is cut is read as far as it is whole, and said once, with the file and the offset. The recorder writes the types at the end of a chunk.
size=$(stat -c %s serial.jfr)
head -c $((size - 1)) serial.jfr >cut.jfr
ctxan -q cut.jfr -r header >header.txt || fail "cut.jfr"
grep -q "cut.jfr: offset 0: chunk of $size bytes is cut after $((size - 1)): its whole events are read" header.txt || fail "cut.jfr: no line about the cut: $(grep note header.txt)"
head -c $((size / 2)) serial.jfr >half.jfr
expect 1 'half.jfr: offset 0: nothing of the chunk can be read: no metadata' ctxan -q half.jfr -r header
cat g1.jfr half.jfr >behind.jfr
ctxan -q behind.jfr -r header >header.txt || fail "behind.jfr"
grep -q "behind.jfr: offset $(stat -c %s g1.jfr): nothing of the chunk can be read" header.txt || fail "behind.jfr: no line about the cut: $(grep note header.txt)"
finish
