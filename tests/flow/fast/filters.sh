# Filters and index objects on a generated experiment: against the other ways to the same numbers, and against sums over complete stacks.
. "$(dirname "$0")/../common.sh" "$@"
need python3

gen_experiment --samples 30000 --threads 4 --stacks 300 --depth 12 --seed 4 --duration-ms 1000 -o f.er >/dev/null || fail "gen_experiment"
python3 "$source_dir/tests/flow/filters.py" f.er || fail "filters"

# What is wrong with an expression is said before anything is opened, with the place of it.
wrong() {
	ctxan nothing.er "$1" "$2" >out.txt 2>err.txt
	[ $? = 1 ] || fail "$1 '$2': exit status"
	printf '%s\n' "$3" >wanted.txt
	cmp -s wanted.txt err.txt || fail "$1 '$2': $(cat err.txt)"
	[ ! -s out.txt ] || fail "$1 '$2' prints"
}
wrong --filter 'THRID ==' 'ctxan: --filter: column 9: a number or name is missing
  THRID ==
          ^'
wrong --index 'ms=TSTAMP/1000000)' "ctxan: --index: column 15: ')' without '('
  TSTAMP/1000000)
                ^"
wrong --by 'DEPTH @ 2' "ctxan: --by: column 7: '@' is not known here
  DEPTH @ 2
        ^"
# Not where a terminal would show something else than what was typed.
wrong --filter "$(printf '1 +\t')" 'ctxan: --filter: column 5: a number or name is missing'
expect 1 "no such index object, perhaps 'sample' \\(thread, process, command, thread-name, .*, datasize, duration, .*, ms; or" ctxan f.er --by sampel --index ms=TSTAMP
expect 1 '--filter asks for HSIZE, but no such operations were recorded' ctxan f.er -r functions --filter 'HSIZE>1'
expect 1 '--by asks for IOFD, but no such operations were recorded' ctxan f.er --by IOFD
for by in Threads CPUs SECONDS processes sample tid; do ctxan -q f.er --by $by >out.txt 2>&1 || fail "--by $by: $(cat out.txt)"; done
# Several keys, as --by and as perf has them; what is wrong with a list.
ctxan -q f.er --by comm,dso,sym >by.txt || fail "--by comm,dso,sym"
ctxan -q f.er --sort comm,dso,sym | cmp -s - by.txt || fail "--sort comm,dso,sym is not --by comm,dso,sym"
grep -q '^Weight ms *% *Samples Thread name Object *Function$' by.txt || fail "--by comm,dso,sym: $(head -n 6 by.txt)"
expect 1 '^ctxan: --sort requires --report; --by comm,dso,sym has' ctxan f.er --sort self
expect 1 '^ctxan: --sort comm,dso: expected a single column; --by comm,dso,sym has' ctxan f.er -r functions --sort comm,dso
expect 1 "no option '-s' here: --by comm,dso,sym does that" ctxan f.er -s comm
expect 1 "by function,function: 'function' is there twice" ctxan f.er --by function,function
expect 1 "by 'a,': column 3: a key is missing|by a: no such index object" ctxan f.er --by a,
expect 1 "by ',': column 1: a key is missing \\(thread, process, command, .*; or an expression\\)" ctxan f.er --by ,
expect 1 'by wait: the recording has no thread states' ctxan f.er --by wait,function
wrong --by 'cpu,DEPTH @ 2' "ctxan: --by: column 11: '@' is not known here
  cpu,DEPTH @ 2
            ^"
expect 1 'expected NAME=EXPRESSION' ctxan f.er --index TSTAMP
expect 1 "an index object 'cpu' exists already" ctxan f.er --index cpu=1
expect 1 '--index requires --by' ctxan f.er --index a=1 -r functions
expect 1 'duplicate name' ctxan f.er --index a=1 --index a=2
expect 1 'requires the report index' ctxan f.er --by cpu -r functions
expect 1 'excludes --cpu and --filter' ctxan f.er --show-sql --filter 1
expect 1 'index' ctxan f.er --by cpu --sort name

# The head names the filters, with nothing in them that a terminal could take for a command.
ctxan -q f.er -r functions --filter 'THRID==1' --filter "$(printf 'LEAF IN ".\033\\[2J"')" >out.txt || fail "an escape in a filter"
head -n 2 out.txt | tr '\n' ' ' | grep -q 'filter THRID==1 | filter LEAF IN' || fail "no filter in the head: $(head -n 2 out.txt)"
grep -q "$(printf '\033')" out.txt && fail "an escape goes to the terminal"
ctxan -q f.er -r functions --filter 'THRID==1' --explain 2>&1 >/dev/null | grep -q 'samples scanned for the filter' || fail "--explain"

# A filter that keeps nothing because a name is misspelt says which.
expect 0 'ctxan: --filter: no function here is called "work_\*q"' ctxan f.er -r functions --filter 'LEAF IN "work_*q"'
expect 0 'no state here is called "SLEEEP"' ctxan f.er -r functions --filter 'STATE=="SLEEEP"'
ctxan -q f.er -r functions --filter 'STATE=="SLEEEP"' 2>err.txt >/dev/null
[ ! -s err.txt ] || fail "-q: $(cat err.txt)"
ctxan f.er -r functions --filter 'LEAF IN "work_.*"' 2>err.txt >/dev/null
[ ! -s err.txt ] || fail "a filter that fits: $(cat err.txt)"

finish
