# The known answer of testdata/phases.c, in a kept recording (testdata/recordings): shares of time in the whole run and in intervals.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/phases_shares.sh"
need jq xz

unpack answers/phases
# The hypervisor took nothing that matters meanwhile.
check_phases_shares phases.er 0 exclusive
check_phases_shares phases.er 0 inclusive
[ "$(json -r threads | jq -r '[.rows[].name] | sort | join(" ")')" = "phases worker-1 worker-2" ] || fail "threads: $(json -r threads | jq -c .rows)"
finish
