# Coverage is that of gcov, line by line, and what a line costs is paid once: programs without children that end by _exit, which gcov loses.
. "$(dirname "$0")/../common.sh" "$@"
need gcc gcov python3 jq
need_perf
targets=$source_dir/testdata/targets

# same SOURCE [ARGUMENT]...
same() {
	source=$1
	shift
	rm -rf built && mkdir built
	compiler=gcc
	case $source in *.cc) compiler=g++ ;; esac
	"$compiler" -O0 -g -D_GNU_SOURCE "$targets/$source" -o plain -pthread -lm -ldl || { fail "$source"; return; }
	(cd built && "$compiler" -O0 -g -D_GNU_SOURCE --coverage "$targets/$source" -o counted -pthread -lm -ldl && ./counted "$@" >/dev/null 2>&1; gcov -j ./*.gcda >/dev/null 2>&1)
	ctxrec -q -O -o run.er --indicator '*:once' -- ./plain "$@" >/dev/null 2>err.txt || fail "$source: exit status $?: $(cat err.txt)"
	ctxan run.er --export lcov -o run.info || fail "$source: --export lcov"
	python3 "$source_dir/tests/flow/coverage_same.py" run.info built/*.gcov.json.gz >same.txt || fail "$source: $(cat same.txt)"
	cat same.txt
}
same indicators.c 3 0
same indicators.c 0 0 windows
same coroutines.c
same throwing.cc
same altstack.c
same noreturn.c
same calls_thrown.cc
same deepest.c
same waits.c

# A hot loop: instructions are those of the program without, and a constant.
cat >hot.c <<'END'
int main(void)
{
	volatile long sum = 0;
	for (long i = 0; i < 200000000; i++)
		sum += i;
	return sum == 0;
}
END
gcc -O1 -g hot.c -o hot
seconds() { ctxan "$1" -r processes --format json | jq '[.rows[] | .weight] | add / 1e9'; }
ctxrec -q -O -o without.er -e task-clock --states off -- ./hot
ctxrec -q -O -o with.er -e task-clock --states off --indicator '*:once' -- ./hot
echo "a hot loop: $(seconds without.er) s without, $(seconds with.er) s with coverage"
awk -v a="$(seconds without.er)" -v b="$(seconds with.er)" 'BEGIN { exit !(b < a * 1.5 + 0.1) }' || fail "coverage costs after the first execution"
if command -v lcov >/dev/null; then lcov --summary run.info >lcov.txt 2>&1 || fail "lcov --summary: $(cat lcov.txt)"; else leave_out "lcov is not installed"; fi
finish
