# What recordings of testdata/targets/marks.c hold by construction: those that record_marks.sh makes, and those of record_marks_kept.sh.

# rows NAME SECTION KEYS: of -r marks, sorted.
rows() { ctxan "$1" -r marks --format json | jq -r ".rows[] | select(.section == \"$2\") | [$3] | map(tostring) | join(\" \")" | sort; }

# run.er is of the whole program; $1 is for messages.
check_marks() {
	cat >intervals.txt <<'END'
load 3 0 1
open 0 1 0
parse 3 0 0
request 3 0 0
token 6 0 0
END
	rows run.er interval .name,.count,.open,.unbegun >got.txt
	cmp -s intervals.txt got.txt || fail "$1: intervals: $(cat got.txt)"
	[ "$(rows run.er mark .name,.count | tr '\n' ,)" = "done 1,ready 1,tick 2," ] || fail "$1: marks: $(rows run.er mark .name,.count)"
	[ "$(rows run.er counter .name,.count,.min,.mean,.max,.last)" = "queue 5 -7 12.6 40 40" ] || fail "$1: counter: $(rows run.er counter .)"
	[ -z "$(rows run.er pause .count)" ] || fail "$1: a pause"
}

check_marked_intervals() {
	# Percentiles are in order, and none is longer than all of them together.
	ctxan run.er -r marks --format json | jq -e '[.rows[] | select(.section == "interval" and .count > 0)
		| (.min_ns <= .p50_ns and .p50_ns <= .p99_ns and .p99_ns <= .max_ns and .max_ns <= .total_ns)] | all' >/dev/null || fail "durations are not in order"

	# The stack of a mark is that of the function that called, which is inline code of the program: no frame of the library.
	ctxan run.er -r marks --function parse --format json | jq -r '.rows[] | select(.section == "interval") | "\(.name) \(.count)"' | sort | tr '\n' , >got.txt
	[ "$(cat got.txt)" = "parse 3,token 6," ] || fail "--function parse: $(cat got.txt)"

	# Intervals by mark. The second "load" and the third are one in the other; each "parse" holds two tokens.
	count() { ctxan run.er -r marks -i "$1" --format json | jq -r ".rows[] | select(.section == \"$2\" and .name == \"$3\") | .count"; }
	[ "$(count mark:load interval token)" = 6 ] || fail "mark:load: $(count mark:load interval token)"
	[ "$(count 'mark:load#2' interval load)" = 2 ] || fail "mark:load#2: $(count 'mark:load#2' interval load)"
	[ "$(count 'mark:load#3' interval load)" = 1 ] || fail "mark:load#3: $(count 'mark:load#3' interval load)"
	[ "$(count 'mark:parse#2' interval token)" = 2 ] || fail "mark:parse#2: $(count 'mark:parse#2' interval token)"
	[ "$(count 'mark:parse#*' interval token)" = 6 ] || fail "mark:parse#*: $(count 'mark:parse#*' interval token)"
	[ "$(count mark:ready..mark:tick counter queue)" = 5 ] || fail "mark:ready..mark:tick: $(count mark:ready..mark:tick counter queue)"
	[ "$(count mark:ready..mark:tick mark tick)" = 1 ] || fail "mark:ready..mark:tick: $(count mark:ready..mark:tick mark tick)"
	[ "$(count mark:tick.. mark tick)" = 2 ] || fail "mark:tick..: $(count mark:tick.. mark tick)"
	[ "$(count ..mark:ready mark ready)" = 1 ] || fail "..mark:ready: $(count ..mark:ready mark ready)"
	expect 1 "no mark 'lod'; there are: 'load'" ctxan run.er -r marks -i mark:lod
	expect 1 "'load' is there 3 times" ctxan run.er -r marks -i 'mark:load#4'
	expect 1 "the mark is a point" ctxan run.er -r marks -i mark:ready
}

# pause.er: what was allocated before a pause and freed in it is no leak, nor is what was moved in it; what was allocated in it is not there.
check_pause() {
	ctxan pause.er -r leaks --function allocate --format json | jq -r '.rows[] | select(.section == "total") | "\(.leaks) \(.leaked_bytes)"' >got.txt
	[ "$(cat got.txt)" = "2 2069" ] || fail "leaks: $(cat got.txt)"
	ctxan pause.er -r heap --function allocate --format json | jq -r '.rows[] | select(.section == "total") | "\(.allocations) \(.held)"' >got.txt
	[ "$(cat got.txt)" = "20 16" ] || fail "heap: $(cat got.txt)"
	[ "$(ctxan pause.er --sql "SELECT count(*) FROM traced WHERE kind = 'heap' AND size = 5000" --format csv | tail -n 1)" = 0 ] || fail "what was moved in the pause is there"
	[ "$(rows pause.er pause .count,.open)" = "2 null" ] || fail "pauses: $(rows pause.er pause .count,.open)"
	ctxan pause.er -r io --format json | jq -r '.rows[] | select(.section == "file" and .file == "/dev/zero") | "\(.opens) \(.reads) \(.read_bytes) \(.closes)"' >got.txt
	[ "$(cat got.txt)" = "1 1 3 1" ] || fail "io: $(cat got.txt)"
	ctxan pause.er -r timeline | grep -q '^ *paused  *x' || fail "no pause on the time line"
}

# killed.er: all that was said is there, and what had begun is open.
check_killed() {
	[ "$(rows killed.er interval .name,.count,.open | tr '\n' ,)" = "hang 0 1,parse 1 0,token 2 0," ] || fail "killed: $(rows killed.er interval .name,.count,.open)"
	ctxan killed.er -r marks -i mark:hang >/dev/null || fail "an interval that is open is not to be selected"
}

check_attached() {
	[ "$(rows attached.er interval .name)" = step ] || fail "attached: $(rows attached.er interval .name,.count)"
}
