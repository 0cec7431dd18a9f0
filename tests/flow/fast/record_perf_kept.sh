# The flat profile of a kept recording (testdata/answers/mixed.c) next to what `perf report` said of another run of the same program: the functions
# of the program itself, by name.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/flat_profile.sh"
need jq xz

unpack answers/mixed
cat >functions <<'NAMES'
multiply
collatz
by_value
insert
depth
next_random
hash
NAMES
compare_flat mixed functions
[ "$(wc -l <mixed.compared)" = 7 ] || fail "not all functions were compared: $(cat mixed.compared)"
finish
