# A thread that moves between two processors: both have time, and they are the whole, by interval too. How much each has is checked by
# record_migrates_shares and record_migrates_kept.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/migrates.sh"
need jq
need_perf

ctxrec -q -o migrates.er -- migrates >migrates.out || fail "recording"
grep -q refused migrates.out && skip "$(jq -r 'select(.refused) | .refused' migrates.out)"
[ "$(processors | wc -l)" = 2 ] || fail "two processors: $(cat migrates.out)"
for cpu in $(processors); do
	[ "$(used --cpu "$cpu")" -gt 0 ] || fail "no CPU time on processor $cpu"
	[ "$(of compute_here --cpu "$cpu")" -gt 0 ] || fail "no compute_here on processor $cpu"
	[ "$(of compute_here --cpu "$cpu")" -le "$(used --cpu "$cpu")" ] || fail "compute_here has more than all of processor $cpu"
done
check_migrates_sums
finish
