# ctxrec --calls against uftrace, gprof and llvm-xray: the same programs, and the same number of calls of each function.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc g++ uftrace
[ -e "$bin/libctxrt.so" ] || skip "the runtime is for x86-64"
need_perf
targets=$source_dir/testdata/targets

cat >sorts.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int main()
{
	std::map<std::string, int> words;
	std::vector<int> numbers;
	unsigned seed = 1;
	for (int i = 0; i < 3000; i++) {
		seed = seed * 1103515245 + 12345;
		numbers.push_back((int)(seed >> 8));
		words["word" + std::to_string(seed % 100)]++;
	}
	std::sort(numbers.begin(), numbers.end());
	std::printf("%d %zu\n", numbers[0], words.size());
	return 0;
}
END
cat >trees.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *left, *right; long value; };
static struct node *add(struct node *at, long value)
{
	if (at == NULL) {
		at = calloc(1, sizeof(*at));
		at->value = value;
	} else if (value < at->value) {
		at->left = add(at->left, value);
	} else {
		at->right = add(at->right, value);
	}
	return at;
}
static long sum(const struct node *at) { return at == NULL ? 0 : at->value + sum(at->left) + sum(at->right); }
static long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void)
{
	struct node *root = NULL;
	unsigned seed = 7;
	for (int i = 0; i < 2000; i++)
		root = add(root, (seed = seed * 1103515245 + 12345) >> 8);
	printf("%ld %ld\n", sum(root), fib(20));
	return 0;
}
END

# same NAME COMPILER SOURCE HOOKS...: uftrace does not count what the C library calls, nor do we.
same() {
	name=$1 compiler=$2 from=$3
	shift 3
	"$compiler" -O1 -g "$@" -o prog "$from" -pthread || { fail "$name: compiling"; return; }
	rm -rf uf
	uftrace record --no-libcall -d uf ./prog >/dev/null 2>&1 || { fail "$name: uftrace"; return; }
	uftrace report --no-libcall -d uf -f call 2>/dev/null | awk 'NR > 2 && $2 !~ /^linux:/ { n = $1; $1 = ""; sub(/^ +/, ""); print $0 "\t" n }' | sed 's/(.*\t/\t/' |
		awk -F '\t' '{ n[$1] += $2 } END { for (name in n) print name "\t" n[name] }' | sort >uftrace.txt
	ctxrec -q -O -o run.er --calls --trace-full wait -- ./prog >/dev/null 2>err.txt || fail "$name: ctxrec: $(cat err.txt)"
	ctxan run.er -r calls --format json | jq -r '.rows[] | select(.section == "function") | "\(.function)\t\(.calls)"' | sed 's/(.*\t/\t/' |
		awk -F '\t' '{ n[$1] += $2 } END { for (name in n) print name "\t" n[name] }' | sort >ours.txt
	[ -s uftrace.txt ] || fail "$name: uftrace has nothing"
	# The two write templates differently, and one name of theirs may be several of ours: of C++ the sums are compared.
	if [ "$compiler" = gcc ]; then
		cmp -s ours.txt uftrace.txt || fail "$name: $(diff ours.txt uftrace.txt | head -n 10)"
	else
		[ "$(awk -F '\t' '{ n += $2 } END { print n }' ours.txt)" = "$(awk -F '\t' '{ n += $2 } END { print n }' uftrace.txt)" ] || fail "$name: sums"
	fi
	echo "$name: $(wc -l <ours.txt) functions, $(awk -F '\t' '{ n += $2 } END { print n }' ours.txt) calls"
}
for hooks in -pg "-pg -mfentry" -finstrument-functions; do
	# shellcheck disable=SC2086
	same "trees $hooks" gcc trees.c $hooks
	# shellcheck disable=SC2086
	same "sorts $hooks" g++ sorts.cc $hooks
	# shellcheck disable=SC2086
	same "wait $hooks" gcc "$targets/calls_wait.c" $hooks
done

# ours: the calls of each function that ctxrec records of ./prog.
ours() {
	ctxrec -q -O -o run.er --calls --trace-full wait -- ./prog >/dev/null 2>err.txt || fail "ctxrec: $(cat err.txt)"
	ctxan run.er -r calls --format json | jq -r '.rows[] | select(.section == "function") | "\(.function)\t\(.calls)"' | sort
}
# gprof writes calls from elsewhere and from itself as 1+20; it does not know who calls main.
if command -v gprof >/dev/null; then
	gcc -O1 -g -pg -o prog trees.c
	./prog >/dev/null
	gprof -b -q ./prog gmon.out | awk '/^\[[0-9]+\]/ { split($5, n, "+"); print $6 "\t" n[1] + n[2] }' | sort >gprof.txt
	[ "$(wc -l <gprof.txt)" = 3 ] || fail "gprof: $(cat gprof.txt)"
	ours | grep -v '^main' >ours.txt
	cmp -s ours.txt gprof.txt || fail "gprof: $(diff ours.txt gprof.txt)"
else
	leave_out "no gprof"
fi
# llvm-xray's account of what the runtime of clang's own has logged.
if command -v llvm-xray >/dev/null && clang -O1 -g -fxray-instrument -fxray-instruction-threshold=1 -o prog trees.c 2>/dev/null; then
	XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic xray_logfile_base=xlog." XRAY_BASIC_OPTIONS="func_duration_threshold_us=0" ./prog >/dev/null 2>&1
	llvm-xray account xlog.* -instr_map=./prog -f csv -k 2>/dev/null | awk -F , 'NR > 1 { print $NF "\t" $2 }' | tr -d '"' | sort >xray.txt
	[ "$(wc -l <xray.txt)" = 4 ] || fail "llvm-xray: $(cat xray.txt)"
	ours >ours.txt
	cmp -s ours.txt xray.txt || fail "llvm-xray: $(diff ours.txt xray.txt)"
else
	leave_out "no llvm-xray"
fi
finish
