# Three stories of locks, told by `states` and `wakers` alone: a convoy, a slow producer, a priority inversion (testdata/targets has them, docs/states.md
# reads the reports as a person would).
. "$(dirname "$0")/../common.sh" "$@"
need python3
need_perf

tell() {
	ctxrec -q -O -o "$1.er" -- "$1" >"$1.out" 2>"$1.err" || fail "recording $1: $(head -c 300 "$1.err")"
	case $(ctxan -q "$1.er" -r header | sed -n 's/^states  *//p') in
	full*) ;;
	*) skip "wake-ups are refused here: $(cat "$1.err")" ;;
	esac
	python3 "$source_dir/tests/flow/record_lock_stories.py" "$1" "$1.out" "$1.er"
}
for story in lock_convoy producer_consumer priority_inversion; do
	three_times tell $story || fail "$story"
done
finish
