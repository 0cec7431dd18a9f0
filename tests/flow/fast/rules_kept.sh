# Rules and baselines on kept recordings: a regression of 5 % in a tenth of a program is found, nothing else is; exit statuses, formats, wrong rules.
. "$(dirname "$0")/../common.sh" "$@"
need jq xmllint

tar -xf "$source_dir/testdata/recordings/regression.tar.xz"
before=$(ls -d before.*.er | paste -sd,)
after=$(ls -d after.*.er | paste -sd,)
ctxan -q --archive base.db before.*.er || fail "archive"

# ---- the example of docs/ci.md ----
rules=$source_dir/docs/ci/performance.rules
expect 3 '' ctxan -q base.db "$after" --diff --rules "$rules" --format json
jq -e '.failed and .counts.fail == 1 and ([.rules[].findings[] | select(.name == "solve" and .verdict == "slower" and .unit == "share" and .b > .a)] | length == 1)' out.txt >/dev/null ||
	fail "the regression: $(cat out.txt)"
cp out.txt archived.json
expect 3 '' ctxan -q "$before" "$after" --diff --rules "$rules" --format json
[ "$(jq '[.rules[].findings[] | [.name, .a, .b, .verdict]]' out.txt)" = "$(jq '[.rules[].findings[] | [.name, .a, .b, .verdict]]' archived.json)" ] ||
	fail "the archive's runs say something else than the recordings"
# Without samples intervals are those of the recordings within a fifth, and all verdicts the same.
ctxan -q base.db "$after" --diff --per share --format json >trees.json
ctxan -q "$before" "$after" --diff --per share --format json >samples.json
jq -se '[.[] | [.rows[] | select(.p != null and .object != "[kernel]")] | sort_by(.function)] | (.[0] | length) >= 5 and
	([transpose[] | (.[0].function == .[1].function and .[0].verdict == .[1].verdict and .[0].a == .[1].a and .[0].b == .[1].b and
	((.[0].high - .[0].low) / (.[1].high - .[1].low) | . > 0.8 and . < 1.25))] | all)' trees.json samples.json >/dev/null ||
	fail "evidence without samples: $(jq -c '.rows[] | [.function, .low, .high, .verdict]' trees.json samples.json)"
expect 0 '' ctxan -q before.1.er,before.2.er before.3.er,before.4.er,before.5.er --diff --rules "$rules"
expect 0 '' ctxan -q "$after" base.db --diff --rules "$rules" --format json
jq -e '.failed == false and .counts.fail == 0' out.txt >/dev/null || fail "faster is no failure: $(cat out.txt)"
expect 3 '' ctxan -q base.db "$after" --diff --rules default
grep -q '^  solve: .* of all (+' out.txt || fail "text: $(cat out.txt)"


# The sentence above the rows says what changed, and how surely; ten recordings that lack the same have one note.
ctxan -q "$before" "$after" --diff --per share --width 200 >out.txt || fail "diff"
grep -Eq '^1 of [0-9]+ functions changed by more than chance: solve slower, [+]5[.]1 % [(]95 %: [+][34][.][0-9] to [+]6[.][0-9] %[)]. Of parse, the heaviest, a change by' out.txt ||
	fail "the sentence: $(cat out.txt)"
grep -Eq '^[(][0-9]+ more with less than 0.1 % of all, not tested: --limit 0[)]$' out.txt || fail "light rows: $(cat out.txt)"
[ "$(grep -c '^note: ' out.txt)" = 1 ] && grep -q '^note: before.1.er and 9 more: ' out.txt || fail "notes: $(cat out.txt)"
ctxan -q "$before" "$after" --diff --per share --limit 0 >all.txt || fail "diff"
[ "$(wc -l <all.txt)" -gt "$(($(wc -l <out.txt) + 10))" ] || fail "--limit 0 has no more rows"
ctxan -q "$before" before.1.er,before.2.er --diff --per share --width 200 >out.txt || fail "diff"
grep -Eq '^None of [0-9]+ functions changed by more than chance' out.txt || fail "nothing changed: $(cat out.txt)"
ctxan -q "$before" "$after" --diff --per share --format json | jq -e '.test.splits == 126 and .test.unit == "recording"' >/dev/null || fail "splits"

# By unit of work: what --per-count says, else the rule is not judged.
printf 'function{solve}.self.per_count change > +2%% && verdict == "slower" -> fail\nfunction{solve}.self.ms > 0 -> note' >work.rules
expect 0 '' ctxan -q "$before" "$after" --diff --rules work.rules --per-count 100,200
grep -q '^fail' out.txt && fail "twice the work, half of it for a unit: $(cat out.txt)"
expect 3 '' ctxan -q "$before" "$after" --diff --rules work.rules --per-count 100 --format json
jq -e '[.rules[].findings[0]] | (.[0].unit == "per_count") and (.[0].a - .[1].a / 100 | fabs < 1e-4) and (.[0].b - .[1].b / 100 | fabs < 1e-4)' out.txt >/dev/null ||
	fail "by unit of work: $(cat out.txt)"
