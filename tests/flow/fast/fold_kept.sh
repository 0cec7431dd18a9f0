# Folded call trees of kept recordings: sums are those of the unfolded trees, and no tree is long.
. "$(dirname "$0")/../common.sh" "$@"
need xz python3

for packed in "$source_dir"/testdata/*/*.tar.xz; do
	kept=${packed#"$source_dir"/testdata/}
	kept=${kept%.tar.xz}
	folder=$(printf %s "$kept" | tr / -)
	mkdir "$folder"
	(cd "$folder" && unpack "$kept") || fail "$kept"
	set -- "$@" "$folder"
done
shift 2
python3 "$source_dir/tests/flow/fold_kept.py" ctxan "$@" >said.txt || fail "$(grep -v nodes said.txt)"

# Recursion of 300 levels is a line.
ctxan -q recordings-deep/deep.er -r tree --width 80 >deep.txt || fail "deep"
[ "$(wc -l <deep.txt)" -lt 12 ] || fail "deep: $(cat deep.txt)"
grep -q 'deep ×30[0-9] › burn' deep.txt || fail "deep: $(cat deep.txt)"
# A root, callers, and both agree with the list of functions.
of() { ctxan -q recordings-deep/deep.er "$@" --format json | jq "$expression"; }
if command -v jq >/dev/null; then
	expression='[.rows[] | select(.function == "deep").inclusive][0]'
	want=$(of -r functions)
	expression='.rows[0].cum'
	[ "$(of -r tree --root deep)" = "$want" ] || fail "--root deep: not $want"
	[ "$(of -r callers=deep)" = "$want" ] || fail "callers=deep: not $want"
	[ "$(of -r tree --callers --function deep)" = "$want" ] || fail "--callers: not $want"
	expression='[.rows[].level] | max'
	[ "$(of -r tree --depth 3)" = 3 ] || fail "--depth 3"
	expression='[.rows[] | has("calls_exact") and .calls_exact == false] | all'
	[ "$(of -r tree)" = true ] || fail "calls_exact"
else
	leave_out "jq is not installed"
fi
finish
