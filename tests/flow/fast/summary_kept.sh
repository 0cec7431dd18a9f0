# The first screen of kept recordings of every kind: summary_kept.py; and what it says first of programs whose problem is known.
. "$(dirname "$0")/../common.sh" "$@"
need python3 jq xz

for kept in states/full states/min states/user states/syscalls states/lock_convoy states/priority_inversion states/producer_consumer states/perf \
	recordings/convoy recordings/phases recordings/deep recordings/execs recordings/hostile_names gprofng/single perfdata/same; do
	mkdir "${kept%%/*}.${kept#*/}" && cd "${kept%%/*}.${kept#*/}" || exit 1
	unpack $kept
	for recording in *.er perf.data good.data flat.data; do
		[ -e "$recording" ] || continue
		python3 "$source_dir/tests/flow/summary_kept.py" "$recording" || fail "$kept: $recording"
	done
	cd "$work" || exit 1
done

# The third line names the problem, the last lines the commands that show it.
first() { ctxan -q "$1" --width 100 | grep '^First look: '; }
says() {
	got=$(first "$1")
	[ "$got" = "First look: $2" ] || fail "$1: $got"
}
says states.lock_convoy/lock_convoy.er 'waits (mutex) in add_to_total, 20.3 % of thread time'
says recordings.phases/phases.er 'work_a, 47.2 % of CPU time'
ctxan -q states.lock_convoy/lock_convoy.er --format json -r summary | jq -e '.rows[0] | .next[0] == "ctxan states.lock_convoy/lock_convoy.er -r wakers=add_to_total" and .waits[0].waker == "reporter"' >one.txt || fail "the lock's holder"
# Each command runs.
for recording in states.lock_convoy/lock_convoy.er recordings.phases/phases.er; do
	ctxan -q $recording -r summary --format json -i 100:400 | jq -r '.rows[0].next[]' >commands.txt
	[ -s commands.txt ] || fail "$recording: no commands"
	while read -r command; do
		case $command in
		*' -i 100:400 '*) ;;
		*) fail "$recording: the interval is not in: $command" ;;
		esac
		sh -c "$command" >out.txt 2>err.txt || fail "$command: $(cat err.txt)"
	done <commands.txt
done
# Several intervals are several options.
ctxan -q recordings.phases/phases.er -r summary --format json -i 100:200 -i 300:400 | jq -r '.rows[0].next[]' >commands.txt
grep -vq ' -i 100:200 -i 300:400 ' commands.txt && fail "two intervals: $(cat commands.txt)"
while read -r command; do
	sh -c "$command" >out.txt 2>err.txt || fail "$command: $(cat err.txt)"
done <commands.txt
# Without a report it is what ctxan prints.
ctxan -q recordings.phases/phases.er >default.txt
ctxan -q recordings.phases/phases.er -r summary >summary.txt
cmp -s default.txt summary.txt || fail "the default is another report"
finish
