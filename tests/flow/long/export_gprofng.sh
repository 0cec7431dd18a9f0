# What ctxan exports for gprofng: gprofng opens it and prints what ctxan reports, and so does ctxan itself (export_gprofng.py compares).
. "$(dirname "$0")/../common.sh" "$@"
need gprofng python3 cc c++
need_perf

# compare RECORDING WORD SELECTION...: the word is gprofng's for the metric, with + in front where it is a count.
compare() {
	python3 "$source_dir/tests/flow/export_gprofng.py" "$@" || fail "$*"
}

# One program in all ways of selecting; states of threads are microstates to gprofng, other events a hardware counter.
ctxrec -q -e cpu-clock,page-faults -o phases.er -- phases >/dev/null || fail "recording phases"
compare phases.er totalcpu
compare phases.er totalcpu -i 300:700
compare phases.er totalcpu -i 10%:20% -i 1500: --thread 1,2
compare phases.er totalcpu --filter 'STACK SOME IN "work_a"'
compare phases.er +page-faults --metric page-faults
if ctxan -q phases.er -r header | grep -q 'metric wall'; then
	compare phases.er total --metric wall
	compare phases.er wait --metric wait-cpu -i 300:900
	compare phases.er lock --metric lock
else
	echo "no states of threads can be recorded here"
fi

# gprofng's own filter by time gives what our interval gives.
ctxan -q phases.er --export gprofng -o times.er || fail "times.er"
theirs=$(gprofng display text -metrics e.totalcpu:name -filters 'TSTAMP>=300000000 && TSTAMP<700000000' -functions times.er | awk '$2 == "<Total>" { print $1 }')
ours=$(ctxan -q phases.er -i 300:700 --format json -r functions | sed -n 's/.*"function":"<Total>".*"inclusive":\([0-9]*\).*/\1/p')
awk -v a="$theirs" -v b="$ours" 'BEGIN { d = a - b / 1e9; exit !(a > 0 && d < 0.0006 && d > -0.0006) }' ||
	fail "300:700 ms: gprofng $theirs s, ctxan $ours ns"

# From a database alone, the programs gone: the names are still there.
ctxan -q phases.er --db moved.db -r header >/dev/null || fail "moved.db"
(mkdir elsewhere && cd elsewhere && mv ../moved.db . && ctxan moved.db --export gprofng -o alone.er) 2>err.txt || fail "from a database"
gprofng display text -functions elsewhere/alone.er | grep -q ' work_a$' || fail "from a database: no work_a"

# Threads; processes that fork and execute programs; C++ with a shared library.
flags=-fno-omit-frame-pointer
. "$source_dir/tests/flow/gprofng_programs.sh"
cat >deep.c <<'END'
#include <pthread.h>
#define KEPT __attribute__((noinline))
static volatile double sink;
KEPT void burn(long n) { for (long i = 0; i < n; i++) sink += i; }
KEPT void work(long k) { burn(k * 9000000); }
KEPT void deep(int n) { if (n == 0) burn(20000000); else deep(n - 1); sink += n; }
static void *start(void *p) { work((long)p); deep(300); return p; }
int main(void) { pthread_t t[4]; for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, start, (void *)(i + 1)); for (int i = 0; i < 4; i++) pthread_join(t[i], 0); return 0; }
END
cc $g -O1 -pthread -o deep deep.c || fail "deep.c"
ctxrec -q -F 4999 -o deep.er -- ./deep || fail "recording deep"
compare deep.er totalcpu
ctxrec -q -o family.er -- ./family || fail "recording family"
compare family.er totalcpu
ctxrec -q -o shapes.er -- ./shapes || fail "recording shapes"
compare shapes.er totalcpu

# Copied programs have their lines; a period of whole microseconds leaves nothing to round.
ctxrec -q -c 2000000 -e cpu-clock -o even.er -- ./deep || fail "recording evenly"
ctxan even.er --export gprofng -o even_out.er 2>said.txt || fail "even.er"
grep -q 'microseconds' said.txt && fail "even.er: something was rounded: $(cat said.txt)"
grep -q 'ptimer="2000"' even_out.er/log.xml || fail "even.er: $(grep ptimer even_out.er/log.xml)"
gprofng display text -source burn even_out.er | grep -q 'sink += i' || fail "gprofng shows no source of burn"
compare even.er totalcpu

