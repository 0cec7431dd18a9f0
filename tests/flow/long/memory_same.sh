# Memory samples: addresses and latencies as perf reads them; sockets of processors as it has them.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/made_program.sh"
need python3 perf jq

made_program "$work/program"
python3 "$source_dir/tests/flow/perfdata_make.py" memory "$work/program" made.data >answers.json || fail "perfdata_make.py"
perf script -i made.data -F addr,weight 2>perf.err >perf.txt
[ -s perf.txt ] || { cat perf.err; skip "this perf does not read the recording"; }
memory_as_made perf.txt || fail "perf reads it otherwise"

python3 "$source_dir/tests/flow/perfdata_make.py" topology "$work/program" made.data >answers.json || fail "perfdata_make.py"
topology_as_made
perf report -i made.data --stdio -F period,socket -s socket -t ';' 2>perf.err | grep '^ *[0-9]' | tr -d ' ' | sort >perf.txt
[ -s perf.txt ] || fail "perf says nothing of sockets: $(cat perf.err)"
expect 0 '' ctxan made.data --by socket --format json
jq -r '.rows[] | "\(.weight);\(.socket)"' out.txt | sed 's/;\(.\)$/;00\1/' | sort >ours.txt
diff perf.txt ours.txt || fail "sockets are not perf's"
finish
