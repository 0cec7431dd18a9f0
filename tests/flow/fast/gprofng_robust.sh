# Experiments of gprofng that are damaged in every way: gprofng_robust.py damages a generated one and a kept one (flow.gprofng_robust_fresh: one that is recorded).
. "$(dirname "$0")/../common.sh" "$@"
need python3 xz

unpack gprofng/traces
sanitized=
grep -q '^CTX_SANITIZE:.*=ON' "$build/CMakeCache.txt" && sanitized=--sanitized
python3 "$source_dir/tests/flow/gprofng_robust.py" $sanitized traces.er || fail "see above"
finish
