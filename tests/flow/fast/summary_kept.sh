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

# The title has the program under perf, not perf's own command.
title=$(ctxan -q states.perf/perf.data --width 80 2>title.err | head -1)
case $title in
*perf*record*) fail "title: $title" ;;
esac
# The third line names the problem, the last lines the commands that show it.
first() { ctxan -q "$1" --width 100 | grep '^First look: '; }
says() {
	got=$(first "$1")
	[ "$got" = "First look: $2" ] || fail "$1: $got"
}
says states.lock_convoy/lock_convoy.er 'waits (mutex) in add_to_total, 473 times, 34.4 % of 3 threads'"'"' time'
says states.producer_consumer/producer_consumer.er 'waits (condition) in take_item, 101 times, 94.2 % of 2 threads'"'"' time'
says states.priority_inversion/priority_inversion.er 'waits (mutex) in need_resource, 99.8 % of high'"'"'s time'
says recordings.phases/phases.er 'work_a, 47.2 % of CPU time'
ctxan -q states.lock_convoy/lock_convoy.er --format json -r summary | jq -e '.rows[0] | .next[0] == "ctxan states.lock_convoy/lock_convoy.er -r wakers=add_to_total" and .waits[0].waker == "reporter" and
	.waits[0].waker_function == "write_report" and .waker_during.function == "write_report" and .waker_during.ns > .waker_during.waker_ns / 2' >one.txt || fail "the lock's holder"
ctxan -q states.lock_convoy/lock_convoy.er --width 80 | grep -q '^Ended by reporter in write_report; meanwhile [0-9.]* % there$' || fail "the holder is not on the screen"
# The cause is named where it is not the function that ends the waits.
ended() {
	ctxan -q states.$1/$1.er --width 80 | grep -q "^Ended by $2\$" || fail "$1: $(ctxan -q states.$1/$1.er --width 80 | sed -n 4p)"
}
ended producer_consumer 'producer in put_item; meanwhile [0-9.]* % in make_item'
ended priority_inversion 'low in hold_resource; meanwhile [0-9.]* % there'
# The functions of a run that waits say of how little their shares are.
ctxan -q states.lock_convoy/lock_convoy.er --width 80 | grep -q '^  Time % Self % Total % Function (% of 0.454 s on a CPU)$' || fail "what the functions are shares of"
# A loop that polls is told by how often and how long it sleeps.
ctxan -q states.lock_convoy/lock_convoy.er --width 80 --focus next_request >sleeps.txt
grep -q "^First look: sleeps in next_request, 2346 × 0.549 ms, 84.6 % of 3 threads' time$" sleeps.txt || fail "sleeps: $(sed -n 4p sleeps.txt)"
grep -q '^  timer (sleep) ' sleeps.txt || fail "the kind of sleeps"
# same RECORDING SELECTION OPTION...: each command has the options as they were typed, and runs; a report has the samples of the selection.
same() {
	recording=$1 selection=$2
	shift 2
	ctxan -q $recording -r summary --format json "$@" | jq -r '.rows[0].next[]' >commands.txt
	[ -s commands.txt ] || fail "$recording $selection: no commands"
	wanted=$(ctxan -q $recording -r functions --format json "$@" | jq '[.samples, .weight]')
	while read -r command; do
		case $command in
		"ctxan $recording $selection "*) ;;
		*) fail "'$selection' is not in: $command" ;;
		esac
		sh -c "$command" >out.txt 2>err.txt || fail "$command: $(cat err.txt)"
		case $command in
		*' -r tree' | *' -r source='* | *' -r callers-callees='* | *' -r functions')
			got=$(sh -c "$command --format json" | jq '[.samples, .weight]')
			[ "$got" = "$wanted" ] || fail "$command: $got instead of $wanted"
			;;
		esac
	done <commands.txt
}
lock=states.lock_convoy/lock_convoy.er
same $lock '-i 100:400' -i 100:400
same recordings.phases/phases.er '-i 100:400' -i 100:400
same recordings.phases/phases.er '-i 100:200 -i 300:400' -i 100:200 -i 300:400
thread=$(ctxan -q $lock -r threads --format json | jq '.rows[2].thread')
same $lock "-t $thread --filter 'TSTAMP > 100000000'" -t "$thread" --filter 'TSTAMP > 100000000'
same $lock "--focus 'add_to|next' --hide pthread --fold-object libc,kernel" --focus 'add_to|next' --hide pthread --fold-object libc,kernel
same $lock '--cpu 0 --metric user' --cpu 0 --metric user
# A function is named by what only it is called.
ctxan -q recordings.deep/deep.er -r summary --format json | jq -r '.rows[0].next[]' | grep -q "[<(:]" && fail "long names"
# Without a report it is what ctxan prints.
ctxan -q recordings.phases/phases.er >default.txt
ctxan -q recordings.phases/phases.er -r summary >summary.txt
cmp -s default.txt summary.txt || fail "the default is another report"
finish
