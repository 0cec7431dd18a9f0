# Generated experiments of every kind that gprofng can describe; gprofng_made.py makes them and compares, with gprofng too where it is.
. "$(dirname "$0")/../common.sh" "$@"
need python3
command -v gprofng >/dev/null || echo "gprofng is not here: what is generated is compared with what was laid down alone"
python3 "$source_dir/tests/flow/gprofng_made.py" || fail "see above"
finish
