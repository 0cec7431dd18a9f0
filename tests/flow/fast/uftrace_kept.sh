# What ctxan's reader says of kept directories of uftrace (testdata/uftrace) is what uftrace said of them, and their reports have it.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz
CTX_ONLY_SAID=1
export CTX_ONLY_SAID

unpack uftrace/kept
names=$(echo ./*.data | sed 's|\./||g; s|\.data||g')
# shellcheck disable=SC2086
python3 "$source_dir/tests/flow/uftrace_same.py" call_sums $names >said || fail "$(cat said)"
grep -q ' 10 directories compared' said || fail "$(cat said)"

# The same directory by ctxan: recognised, named, counted.
ctxan fib.data -r functions --format json >fib.json 2>err || fail "fib: $(cat err)"
python3 - <<'END' || fail "fib.json"
import json
rows = json.load(open("fib.json"))
text = json.dumps(rows)
assert '"fib"' in text and '"printf"' in text, text[:500]
END
ctxan forks.data -r processes >processes 2>err || fail "forks: $(cat err)"
grep -q fib processes || fail "forks: the executed program is missing: $(cat processes)"

# Exported as a trace and read back: the same calls.
for name in fib threads; do
	ctxan $name.data -r calls >calls 2>err || fail "$name: $(cat err)"
	ctxan $name.data --export chrome-trace -o $name.json 2>err || fail "$name: $(cat err)"
	ctxan $name.json -r calls >back 2>err || fail "$name.json: $(cat err)"
	sed -n '2,$p' calls >expected
	sed -n '2,$p' back | diff expected - >differs || fail "$name: $(cat differs)"
done

# Damage costs what is damaged, and is said with file and offset.
cp -r fib.data cut.data && truncate -s -5 "$(ls cut.data/[0-9]*.dat)"
call_sums uftrace cut.data >out || fail "cut: refused"
grep -q 'damage: [0-9]*\.dat: offset [0-9]*: cut: the last record lacks its end' out || fail "cut: $(cat out)"
cp -r fib.data torn.data && printf 'XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX' | dd of="$(ls torn.data/[0-9]*.dat)" bs=16 seek=20 conv=notrunc 2>/dev/null
call_sums uftrace torn.data >out || fail "torn: refused"
grep -q 'damage: [0-9]*\.dat: offset 320: 32 bytes are no records' out || fail "torn: $(cat out)"
cp -r fib.data old.data && printf '\002' | dd of=old.data/info bs=1 seek=8 conv=notrunc 2>/dev/null
ctxan old.data >out 2>&1 && fail "a version that is not known is read"
grep -q 'old.data: info: offset 8: version 2; 3 and 4 are read' out || fail "version: $(cat out)"
cp -r fib.data narrow.data && printf '\001' | dd of=narrow.data/info bs=1 seek=15 conv=notrunc 2>/dev/null
ctxan narrow.data >out 2>&1 && fail "a program of 32 bits is read"
grep -q 'offset 15: recorded from a program of 32 bits' out || fail "32 bits: $(cat out)"
cp -r fib.data third.data && printf '\003' | dd of=third.data/info bs=1 seek=8 conv=notrunc 2>/dev/null
call_sums uftrace third.data >third && call_sums uftrace fib.data >fourth || fail "version 3"
cmp -s third fourth || fail "version 3 differs"
cp -r fib.data lineless.data && echo 'TASK timestamp=x' >>lineless.data/task.txt
call_sums uftrace lineless.data | grep -q 'damage: task.txt: line 3: cannot be understood' || fail "task.txt"
cp -r fib.data nameless.data && rm nameless.data/fib.sym
call_sums uftrace nameless.data | grep -q ' 0x' || fail "without symbols functions are no addresses"
finish
