# What record_marks.sh finds in recordings that it makes, in kept ones; and ctxan --follow of one with marks.
. "$(dirname "$0")/../common.sh" "$@"
need jq python3 xz
. "$(dirname "$0")/../marks_facts.sh"

unpack recordings/marks recordings/marked
check_marks kept
check_marked_intervals
check_pause
check_killed
check_attached
python3 "$source_dir/tests/flow/follow_kept.py" marked.er growing.marked.er 2 0.5 marks || fail "followed"
finish
