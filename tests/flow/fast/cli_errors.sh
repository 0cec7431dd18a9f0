# Wrong input of every kind: one clear line, the right exit status, nothing half written.
. "$(dirname "$0")/../common.sh" "$@"

gen_experiment --samples 20000 --threads 3 --stacks 200 --depth 12 --seed 5 --duration-ms 2000 -o good.er || fail "gen_experiment"

expect 0 '' ctxan good.er
[ -s good.er/ctxan.db ] || fail "no database in the experiment"

# Usage.
expect 1 "unknown option '--nonsense'" ctxan good.er --nonsense
expect 1 "unknown option '-Z'" ctxan good.er -Z
expect 0 '' ctxan -V
expect 1 "no report 'flat'" ctxan good.er --report flat
expect 1 "needs a value" ctxan good.er --report
expect 1 "the report 'header' takes no '=main'" ctxan good.er --report functions,header=main
expect 1 "no report ''" ctxan good.er --report =main
expect 1 "takes no value" ctxan good.er --explain=yes
expect 1 "a number from 0" ctxan good.er --limit -3
expect 1 "not known" ctxan good.er --format xml
expect 1 "no metric 'cycles'" ctxan good.er --metric cycles

# Of several reports one that there is nothing for costs only itself.
expect 1 "no allocations were traced" ctxan good.er -r heap
expect 0 '' ctxan good.er -r functions,heap --limit 3
grep -q 'heap: no allocations were traced' out.txt && grep -q '<Total>' out.txt || fail "functions, and why there is no heap"
expect 0 'heap: no allocations' ctxan good.er -r heap,functions --format csv
expect 1 "no allocations|no I/O|traced" ctxan good.er -r heap,io

# Intervals, threads, processes, processors.
expect 1 "ends before it begins" ctxan good.er --interval 700:300
expect 1 "behind the end of the run" ctxan good.er --interval 99999:
expect 1 "is not a time" ctxan good.er --interval abc:5
expect 1 "has no ':'" ctxan good.er --interval 300
expect 1 "is empty" ctxan good.er --interval 300:300
expect 1 "no thread '99'" ctxan good.er --thread 99
expect 1 "no thread '1-7'" ctxan good.er --thread 1-7
expect 1 "no process 'nobody'" ctxan good.er --process nobody
expect 1 "ranges such as" ctxan good.er --cpu x

# Inputs.
expect 1 "No such file" ctxan missing.er
mkdir empty.er
expect 1 "empty.er" ctxan empty.er
echo text >plain.txt
expect 1 "neither an experiment nor a database of ctxan, nor perf.data, nor stacks as text, JSON or pprof" ctxan plain.txt
expect 1 "rules nowhere: no such file .--rules default needs none: docs" ctxan good.er --rules nowhere
expect 1 "no such format, perhaps 'pprof' .see --help." ctxan good.er --export pproff
expect 1 "export zzz: no such format .see --help." ctxan good.er --export zzz
expect 1 "which recordings. .ctxan --archive BASE.db a.1.er" ctxan --archive good.er
# Folded stacks are sums: how many of them there are is not how many samples there were, nor when.
printf 'main;work 900\nmain;rest 100\n' >sums.folded
ctxan sums.folded >sums.txt 2>&1
grep -q '^First look: work, 90.0 % of count$' sums.txt || fail "folded stacks: $(cat sums.txt)"
grep 'too few\|Over time' sums.txt && fail "what sums cannot say"
expect 1 "the recording has no times" ctxan sums.folded -i 300:700
mkdir nothing && expect 1 "neither \*.er nor perf.data in this directory" sh -c 'cd nothing && ctxan'
cp -r good.er newer.er && rm newer.er/ctxan.db
sed -i '1s/version="[123]"/version="4"/' newer.er/log.xml
expect 1 "newer version" ctxan newer.er
[ ! -e newer.er/ctxan.db ] || fail "a database of an experiment that was refused"

# Databases.
head -c 5000 good.er/ctxan.db >cut.db
expect 1 "cut.db" ctxan cut.db
printf 'precious' >mine.txt
expect 1 "not overwritten" ctxan good.er --db mine.txt
[ "$(cat mine.txt)" = precious ] || fail "--db overwrote a file that is not ours"
expect 1 "syntax error|near" ctxan good.er --sql 'selec 1'
expect 1 "read" ctxan good.er --sql 'delete from thread'
expect 1 "nowhere/x.db" ctxan good.er --db nowhere/x.db
expect 1 "not a file name" ctxan good.er --db ''
expect 1 "not a file name" ctxan good.er -o ''
expect 1 "Is a directory" ctxan good.er -o .
expect 1 "no statement" ctxan good.er --sql ''
expect 1 "excludes --report" ctxan good.er --sql 'select 1' -r functions
# What selects is not passed over.
expect 1 "sql selects by itself" ctxan good.er --sql 'select 1' -i 0:100
expect 1 "sql selects by itself" ctxan good.er --sql 'select 1' --filter 'THRID==1'
for report in overview samples states threads processes timeline index; do
	expect 1 "'$report' excludes --function: --filter" ctxan good.er -r functions,$report --function work_1
done
expect 1 "folded excludes --function" ctxan good.er --export folded --function work_1
expect 1 "folded has all rows and threads" ctxan good.er --export folded --limit 5
expect 1 "html has all rows and threads" ctxan good.er --export html -o x.html --per-thread
expect 1 "max-size requires --export html, not folded" ctxan good.er --export folded --max-size 5M
expect 1 "max-size requires --export html" ctxan good.er --max-size 5M
expect 1 "is a database" ctxan good.er/ctxan.db --reingest
# A database has inlined functions or not: that another one is made is said, and how both are kept.
expect 0 "ctxan.db was made with inlined functions and is made anew; --db FILE keeps both" ctxan good.er -r header --no-inlines
expect 0 "ctxan.db was made without inlined functions" ctxan good.er -r header
ctxan good.er -r header 2>err.txt >out.txt && ! grep -q 'made anew' err.txt || fail "made anew without need: $(cat err.txt)"
expect 1 "requires --report" ctxan good.er --sort samples
expect 1 "is not a range" ctxan good.er --thread 2-1
expect 1 "" ctxan good.er -r functions,threads --sort inclusive
[ ! -s out.txt ] || fail "something was printed before the mistake was seen"
expect 1 "No such file" ctxan good.er missing.er
[ ! -s out.txt ] || fail "the first of two was printed although the second is missing"
mkfifo pipe.txt
(cat pipe.txt >piped.txt &)
expect 0 "" ctxan good.er -r functions -o pipe.txt
[ -p pipe.txt ] || fail "-o replaced a pipe"
expect 1 "" ctxan good.er extra.er

# Output that cannot be written.
expect 2 "output" sh -c 'exec ctxan good.er -r functions >/dev/full'
expect 1 "nowhere/out" ctxan good.er -r functions -o nowhere/out
[ ! -e nowhere ] || fail "a directory was made"
expect 0 "" ctxan good.er -r functions -o report.txt
grep -q '<Total>' report.txt || fail "-o did not write the report"
[ -z "$(find . -name '*.tmp*')" ] || fail "temporary files are left: $(find . -name '*.tmp*')"
finish
