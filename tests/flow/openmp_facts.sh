# Sourced by tests of OpenMP: what testdata/targets/openmp.c and openmp.f90 do, in run.er.

# line_of SOURCE "region uneven": where the construct is.
line_of() {
	grep -n -E "(/\*|!) $2( \*/)?\$" "$1" | cut -d: -f1
}

# look: keeps what run.er says of regions and tasks.
look() {
	ctxan run.er -r omp-regions --limit 0 --format json >regions.json || fail "no regions"
	ctxan run.er -r omp-tasks --limit 0 --format json >tasks.json || fail "no tasks"
}

# region NAME FIELDS: of the region at its line, FIELDS of jq. gcc's function for it may begin with the line behind.
region() {
	jq -r --argjson line "$(line_of "$openmp_source" "region $1")" ".rows[] | select(.line == \$line or .line == \$line + 1) | $2" regions.json
}

task() {
	jq -r --argjson line "$(line_of "$openmp_source" "task $1")" ".rows[] | select(.line == \$line or .line == \$line + 1) | $2" tasks.json
}

# equal WHAT GOT WANTED
equal() {
	[ "$2" = "$3" ] || fail "$1: '$2', not '$3'"
}

# check_sums WHAT: each thread that has an OpenMP state has one at any time; no sample came late.
check_sums() {
	ctxan run.er --sql "SELECT t.tid FROM thread AS t JOIN (SELECT s.thread AS id, sum(s.weight) AS ns FROM samples AS s JOIN metric AS m ON s.metric = m.id
		WHERE m.kind = 'omp-span' GROUP BY s.thread) AS o ON o.id = t.id WHERE o.ns != min(t.end_ns, (SELECT value - 1 FROM experiment WHERE key = 'end_ns')) - t.begin_ns" --format csv >sums.txt || fail "$1: sums of states"
	[ "$(sed 1d sums.txt)" = "" ] || fail "$1: states do not add up in threads: $(cat sums.txt)"
	ctxan run.er -r header | grep -q 'out of order' && fail "$1: spans out of order"
	return 0
}

# check_views WHAT: the same sums in each; in that of users no frame of a runtime, in that of the machine no other.
check_views() {
	for metric in cpu-clock wall omp-wait; do
		for view in user expert machine; do
			ctxan run.er --view $view -r functions --limit 0 --metric $metric --format json >view.$view.json || fail "$1: view $view"
		done
		equal "$1: $metric of experts" "$(jq .weight view.expert.json)" "$(jq .weight view.user.json)"
		equal "$1: $metric of the machine" "$(jq .weight view.machine.json)" "$(jq .weight view.user.json)"
		equal "$1: $metric, rows of users" "$(jq '[.rows[] | select(.function != "<Total>") | .exclusive] | add' view.user.json)" "$(jq .weight view.user.json)"
		equal "$1: $metric, runtimes for users" "$(jq -r '[.rows[] | select((.object // "") | test("lib(gomp|omp|ctxrt)"))] | length' view.user.json)" 0
		[ $metric = omp-wait ] && continue
		equal "$1: $metric, marks for the machine" "$(jq -r '[.rows[] | select((.function | test("^<OMP-")) and .exclusive != 0)] | length' view.machine.json)" 0
	done
	ctxan run.er -r functions --format json >default.json
	ctxan run.er --view user -r functions --format json | cmp -s - default.json || fail "$1: the view of users is not the usual one"
}

# check_openmp WHAT SOURCE: openmp 2 was recorded.
check_openmp() {
	openmp_source=$2
	look
	for pair in uneven:2 held:2 locked:1 barriers:1 in_order:1 sum:1 outer:1 inner:2 tasks:1 loop:1; do
		equal "$1: region ${pair%:*}" "$(region "${pair%:*}" '"\(.executions) \(.threads)"')" "${pair#*:} 2"
		equal "$1: function of ${pair%:*}" "$(region "${pair%:*}" '.function | test("^[a-z_]+([(][)])? -- OMP parallel region from line [0-9]+$")')" true
	done
	equal "$1: number of regions" "$(jq '.rows | length' regions.json)" 10
	equal "$1: file" "$(region sum '.file | endswith("openmp.c")')" true
	equal "$1: object" "$(region sum '.object | endswith("/program")')" true
	# fib(8) makes 66 tasks, which are in one another.
	equal "$1: tasks" "$(($(task first .count | paste -sd+) + $(task second .count | paste -sd+)))" 66
	equal "$1: depth" "$(task first .depth | sort -n | tail -1)" 6
	equal "$1: tasks of a loop" "$(task loop '"\(.count) \(.depth)"')" "10 0"
	# Each thread has worked at least as long as it says, and the longer one more than the mean.
	equal "$1: work" "$(region uneven '.work_ns >= 16000000')" true
	equal "$1: held" "$(region held '.work_ns >= 12000000')" true
	equal "$1: bound" "$(region uneven '(.bound | tonumber) >= 1 and (.bound | tonumber) <= 2')" true
	equal "$1: waits of barriers" "$(ctxan run.er -r functions --limit 0 --metric omp-wait --format json | jq '[.rows[] | select(.function == "<OMP-explicit_barrier>" or .function == "<OMP-implicit_barrier>")] | length')" 2
	check_sums "$1"
	check_views "$1"
}

