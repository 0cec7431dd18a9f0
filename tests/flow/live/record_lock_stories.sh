# Three stories of locks in `states` and `wakers`: a convoy, a slow producer, a priority inversion (testdata/targets; docs/states.md reads the reports as a
# person would). Counts of waits, their places and who ended them; flow.states_kept and flow.states_measured hold how long they took.
. "$(dirname "$0")/../common.sh" "$@"
need python3
need_perf
need_tracefs || skip "wake-ups: $tracefs_is_missing"

for story in lock_convoy producer_consumer priority_inversion; do
	ctxrec -q -O --budget off -o $story.er -- $story >$story.out 2>$story.err || fail "recording $story: $(head -c 300 $story.err)"
	case $(ctxan -q $story.er -r header | sed -n 's/^states  *//p') in
	full*) ;;
	*) skip "wake-ups are refused here: $(cat $story.err)" ;;
	esac
	python3 "$source_dir/tests/flow/record_lock_stories.py" $story $story.out $story.er || fail "$story"
done
finish
