# The words of gprofng's manual: each report, metric and order that there is here under another name, and what is said of the others.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

unpack gprofng/traces
gen_experiment --samples 3000 --threads 2 --stacks 50 --depth 6 --seed 3 --duration-ms 1000 -o ours.er >/dev/null || fail "gen_experiment"

# same NAME ARGUMENTS...: with gprofng's word the output is that of the arguments.
same() {
	word=$1
	shift
	ctxan -q traces.er "$@" >wanted.txt 2>&1 || fail "$*: $(cat wanted.txt)"
	ctxan -q traces.er -r "$word" >got.txt 2>&1 || fail "$word: $(cat got.txt)"
	cmp -s got.txt wanted.txt || fail "-r $word is not $*: $(diff got.txt wanted.txt | head -n 4)"
	[ "$(wc -l <got.txt)" -gt 2 ] || fail "-r $word: $(cat got.txt)"
}
for word in functions fsummary func; do same $word -r functions; done
for word in fsingle csingle callers_callees_single; do
	case $word in f*) report=functions ;; *) report=callers-callees ;; esac
	same "$word=spin" -r $report --function spin
	expect 0 '' ctxan -q traces.er -r $word
done
for word in callers-callees callers_callees gprof; do same $word -r callers-callees; done
for word in calltree ctree; do same $word -r tree --no-fold; done
for word in allocs heap heapstat; do same $word -r heap; done
same leaks -r leaks
for word in sync synctrace; do same $word -r sync; done
for word in ioactivity iodetail iocallstack iostat io; do same $word -r io; done
for word in pcs psummary; do same $word -r pcs; done
for word in lines lsummary; do same $word -r lines; done
for word in source src; do same $word=spin -r source=spin; done
for word in disasm dis; do same $word=spin -r disasm=spin; done
for word in objects object_list objects_list; do same $word -r objects; done
for word in threads thread_list lwps lwp_list; do same $word -r threads; done
for word in samples sample_list sample_detail; do same $word -r samples; done
for word in overview statistics; do same $word -r overview; done
for word in header experiments experiment_list exp_list metric_list cmetric_list gmetric_list indx_metric_list; do same $word -r header; done
same processes -r processes
for word in cpus cpu CPUs cpu_list indxobj=cpu indxobj=CPUs; do same $word --by cpu; done
for word in seconds second indxobj=Seconds; do same $word --by second; done
same indxobj=Samples --by sample
same indxobj=Threads --by thread
same indxobj=Processes --by process
same experiment_ids --by process
same 'indxobj=TSTAMP/1000000' --by TSTAMP/1000000
ctxan -q traces.er --metric heapalloccnt --by datasize >wanted.txt
ctxan -q traces.er --metrics e.heapalloccnt -r Datasize >got.txt
cmp -s got.txt wanted.txt || fail "Datasize: $(diff got.txt wanted.txt)"

# Metrics, however they are to be shown.
for word in totalcpu sync syncn heapallocbytes heapalloccnt heapleakbytes heapleakcnt ioreadtime ioreadbytes ioreadcnt iowritetime iowritebytes \
	iowritecnt ioothertime ioothercnt ioerrortime ioerrorcnt; do
	ctxan -q traces.er -r functions --metric $word >wanted.txt 2>&1 || fail "$word: $(cat wanted.txt)"
	for item in "e.$word:i.$word" "i.%$word" "e+%$word:name" "ei!$word:size:address:name" "a.$word" "name:i%$word"; do
		ctxan -q traces.er -r functions --metrics "$item" >got.txt 2>&1 || fail "$item: $(cat got.txt)"
		cmp -s got.txt wanted.txt || fail "$item: $(diff got.txt wanted.txt | head -n 4)"
	done
done
ctxan -q ours.er -r functions >wanted.txt
ctxan -q ours.er -r functions --metric e.totalcpu:i.%totalcpu:name >got.txt
cmp -s got.txt wanted.txt || fail "e.totalcpu of a clock of ours"
ctxan -q traces.er -r functions,tree --metric totalcpu,sync,heapallocbytes --format csv >wanted.txt
ctxan -q traces.er -r functions,tree --metrics e.totalcpu:i.sync:i.%sync:e+heapallocbytes:name --format csv >got.txt
cmp -s got.txt wanted.txt || fail "several metrics"

