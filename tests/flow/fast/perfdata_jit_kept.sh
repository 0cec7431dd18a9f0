# JIT code in kept recordings (testdata/perfdata): names from a jitdump by time, from /tmp/perf-PID.map by address, and none rather than a wrong one. Each of the
# two functions ran for half of the time.
. "$(dirname "$0")/../common.sh" "$@"
need jq python3 xz
. "$source_dir/tests/flow/perfdata_jit_names.sh"

unpack perfdata/jit
# The recordings say that the dumps are in a directory with a name of 150 bytes: ours is written over it, and what is left are zero bytes.
python3 - "$work/dumps" <<'END' || fail "the path of the dumps"
import os, re, sys
old, new = b"/tmp/perfdata-testdata/" + b"d" * 127, os.fsencode(sys.argv[1])
assert len(new) <= len(old), "TMPDIR is too long"
for name in ("dump", "piped", "default", "raw", "injected"):
    data = open(name + ".data", "rb").read()
    data, n = re.subn(re.escape(old) + rb"[/\w.-]*", lambda path: path[0].replace(old, new).ljust(len(path[0]), b"\0"), data)
    assert n > 0
    open(name + ".data", "wb").write(data)
END
mkdir -p "symfs$work"
cp -rp dumps "symfs$work/" # with their times: what is newer than the recording is reported
places="--symfs symfs"

share() { functions "$1" "100 * ([.[] | select(.function == \"$2\").exclusive_samples] | add // 0) / \$all"; }
# halves NAME CALLER: each has half of all samples.
halves() {
	both "$1" "$2"
	near "$1: percent of jit_alpha" "$(share "$1" jit_alpha)" 50 6
	near "$1: percent of jit_beta" "$(share "$1" jit_beta)" 50 6
}
# all_nameless NAME CALLER: nearly all is <Unknown>.
all_nameless() {
	nameless "$1" "$2"
	near "$1: percent without a name" "$(share "$1" '<Unknown>')" 100 6
}
most() { functions "$1" 'map(select(.function | test("^jit_"))) | max_by(.exclusive_samples).function' -i "$2"; }

# Two functions at one address: only the time tells which of them a sample is in.
halves dump with_dump
[ "$(most dump :25%)" = jit_alpha ] || fail "dump: the first quarter is not alpha's"
[ "$(most dump 75%:)" = jit_beta ] || fail "dump: the last quarter is not beta's"
[ "$(functions dump '[.[] | select(.function == "jit_beta")] | length' -i :25%)" = 0 ] || fail "dump: beta is in the first quarter"
notes dump && fail "dump: a note"
halves piped with_dump
# perf wants a dump put into the recording first, with perf inject.
counts() { ctxan -q $places "$1" --sql "select function, exclusive_samples, inclusive_samples from functions where function like 'jit_%' order by 1"; }
[ "$(counts dump.data | wc -l)" = 3 ] && [ "$(counts dump.data)" = "$(counts injected.data)" ] ||
	fail "dump: $(counts dump.data), injected: $(counts injected.data)"

# Once ingested, the dump is not needed any more; what was not ingested has no names without it, and a note says so.
dump=dumps/$(basename "$(cat dump.out)")
mv "$dump" away
halves dump with_dump
forget dump
all_nameless dump with_dump
notes dump | grep -q "$(basename "$dump"): No such file" || fail "dump: no note that it is missing: $(notes dump)"
# A dump that is cut has the functions that are whole: alpha, which existed no longer when beta's place was mapped anew. One that is something else has none.
forget dump
head -c 150 away >"$dump"
near "cut dump: percent of jit_alpha" "$(share dump jit_alpha)" 50 6
[ "$(share dump jit_beta)" = 0 ] || fail "cut dump: beta has a name"
forget dump
echo 'This is no dump of a just-in-time compiler, but a text that is longer than its header.' >"$dump"
all_nameless dump with_dump
notes dump | grep -q "$(basename "$dump"): " || fail "dump: no note that it is something else: $(notes dump)"
forget dump
mv away "$dump"
halves dump with_dump

# Another clock than the dump's.
for clock in default raw; do
	all_nameless $clock with_dump
	notes $clock | grep -q "$(basename "$(cat $clock.out)") is not used: its times are on another clock" || fail "$clock clock: no note: $(notes $clock)"
done

# A map: two addresses, whatever the clock. It has to be in /tmp, and the recording of this host: that is written over the recorded name, and the process
# gets a number that no process has.
pid=$((1 << 30 | $$))
map=/tmp/perf-$pid.map
trap 'rm -f "$map"; cleanup' EXIT
python3 - "$(basename "$(cat map.out)" .map)" "$pid" <<'END' || fail "map: the host and the number of the process"
import os, struct, sys
old, new = (struct.pack("<I", int(text.replace("perf-", ""))) * 2 for text in sys.argv[1:])
data = open("map.data", "rb").read()
at = data.index(b"host-of-the-recording\0")
assert data.count(b"host-of-the-recording") == 1 and data.count(old) > 100
data = data.replace(old, new)
open("elsewhere.data", "wb").write(data)
data = data[:at] + os.uname().nodename.encode().ljust(22, b"\0") + data[at + max(22, len(os.uname().nodename)):]
open("map.data", "wb").write(data)
END
kept=perf-*.map
places=
cp -p $kept "$map"
halves map with_map
[ "$(most map :25%)" = jit_alpha ] && [ "$(most map 75%:)" = jit_beta ] || fail "map: the first quarter is $(most map :25%)'s, the last $(most map 75%:)'s"
notes map && fail "map: a note"
rm -f "$map"
halves map with_map # from the database
forget map
all_nameless map with_map
# Lines that are none, and functions elsewhere.
printf 'no line of a map\n10 20 jit_elsewhere\nffffffffffffff00 ffffffffffffffff jit_everywhere\n' >"$map"
forget map
all_nameless map with_map
# A recording of another host: the map is not its own.
cp -p $kept "$map"
all_nameless elsewhere with_map
finish
