# --vm python against the programs' own clocks: each function of known.py burns as long as its thread's clock says; and what the target pays for it.
. "$(dirname "$0")/../common.sh" "$@"
need jq
python=$(command -v python3.11 || command -v python3) || skip "no python3"
python=$("$python" -c 'import sys; print(sys.executable if sys.version_info[:2] == (3, 11) else "")')
[ -n "$python" ] || skip "python3 is not 3.11"

shares() {
	ctxrec -q --vm python -F 997 -O -o known.er -- "$python" "$source_dir/testdata/python/known.py" 1 2>said.txt || fail "ctxrec: $(cat said.txt)"
	grep -q 'needs root' said.txt && skip "no probes in the kernel here"
	ctxan -q known.er -r functions --limit 0 --view user --format json >functions.json || return 1
	for name in inner keyed produce Work.step handles thread_work child_work sub_work; do
		ms=$(jq --arg name $name '[.rows[] | select(.function == $name) | .inclusive] | add / 1e6 | round' functions.json)
		echo "$name: $ms ms of 1000"
		[ "$ms" -ge 950 ] && [ "$ms" -le 1050 ] || return 1
	done
}
repeat 3 shares || fail "shares: $(cat said.txt)"

# CPU time of the same work, bare and recorded: the least of several.
cat >work.py <<'PY'
import resource
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
for i in range(400):
    fib(20)
used = resource.getrusage(resource.RUSAGE_SELF)
print("%d" % ((used.ru_utime + used.ru_stime) * 1e6))
PY
least() {
	best=
	for round in 1 2 3 4 5 6 7; do
		now=$("$@" 2>/dev/null | tail -n 1)
		[ -z "$best" ] || [ "$now" -lt "$best" ] && best=$now
	done
	echo "$best"
}
bare=$(least "$python" work.py)
plain=$(least ctxrec -q -F 999 -O -o plain.er -- "$python" work.py)
probed=$(least ctxrec -q --vm python -F 999 -O -o probed.er -- "$python" work.py)
echo "bare $bare us, recorded $plain us, with functions of Python $probed us"
[ "$probed" -le $((bare + bare / 10)) ] || fail "the target needs more than a tenth more: $bare us, $probed us"
finish
