# Stacks of programs without frame pointers: what they call by construction is in them, up to the root of the thread. Which share of the stacks reaches
# the root, and what libdw makes of them, is checked by record_unwind_share and unwind_kept.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc c++
need_perf
targets=$source_dir/testdata/targets

# record NAME COMMAND...: NAME.stacks has a line for each stack, outermost first.
record() {
	name=$1
	shift
	ctxrec -q -F 999 -o $name.er -- "$@" >$name.out || fail "$name: ctxrec"
	ctxan -q $name.er -r stacks --no-inlines --format json --limit 0 >$name.json
	jq -r '.rows[] | [.frames[].function] | join(" < ")' $name.json >$name.stacks
	# Every sample has a stack, and the recorder has said of every stack where it ends.
	[ "$(jq '[.rows[].samples] | add' $name.json)" = "$(jq .samples $name.json)" ] || fail "$name: the stacks do not add up to $(jq .samples $name.json)"
	ends=$(sed -n 's/^<event kind="unwinding" tstamp="[^"]*"\(.*\) joined=.*/\1/p' $name.er/log.xml | grep -o '"[0-9]*"' | tr -d '"' | awk '{ n += $1 } END { print n + 0 }')
	[ "$ends" = "$(jq .samples $name.json)" ] || fail "$name: $ends ends of stacks, $(jq .samples $name.json) samples: $(grep 'kind="unwinding"' $name.er/log.xml)"
}

gcc -O2 -fomit-frame-pointer -o altstack "$targets/altstack.c" -lm || fail "altstack.c"
record altstack ./altstack 1
# The recursion, and the handler on its own stack, which interrupts it; spin is a leaf.
grep -Eq '^_start < .*main < recurse( < recurse)* < spin$' altstack.stacks || fail "no stack of recurse and spin up to the root: $(head -n 5 altstack.stacks)"
grep -Eq '^_start < .*main < recurse.* < spin < .*on_alarm < (below < )+spin$' altstack.stacks || fail "no stack of the handler up to the root: $(grep on_alarm altstack.stacks | head -n 5)"
# Callees never are callers of what calls them.
grep -E 'spin < (recurse|main)|below < (recurse|main|on_alarm)|recurse < (main|below)' altstack.stacks && fail "callers that do not exist"

c++ -O2 -fomit-frame-pointer -pthread -o throwing "$targets/throwing.cc" || fail "throwing.cc"
record throwing ./throwing 0.4
sed 's/(anonymous namespace):://g; s/([^()]*)//g' throwing.stacks >throwing.short
grep -Eq '^clone3? < start_thread < .*work < attempt < descend( < descend)+ < ' throwing.short || fail "no stack of the recursion up to the thread's root: $(head -n 5 throwing.short)"
grep -E 'attempt < (work|attempt)|descend < (work|attempt)' throwing.short && fail "callers that do not exist"
[ "$(ctxan -q throwing.er -r threads --format json | jq '[.rows[] | select(.samples > 0)] | length')" -ge 3 ] || fail "three threads with samples"

# A recursion that is far deeper than what is copied: the recorder reads its outermost part, once it has seen it twice.
gcc -O2 -fomit-frame-pointer -pthread -o deepest "$targets/deepest.c" || fail "deepest.c"
case $(uname -m) in
x86_64)
	record deepest ./deepest 60 100000 watches "$work/deepest.er/profile"
	grep -Eq '^_start < .*main < work < recurse( < recurse)* < <Frames-left-out> < recurse( < recurse)* < leaf$' deepest.stacks ||
		fail "no stack of the deep recursion up to its root: $(cut -c 1-100 deepest.stacks | head -n 5)"
	grep -E 'left-out> < (_start|main|work)|recurse < (work|main)|leaf < recurse' deepest.stacks | cut -c 1-200 | grep . && fail "callers that do not exist"
	ctxan -q deepest.er -r header | grep -q 'with frames left out' || fail "the header does not say that frames were left out: $(ctxan -q deepest.er -r header)"
	# Recursion is folded on both sides of the gap.
	ctxan -q deepest.er -r tree --min-percent 0 | grep -q '<Frames-left-out>' && fail "the recursion is not folded: $(ctxan -q deepest.er -r tree | head -n 20)"
	;;
esac

# Frame pointers complete stacks that are deeper than the small copies, which are then taken, and the stacks stay the same. Where functions have no frame
# pointers nothing comes from the kernel's chain.
case $(uname -m) in
x86_64)
	gcc -O2 -fno-omit-frame-pointer -o framed "$targets/framed.c" || fail "framed.c"
	record framed ./framed 60 90 "$work/framed.er/log.xml"
	grep -Eq 'text="(frame pointers complete the stacks|a ring was half full): [0-9]* bytes of each stack are copied"' framed.er/log.xml ||
		fail "the log does not say that frame pointers complete the stacks: $(grep -E 'remark|unwinding' framed.er/log.xml)"
	grep -Eq 'kind="unwinding".* by_chain="[1-9]' framed.er/log.xml || fail "no stack along frame pointers: $(grep unwinding framed.er/log.xml)"
	ctxan -q framed.er -r header | grep -q "[0-9] along the kernel's frame" || fail "the header does not say that: $(ctxan -q framed.er -r header | grep ^unwinding)"
	# Those of a recorder that was late are marked.
	grep -E ' leaf( |$)' framed.stacks | grep -v '<Truncated\|<Frames-left' | grep -Ev '^_start < .*main < work( < recurse){91} < leaf( < |$)' | cut -c 1-200 | grep . &&
		fail "stacks of the recursion that are not whole"
	gcc -O2 -fomit-frame-pointer -o frameless "$targets/framed.c" || fail "framed.c"
	record frameless ./frameless 0.4 90 /dev/null
	grep -q 'kind="unwinding".* by_chain="0"' frameless.er/log.xml || fail "frame pointers that do not exist: $(grep unwinding frameless.er/log.xml)"
	grep 'frame pointers complete' frameless.er/log.xml && fail "stacks without frame pointers are completed by them"
	;;
esac

# Coroutines: their stacks begin where makecontext has put the address of a function that nothing has called. Without symbols of libc it has no name.
case $(uname -m) in
x86_64)
	gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o coroutines "$targets/coroutines.c" || fail "coroutines.c"
	record coroutines ./coroutines 0.3
	for n in 1 2 3 4; do
		grep -Eq "^[^ ]+ < coroutine( < descend){$n} < spin\$" coroutines.stacks || fail "no stack of the coroutine with $n frames up to its bottom: $(head -n 5 coroutines.stacks)"
	done
	grep 'Truncated.*< coroutine' coroutines.stacks && fail "the bottom of a coroutine is not its root"
	grep -E 'main < (.* < )?(coroutine|descend|spin)( < |$)' coroutines.stacks && fail "callers that do not exist"
	# perf.data is unwound by the same code.
	if command -v perf >/dev/null; then
		perf record -q -e cpu-clock:u -F 499 --call-graph dwarf,4096 -o coroutines.data -- ./coroutines 0.2 >/dev/null 2>&1 || fail "perf"
		ctxan -q coroutines.data -r header | grep -q '^unwinding .*100.0 % reach the root$' || fail "perf.data: $(ctxan -q coroutines.data -r header | grep '^unwinding')"
	else
		leave_out "perf is not installed: no perf.data is unwound"
	fi
	;;
*) leave_out "code without call frame information is read on x86-64 only" ;;
esac
finish
