# Sourced: comparisons of ctxan's exports for gprofng with gprofng's output, now or (gprofng_said.py) when testdata/recordings/make.sh
# asked it; and which of them are made of the kept recordings. `fail` and $source_dir must be defined.

# compare RECORDING WORD SELECTION...: the word is gprofng's for the metric, with + in front where it is a count.
compare() {
	python3 "$source_dir/tests/flow/export_gprofng.py" "$@" || fail "$*"
}

# printed EXPERIMENT COMMAND...: the output of gprofng display text.
printed() {
	python3 "$source_dir/tests/flow/gprofng_said.py" "$@"
}

# check_times RECORDING: gprofng's filter by time and our interval give the same.
check_times() {
	ctxan -q "$1" --export gprofng -o times.er || fail "times.er"
	theirs=$(printed times.er -metrics e.totalcpu:name -filters 'TSTAMP>=300000000 && TSTAMP<700000000' -functions | awk '$2 == "<Total>" { print $1 }')
	ours=$(ctxan -q "$1" -i 300:700 --format json -r functions | sed -n 's/.*"function":"<Total>".*"inclusive":\([0-9]*\).*/\1/p')
	awk -v a="$theirs" -v b="$ours" 'BEGIN { d = a - b / 1e9; exit !(a > 0 && d < 0.0006 && d > -0.0006) }' ||
		fail "300:700 ms: gprofng $theirs s, ctxan $ours ns"
}

# check_alone RECORDING FUNCTION: from a database alone, the programs gone: the names are still there.
check_alone() {
	ctxan -q "$1" --db moved.db -r header >/dev/null || fail "moved.db"
	(mkdir -p elsewhere && cd elsewhere && mv ../moved.db . && ctxan moved.db --export gprofng -o ../alone.er) 2>err.txt || fail "from a database"
	printed alone.er -functions | grep -q " $2\$" || fail "from a database: no $2"
}

# check_even RECORDING FUNCTION SOURCE: copied programs have their lines; a period of 2 ms leaves nothing to round.
check_even() {
	ctxan "$1" --export gprofng -o even_out.er 2>said.txt || fail "even"
	grep -q 'microseconds' said.txt && fail "even: something was rounded: $(cat said.txt)"
	grep -q 'ptimer="2000"' even_out.er/log.xml || fail "even: $(grep ptimer even_out.er/log.xml)"
	printed even_out.er -source "$2" | grep -q "$3" || fail "gprofng shows no source of $2"
}

# One program in all ways of selecting; states of threads are microstates to gprofng, other events a hardware counter.
check_kept() {
	compare phases.er totalcpu
	compare phases.er totalcpu -i 300:700
	compare phases.er totalcpu -i 10%:20% -i 1500: --thread 1,2
	compare phases.er totalcpu --filter 'STACK SOME IN "work_a"'
	compare phases.er +page-faults --metric page-faults
	compare phases.er total --metric wall
	compare phases.er wait --metric wait-cpu -i 300:900
	compare convoy.er lock --metric lock
	check_times phases.er
	check_alone phases.er work_a
	# Stacks that are too deep; processes that fork and execute programs; names and paths that XML has a use for.
	compare deep.er totalcpu
	check_even deep.er burn 'sink += i'
	compare execs.er totalcpu
	compare hostile_names.er totalcpu
}
