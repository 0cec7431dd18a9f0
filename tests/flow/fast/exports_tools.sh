# Folded stacks, callgrind and pprof: what other tools read in our exports is what ctxan reports (exports_tools.py).
. "$(dirname "$0")/../common.sh" "$@"
need python3 cc jq
need_perf

command -v callgrind_annotate >/dev/null 2>&1 || echo "without callgrind_annotate: valgrind is not installed"
command -v go >/dev/null 2>&1 || echo "without go tool pprof: go is not installed"
# pprof keeps files, and looks for programs, where the user has none of them.
PPROF_TMPDIR=$HOME
export PPROF_TMPDIR

check() {
	python3 "$source_dir/tests/flow/exports_tools.py" "$@" || fail "$*"
}

# Names that look like a line of the formats, in a program whose functions call each other in circles.
cat >hostile.c <<'END'
static volatile unsigned long sink;
static void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * sink; }
#define NAME(text) __asm__("\"" text "\"")
void one(int n) NAME("(1)"); void two(int n) NAME("(2) x"); void three(int n) NAME("calls=7 0"); void four(int n) NAME("<Total>");
void five(int n) NAME("a;b c"); void six(int n) NAME("totals: 5"); void seven(int n) NAME("f(int, char)::g<x>"); void eight(int n) NAME("fn=(3)");
#define F(f, to) __attribute__((noinline)) void f(int n) { spin(20000); if (n > 0) to(n - 1); spin(1000); }
F(one, two) F(two, three) F(three, one) F(four, five) F(five, five) F(six, seven) F(seven, eight) F(eight, four)
int main(void) { for (int i = 0; i < 900; i++) { one(i % 9); six(i % 11); four(i % 3); } return 0; }
END
cc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o hostile hostile.c 2>err.txt || skip "cc: $(head -n 1 err.txt)"
ctxrec -q -F 4999 -o hostile.er -- ./hostile || fail "recording"
check hostile.er
for name in '(1)' '(2) x' 'calls=7 0' 'totals: 5' 'fn=(3)'; do
	ctxan -q hostile.er --format json -r functions | jq -e --arg name "$name" 'any(.rows[]; .function == $name)' >/dev/null ||
		fail "the recording has no function $name"
done

# Threads, intervals, two metrics; a recursion; names that two objects have.
ctxrec -q -e cpu-clock,page-faults -o phases.er -- phases || fail "recording"
check phases.er
check phases.er -i 300:700
check phases.er -i 10%:20% -i 1500:
check phases.er --thread 1,2
check phases.er --metric page-faults

# What a format cannot hold is said, and nothing is said with -q.
for kind in pprof callgrind; do
	expect 0 "^ctxan: $kind: this format has no time" ctxan phases.er --export $kind -o said
	expect 0 '' ctxan -q phases.er --export $kind -o said
	[ ! -s err.txt ] || fail "$kind: -q says $(cat err.txt)"
done
expect 0 'threads are added up' ctxan phases.er --export callgrind -o said
ctxan phases.er --export callgrind --thread 1 -o said 2>err.txt || fail "one thread"
grep -q 'threads' err.txt && fail "one thread: $(cat err.txt)"

# The same again: the same bytes.
for kind in folded pprof callgrind; do
	ctxan -q phases.er --export $kind -o first && ctxan -q phases.er --export $kind -o second && cmp first second || fail "$kind: other bytes"
done

# An interval without samples is a file that its tool opens.
for kind in pprof callgrind; do
	ctxan -q phases.er --export $kind -i 0ns:1ns -o empty.$kind || fail "empty: $kind"
done
if command -v go >/dev/null 2>&1; then
	go tool pprof -top empty.pprof >out.txt 2>err.txt || fail "empty: pprof: $(cat err.txt)"
	grep -q 'of 0 total' out.txt || fail "empty: pprof: $(cat out.txt)"
fi
if command -v callgrind_annotate >/dev/null 2>&1; then
	callgrind_annotate empty.callgrind >out.txt 2>err.txt || fail "empty: callgrind_annotate: $(cat err.txt)"
	[ ! -s err.txt ] || fail "empty: callgrind_annotate says $(cat err.txt)"
fi
finish
