# Traces that clang and node write now: the reader says what an obviously slow one says.
. "$(dirname "$0")/../common.sh" "$@"
need python3
slow=$source_dir/tests/flow/traceevent_slow.py
compared=0
if command -v clang >/dev/null && clang -ftime-trace -ftime-trace-granularity=0 -I"$source_dir" -D_GNU_SOURCE -c "$source_dir/model/interval.c" -o interval.o; then
	python3 "$slow" interval.json call_sums >said || fail "clang: $(cat said)"
	compared=1
fi
if command -v node >/dev/null; then
	echo 'const fs = require("fs"); for (let i = 0; i < 500; i++) fs.readFileSync(__filename); setTimeout(() => fs.readFile(__filename, () => {}), 20)' >reads.js
	node --trace-events-enabled --trace-event-categories v8,node,node.async_hooks,node.fs.sync reads.js || fail node
	python3 "$slow" node_trace.1.log call_sums >said || fail "node: $(cat said)"
	compared=1
fi
[ $compared = 1 ] || skip "neither clang nor node"
for seed in $(seq 100 160); do
	python3 "$source_dir/tests/flow/traceevent_make.py" random "$seed" 3000 >random.json
	python3 "$slow" random.json call_sums >said || fail "random $seed: $(cat said)"
done
finish
