# Folded call trees of kept recordings: sums are those of the unfolded trees, and no tree is long. Indexes by several keys: their sums are those of
# other reports.
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
python3 "$source_dir/tests/flow/index_kept.py" ctxan "$@" >said.txt || fail "$(cat said.txt)"

# Recursion of 300 levels is a line.
ctxan -q recordings-deep/deep.er -r tree --width 80 >deep.txt || fail "deep"
[ "$(wc -l <deep.txt)" -lt 12 ] || fail "deep: $(cat deep.txt)"
grep -q 'deep ×30[0-9] › burn' deep.txt || fail "deep: $(cat deep.txt)"
# Fifty lines at the most, unless all are wanted.
lines() { ctxan -q states-full/full.er -r tree --metric wall --width 80 "$@" | grep -cE '^ *[0-9]+\.[0-9]+ '; }
[ "$(lines --min-percent 0.001)" = 50 ] || fail "not 50 lines: $(lines --min-percent 0.001)"
[ "$(lines --min-percent 0.001 --limit 0)" -gt 80 ] || fail "--limit 0: $(lines --min-percent 0.001 --limit 0) lines"
[ "$(lines --min-percent 0)" -ge "$(lines --min-percent 0.001 --limit 0)" ] || fail "--min-percent 0"
# The name behind = is --function.
for report in tree functions callers-callees; do
	ctxan -q recordings-deep/deep.er -r $report=deep >named.txt || fail "$report=deep"
	ctxan -q recordings-deep/deep.er -r $report --function deep | cmp -s - named.txt || fail "$report=deep is not --function deep"
done
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

	# Samples are kept and dropped by a frame; the weight of hidden frames is their callers'.
	of() { ctxan -q states-lock_convoy/lock_convoy.er -r functions "$@" --format json | jq -c "$expression"; }
	expression='[.rows[] | select(.function == "<Total>" or .function == "report" or .function == "work" or .function == "add_to_total") | .exclusive, .inclusive]'
	set -- $(of | tr -d '[]' | tr , ' ')
	total=$1
	expression='[.rows[] | select(.function == "report" or .function == "work" or .function == "add_to_total")] | map({(.function): .}) | add'
	of >whole.json
	field() { jq ".$1.$2" whole.json; }
	expression='.rows[0].inclusive'
	[ "$(of --focus '^report$')" = "$(field report inclusive)" ] || fail "--focus"
	[ "$(of --ignore '^report$')" = $((total - $(field report inclusive))) ] || fail "--ignore"
	[ "$(of --focus 'epor' --focus '^repor')" = "$(field report inclusive)" ] || fail "--focus twice, of a part"
	[ "$(of --hide '^add_to')" = "$total" ] || fail "--hide: the total"
	[ "$(of --hide .)" = 0 ] || fail "--hide: all"
	[ "$(of --show '^work$')" = "$(field work inclusive)" ] || fail "--show: the total"
	[ "$(of --fold-object kernel,libc)" = "$total" ] || fail "--fold-object: the total"
	expression='[.rows[] | select(.function == "work").exclusive][0]'
	[ "$(of --show '^work$')" = "$(field work inclusive)" ] || fail "--show: its own"
	# What add_to_total called is still there.
	expression='[.rows[] | select(.function == "work") | .exclusive][0]'
	[ "$(of --hide '^add_to')" = $(($(field work exclusive) + $(field add_to_total exclusive))) ] || fail "--hide: the caller's own"
	expression='[.rows[] | select(.function == "add_to_total")] | length'
	[ "$(of --hide '^add_to')" = 0 ] || fail "--hide: it is there"
	expression='[.rows[] | select(.object == "[kernel]")] | length'
	[ "$(of)" -gt 10 ] || fail "the kernel has no functions"
	[ "$(of --fold-object kernel)" = 0 ] || fail "--fold-object kernel"
	expression='[.rows[] | select(.function == "[kernel] futex")] | length'
	[ "$(of --fold-object kernel)" = 1 ] || fail "--fold-object kernel: no futex"
	# Lines and instructions, too; and an export has the same weight.
	lines() { ctxan -q states-lock_convoy/lock_convoy.er -r pcs "$@" --format json | jq "$expression"; }
	expression='[.rows[] | select(.function == "add_to_total")] | length'
	[ "$(lines)" -gt 0 ] || fail "pcs"
	[ "$(lines --hide '^add_to')" = 0 ] || fail "pcs --hide"
	expression='[.rows[].exclusive] | add'
	[ "$(lines --hide '^add_to' --fold-object libc,kernel)" = "$total" ] || fail "pcs --fold-object: the total"
	ctxan -q states-lock_convoy/lock_convoy.er --export folded --hide '^add_to' --fold-object kernel >folded.txt || fail "--export folded"
	[ "$(awk '{ sum += $NF } END { printf "%.0f", sum }' folded.txt)" = "$total" ] || fail "--export folded: the total"
	! grep -q 'add_to_total\|futex_wait_queue' folded.txt || fail "--export folded: hidden frames"
	grep -q ';\[kernel\] futex ' folded.txt || fail "--export folded: no futex"
else
	leave_out "jq is not installed"
fi
ctxan -q recordings-deep/deep.er -r tree --focus '(' 2>error.txt && fail "--focus (: accepted"
grep -q "^ctxan: --focus '(': " error.txt || fail "--focus (: $(cat error.txt)"
ctxan -q recordings-deep/deep.er -r functions --depth 3 2>error.txt && fail "functions --depth 3: accepted"
finish
