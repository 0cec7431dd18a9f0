# What ctxan says of an experiment of gprofng is what gprofng says of it: gprofng_same.py compares sample for sample, gprofng_traced.py what was
# traced, gprofng_reports.py and gprofng_tables.py every number of every report, gprofng_filters.py filters and index objects. Here are the recordings.
. "$(dirname "$0")/../common.sh" "$@"
need gprofng python3 cc c++

. "$source_dir/tests/flow/gprofng_programs.sh"

# compare NAME SCRIPT...
compare() {
	name=$1
	shift
	echo "$name:"
	for script in "$@"; do
		python3 "$source_dir/tests/flow/gprofng_$script.py" "$name.er" || fail "$name: $script"
	done
}

same() {
	collect "$@" || { fail "$1: $(tail -n 2 "$1.out")"; return; }
	compare "$1" same reports tables
}

collect probe -p on /bin/true || skip "gprofng collects nothing here: $(head -n 1 probe.out)"
[ -s probe.er/log.xml ] || skip "gprofng collects nothing here"
same single -p on ./single
# Code that was made at run time: of the vdso, whose instructions are in the experiment alone.
if ctxan -q single.er -r functions | grep -q '__vdso_clock_gettime \[vdso\]'; then
	ctxan -q single.er -r disasm=__vdso_clock_gettime >disasm.txt || fail "instructions of the vdso"
	[ "$(wc -l <disasm.txt)" -gt 20 ] && grep -Eq 'ret|pop|add' disasm.txt || fail "instructions of the vdso: $(tail -n 3 disasm.txt)"
else
	leave_out "no sample in the vdso: its instructions are not compared"
fi
same threads -p on ./threads
same family -p on -F on ./family
same shapes -p hi ./shapes
same traces -p on -s on -H on -i on ./traces

# Heap, synchronisation and I/O, one by one and added up.
traced() {
	collect "$@" || { fail "$1: $(tail -n 2 "$1.out")"; return; }
	compare "$1" traced reports tables
}

traced traced -p on -s all -H on -i on ./traced
traced heap -p off -H on ./traced
traced waits -p off -s on ./traced
traced traced_family -p on -F on -s on -H on -i on ./family

# Each expression is asked of both; flow.gprofng_kept does so for more.
for name in threads shapes traced traced_family; do [ -e "$name.er" ] && compare "$name" filters; done

# Generated experiments, of kinds that cannot be recorded here (flow.gprofng_made does so with kept answers).
python3 "$source_dir/tests/flow/gprofng_made.py" || fail "generated experiments"

# Killed: all that was recorded is there, and the head says that it was not closed.
collect killed -p on ./endless &
collecting=$!
pid=
waited=0
until [ -n "$pid" ] && [ "$(wc -c <killed.er/profile 2>/dev/null || echo 0)" -gt 0 ] || [ $waited = 120 ]; do
	sleep 0.3
	waited=$((waited + 1))
	pid=$(tr -d '\0' <killed.er/log.xml 2>/dev/null | sed -n 's/.*<process pid="\([0-9]*\)".*/\1/p')
done
sleep 1 # some more of it
[ -n "$pid" ] && kill -9 "$pid"
wait "$collecting"
compare killed same reports tables
ctxan -q killed.er -r header >header.txt || fail "killed: header"
grep -q 'the run was not closed' header.txt || fail "killed: the head does not say that it was not closed"

finish