# Orders.
order() {
	ctxan -q traces.er -r "$1" --metric sync,heapallocbytes --sort "$2" >got.txt 2>&1 || fail "$1 --sort $2: $(cat got.txt)"
	ctxan -q traces.er -r "$1" --metric sync,heapallocbytes --sort "$3" >wanted.txt 2>&1 || fail "$1 --sort $3: $(cat wanted.txt)"
	cmp -s got.txt wanted.txt || fail "$1 --sort $2 is not $3"
}
order functions e.sync exclusive
order functions i.%sync inclusive
order functions e+heapallocbytes exclusive.heapallocbytes
order functions i.heapallocbytes inclusive.heapallocbytes
order callers-callees i.heapallocbytes cum.heapallocbytes
expect 1 "does not show 'totalcpu'" ctxan -q traces.er -r functions --metric sync --sort e.totalcpu
expect 1 "no metric 'bogus'" ctxan -q traces.er -r functions --sort e.bogus
expect 1 "heap cannot be sorted by 'e.sync'" ctxan -q traces.er -r heap --sort e.sync

# Others say what to do.
expect 1 "no report 'functons', perhaps 'functions'" ctxan traces.er -r functons
expect 1 "no report 'calltre', perhaps 'calltree'" ctxan traces.er -r calltre
expect 1 "no report 'hotpcs' \\(see --help" ctxan traces.er -r hotpcs
expect 1 'ORDERED IN STACK' ctxan traces.er -r cprepend
for word in limit sort metrics filters outfile indxobj_define indxobj_list describe cappend crmfirst crmlast object_show setpath pathmap viewmode ifreq \
	deadlocks sample_select lwp_select thread_select cpu_select printmode script compare scc name en_desc procstats; do
	expect 1 "no report '$word': " ctxan traces.er -r $word
	expect 1 "unknown option '-$word': " ctxan traces.er -$word
done
expect 1 "unknown option '-functions': the report is -r functions" ctxan -functions traces.er
expect 1 "unknown option '-calltree': the report is -r calltree" ctxan traces.er -calltree
expect 1 "unknown option '--reprot', perhaps --report" ctxan traces.er --reprot x
expect 1 "unknown option '--qqqq' \\(see" ctxan traces.er --qqqq
expect 1 "no metric 'heapleakcn', perhaps 'heapleakcnt'" ctxan traces.er --metric e.heapleakcn
expect 1 "no such index object, perhaps 'thread'" ctxan traces.er -r indxobj=thred
expect 1 'indxobj=KEY requires a key of --by' ctxan traces.er -r indxobj
expect 1 "the report 'cpus' takes no '=1'" ctxan traces.er -r cpus=1
ctxan traces.er -r 'indxobj=TSTAMP/' 2>err.txt && fail "indxobj=TSTAMP/"
printf 'ctxan: --by: column 8: a number or name is missing\n  TSTAMP/\n         ^\n' | cmp -s - err.txt || fail "indxobj=TSTAMP/: $(cat err.txt)"

# What only operations have is asked of what has it.
expect 1 "asks for HSIZE, which samples of 'Total CPU' do not have \\(--metric heapallocbytes, " ctxan traces.er -r functions --filter 'HSIZE>1'
expect 1 "by asks for IOFD, which samples of 'Total CPU' do not have \\(--metric ioreadtime, " ctxan traces.er --by IOFD
expect 1 "asks for SOBJ, which operations of the report 'heap' do not have" ctxan traces.er -r sync,heap --filter 'SOBJ>1'
expect 1 "asks for IOFD, which operations of the report 'sync' do not have" ctxan traces.er -r sync --filter 'IOFD>1'
expect 1 'excludes filters that use traced operations' ctxan traces.er --export folded --metric heapallocbytes --filter 'HSIZE>1'
ctxan nothing.er --filter '1 && HSIZ>1' 2>err.txt && fail "HSIZ"
printf "ctxan: --filter: column 6: no name 'HSIZ', perhaps 'HSIZE'\n  1 && HSIZ>1\n       ^\n" | cmp -s - err.txt || fail "HSIZ: $(cat err.txt)"
for report in heap leaks; do expect 0 '' ctxan -q traces.er -r $report --filter 'HSIZE>1000 && HTYPE=="malloc"'; done
for report in io sync; do expect 0 '' ctxan -q traces.er -r $report --filter 'EVT_TIME>1000'; done

finish
