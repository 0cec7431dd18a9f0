# The flat profile of programs that were not written for this project, next to perf's. record_perf_kept has a kept recording of each recorder.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/flat_profile.sh"
need jq perf sqlite3 xz
need_perf

write_query 400000

compare() {
	failures=0
	record_both "$1" "$2"
	say_perf "$1"
	compare_flat "$1"
	[ $failures = 0 ]
}
repeat 3 compare sqlite 'sqlite3 :memory: <query.sql' || finish
repeat 3 compare xz 'xz -3 -c rows.csv >rows.xz'
finish
