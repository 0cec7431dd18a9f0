# What ctxan says of kept experiments of gprofng (testdata/gprofng) is what gprofng said of them. Here neither gprofng nor the libraries of that machine are needed.
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz
CTX_ONLY_SAID=1
export CTX_ONLY_SAID

unpack gprofng/single gprofng/traces gprofng/family gprofng/shapes
python3 "$source_dir/tests/flow/gprofng_kept.py" single.er traces.er family.er shapes.er || fail "see above"
finish
