# The known answer: testdata/phases.c has phases of known length and threads with known shares; a fresh recording must show them, in the whole run and
# in intervals. record_phases_kept checks the same on a kept recording.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/phases_shares.sh"
need jq
need_perf

record_and_check() {
	failures=0
	before=$(stolen)
	ctxrec -q -O -o phases.er -- phases || fail "recording"
	check_phases_shares phases.er $(($(stolen) - before)) inclusive
	[ $failures = 0 ]
}
repeat 3 record_and_check
finish