check_fortran() {
	openmp_source=$1
	look
	for name in first summed tasks; do
		equal "Fortran: region $name" "$(region $name '"\(.executions) \(.threads)"')" "1 2"
	done
	equal "Fortran: tasks" "$(task counted .count)" 5
	equal "Fortran: file" "$(region first '.file | endswith("openmp.f90")')" true
	check_sums "Fortran"
	check_views "Fortran"
}

# has_loop NAME FUNCTION: whether the loop with this comment has a function of its own, with work. gcc's has a line where the source is there.
has_loop() {
	line=$(line_of "$openmp_source" "loop $1")
	ctxan run.er -r functions --limit 0 --metric omp-work --format json |
		jq -e --arg name "^$2 -- OMP loop( from line ($line|$((line + 1))))?\$" '[.rows[] | select((.function | test($name)) and .inclusive > 0)] | length == 1' >/dev/null
}

# check_shares WHAT SOURCE: openmp_shares was recorded.
check_shares() {
	openmp_source=$2
	look
	equal "$1: schedules of several loops" "$(region shares '"\(.schedule) \(.chunk)"')" "several null"
	equal "$1: schedule of a loop" "$(region loop '"\(.schedule) \(.chunk)"')" "dynamic 4"
	equal "$1: load objects of constructs" "$(ctxan run.er -r functions --limit 0 --metric omp-work --format json | jq -r '[.rows[] | select(.function | test(" -- OMP ")) | .object | sub(".*/"; "")] | unique | join(" ")')" program
	has_loop dynamic main || fail "$1: no loop in main"
	has_loop guided orphan || fail "$1: no loop in orphan"
	# The sections are in the region, and the second loop in what has called it there.
	ctxan run.er -r stacks --limit 0 --metric omp-work --format json >stacks.json || fail "$1: stacks"
	path='[.rows[].frames | map(.function) | select(any(test($name)))][0] | map(sub("(main|orphan) -- OMP "; "") | sub(" from line [0-9]+"; "") | sub(" \\[.*\\]"; "")) | join(" > ")'
	equal "$1: the sections' stack" "$(jq -r --arg name "OMP sections" "$path" stacks.json | sed 's/.*main > //')" "parallel region > sections"
	equal "$1: the orphan's stack" "$(jq -r --arg name "orphan -- OMP loop" "$path" stacks.json | sed 's/.*main > //')" "parallel region > orphan > loop"
	# So are samples of the work in them, and machines know none.
	ctxan run.er -r stacks --limit 0 --format json >stacks.json || fail "$1: stacks of samples"
	equal "$1: samples in the loop" "$(jq '[.rows[].frames | map(.function) | select(index("turn")) | select(any(test("OMP loop")))] | length > 0' stacks.json)" true
	equal "$1: the machine's functions" "$(ctxan run.er --view machine -r functions --limit 0 --format json | jq '[.rows[] | select((.function | test(" -- OMP (loop|sections)")) and .exclusive != 0)] | length')" 0
	check_sums "$1"
	check_views "$1"
}

# check_kernels WHAT: openmp_kernels 2 was recorded. Of CG's 60 steps each has three barriers of two threads.
check_kernels() {
	look
	equal "$1: regions" "$(jq -r '[.rows[] | "\(.function | sub(" .*"; "")) \(.executions) \(.threads)"] | sort | join(", ")' regions.json)" "cg 1 2, ep 1 2"
	equal "$1: barriers" "$(ctxan run.er -r functions --limit 0 --metric omp-wait --format json | jq '.rows[] | select(.function == "<OMP-explicit_barrier>") | .exclusive_samples')" 360
	check_sums "$1"
}
