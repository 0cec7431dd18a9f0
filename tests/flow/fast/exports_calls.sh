# Exact calls for the Firefox Profiler: a strict reader of its own finds each call of a trace again, to the ns (exports_calls.py).
. "$(dirname "$0")/../common.sh" "$@"
need python3
python3 "$source_dir/tests/flow/exports_calls.py" || fail "exports of calls"
finish
