# Memory samples: addresses and latencies as perf reads them.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/made_program.sh"
need python3 perf

made_program "$work/program"
python3 "$source_dir/tests/flow/perfdata_make.py" memory "$work/program" made.data >answers.json || fail "perfdata_make.py"
perf script -i made.data -F addr,weight 2>perf.err >perf.txt
[ -s perf.txt ] || { cat perf.err; skip "this perf does not read the recording"; }
memory_as_made perf.txt || fail "perf reads it otherwise"
finish
