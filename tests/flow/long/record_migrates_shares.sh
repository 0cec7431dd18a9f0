# A thread that moves between two processors: what it used is apportioned to each as it measured itself. record_migrates_kept checks the same on a kept
# recording.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/migrates.sh"
need jq
need_perf

record_and_check() {
	failures=0
	before=$(stolen)
	ctxrec -q -O -o migrates.er -- migrates >migrates.out || fail "recording"
	taken=$(($(stolen) - before))
	grep -q refused migrates.out && skip "$(jq -r 'select(.refused) | .refused' migrates.out)"
	check_migrates_shares "$taken"
	check_migrates_sums
	[ $failures = 0 ]
}
repeat 3 record_and_check
finish
