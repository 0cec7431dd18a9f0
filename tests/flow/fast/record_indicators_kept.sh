# The report indicators, metrics and exports of a kept recording: its counts follow from the program's source (testdata/targets/indicators.c).
. "$(dirname "$0")/../common.sh" "$@"
need jq xz
unpack recordings/indicators

# rows ER JQ WHAT [OPTION]...
rows() {
	er=$1 question=$2 what=$3
	shift 3
	ctxan "$er" -r indicators --format json "$@" | jq -e "$question" >/dev/null || fail "$what: $(ctxan "$er" -r indicators "$@")"
}
rows indicators.er '[.rows[] | "\(.indicator) \(.function) \(.count) \(.threads)"] == ["leaf leaf 8480 4", "often:threshold=100 often 4000 4", "inlined inlined (inlined) 360 4",
	"seldom%return work 400 4", "never never 0 0", "range:leaf..seldom leaf 8480 4", "range:leaf..seldom often 4000 4", "range:leaf..seldom seldom 400 4",
	"counter:rw touch 2400 4", "table+8,len=4:w:threshold=10 touch 1200 4"]' counts
rows indicators.er '[.rows[] | .kind] == ["execute", "execute", "execute", "return", "execute", "range", "range", "range", "read", "write"] and ([.rows[] | .mechanism] | unique) == ["hardware breakpoint", "uprobe"]' kinds
rows indicators.er '(.rows[0].callers | map({(.function): .count}) | add) == {often: 8000, seldom: 400, with_two_inlined: 80}' callers
rows indicators.er '.rows[0].by_thread | map(.count) == [2120, 2120, 2120, 2120]' threads
rows indicators.er '[.rows[] | .entries] == [null, null, null, null, null, 80, 4000, 400, null, null]' "entries of a range"
rows indicators.er '.rows[1].threshold == 100 and .rows[1].raised > 20 and .rows[1].raised <= 40 and .rows[9].raised > 60 and .rows[9].raised <= 120 and .rows[0].raised == null' thresholds
# Of a thread, and of halves of the time, which add up.
tid=$(ctxan indicators.er -r indicators --format json | jq '.rows[0].by_thread[1].thread')
rows indicators.er '.rows[0].count == 2120 and .rows[0].threads == 1 and .rows[8].count == 600' "a thread" -t "$tid"
first=$(ctxan indicators.er -r indicators --format json -i :50% | jq '.rows[0].count')
second=$(ctxan indicators.er -r indicators --format json -i 50%: | jq '.rows[0].count')
[ $((first + second)) = 8480 ] || fail "halves: $first and $second"
# In trees, by whole stacks, by line.
ctxan indicators.er -r tree --metric leaf --format json | jq -e '.weight == 8480 and ([.rows[] | select(.function == "leaf") | .cum] | add) == 8480' >/dev/null || fail "tree of an indicator"
ctxan indicators.er -r tree --metric 'often:threshold=100 raised' --format json | jq -e '.rows | map(.function) | index("work") and index("often")' >/dev/null || fail "tree of raised samples"
ctxan indicators.er -r header --format json | grep -q 'indicator 1 count' || fail "the header does not say it"
ctxan indicators.er -r indicators --format csv | head -n 1 | grep -q '^indicator,count,per_second,raised,threads,kind,mechanism,function,object,offset,places,inlined,threshold,entries,slower_than,slower' || fail "csv: $(ctxan indicators.er -r indicators --format csv | head -n 1)"
ctxan indicators.er -r indicators | grep -q '8480 .*leaf .* often 8' || fail "text: $(ctxan indicators.er -r indicators)"
expect 1 'indicators cannot be sorted: it is in the order in which they were given' ctxan indicators.er -r indicators --sort count
# What to count next, from these samples.
ctxan indicators.er --metric leaf --suggest-indicators >next.xml || fail "--suggest-indicators"
grep -q '<indicator offset="0x[0-9a-f]*" length="[0-9]*" flags="count raise" threshold="1000" name="leaf"/>' next.xml || fail "suggested: $(cat next.xml)"
ctxan indicators.er --metric leaf --export indicators >same.xml
cmp -s next.xml same.xml || fail "--export indicators is something else"
sed 's|path="[^"]*"|path="/nowhere"|' next.xml >missing.xml
expect 1 'missing.xml: /nowhere: No such file' ctxan --check-indicators missing.xml
expect 1 '^ctxan: nosuch.xml: No such file' ctxan --check-indicators nosuch.xml
expect 1 'match-symbols requires --check-indicators' ctxan --match-symbols indicators.er
printf '<indicators><object path="/bin/sh" build_id="00"><indicator offset="1" name="f"/></object></indicators>' >other.xml
expect 1 'has the build id .*--match-symbols' ctxan --check-indicators other.xml
[ "$(ctxan --check-indicators other.xml --match-symbols)" = "$(printf '/bin/sh\texecute\t-\t0\t0\tcount\tf')" ] || fail "--match-symbols: $(ctxan --check-indicators other.xml --match-symbols)"
finish
