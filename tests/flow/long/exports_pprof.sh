# Sources, instructions and stacks of a fresh recording that go tool pprof finds through our export: programs at any address and at a fixed one.
. "$(dirname "$0")/../common.sh" "$@"
need g++ go jq python3
PPROF_TMPDIR=$HOME
PPROF_BINARY_PATH=$HOME
export PPROF_TMPDIR PPROF_BINARY_PATH
need_perf

# go tool pprof -weblist knows C++ functions by the short name that DWARF has: work is a C function here.
sed 's/^.*[ *]work(int/extern "C" &/' "$source_dir/testdata/targets/hot_line.cc" >hot_line.cc
grep -q '^extern "C"' hot_line.cc || fail "hot_line.cc has no work(int"
line=$(grep -n '// the hot line' hot_line.cc | cut -d: -f1)
# The page goes to a file instead of a browser.
printf '#!/bin/sh\nfor page do :; done\ncp "$page" "%s/page.html"\n' "$work" >browser
chmod +x browser

for how in -pie -no-pie; do
	g++ -O2 -g -fPIE $how -o prog hot_line.cc || { fail "g++ $how"; continue; }
	rm -rf run.er*
	ctxrec -q -F 999 -o run.er -- ./prog >prog.out || fail "$how: ctxrec"
	ctxan -q run.er --export pprof -o run.pb.gz || fail "$how: export"
	weight=$(ctxan -q run.er -r lines --limit 0 --format json |
		jq --argjson line "$line" '[.rows[] | select((.file // "" | endswith("hot_line.cc")) and .line == $line) | .exclusive] | add // 0')
	[ "$weight" -gt 0 ] || fail "$how: the hot line has no weight"
	go tool pprof -unit=ns -list='root_sum' run.pb.gz >list.txt 2>err.txt || fail "$how: -list: $(cat err.txt)"
	grep -E "^ *${weight}ns .* $line:.*// the hot line" list.txt >/dev/null || fail "$how: -list: $(grep 'the hot line' list.txt) instead of $weight"
	go tool pprof -unit=ns -disasm=work run.pb.gz >disasm.txt 2>err.txt || fail "$how: -disasm: $(cat err.txt)"
	ctxan -q run.er -r pcs --limit 0 --format json |
		jq -r '.rows[] | select(.exclusive > 0 and (.function // "" | . == "work")) | "\(.exclusive)"' | sort >ours.txt
	sed -n 's/^ *\([0-9]*\)ns .* [0-9a-f]*: .*/\1/p' disasm.txt | sort >theirs.txt
	grep -q . theirs.txt || fail "$how: -disasm: no instruction has weight"
	cmp -s ours.txt theirs.txt || fail "$how: -disasm: $(diff ours.txt theirs.txt | head -n 5)"
	rm -f page.html
	BROWSER=$work/browser go tool pprof -unit=ns -weblist=work run.pb.gz >out.txt 2>err.txt || fail "$how: -weblist: $(cat err.txt)"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ -s page.html ] && break
		sleep 0.2
	done
	grep -q 'the hot line' page.html && grep -q "${weight}ns" page.html || fail "$how: -weblist: the hot line is not there"
	go tool pprof -traces run.pb.gz >traces.txt 2>err.txt || fail "$how: -traces: $(cat err.txt)"
	grep -q 'root_sum (inlined) (inline)' traces.txt || fail "$how: -traces: no root_sum"
done
finish
