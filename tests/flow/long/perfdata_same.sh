# What ctxan says of a perf.data is what perf says of it, sample for sample: perfdata_same.py compares, here are the recordings.
. "$(dirname "$0")/../common.sh" "$@"
need perf python3 cc c++filt sqlite3 xz
need_perf

write_query 200000
cat >recursive.py <<'END'
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def deep(n):
    return fib(20) if n == 0 else deep(n - 1)
for i in range(100):
    deep(300)
END
cat >unit.c <<'END'
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#define F(n) static int f##n(const char *s) { int r = 0; for (size_t i = 0; i < strlen(s); i++) r += toupper(s[i]) * n; return printf("%d\n", r); }
F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
int main(int argc, char **argv) { return f0(argv[0]) + f1(argv[0]) + f2(argv[0]) + f9(argv[argc - 1]); }
END
cat >build.sh <<'END'
for i in 1 2 3; do
	cc -O2 -o program$i unit.c &
	cc -O0 -g -c -o object$i.o unit.c &
	wait
done
END

# same NAME OPTION... -- COMMAND...: records, compares.
same() {
	name=$1
	shift
	if ! perf record -q -e cpu-clock -o "$name.data" "$@" >"$name.out" 2>record.err; then
		grep -Eq 'unknown option|not built|not compiled' record.err || { fail "$name: perf record: $(head -c 300 record.err)"; return; }
		leave_out "$name: this perf cannot record it: $(head -n 1 record.err)"
		return
	fi
	hold "$name"
}

# hold NAME [OPTION]: NAME.data, as perfdata_same.py compares it.
hold() {
	echo "$*:"
	recording=$1
	shift
	python3 "$source_dir/tests/flow/perfdata_same.py" "$recording.data" "$@" || fail "$recording"
}

same xz -F 4000 -g -- xz -kc -2 rows.csv
same sqlite -F 4000 -g -- sqlite3 -init /dev/null :memory: '.read query.sql'
same python -F 3000 -g -- python3 recursive.py
same build -F 3000 -g -- sh build.sh
same threads -F 2500 -g -- noreturn 250
same everything -F 1000 -a -g -- noreturn 200
same compressed -F 2500 -z -g -- noreturn 200
same directory -F 2500 --threads -g -- noreturn 200
same two -e page-faults -F 2500 -g -- sh build.sh
same flat -F 4000 -- xz -kc -T2 --block-size=500KiB -1 rows.csv
same programs -F 4000 -g -- sh -c 'execchain; true'
same plugins -F 4000 -g -- dlclose_reload "$build/bin/examples"
same jit -F 2500 -g -- jit map 200
rm -f "$(cat jit.out)"
mv jit.data nameless.data
hold nameless

# perf wants a jitdump put into the recording first, ctxan reads it beside it.
perf record -q -e cpu-clock -F 2500 -k CLOCK_MONOTONIC -g -o dump.data -- jit dump . 200 >/dev/null 2>&1 || fail "dump: perf record"
if perf inject -j -i dump.data -o injected.data 2>inject.err; then
	hold injected
	counts() { ctxan -q "$1" --sql "select function, exclusive_samples, inclusive_samples from functions where function like 'jit_%' order by 1"; }
	[ "$(counts dump.data)" = "$(counts injected.data)" ] || fail "dump: $(counts dump.data), injected: $(counts injected.data)"
else
	leave_out "injected: $(head -n 1 inject.err)"
fi
perf record -q -e cpu-clock -F 2500 -g -o - -- noreturn 200 >pipe.data 2>/dev/null || fail "pipe: perf record"
hold pipe
# perf unwinds these stacks when it reads them; what the file itself holds of them is the leaf.
perf record -q -e cpu-clock -F 500 --call-graph dwarf -o dwarf.data -- noreturn 200 >/dev/null 2>&1 || fail "dwarf: perf record"
hold dwarf --no-chains
finish
