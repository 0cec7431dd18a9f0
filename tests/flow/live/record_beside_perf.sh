# perf that records the same program at the same time is not disturbed: when one reader asks for build ids of mappings, the kernel marks every reader's
# records, and perf before 6.16 aborts.
. "$(dirname "$0")/../common.sh" "$@"
need perf jq
need_perf
perf record -q -e cpu-clock -o alone.data -- true 2>alone.err || skip "perf cannot record here: $(head -n 1 alone.err)"
perf record -q -e cpu-clock -o both.data -- ctxrec -q -o both.er -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' 2>both.err
status=$?
[ $status = 0 ] || fail "perf beside ctxrec: exit status $status: $(head -c 300 both.err)"
# The build ids of the experiment are read from the files.
ctxan -q both.er --format json -r objects >objects.json 2>objects.err || fail "ctxan: $(cat objects.err)"
grep -q '<map .*build_id="[0-9a-f][0-9a-f]*" path="/' both.er/map.xml || fail "maps without build ids: $(grep -m 1 '<map' both.er/map.xml)"
finish