# Names of functions that are anything; a path with characters that XML has a use for.
cat >hostile.c <<'END'
static volatile unsigned long sink;
static void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * sink; }
#define NAME(text) __asm__("\"" text "\"")
void one(int n) NAME("a<b>&'quoted'"); void two(int n) NAME("(2) x"); void three(int n) NAME("<Total>"); void four(int n) NAME("a`b");
#define F(f, to) __attribute__((noinline)) void f(int n) { spin(20000); if (n > 0) to(n - 1); spin(1000); }
F(one, two) F(two, three) F(three, four) F(four, one)
int main(void) { for (int i = 0; i < 900; i++) { one(i % 9); three(i % 3); } return 0; }
END
odd='o<d>&d "x"'
if mkdir "$odd" && cc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o "$odd/hostile" hostile.c 2>err.txt; then
	ctxrec -q -F 2999 -o hostile.er -- "$odd/hostile" || fail "recording hostile"
	compare hostile.er totalcpu
else
	echo "no hostile names: $(head -n 1 err.txt)"
fi

# perf's files, with functions that were made at run time where perf and node are here.
if command -v perf >/dev/null 2>&1 && perf record -q -e cpu-clock -F 2500 -g -o deep.data -- ./deep 2>err.txt; then
	compare deep.data totalcpu
	# perf writes no build id of an object that is never on top of a stack; here of none. Its file is exported all the same.
	perf record -q -B -e cpu-clock -F 20000 -g -o no_ids.data -- ./deep 2>err.txt && compare no_ids.data totalcpu
	ctxan -q no_ids.data --export gprofng -o no_ids.er || fail "no_ids.data"
	gprofng display text -source burn no_ids.er | grep -q 'sink += i' || fail "without build ids gprofng shows no source of burn"
	if command -v node >/dev/null 2>&1 && perf record -q -e cpu-clock -F 2500 -g -o jit.data -- node --perf-basic-prof -e \
		'let s = 0; function hot(n) { let a = 0; for (let i = 0; i < n; i++) a += Math.sqrt(i) * i % 7; return a } for (let k = 0; k < 200; k++) s += hot(200000)' >/dev/null 2>err.txt; then
		ctxan -q jit.data --export gprofng -o jit.er || fail "jit.data"
		gprofng display text -functions jit.er | grep -q 'JS:.*hot' || fail "gprofng has no function made by node"
		ctxan -q jit.er -r functions | grep -q 'JS:.*hot .*perf-[0-9]*.map' || fail "back: no function made by node"
	fi
else
	echo "no perf here"
fi

# gprofng's own.
if collect own -p on -F on ./family && [ -s own.er/log.xml ]; then
	compare own.er totalcpu
else
	echo "gprofng collects nothing here: $(head -n 1 own.out)"
fi

# What is there is not overwritten, and what fails leaves nothing.
expect 1 'out.er: is there already' ctxan phases.er --export gprofng -o out.er
expect 1 'is a directory: -o NAME.er' ctxan phases.er --export gprofng -o out
expect 1 'is a directory: -o NAME.er' ctxan phases.er --export gprofng
expect 1 'nowhere/out.er' ctxan phases.er --export gprofng -o nowhere/out.er
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=200k tmpfs small 2>/dev/null; then
	expect 2 'No space left on device' ctxan -q phases.er --export gprofng -o small/full.er
	[ -z "$(ls -A small)" ] || fail "a full disk: $(ls -A small) is left"
	umount small
else
	echo "no tmpfs can be mounted here: the full disk is not tried"
fi
for left in *.tmp; do
	[ -e "$left" ] && fail "$left is left"
done

# The same again: the same bytes. Nothing selected is an experiment without events.
ctxan -q phases.er --export gprofng -o first.er && ctxan -q phases.er --export gprofng -o second.er && diff -r first.er second.er || fail "other bytes"
ctxan -q phases.er --export gprofng -i 0:1ns -o empty.er || fail "nothing selected"
gprofng display text -functions empty.er >empty.txt 2>&1 || fail "nothing selected: $(cat empty.txt)"
finish
