# What ctxan says of kept recordings of perf (testdata/perfdata) is what perf said of them, sample for sample: perfdata_same.py compares, as in
# perfdata_same, here without perf: threads, processes that fork and exec, two events, without call chains, compressed, a directory, a pipe, copies of the stack.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

unpack perfdata/same
for name in threads processes two good flat compressed directory pipe; do
	echo "$name:"
	python3 "$source_dir/tests/flow/perfdata_same.py" "$name.data" --symfs symfs || fail "$name"
done
# perf unwinds these stacks when it reads them; what the file itself holds of them is the leaf.
echo "dwarf:"
python3 "$source_dir/tests/flow/perfdata_same.py" dwarf.data --no-chains --symfs symfs || fail dwarf
finish
