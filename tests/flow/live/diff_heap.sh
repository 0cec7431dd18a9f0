# Comparison of the heap of two runs whose allocations are known: 100 and 150 blocks of 11 bytes, all of them leaked.
. "$(dirname "$0")/../common.sh" "$@"
need jq
[ -e "$bin/libctxrt.so" ] || skip "the runtime is for x86-64"
need_perf

for n in 100 150; do
	LD_PRELOAD= ctxrec -q -o $n.er --heap -- heap child $n >/dev/null 2>err.txt || fail "$n blocks: $(cat err.txt)"
done
ctxan -q 100.er 150.er --diff -r heap --format json >diff.json 2>err.txt || fail "diff: $(cat err.txt)"
# table WORD A B
table() {
	got=$(jq -r --arg word "$1" 'select(.metric.word == $word) | .rows[] | select(.function == "in_child") | "\(.a) \(.b) \(.verdict)"' diff.json)
	[ "$got" = "$2 $3 slower" ] || fail "$1: '$got' instead of '$2 $3 slower'"
}
table heapallocbytes 1100 1650
table heapalloccnt 100 150
table heapleakbytes 1100 1650
table heapleakcnt 100 150
[ "$(jq -s 'map(.report) | unique | join(",")' diff.json)" = '"heap"' ] || fail "reports: $(jq .report diff.json)"

# The same run: nothing differs.
ctxan -q 100.er 100.er --diff -r heap --format json >same.json 2>err.txt || fail "diff: $(cat err.txt)"
jq -e 'all(.rows[]; .change == 0 and .verdict == "no evidence")' same.json >/dev/null || fail "the same run: $(head -c 300 same.json)"

finish
