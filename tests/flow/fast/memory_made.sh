# Memory samples of a recording that was made: levels, mappings, latencies, pages, lines that threads share.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/made_program.sh"
need python3

made_program "$work/program"
python3 "$source_dir/tests/flow/perfdata_make.py" memory "$work/program" made.data >answers.json || fail "perfdata_make.py"
memory_as_made || fail "not what the recording was made of"
expect 0 '' ctxan made.data -r memory,cachelines --limit 2
grep -q 'By mapping' out.txt && grep -q '^Line 0x' out.txt && grep -q 'more lines)' out.txt || fail "the text lacks tables"
grep -q 'locked store, L1' out.txt || fail "the text lacks the operation"
expect 0 '' ctxan made.data --by cacheline,access,level,mapping --metric memory-accesses,memory-latency
grep -q '0x5566000090[04]0' out.txt || fail "lines are not hexadecimal"
# Filters ask for what accesses alone have.
all=$(python3 -c 'import json; print(json.load(open("answers.json"))["levels"]["load RAM"])')
expect 0 '' ctxan made.data --filter 'MLEVEL == 8' -r memory --format json
grep -q "\"samples\":$all," out.txt || fail "MLEVEL == 8 does not select $all loads from RAM"
expect 0 '' ctxan made.data --filter 'VADDR < 65536 && LATENCY > 0' --by page64k --metric memory-accesses
grep -q ' 0x0' out.txt || fail "VADDR < 65536"
expect 0 '' ctxan made.data --sql "SELECT count(*) FROM traced WHERE kind = 'memory' AND physical = (address & 16777215)"
grep -qx 400 out.txt || fail "SQL has not all accesses with their physical addresses"
# Without --metric keys of addresses choose the accesses.
expect 0 '' ctxan made.data --by page2m
grep -q '| Memory Accesses | 400 ' out.txt || fail "--by page2m has another metric: $(cat out.txt)"
expect 1 'asks for VADDR' ctxan made.data --by page2m --metric r1cd
unpack perfdata/same
expect 1 'no addresses of memory were recorded' ctxan flat.data -r memory
expect 1 'no such operations were recorded' ctxan flat.data --by page2m
expect 1 "no such index object, perhaps 'page4k'" ctxan flat.data --by page16k
finish
