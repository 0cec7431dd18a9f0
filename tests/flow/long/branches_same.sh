# Branch stacks: the same pairs of functions, as often, as perf counts them.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/made_program.sh"
need python3 perf

made_program "$work/program"
python3 "$source_dir/tests/flow/perfdata_make.py" branches "$work/program" made.data >answers.json || fail "perfdata_make.py"
perf report -b -i made.data --stdio -F period,symbol_from,symbol_to -t ';' 2>perf.err | grep -v '^#' >perf.txt
[ -s perf.txt ] || { cat perf.err; skip "this perf does not read the recording"; }
expect 0 '' ctxan made.data -r branches --format json
cp out.txt report.json
python3 "$source_dir/tests/flow/branches_made.py" report.json answers.json perf.txt || fail "perf counts otherwise"
finish
