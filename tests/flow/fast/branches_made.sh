# Branch stacks of a recording that was made: edges, predictions, cycles, blocks, loops, and their metrics.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/made_program.sh"
need python3

made_program "$work/program"
python3 "$source_dir/tests/flow/perfdata_make.py" branches "$work/program" made.data >answers.json || fail "perfdata_make.py"
expect 0 '' ctxan made.data -r branches --format json
cp out.txt report.json
python3 "$source_dir/tests/flow/branches_made.py" report.json answers.json || fail "branches are not those that the recording was made of"
expect 0 '' ctxan made.data -r branches --limit 3
grep -q 'Loops' out.txt && grep -q 'more edges)' out.txt || fail "the text lacks loops or the rest"
expect 0 '' ctxan made.data -r branches --sort mispredicted --format csv
entries=$(python3 -c 'import json; print(json.load(open("report.json"))["samples"])')
expect 0 '' ctxan made.data -r functions --metric branch-entries,mispredicted --format csv
grep -q ",$entries," out.txt || fail "the metric branch-entries has not all $entries"
# Instructions have the branches that they are.
function=$(python3 -c 'import json; print(max(json.load(open("answers.json"))["pairs"], key=lambda p: p[2])[0])')
expect 0 '' ctxan made.data -r "disasm=$function" --metric branch-entries
grep -q "$function" out.txt || fail "no instructions of $function"
expect 0 '' ctxan made.data -r branches --function "$function" --format csv
expect 0 '' ctxan made.data --sql "SELECT count(*) FROM traced WHERE kind = 'branch'"
grep -qx "$entries" out.txt || fail "SQL has not all $entries entries: $(cat out.txt)"
unpack perfdata/same
expect 1 'no branch stacks were recorded' ctxan flat.data -r branches
finish