expect 0 '' ctxan -q "$before" "$after" --diff --rules work.rules
grep -q 'how much work was done is not said: --per-count$' out.txt || fail "without --per-count: $(cat out.txt)"
expect 1 '--rules excludes --per' ctxan -q "$before" "$after" --diff --rules default --per second
# Counts of events have no times.
yes 'main;solve 10' | head -300 >counts.folded
expect 0 '' ctxan -q counts.folded counts.folded --diff --rules default
grep -q "it asks for times, and the metric 'count' of counts.folded is none" out.txt || fail "counts: $(cat out.txt)"

for format in markdown junit; do
	expect 3 '' ctxan -q base.db "$after" --diff --rules "$rules" --format $format -o summary.$format
	[ -s summary.$format ] || fail "no $format"
done
grep -q '^| fail | solve takes .* | slower |$' summary.markdown || fail "markdown: $(cat summary.markdown)"
xmllint --noout summary.junit || fail "junit is not well-formed"
[ "$(xmllint --xpath 'string(/testsuites/@failures)' summary.junit)" = 1 ] || fail "junit: $(cat summary.junit)"
[ "$(xmllint --xpath 'count(//testcase)' summary.junit)" = 4 ] || fail "junit: $(cat summary.junit)"

# ---- one recording, and names that are markup ----
expect 0 '' ctxan -q after.1.er --rules "$rules"
grep -q 'it compares two sides: --diff' out.txt || fail "not judged: $(cat out.txt)"
printf 'function.self.share > 50%% -> fail\nfunction{solve}.self.ms > 1 -> warn "{function} of {object}"\n' >one.rules
expect 0 '' ctxan -q after.1.er --rules one.rules
grep -q '^  solve of regression$' out.txt || fail "one recording: $(cat out.txt)"
expect 3 '' ctxan -q after.1.er --rules one.rules --thread 0 --interval 0:50% --filter 'LEAF IN "parse"'
tar -xf "$source_dir/testdata/recordings/hostile_names.tar.xz"
tar -xf "$source_dir/testdata/recordings/evil.tar.xz"
printf 'function.self.ms >= 0 -> fail\nobject.self.ms >= 0 -> warn\nthread.total.ms >= 0 -> note\nline.self.ms >= 0 -> note' >all.rules
for recording in hostile_names.er evil.er; do
	expect 3 '' ctxan -q $recording --rules all.rules --format junit
	xmllint --noout out.txt || fail "$recording: junit is not well-formed"
	expect 3 '' ctxan -q $recording --rules all.rules --format json
	jq -e '[.rules[].findings | length] | min > 0' out.txt >/dev/null || fail "$recording: json"
	expect 3 '' ctxan -q $recording --rules all.rules --format markdown
	grep -q '<' out.txt && fail "$recording: markup in Markdown"
done

# ---- wrong rules, before anything is read ----
wrong() {
	printf '%b' "$2" >wrong.rules
	ctxan missing.er --rules wrong.rules >out.txt 2>err.txt
	[ $? = 1 ] || fail "not refused: $2"
	printf '%s\n' "$1" | cmp -s - err.txt || fail "refused with: $(cat err.txt)"
}
wrong "ctxan: wrong.rules: line 2, column 23: a share or a change is compared with a percentage, such as 5%
  function.self.share > 1 -> fail
                        ^" '\nfunction.self.share > 1 -> fail'
wrong "ctxan: wrong.rules: line 1, column 10: 'selve' is no measure of a function: self, total, name, object
  function.selve > 1 -> fail
           ^" 'function.selve > 1 -> fail\nrun.wall > 0 -> fail'
expect 1 'missing.rules' ctxan after.1.er --rules missing.rules
expect 1 'not a plain file' ctxan after.1.er --rules .

# ---- options ----
expect 1 '--format junit requires --rules' ctxan after.1.er --format junit
expect 1 'formats text, json, markdown and junit' ctxan after.1.er --rules default --format csv
expect 1 '--rules excludes --report' ctxan after.1.er --rules default -r functions
expect 1 'for one recording' ctxan after.1.er after.2.er --rules default
expect 1 '--append requires --archive' ctxan after.1.er --append
expect 1 '--rules excludes --archive' ctxan after.1.er --rules default --archive x.db
finish
