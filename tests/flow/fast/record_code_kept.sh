# Lines, inlined functions, source and instructions of a kept recording of an optimised program (testdata/recordings), next to what addr2line and objdump
# said of the program.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/code_same.sh"
need jq xz

unpack answers/code
check_code "$(grep -n '// the hot line' hot_line.cc | cut -d: -f1)"

# The inlined function is a node below the one that it is inlined into, and the copy of the source is shown.
ctxan -q code.er -r stacks --format json --limit 0 |
	jq -r '.rows[] | [.frames[].function] | join(" < ")' | grep -q 'main < work(int) < root_sum (inlined)$' || fail "no stack of main, work and root_sum"
ctxan -q --no-inlines --db plain.db code.er -r functions --format csv --limit 0 | grep -q '(inlined)' && fail "--no-inlines shows inlined functions"
ctxan -q code.er -r source=root_sum | grep -q 'the hot line' || fail "the copy of the source is not used"
finish
