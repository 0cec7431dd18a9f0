#!/bin/sh
# Every test has one tier (fast, live or long), the scripts of a tier do only what is allowed there, and all can fail (HACKING.md):
#   tests/test_tiers.sh SOURCE_DIR CC BUILD_DIR
set -eu
command -v jq >/dev/null || { echo "SKIP: jq is not installed"; exit 77; }
failed=0
wrong() {
	printf '%s\n' "$*"
	failed=1
}

# Listed in a folder of its own: ctest empties the log of the one that it is called in, and this may be a run of all tests there.
list=$(mktemp -d)
trap 'rm -rf "$list"' EXIT
printf 'subdirs("%s")\n' "$3" >"$list/CTestTestfile.cmake"
without=$(ctest --test-dir "$list" --show-only=json-v1 | jq -r 'if .tests == [] then "no tests" else .tests[] |
	{name, labels: [.properties[] | select(.name == "LABELS") | .value[] | select(. == "fast" or . == "live" or . == "long")]} |
	select(.labels | length != 1) | "\(.name): tiers: \(.labels | join(" "))" end')
[ -z "$without" ] || wrong "$without"

cd "$1/tests/flow"
# forbid WHAT PATTERN FILE...
forbid() {
	what=$1
	pattern=$2
	shift 2
	found=$(grep -nE -- "$pattern" "$@" || true)
	[ -z "$found" ] || wrong "$what:
$found"
}
forbid "fast tests record nothing" '\bneed_perf\b|\bctxrec -q|perf (record|sched record)|gprofng collect|\bcollect [a-z]' fast/*.sh
forbid "only long tests repeat a measurement" '\brepeat [0-9]|three_times|for attempt' fast/*.sh live/*.sh
forbid "nothing is downloaded while tests run" '\b(npm (ci|install|i)|npx|pip install|apt-get|curl|wget|go (get|install))\b' */*.sh ../browser/*.sh
for script in */*.sh; do
	[ "$(tail -n 1 "$script")" = finish ] || wrong "$script: failures count at its end alone: the last line is 'finish'"
done
exit $failed
