# Sourced by the flow tests: . common.sh BUILD_DIR SOURCE_DIR
set -u
build=$1
source_dir=$2
bin=$build/bin
PATH=$bin:$build/bench:$build/bin/examples:$PATH
export PATH
# The developer's settings must not affect the results.
unset XDG_CACHE_HOME XDG_CONFIG_HOME CDPATH DEBUGINFOD_URLS PAGER LESS DISPLAY WAYLAND_DISPLAY 2>/dev/null
LC_ALL=C.UTF-8
COLUMNS=120
CTXAN_PAGER=cat
export LC_ALL COLUMNS CTXAN_PAGER
failures=0
parts_left_out=0

work=$(mktemp -d "${TMPDIR:-/tmp}/ctx-flow-XXXXXX")
cleanup() { rm -rf "$work"; }
trap cleanup EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
# A separate home: the user's settings and caches (perf's, pprof's, ours) are not used, and none is left behind.
HOME=$work/home
CTXREC_STORE=$HOME/store
export HOME CTXREC_STORE
mkdir "$HOME" || exit 1

fail() {
	printf 'FAIL: %s\n' "$*"
	failures=$((failures + 1))
}

skip() {
	printf 'SKIP: %s\n' "$*"
	exit 77
}

# leave_out REASON...: a part of the test cannot run here. Other failures still count; without any, the test is a skip and not a pass.
leave_out() {
	printf 'SKIP: %s\n' "$*"
	parts_left_out=$((parts_left_out + 1))
}

finish() {
	[ "$failures" = 0 ] || { printf '%s failures\n' "$failures"; exit 1; }
	[ "$parts_left_out" = 0 ] || exit 77
	exit 0
}

need() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"
	done
}

# text FILE: a log.xml or map.xml, which is packed if it is large.
text() {
	if [ -e "$1" ]; then cat "$1"; else zstd -dcq "$1.zst"; fi
}

# Perf events may be refused (container, sysctl): then there is nothing to test.
need_perf() {
	ctxrec -q --no-archive -o probe.er -- true 2>probe.err || {
		grep -q 'perf_event_paranoid\|perf events' probe.err && skip "perf events are refused here: $(head -n 1 probe.err)"
	}
	rm -rf probe.er
}

# What is recorded inside of targets.
need_runtime() {
	[ -e "$bin/libctxrt.so" ] || skip "the runtime is for x86-64"
	need_perf
}

# allocations_of FUNCTION: how many run.er has with this leaf.
allocations_of() { ctxan run.er -r heap --format json | jq --arg f "$1" '[.rows[] | select(.section == "stack") | select(.stack[-1] == $f) | .allocations] | add // 0'; }

# Thread states with wake-ups need tracefs, which a fresh machine may not have mounted: root mounts it, as perf does. Fails with $tracefs_is_missing.
tracefs_is_missing=
need_tracefs() {
	[ -e /sys/kernel/tracing/events/sched/sched_switch/id ] || [ -e /sys/kernel/debug/tracing/events/sched/sched_switch/id ] && return 0
	[ "$(id -u)" = 0 ] && mount -t tracefs nodev /sys/kernel/tracing 2>mount.err && return 0
	tracefs_is_missing="tracefs is not mounted, or not readable: $(head -n 1 mount.err 2>/dev/null)"
	return 1
}

# expect STATUS PATTERN COMMAND...: the exit status, one line on stderr that matches (grep -E).
expect() {
	wanted=$1
	pattern=$2
	shift 2
	if command -v "$1" >/dev/null 2>&1 && [ "$(type "$1" 2>/dev/null | grep -c function)" = 0 ]; then
		timeout 60 "$@" >out.txt 2>err.txt
	else
		"$@" >out.txt 2>err.txt
	fi
	got=$?
	[ "$got" = "$wanted" ] || fail "$*: exit status $got instead of $wanted ($(head -c 300 err.txt))"
	[ -z "$pattern" ] || grep -Eq -- "$pattern" err.txt || fail "$*: stderr has no '$pattern': $(head -c 400 err.txt)"
	if [ "$wanted" != 0 ] && [ "$(wc -l <err.txt)" -gt 1 ]; then
		fail "$*: more than one line: $(cat err.txt)"
	fi
}

# near WHAT VALUE EXPECTED TOLERANCE_PERCENT [MORE]: MORE is added to the upper limit.
near() {
	awk -v v="$2" -v e="$3" -v t="$4" -v more="${5:-0}" 'BEGIN { d = v - e; exit !(-d <= e * t / 100 && d <= e * t / 100 + more) }' ||
		fail "$1: $2 is not within $4 % of $3"
}

# Time stolen by the hypervisor from all processors so far, ns, in steps of 10 ms: threads seem to run, but it is not CPU
# time of the threads.
stolen() { awk -v second="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f\n", $9 / second * 1e9 }' /proc/stat; }

# repeat TIMES COMMAND...: until it succeeds; each repeat is printed, and tools/check.sh counts them. For the long tier alone, which compares with
# recordings that other programs make at the same time: on a busy machine the kernel drops switches and wake-ups without saying so.
repeat() {
	times=$1
	shift
	attempt=1
	until "$@"; do
		[ $attempt -lt "$times" ] || return 1
		attempt=$((attempt + 1))
		printf 'REPEAT: %s of %s: %s\n' $attempt "$times" "$*"
	done
}

# sums_of FILE FUNCTION KEY...: of the stacks of a report in JSON that have the function, in a line.
sums_of() {
	report=$1
	function=$2
	shift 2
	jq -r --arg f "$function" --arg keys "$*" '[.rows[] | select(.section == "stack") | select(.stack | index($f))] as $r | [$keys | split(" ") | .[] as $k | [$r[][$k]] | add // 0] | map(tostring) | join(" ")' "$report"
}

# ask_server SOCKET PATH...: asks a server on a Unix socket 50 times for each of the paths by HTTP, once it is there.
ask_server() {
	for i in $(seq 100); do [ -S "$1" ] && break; sleep 0.1; done
	python3 - "$@" <<-'END'
		import socket, sys
		for path in sys.argv[2:] * 50:
		    with socket.socket(socket.AF_UNIX) as server:
		        server.connect(sys.argv[1])
		        server.sendall(b"GET /%s HTTP/1.0\r\n\r\n" % path.encode())
		        while server.recv(65536): pass
	END
}

# unpack NAME...: kept recordings, testdata/NAME.tar.xz.
unpack() {
	for packed in "$@"; do
		xz -dc "$source_dir/testdata/$packed.tar.xz" | tar -x || fail "testdata/$packed.tar.xz cannot be unpacked"
	done
}

# write_query ROWS: rows.csv and query.sql, a few seconds of work for `sqlite3 :memory: ".read query.sql"`.
write_query() {
	seq 1 "$1" | awk '{ print $1 * 7919 % 1000003 "," $1 }' >rows.csv
	cat >query.sql <<'END'
create table t(a integer, b integer);
.mode csv
.import rows.csv t
select count(*), sum(x.b) from t x join t y on x.a = y.b where y.a % 3 = 0;
select a % 1000 as g, count(*), avg(b) from t group by g order by 2 desc limit 3;
END
}
