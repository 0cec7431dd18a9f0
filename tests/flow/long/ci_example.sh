# The CI job of docs/ci.md on fresh recordings: the first run makes the baseline, an unchanged program passes, one in which a tenth is 5 % slower fails.
. "$(dirname "$0")/../common.sh" "$@"
need jq xmllint
need_perf

job() { RATE=4999 sh "$source_dir/docs/ci/performance.sh" base.db regression "$1" 60 >job.txt 2>job.err; }

fresh() {
	failures=0
	rm -f base.db performance.*
	mkdir -p new.9.er # left by a job of more runs
	job 0 || fail "the baseline: $(cat job.err)"
	[ "$(ctxan base.db --format json | jq '.rows | length')" = 5 ] || fail "the baseline has not five runs"
	cp base.db kept.db
	job 0
	status=$?
	[ $status = 0 ] || fail "nothing changed: exit status $status: $(cat job.txt job.err)"
	xmllint --noout performance.xml || fail "junit"
	job 5
	status=$?
	[ $status = 3 ] || fail "5 % in a tenth: exit status $status: $(cat job.txt job.err)"
	grep -q '^| fail | solve takes ' performance.md || fail "5 % in a tenth: $(cat performance.md)"
	grep -v '^| fail | solve ' performance.md | grep -q '^| fail ' && fail "more than solve: $(cat performance.md)"
	cmp -s base.db kept.db || fail "the baseline changed"
	UPDATE=yes job 5
	cmp -s base.db kept.db && fail "the baseline was not replaced"
	[ $failures = 0 ]
}
# At most one of twenty unchanged programs has a row by chance.
repeat 3 fresh
finish
