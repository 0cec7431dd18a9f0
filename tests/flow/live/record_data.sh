# ctxrec --data: addresses of data of page faults and of hardware breakpoints, what is mapped there, and whose allocation it was; counts
# are exact by construction. What cannot have addresses is refused.
. "$(dirname "$0")/../common.sh" "$@"
need jq gcc nm
need_perf
gcc -O0 -g -no-pie "$source_dir/testdata/targets/data.c" -o data || exit 1
address_of() { echo "0x$(nm data | awk -v name="$1" '$3 == name { print $1 }')"; }
record() { ctxrec -q -O -o run.er "$@" >out.txt 2>err.txt || fail "$*: exit status $?: $(cat err.txt)"; }
# rows JQ WHAT: of -r memory.
rows() { ctxan run.er -r memory --format json | jq -e "[.rows[]] | $1" >/dev/null || fail "$2: $(ctxan run.er -r memory)"; }
count_of='def of(s; k; v): [.[] | select(.section == s and .[k] == v) | .accesses] | add // 0;'

record --data -e page-faults/period=1/u -- ./data 100
rows "(map(select(.section == \"function\" and .function == \"touch\"))[0].accesses >= 319)" "functions"
ctxan run.er -r memory --format json | jq -e '[.rows[] | select(.section == "stack" and (.stack | index("touch_mapping")))] | map(.accesses) | add == 64' >/dev/null ||
	fail "64 pages of a mapping: $(ctxan run.er -r memory)"
ctxan run.er -r memory --format json | jq -e '[.rows[] | select(.section == "stack" and (.stack | index("touch_block")))] | map(.accesses) | add == 255' >/dev/null ||
	fail "255 pages of a block: $(ctxan run.er -r memory)"
rows "$count_of of(\"mapping\"; \"mapping\"; \"//anon\") >= 319 and of(\"mapping\"; \"mapping\"; \"[stack]\") > 0 and of(\"level\"; \"operation\"; \"fault\") > 319" mappings
rows 'map(select(.section == "allocation")) == []' "no heap"
# Each page was touched once.
ctxan run.er -r index --by page4k --filter '"touch_mapping" IN STACK' --format json | jq -e '(.rows | length) == 64 and ([.rows[].samples] | add) == 64 and all(.rows[]; .index % 4096 == 0)' >/dev/null ||
	fail "--by page4k: $(ctxan run.er -r index --by page4k --filter '"touch_mapping" IN STACK' | head)"


# Data objects: of the instruction that faulted.
objects() { ctxan "$@" -r data-objects --format json; }
rows_of='def of(o; m): [.rows[] | select(.section == "member" and .object == o and .member == m) | .accesses] | add // 0;'
if [ "$(uname -m)" = x86_64 ]; then
	objects run.er --function fill_nodes | jq -e "$rows_of of(\"{structure:node}\"; \"{double in.d}\") == 32 and ([.rows[] | select(.section == \"object\")] | length == 1)" >/dev/null ||
		fail "members of nodes: $(ctxan run.er -r data-objects --function fill_nodes)"
	objects run.er --function touch | jq -e "$rows_of of(\"<Scalars>\"; \"{char}\") == 319" >/dev/null || fail "scalars: $(ctxan run.er -r data-objects --function touch)"
	# With optimisation it may be unknown what an instruction accesses, but what is known is right.
	for level in 1 2 3; do
		gcc -O$level -g -fno-inline "$source_dir/testdata/targets/data.c" -o data.o$level || exit 1
		ctxrec -q -O -o o.er --data -e page-faults/period=1/u -- ./data.o$level >out.txt || fail "-O$level"
		objects o.er --function fill_nodes | jq -e "[.rows[] | select(.section == \"member\") | .object + .member] | unique - [\"{structure:node}{double in.d}\", \"<Unknown>\"] == []" >/dev/null ||
			fail "-O$level: $(ctxan o.er -r data-objects --function fill_nodes)"
	done
fi

if [ -e "$bin/libctxrt.so" ]; then
	record --heap --data -e page-faults/period=1/u -- ./data 100
	ctxan run.er -r memory --format json | jq -e '[.rows[] | select(.section == "allocation" and .stack != null and (.stack | index("make_block")))] | map(.accesses) | add == 255' >/dev/null ||
		fail "allocations: $(ctxan run.er -r memory)"
	ctxan run.er -r memory | grep -q '<no allocation recorded>' || fail "the rest: $(ctxan run.er -r memory)"
else
	leave_out "the runtime is for x86-64"
fi

# Breakpoints, which a virtual machine may not have.
if ctxrec -q -O -o run.er --data -e "mem:$(address_of counter)/4:w:u" -- ./data 300 >out.txt 2>err.txt; then
	rows '(map(select(.section == "level")) | map({(.operation): .accesses}) | add) == {store: 300}' "writes of a variable"
	rows 'map(select(.section == "function")) | map({(.function): .accesses}) | add == {count: 300}' "by function"
	record --data -e "mem:$(address_of counter)/4:rw:u,mem:$(address_of thing)/8:u" -- ./data 300
	rows '(map(select(.section == "function")) | map({(.function): .accesses}) | add) == {count: 600, change: 300}' "accesses of two"
	ctxan run.er -r index --by VADDR --format json | jq -e '[.rows[].samples] | sort == [300, 600]' >/dev/null || fail "--by VADDR: $(ctxan run.er -r index --by VADDR)"
	record --data --indicator counter:w -- ./data 300
	rows '(map(select(.section == "level")) | map({(.operation): .accesses}) | add) == {store: 300}' "an indicator"
	record --data -e "mem:$(address_of counter)/4:w:u,mem:$(address_of thing)/8:w:u,mem:$(printf '0x%x' $(($(address_of thing) + 24)))/8:w:u" -- ./data 300
	objects run.er | jq -e "$rows_of of(\"<Scalars>\"; \"{int counter}\") == 300 and of(\"{structure:foo}\"; \"{int i}\") == 300 and of(\"{structure:foo}\"; \"{double in.d}\") == 150 and .samples == 750" >/dev/null ||
		fail "data objects of variables: $(ctxan run.er -r data-objects)"
	ctxan run.er -r data-layout=foo_t --format json | jq -e '[.rows[] | [.offset, .size, .member, .accesses]] == [[0, 4, "{int i}", 300], [4, 1, "{char c}", 0], [5, 3, "<padding>", 0], [8, 8, "{long int l}", 0],
		[16, 4, "{array+short int in.s}", 0], [20, 4, "<padding>", 0], [24, 8, "{double in.d}", 150], [32, 4, "{enumeration:color color}", 0], [36, 4, "<padding>", 0], [40, 8, "{pointer+structure:foo next}", 0]]' >/dev/null ||
		fail "the layout: $(ctxan run.er -r data-layout=foo_t)"
	expect 1 'has a structure no_such_type' ctxan run.er -r data-layout=no_such_type
	# Without --data samples are as before.
	record -e "mem:$(address_of counter)/4:w:u" -- ./data 300
	expect 1 'memory' ctxan run.er -r memory
else
	grep -q 'no hardware resource\|not available\|hardware breakpoint' err.txt || fail "mem:: $(cat err.txt)"
	leave_out "hardware breakpoints: $(head -n 1 err.txt)"
fi

expect 1 '--data: no event has addresses of data' ctxrec -q -O -o no.er --data -e cpu-clock -- true
expect 1 'a breakpoint is for r, w, rw or x' ctxrec -q -O -o no.er -e mem:0x1000:q -- true
expect 1 'breakpoints are mem:ADDRESS' ctxrec -q -O -o no.er -e mem:counter -- true
finish
