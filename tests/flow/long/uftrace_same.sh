# Ten programs recorded anew by uftrace: calls and times are what uftrace says.
. "$(dirname "$0")/../common.sh" "$@"
need python3 uftrace gcc g++
programs=$source_dir/testdata/uftrace/programs
. "$source_dir/testdata/uftrace/programs.sh"
record_all || skip "uftrace cannot record here"
# shellcheck disable=SC2086
python3 "$source_dir/tests/flow/uftrace_same.py" call_sums $names >said || fail "$(cat said)"
cat said
finish
