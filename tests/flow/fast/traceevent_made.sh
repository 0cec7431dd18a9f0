# Traces in the Trace Event Format: the reader says what an obviously slow one says, of real files and of made ones; errors cost what is wrong.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz gzip
slow=$source_dir/tests/flow/traceevent_slow.py
make=$source_dir/tests/flow/traceevent_make.py
sums=$bin/call_sums

unpack traceevent/kept
for file in *.json; do
	python3 "$slow" "$file" "$sums" >said || fail "$file: $(cat said)"
done
for seed in 1 2; do
	python3 "$make" random $seed 400 >random.json
	python3 "$slow" random.json "$sums" >said || fail "random $seed: $(cat said)"
done

# Packed, in the form of an object, and without its end: the same.
python3 "$make" nested 500 >nested.json
"$sums" trace nested.json >plain || fail nested
gzip -k nested.json && "$sums" trace nested.json.gz >packed && cmp -s plain packed || fail "gzip"
{ printf '{"displayTimeUnit": "ms", "other": [{"ph": "X"}], "traceEvents": ' && cat nested.json && printf ', "after": 1}'; } >object.json
"$sums" trace object.json | sed 's/object.json/nested.json/' | cmp -s plain - || fail "object"
sed '$d' nested.json >unterminated.json
"$sums" trace unterminated.json | cmp -s plain - || fail "a list without its end"

# Cut, wrong, and wrong in the middle.
head -c 2000 nested.json >cut.json
"$sums" trace cut.json >out || fail "cut: refused"
grep -q 'damage: cut.json: offset 2000: cut' out || fail "cut: $(cat out)"
head -c 1500 nested.json.gz >cut.json.gz
"$sums" trace cut.json.gz >out || fail "cut.gz: refused"
grep -q 'damage: cut.json.gz: offset [0-9]*: cannot be unpacked any further' out || fail "cut.gz: $(cat out)"
sed '10s/"ph"/ph/' nested.json >wrong.json
"$sums" trace wrong.json >out || fail "wrong: refused"
grep -q 'damage: wrong.json: line 10, offset [0-9]*: no JSON' out || fail "wrong: $(cat out)"
sed '10d' nested.json >without.json
"$sums" trace without.json | grep -v damage >expected
grep -v damage out | cmp -s expected - || fail "one wrong event costs more than itself"
echo '{"traceEvents": [' >empty.json
ctxan empty.json >out 2>&1 && fail "a trace without events is read"
grep -q 'has no events with a time' out || fail "empty: $(cat out)"
echo '{"a": 1}' >other.json
ctxan other.json >out 2>&1 && fail "any JSON is read"
grep -q 'JSON or pprof, nor a trace of calls' out || fail "other: $(cat out)"

# By ctxan: recognised by content, marks and names.
ctxan nested.json -r functions >out 2>err || fail "ctxan: $(cat err)"
grep -q 'outer 1' out || fail "ctxan: $(cat out)"
cat >named.json <<'END'
[{"ph":"B","pid":1,"tid":2,"ts":1,"name":"load","cat":"io"},
{"ph":"i","pid":1,"tid":2,"ts":2,"name":"first byte"},
{"ph":"C","pid":1,"tid":2,"ts":3,"name":"queue","args":{"value":7}},
{"ph":"s","pid":1,"tid":2,"ts":3,"name":"flow","id":1},
{"ph":"b","pid":1,"tid":2,"ts":3,"name":"request","cat":"net","id":"0x1"},
{"ph":"E","pid":1,"tid":2,"ts":4},
{"ph":"e","pid":1,"tid":2,"ts":5,"name":"request","cat":"net","id":"0x1"},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"Worker"}}
END
ctxan named.json -r threads >out 2>err || fail "named: $(cat err)"
grep -q Worker out && grep -q 'net #1' out || fail "threads: $(cat out)"
ctxan named.json -r marks >out 2>err || fail "marks: $(cat err)"
grep -q 'first byte' out || fail "marks: $(cat out)"
finish
