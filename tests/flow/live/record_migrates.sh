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
# Each processor that sysfs knows the place of has one.
if [ -e /sys/devices/system/cpu/cpu0/topology/core_id ]; then
	expect 0 '' ctxan migrates.er --by cpu,core,socket --format json
	jq -e '.rows | length == 2 and all(.core != null and .socket >= 0)' out.txt >/dev/null || fail "processors without a core: $(cat out.txt)"
fi
finish
