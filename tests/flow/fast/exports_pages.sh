# Flame graph and static page of a kept recording: what they show is what ctxan's reports say, for the whole run and for a selection.
. "$(dirname "$0")/../common.sh" "$@"
need jq xmllint xz

unpack recordings/phases

# The ten hottest functions: exclusive and inclusive weight in ms, samples, name.
of_report() {
	jq -r 'def ms: (. / 1e6 * 1000 | round / 1000); .rows[] | select(.function != "<Total>") | [(.exclusive | ms), (.inclusive | ms), .exclusive_samples, .function] | @tsv' report.json |
		awk -F '\t' '{ printf "%.3f\t%.3f\t%s\t%s\n", $1, $2, $3, $4 }' | head -n 10
}
of_page() {
	xmllint --xpath '//h2[@id="functions"]/following::table[1]/tbody/tr[@id]' page.html | sed 's|</tr>|\n|g' |
		sed 's| <span class="faint">[^<]*</span>||g; s|<td[^>]*>|\t|g; s|<[^>]*>||g' | awk -F '\t' 'NF > 6 { printf "%s\t%s\t%s\t%s\n", $2, $4, $6, $7 }' | head -n 10
}
# The whole of a function's frames (none of these recurs) is its inclusive share.
of_picture() {
	xmllint --xpath "//*[@id='frames']/*[starts-with(*[1], '$1
')]/*[2]/@width" picture.svg 2>/dev/null | tr -dc '0-9.\n' | awk '{ sum += $1 } END { printf "%.2f\n", sum / 11.8 }'
}

check() {
	ctxan -q phases.er --export html-static -o page.html "$@" || fail "html-static $*"
	ctxan -q phases.er --export flamegraph -o picture.svg "$@" || fail "flamegraph $*"
	xmllint --noout page.html picture.svg || fail "$*: not well-formed"
	ctxan -q phases.er -r functions --format json "$@" >report.json || fail "functions $*"
	of_report >want
	of_page >have
	[ "$(wc -l <want)" -gt 3 ] || fail "$*: the report has only $(wc -l <want) functions"
	cmp -s want have || fail "$*: top functions of page and report differ: $(diff have want | head -n 6)"
	for name in work_a work_b worker phase_solve tokenize; do
		share=$(jq --arg f $name '.weight as $total | [.rows[] | select(.function == $f) | .inclusive] | add // 0 | . * 100 / $total' report.json)
		shown=$(of_picture $name)
		awk -v have="$shown" -v want="$share" 'BEGIN { d = have - want; exit !(d < 0.02 && d > -0.02) }' ||
			fail "$*: $name has $shown % of the picture, $share % of the report"
	done
	grep -qi '<script' page.html && fail "$*: a script in the static page"
	grep -Eq '(src|href)="[^#]' page.html picture.svg && fail "$*: something comes from elsewhere"
	if command -v tidy >/dev/null 2>&1; then
		tidy -q -e page.html >tidy.txt 2>&1 || fail "$*: tidy: $(head -n 3 tidy.txt)"
	fi
}
command -v tidy >/dev/null 2>&1 || leave_out "tidy is not installed: the static page is checked as XML only"
check
check --interval 300:700
check --thread 1

# Any report is a page too, and several are one.
for report in header overview samples functions objects lines pcs source disasm tree callers-callees stacks states waits wakers threads processes timeline index; do
	ctxan -q phases.er -r $report --format html >table.html 2>message || { grep -q 'no thread states' message || fail "$report: $(cat message)"; continue; }
	xmllint --noout table.html || fail "$report: not well-formed"
	[ "$(xmllint --xpath "count(//h2[@id='$report'])" table.html)" = 1 ] || fail "$report: no section of its own"
done
ctxan -q phases.er -r functions,callers-callees --format html -o table.html || fail "two reports"
xmllint --xpath '//tr[@id]//a/@href' table.html | tr -d ' "' | sed -n 's|href=#||p' | sort -u >links
xmllint --xpath '//@id' table.html | tr -d ' "' | sed -n 's|id=||p' | sort -u >ids
[ "$(wc -l <links)" -gt 5 ] || fail "names of functions are no links"
[ -z "$(comm -23 links ids)" ] || fail "links lead nowhere: $(comm -23 links ids | head -n 3)"
expect 1 'requires a report' ctxan phases.er --format html --sql 'select 1'
expect 1 'requires a report' ctxan phases.er --format html --export folded
grep -q 'thread [0-9]* |' picture.svg || fail "the picture does not say its thread"

expect 1 'no such format' ctxan phases.er --export flame-graph -o x
finish

# Only the page has several metrics.
unpack recordings/convoy
expect 1 'export folded requires a single metric' ctxan -q convoy.er --export folded --metric user,lock
expect 0 '' ctxan -q convoy.er --export html --metric user,lock -o several.html
grep -q '"metrics":\[{"name":"User CPU","word":"user",' several.html || fail "the page has not the metrics of --metric"
finish
