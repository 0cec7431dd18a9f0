# Functions that are made at run time (testdata/targets/jit.c): names from a jitdump by time, from /tmp/perf-PID.map by address, and none rather than a wrong one.
. "$(dirname "$0")/../common.sh" "$@"
need perf jq
need_perf

# record NAME OPTION... -- COMMAND...: NAME.data, and NAME.out with what the target printed: the path of its file.
record() {
	name=$1
	shift
	before=$(stolen)
	perf record -q -e cpu-clock -F 2500 -g -o "$name.data" "$@" >"$name.out" 2>record.err || fail "$name: perf record: $(head -c 300 record.err)"
	echo $(($(stolen) - before)) >"$name.stolen"
}
# functions NAME FILTER [OPTION...]: what jq makes of the rows, $all being the number of samples.
functions() {
	name=$1
	filter=$2
	shift 2
	ctxan -q "$name.data" -r functions --limit 0 --format json "$@" | jq -r ".samples as \$all | .rows | $filter"
}
share() { functions "$1" "100 * ([.[] | select(.function == \"$2\").exclusive_samples] | add // 0) / \$all"; }
# The place of a function in the tree where most samples ended: the names from the outermost caller to it.
path_of() {
	ctxan -q "$1.data" -r tree --limit 0 --format json |
		jq -r --arg f "$2" '[foreach .rows[] as $r ({path: []}; .path = .path[0:$r.level] + [$r.function]; {path, base: $r.base})] | map(select(.path[-1] == $f)) | max_by(.base).path | join(" ")'
}
# half NAME WHAT FUNCTION: it computed for 300 of 600 ms; what the hypervisor took meanwhile has samples too, of either function.
half() {
	awk -v v="$(share "$1" "$3")" -v taken="$(cat "$1.stolen")" \
		'BEGIN { half = 300e6; all = 2 * half + taken; exit !(v >= 94 * half / all && v <= 106 * (half + taken) / all) }' ||
		fail "$2: percent of $3: $(share "$1" "$3") is not within 6 % of 50, $(cat "$1.stolen") ns were stolen"
}
# halves NAME CALLER: each has half of all samples, called by main, CALLER, run.
halves() {
	for function in jit_alpha jit_beta; do
		half "$1" "$1" $function
		case $(path_of "$1" $function) in
		*" main $2 run $function") ;;
		*) fail "$1: the callers of $function: $(path_of "$1" $function)" ;;
		esac
	done
}
# nameless NAME: no function of the two has a name, and none has another's: nearly all is <Unknown>.
nameless() {
	[ "$(functions "$1" '[.[] | select(.function | test("jit_"))] | length')" = 0 ] || fail "$1: names that nothing tells"
	near "$1: percent without a name" "$(share "$1" '<Unknown>')" 100 6
	case $(path_of "$1" '<Unknown>') in
	*" main $2 run <Unknown>") ;;
	*) fail "$1: the callers of what has no name: $(path_of "$1" '<Unknown>')" ;;
	esac
}
notes() { ctxan -q "$1.data" -r header | grep '^note:'; }
forget() { rm -f "$1.data.ctxan.db"; }

# Two functions at one address: only the time tells which of them a sample is in.
record dump -k CLOCK_MONOTONIC -- jit dump . 300
halves dump with_dump
[ "$(functions dump 'map(select(.function | test("^jit_"))) | max_by(.exclusive_samples).function' -i :25%)" = jit_alpha ] || fail "dump: the first quarter is not alpha's"
[ "$(functions dump 'map(select(.function | test("^jit_"))) | max_by(.exclusive_samples).function' -i 75%:)" = jit_beta ] || fail "dump: the last quarter is not beta's"
notes dump && fail "dump: a note"

# A pipe, and a compressed file.
before=$(stolen)
perf record -q -e cpu-clock -F 2500 -k CLOCK_MONOTONIC -g -o - -- jit dump . 300 2>record.err >piped.data || fail "piped: perf record"
echo $(($(stolen) - before)) >piped.stolen
halves piped with_dump
record compressed -z -k CLOCK_MONOTONIC -- jit dump . 300
halves compressed with_dump

# In a container the process and its dump have another number than the kernel has for it.
if unshare -pf true 2>/dev/null; then
	record container -k CLOCK_MONOTONIC -- unshare -pf jit dump . 300
	[ "$(basename "$(cat container.out)")" = jit-1.dump ] || fail "container: the test is not about it"
	halves container with_dump
else
	echo "no namespace of processes can be made here: it is not tried"
fi

# Once ingested, the dump is not needed any more; what was not ingested has no names without it, and that is said.
dump=$(cat dump.out)
mv "$dump" away
halves dump with_dump
forget dump
nameless dump with_dump
notes dump | grep -q "$(basename "$dump"): No such file" || fail "dump: that it is missing is not said: $(notes dump)"
# A dump that is cut has the functions that are whole: alpha, which was there no longer when beta's place was mapped anew. One that is something else
# has none.
forget dump
head -c 150 away >"$dump"
half dump "cut dump" jit_alpha
[ "$(share dump jit_beta)" = 0 ] || fail "cut dump: beta has a name"
forget dump
echo 'This is no dump of a just-in-time compiler, but a text that is longer than its header.' >"$dump"
nameless dump with_dump
notes dump | grep -q "$(basename "$dump"): " || fail "dump: that it is something else is not said: $(notes dump)"
forget dump
mv away "$dump"
halves dump with_dump

# Another clock than the dump's.
for clock in default raw; do
	if [ $clock = raw ]; then
		record $clock -k CLOCK_MONOTONIC_RAW -- jit dump . 300
	else
		record $clock -- jit dump . 300
	fi
	nameless $clock with_dump
	notes $clock | grep -q "$(basename "$(cat $clock.out)") is not used: its times are on another clock" || fail "$clock clock: not said: $(notes $clock)"
done

# A map: two addresses. Both read it, whatever the clock.
record map -- jit map 300
map=$(cat map.out)
trap 'rm -f "$map"; cleanup' EXIT
halves map with_map
notes map && fail "map: a note"
rm -f "$map"
halves map with_map # from the database
forget map
nameless map with_map
# Lines that are none, and functions elsewhere.
printf 'no line of a map\n10 20 jit_elsewhere\nffffffffffffff00 ffffffffffffffff jit_everywhere\n' >"$map"
forget map
nameless map with_map
finish
