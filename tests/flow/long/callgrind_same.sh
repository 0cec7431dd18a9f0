# callgrind.out of valgrind: the own cost of every function, as callgrind_annotate adds them up.
. "$(dirname "$0")/../common.sh" "$@"
need valgrind callgrind_annotate python3

valgrind -q --tool=callgrind --dump-instr=yes --callgrind-out-file=cg.out "$bin/ctxan" --version >/dev/null 2>valgrind.err || skip "valgrind does not run the program: $(tail -1 valgrind.err)"
callgrind_annotate --threshold=100 --auto=no cg.out >said.txt || skip "callgrind_annotate fails"
expect 0 '' ctxan cg.out -q -r functions --limit 0 --format json
python3 - out.txt said.txt "$(sed -n 's/^totals: *\([0-9]*\).*/\1/p' cg.out)" <<'EOF' || fail "callgrind_annotate has other costs"
import collections, json, re, sys
report = json.load(open(sys.argv[1]))
ours, theirs = collections.Counter(), collections.Counter()
for row in report['rows']:
    if row['function'] != '<Total>':
        ours[re.sub(r" \([^()]*\)$| \[[^\]]*\]$|'\d+$", '', row['function'])] += row['exclusive']
for line in open(sys.argv[2]):
    # "1,234 (12.3%)  file:function'2 [object]"
    found = re.match(r' *([\d,]+) \([^)]*\) +[^:]*:(.*?)(?:\'\d+)?(?: \[[^\]]*\])?$', line.rstrip())
    if found:
        theirs[found.group(2)] += int(found.group(1).replace(',', ''))
differ = [(name, n, ours[name]) for name, n in theirs.items() if name not in ('???', '(below main)') and ours[name] != n]
print(len(theirs), 'functions;', differ[:5])
sys.exit(len(theirs) < 50 or differ != [] or report['weight'] != int(sys.argv[3]))
EOF
finish
