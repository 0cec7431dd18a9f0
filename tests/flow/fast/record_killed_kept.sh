# A kept experiment whose recorder was killed after four seconds of the target's CPU time (testdata/recordings): all but about the last second can be read,
# and the header says that the run was not closed.
. "$(dirname "$0")/../common.sh" "$@"
need jq xz

unpack answers/killed
n=$(ctxan -q killed.er -r functions --format json | jq .samples)
used=$(cat killed.cpu) # hundredths of a second
[ "$n" -gt $((600 * used / 100)) ] || fail "killed recorder: only $n samples of $used hundredths of a second"
ctxan -q killed.er -r header | grep -qi 'not closed' || fail "the header does not say that the run was not closed"
# The samples are spread over the whole of what was recorded.
end=$(ctxan -q killed.er -r header --format json | jq '.intervals_ns[0][1]')
halves=$(for part in 0ns:$((end / 2))ns $((end / 2))ns:${end}ns; do ctxan -q killed.er -i $part -r functions --format json | jq .samples; done)
echo "$halves" | awk -v n="$n" '{ sum += $1; empty += $1 < n / 4 } END { exit !(sum == n && empty == 0) }' || fail "halves: $halves of $n samples"
finish
