# The report coverage and the export lcov of a kept recording: which lines were executed follows from the program's source (testdata/targets/covered.c).
. "$(dirname "$0")/../common.sh" "$@"
need jq xz
unpack recordings/coverage
targets=$source_dir/testdata/targets
line() { grep -n "$1" "$targets/covered.c" | head -n 1 | cut -d: -f1; }
ctxan coverage.er -r coverage --format json --limit 0 >lines.json || fail "-r coverage"
jq -e --argjson never "$(line 'return 3; /\* never')" --argjson child "$(line 'executed in the child alone')" '
	[.rows[] | select(.line == $never) | .count] == [0] and [.rows[] | select(.line == $child) | .count] == [1] and
	([.rows[] | select(.function == "open_library") | .count] | add) == 0 and
	([.rows[] | select(.function == "run_blocked") | .count] | min) == 1' lines.json >/dev/null || fail "lines: $(cat lines.json)"
jq -e '[.rows[] | select(.file != null) | .line] as $lines | $lines == ($lines | sort)' lines.json >/dev/null || fail "the order of lines"
ctxan coverage.er -r coverage --format csv | head -n 1 | grep -q '^function,object,file,line,count,sites' || fail "csv: $(ctxan coverage.er -r coverage --format csv | head -n 1)"
ctxan coverage.er -r coverage | grep -q 'of [0-9]* lines ([0-9.]* %) and [0-9]* of [0-9]* functions were executed' || fail "text: $(ctxan coverage.er -r coverage)"
ctxan coverage.er -r coverage | grep -q ' 0.0 % *open_library covered.c:' || fail "text: $(ctxan coverage.er -r coverage)"
expect 1 'coverage cannot be sorted' ctxan coverage.er -r coverage --sort line
# Sums of the file that lcov reads.
ctxan coverage.er --export lcov >run.info || fail "--export lcov"
awk -F'[:,]' '/^DA/ { n++; hit += $3 > 0 } /^LF/ { lf = $2 } /^LH/ { lh = $2 } /^FN:/ { f++ } /^FNDA/ { fh += $2 } /^FNF/ { fnf = $2 } /^FNH/ { fnh = $2 }
	END { exit n != lf || hit != lh || f != fnf || fh != fnh || n == 0 }' run.info || fail "lcov: $(cat run.info)"
# Sites are a metric like any other.
ctxan coverage.er -r functions --metric '*:once sites' --format json | jq -e '.weight > 50' >/dev/null || fail "the metric of sites"
[ "$(ctxan coverage.er -r indicators --format json | jq '.rows[0].count')" = "$(ctxan coverage.er -r functions --metric '*:once' --format json | jq .weight)" ] || fail "the count is not the metric's sum"
finish
