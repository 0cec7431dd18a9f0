# A kept recording of a thread that moves between two processors (testdata/targets/migrates.c): what it used is apportioned to each as it measured
# itself, and both are the whole.
. "$(dirname "$0")/../common.sh" "$@"
. "$source_dir/tests/flow/migrates.sh"
need jq xz

unpack answers/migrates
# The hypervisor took nothing that matters meanwhile.
check_migrates_shares 0
check_migrates_sums
finish
