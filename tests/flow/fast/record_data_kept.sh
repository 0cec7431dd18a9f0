# Reports of the data that instructions accessed, of a kept recording: accesses follow from the program's source (testdata/targets/data.c).
. "$(dirname "$0")/../common.sh" "$@"
need jq xz
unpack recordings/data

# ask REPORT JQ WHAT: of the rows, with `of`, the accesses of rows with a key's value.
ask() {
	ctxan data.er -r $1 --format json >rows.json || fail "-r $1"
	jq -e "def of(s; k; v): [.[] | select(.section == s and .[k] == v) | .accesses] | add // 0; [.rows[]] | $2" rows.json >/dev/null || fail "$3: $(ctxan data.er -r $1)"
}
ask memory 'of("function"; "function"; "count") == 300 and of("function"; "function"; "change") == 450 and of("level"; "operation"; "store") == 750' 'writes of variables'
ask memory 'of("function"; "function"; "fill_nodes") == 32 and of("mapping"; "mapping"; "//anon") >= 319 + 32' 'pages'
ask memory '[.[] | select(.section == "allocation" and .stack != null and (.stack | index("make_block")))] | map(.accesses) | add == 255' 'pages of an allocation'
ask data-objects 'def of(o; m): [.[] | select(.section == "member" and .object == o and .member == m) | .accesses] | add // 0;
	of("<Scalars>"; "{int counter}") == 300 and of("{structure:foo}"; "{int i}") == 300 and of("{structure:foo}"; "{double in.d}") == 150' 'variables and members'
expect 0 '' ctxan data.er -r data-objects --function fill_nodes --format json
jq -e '[.rows[] | select(.section == "member" and .object == "{structure:node}") | [.member, .accesses]] == [["{double in.d}", 32]]' out.txt >/dev/null || fail "members of nodes: $(cat out.txt)"
expect 0 '' ctxan data.er -r data-layout=foo_t --format json
jq -e '[.rows[] | [.offset, .size, .member, .accesses]] == [[0, 4, "{int i}", 300], [4, 1, "{char c}", 0], [5, 3, "<padding>", 0], [8, 8, "{long int l}", 0],
	[16, 4, "{array+short int in.s}", 0], [20, 4, "<padding>", 0], [24, 8, "{double in.d}", 150], [32, 4, "{enumeration:color color}", 0], [36, 4, "<padding>", 0],
	[40, 8, "{pointer+structure:foo next}", 0]]' out.txt >/dev/null || fail "the layout: $(cat out.txt)"
expect 0 '' ctxan data.er --by page4k --filter '"touch_mapping" IN STACK' --format json
jq -e '(.rows | length) == 64 and all(.rows[]; .samples == 1 and .index % 4096 == 0)' out.txt >/dev/null || fail "pages of a mapping: $(cat out.txt)"
finish
