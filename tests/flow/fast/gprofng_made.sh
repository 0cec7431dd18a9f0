# Generated experiments of every kind that gprofng can describe; gprofng_made.py makes them and compares with what was laid down, and with what gprofng said of
# them (testdata/gprofng/make.sh; flow.gprofng_same asks it again).
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz
CTX_ONLY_SAID=1
export CTX_ONLY_SAID

unpack gprofng/made
python3 "$source_dir/tests/flow/gprofng_made.py" || fail "see above"
finish
