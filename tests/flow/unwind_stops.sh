# Sourced by unwind_gdb.sh, and by testdata/answers/make.sh: what gdb makes of stopped programs, for unwind_stops (bench/).

# stop_at FILE PROGRAM CASE: runs a case of testdata/targets/stops.c to its places.
stop_at() {
	timeout 120 gdb -nx -q -batch -ex "py OUT, CASE = '$1', '$3'" -x "$source_dir/tests/flow/unwind_gdb.py" "$2" >"$3.gdb" 2>&1 ||
		fail "$3: gdb: $(tail -n 3 "$3.gdb")"
}

# stop_process FILE NAME PID: all threads of a process.
stop_process() {
	timeout 120 gdb -nx -q -batch -ex "py OUT, CASE = '$1', 'attach:$2'" -x "$source_dir/tests/flow/unwind_gdb.py" -p "$3" >"$2.gdb" 2>&1 ||
		fail "$2: gdb: $(tail -n 3 "$2.gdb")"
}

# count_stops CASE: how many stops of the last output of unwind_stops (`stops.said`) agree in this case.
count_stops() {
	sed -n "s/^$1: same \([0-9]*\), further \([0-9]*\), ended \([0-9]*\), .*/\1 + \2 + \3/p" stops.said | head -n 1
}

# check_stops FILE CASE=LEAST...: all stops of the file agree, and each case has at least so many.
check_stops() {
	unwind_stops -v "$1" >stops.said || fail "$1: $(head -n 40 stops.said; tail -n 1 stops.said)"
	shift
	for one in "$@"; do
		[ "$(($(count_stops "${one%=*}")))" -ge "${one#*=}" ] || fail "${one%=*}: fewer than ${one#*=} stops agree: $(grep "^${one%=*}:" stops.said)"
	done
	grep '^[a-z]*: same' stops.said
}
