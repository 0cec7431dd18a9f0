# JIT code that is recorded here (testdata/targets/jit.c): names from a jitdump by time, from /tmp/perf-PID.map by address, and none rather than a wrong one. How much
# time each function has is compared in perfdata_jit_kept.
. "$(dirname "$0")/../common.sh" "$@"
need perf jq
need_perf
. "$source_dir/tests/flow/perfdata_jit_names.sh"

# record NAME OPTION... -- COMMAND...: NAME.data, and NAME.out with what the target printed: the path of its file. Each function has 200 ms of CPU time.
record() {
	name=$1
	shift
	perf record -q -e cpu-clock -F 2500 -g -o "$name.data" "$@" >"$name.out" 2>record.err || fail "$name: perf record: $(head -c 300 record.err)"
}
# can_record NAME OPTION...: does this perf know the option?
can_record() {
	name=$1
	shift
	perf record -q -e cpu-clock "$@" -o option.data -- true >/dev/null 2>option.err && return
	leave_out "$name: this perf cannot record so: $(head -n 1 option.err)"
	return 1
}

# Two functions at one address.
record dump -k CLOCK_MONOTONIC -- jit dump . 200
both dump with_dump
notes dump && fail "dump: a note"

# A pipe, and a compressed file.
perf record -q -e cpu-clock -F 2500 -k CLOCK_MONOTONIC -g -o - -- jit dump . 200 2>record.err >piped.data || fail "piped: perf record: $(head -c 300 record.err)"
both piped with_dump
can_record compressed -z && {
	record compressed -z -k CLOCK_MONOTONIC -- jit dump . 200
	both compressed with_dump
}

# In a container the process and its dump have another number than the kernel has for it.
if unshare -pf true 2>/dev/null; then
	record container -k CLOCK_MONOTONIC -- unshare -pf jit dump . 200
	[ "$(basename "$(cat container.out)")" = jit-1.dump ] || fail "container: the test is not about it"
	both container with_dump
else
	leave_out "no namespace of processes can be made here"
fi

# Once ingested, the dump is not needed any more; what was not ingested has no names without it, and a note says so.
dump=$(cat dump.out)
rm "$dump"
both dump with_dump
forget dump
nameless dump with_dump
notes dump | grep -q "$(basename "$dump"): No such file" || fail "dump: no note that it is missing: $(notes dump)"

# Another clock than the dump's.
record default -- jit dump . 200
nameless default with_dump
notes default | grep -q "$(basename "$(cat default.out)") is not used: its times are on another clock" || fail "default clock: no note: $(notes default)"

# A map, whatever the clock.
record map -- jit map 200
map=$(cat map.out)
trap 'rm -f "$map"; cleanup' EXIT
both map with_map
notes map && fail "map: a note"
rm -f "$map"
both map with_map # from the database
forget map
nameless map with_map
finish
