# ctxan --browse on a pseudo-terminal, over kept recordings: browse.py. Its screens are golden files (testdata/golden/browse).
. "$(dirname "$0")/../common.sh" "$@"
need xz zstd
python=
for candidate in python3 /usr/bin/python3; do
	"$candidate" -c 'import pyte' 2>/dev/null && { python=$candidate; break; }
done
[ -n "$python" ] || skip "python3-pyte is not installed"

unpack recordings/phases recordings/tight recordings/regression states/lock_convoy
cp "$source_dir/testdata/calltrace/worked-example-in-b.txt" .
for recording in phases tight lock_convoy; do
	ctxan -q $recording.er -r header >/dev/null || fail "$recording.er cannot be ingested"
done
"$python" "$source_dir/tests/flow/browse.py" "$source_dir" || fail "browse.py"
finish
