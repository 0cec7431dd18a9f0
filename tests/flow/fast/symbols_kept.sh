# Functions, files and lines of every frame of two kept C++ programs (testdata/recordings), inlined calls included: ours, and what addr2line and
# llvm-symbolizer said of the same addresses.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz
grep -q __asan_init "$bin/symbolize" && export ASAN_OPTIONS=detect_leaks=0 # symbolize leaves what it has to the end of the process

for name in gcc5 clang4; do
	unpack answers/symbols-$name
	symbolize $name <$name.addresses >$name.ours 2>figures.txt || fail "$name: symbolize failed"
	grep -q 'from none' figures.txt && fail "$name: $(cat figures.txt)"
	for tool in addr2line llvm-symbolizer; do
		python3 "$source_dir/tests/flow/symbols_same.py" "$name, $tool" $name.ours $name.$tool || fail "$name, $tool"
	done
done
finish
