# What record_openmp.sh finds in recordings that it makes, in kept ones.
. "$(dirname "$0")/../common.sh" "$@"
need jq xz
. "$(dirname "$0")/../openmp_facts.sh"

# check_workers NAME: for users all work is below main, whoever did it, and no outlined function has its own name; for the machine a part of it is below the
# workers' start.
check_workers() {
	for view in user machine; do
		ctxan run.er --view $view -r stacks --limit 0 --format json >stacks.$view.json || fail "$1: stacks, view $view"
	done
	work='[.rows[].frames | map(.function) | select(any(test("OMP (parallel region|task)|omp_fn|omp_outlined")))]'
	equal "$1: work" "$(jq "$work | length > 5" stacks.user.json)" true
	equal "$1: work that is not below main" "$(jq "$work | map(select(index(\"main\") | not)) | length" stacks.user.json)" 0
	equal "$1: threads for users" "$(jq "$work | map(select(index(\"start_thread\"))) | length" stacks.user.json)" 0
	equal "$1: names of outlined functions for users" "$(jq "$work | map(select(any(test(\"omp_fn\")))) | length" stacks.user.json)" 0
	equal "$1: work of workers" "$(jq "$work | map(select(index(\"main\") | not)) | length > 0" stacks.machine.json)" true
}

# check_first NAME: the regions of the first screen have the sums of the index by region; the first look says what they wait for, on small terminals, too.
check_first() {
	ctxan run.er --by omp-region --metric omp-work,omp-wait --limit 0 --format json >by.json || fail "$1: by region"
	ctxan run.er --format json >first.json || fail "$1: first screen"
	equal "$1: regions of the first screen" "$(jq --slurpfile by by.json '.rows[0].omp_regions | length > 0 and all(.[]; . as $row | $by[0].rows[] | select(.omp_region == $row.function) |
		.weight == $row.work_ns and .metrics[0].weight == $row.wait_ns)' first.json)" true
	equal "$1: their order" "$(jq '.rows[0].omp_regions | map(.wait_ns) | . == (sort | reverse)' first.json)" true
	for width in 80 200; do
		COLUMNS=$width ctxan run.er >screen.txt || fail "$1: first screen"
		grep -q -E '^First look: OpenMP waits, [0-9.]+ %( of team time)?; most: [a-z ]+ in [a-z_]+(:[0-9]+)?, [0-9.]+ %$' screen.txt || fail "$1: no first look: $(cat screen.txt)"
		grep -q '^Team time Wait % Imbalance % Waits mostly for Parallel region$' screen.txt || fail "$1: no regions: $(cat screen.txt)"
		[ "$(wc -l <screen.txt)" -le 24 ] || fail "$1: a long first screen: $(cat screen.txt)"
	done
}

unpack recordings/openmp
for name in gcc gcc_cpp clang; do
	rm -rf run.er
	mv $name.er run.er
	check_openmp $name "$source_dir/testdata/targets/openmp.c"
	check_workers $name
	check_first $name
done
# A comparison has the sums of both, row by row.
for metric in omp-work omp-wait; do
	ctxan shares_gcc.er shares_clang.er --diff -r functions --metric $metric --limit 0 --format json >diff.json || fail "diff of $metric"
	for side in a:gcc b:clang; do
		whole=$(ctxan shares_${side#*:}.er -r functions --metric $metric --format json | jq .weight)
		equal "diff of $metric: the total of ${side#*:}" "$(jq ".rows[] | select(.function == \"<Total>\").${side%:*}" diff.json)" "$whole"
		equal "diff of $metric: rows of ${side#*:}" "$(jq "[.rows[] | select(.function != \"<Total>\").${side%:*}] | add" diff.json)" "$whole"
	done
done
for name in shares_gcc shares_clang; do
	rm -rf run.er
	mv $name.er run.er
	check_shares $name "$source_dir/testdata/targets/openmp_shares.c"
	# Threads in the runtime have processors while they wait, and that is said where it is a part of a fifth.
	spun=$(ctxan run.er -r functions --limit 0 --format json | jq '([.rows[] | select(.function | test("^<OMP-(idle|.*barrier|.*wait)>$")) | .exclusive] | add // 0) * 5 >= .weight')
	said=$(ctxan run.er | grep -c 'OpenMP spins while it waits' || true)
	equal "$name: spinning" "$said" "$([ "$spun" = true ] && echo 1 || echo 0)"
done
rm -rf run.er
mv fortran.er run.er
check_fortran "$source_dir/testdata/targets/openmp.f90"

# An interval has the part inside: halves of the run add up to it, in each metric.
for metric in omp-work omp-wait omp-serial omp-idle; do
	whole=$(ctxan run.er -r functions --metric $metric --format json | jq .weight)
	halves=$(for part in 0:37% 37%:100%; do ctxan run.er -r functions --metric $metric -i $part --format json | jq .weight; done | paste -sd+)
	equal "$metric of two parts" "$(($halves))" "$whole"
done
[ "$(ctxan run.er --by OMP_preg --metric omp-work --format json | jq '[.rows[] | .omp_region] | length')" = 3 ] || fail "no index by region: $(ctxan run.er --by OMP_preg --metric omp-work)"
[ "$(ctxan run.er --by omp-task --metric omp-work --format json | jq -r '[.rows[].omp_task | select(. != null and test("OMP task from line"))] | length')" = 1 ] || fail "no index by task: $(ctxan run.er --by omp-task --metric omp-work)"
# The page has the metrics of teams without being asked for them.
ctxan run.er --export html -o page.html || fail "no page"
for name in 'OMP Work' 'OMP Wait'; do
	grep -q -F "\"$name\"" page.html || fail "no $name in the page"
done
# The time line has a row of each region, up to six.
ctxan run.er -r timeline >line.txt || fail "no time line"
[ "$(grep -c -E 'line +[0-9]+ [ =]*=' line.txt)" = 3 ] || fail "no regions on the time line: $(cat line.txt)"
finish
