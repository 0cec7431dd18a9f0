# Waits off the CPU and control groups, as perf saves them: waits are times, and processes have their groups.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/made_program.sh"
need python3

made_program "$work/program"
python3 "$source_dir/tests/flow/perfdata_make.py" offcpu "$work/program" waits.data >waits.json || fail "perfdata_make.py"
expect 0 '' ctxan waits.data -r functions --format json
python3 - out.txt waits.json <<'EOF' || fail "waits are not those that the recording was made of"
import json, sys
rows, waits = (json.load(open(path)) for path in sys.argv[1:])
got = {row['function']: row['exclusive'] for row in rows['rows'] if row['function'] in waits['waits']}
sys.exit(got != waits['waits'] and print(got, waits) is None)
EOF
expect 0 '' ctxan waits.data -r header
grep -q 'offcpu-time .*samples.* ms' out.txt || fail "the unit is not time"
# Sums without a time, as perf wrote them at first, do not make the recording longer.
grep -q '^duration *9[0-9]\.' out.txt || fail "the recording is longer than its times: $(grep duration out.txt)"

python3 "$source_dir/tests/flow/perfdata_make.py" memory "$work/program" made.data >/dev/null || fail "perfdata_make.py"
expect 0 '' ctxan made.data --by cgroup --metric memory-accesses --format csv
grep -q '/made.slice/x.scope' out.txt || fail "the process has no control group"
expect 0 '' ctxan made.data -r header
grep -q 'CGROUP' out.txt && fail "control groups are records that are not used"
finish
