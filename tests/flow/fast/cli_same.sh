# What must be equal is equal: a second ingest, text and JSON, tree and SQL, a database carried away, parts and the whole.
. "$(dirname "$0")/../common.sh" "$@"
need jq

gen_experiment --samples 30000 --threads 4 --stacks 300 --depth 15 --seed 7 --duration-ms 3000 -o run.er || fail "gen_experiment"

# Ingest twice: the same bytes.
ctxan -q run.er --db a.db -r functions >a.txt || fail "first ingest"
ctxan -q run.er --db b.db -r functions >b.txt || fail "second ingest"
cmp a.db b.db || fail "two ingests differ"
cmp a.txt b.txt || fail "two reports differ"

# A database alone, elsewhere, without the experiment.
mkdir away && cp a.db away/ && mv run.er hidden
ctxan -q away/a.db -r functions >c.txt || fail "a database alone"
mv hidden run.er
sed 1d a.txt >a.body && sed 1d c.txt >c.body
cmp a.body c.body || fail "the database alone gives another report"

functions() { ctxan -q a.db -r functions --format json "$@" | jq -c '[.rows[] | {function, object, exclusive_samples, inclusive_samples}] | sort_by(.function, .object)'; }

# Threads add up to the whole; intervals add up to the run; one interval given as two.
total=$(ctxan -q a.db -r functions --format json | jq .samples)
[ "$total" = 30000 ] || fail "total $total"
sum=0
for t in 0 1 2 3; do sum=$((sum + $(ctxan -q a.db -r functions --format json --thread $t | jq .samples))); done
[ "$sum" = 30000 ] || fail "threads add up to $sum"
left=$(ctxan -q a.db -r functions --format json -i :1234.567 | jq .samples)
right=$(ctxan -q a.db -r functions --format json -i 1234.567: | jq .samples)
[ $((left + right)) = 30000 ] || fail "two halves: $left + $right"
[ "$(ctxan -q a.db -r processes --format json --thread 1 | jq '.rows | map(.samples) | add')" = "$(ctxan -q a.db -r functions --format json --thread 1 | jq .samples)" ] || fail "processes of one thread"
slices() { ctxan -q a.db -r timeline --format json "$@" | jq '[.rows[] | select(.thread == null) | .samples] | add'; }
[ "$(slices -i 0:100 -i 2000:2100)" = "$(ctxan -q a.db -r functions --format json -i 0:100 -i 2000:2100 | jq .samples)" ] || fail "a time line with a gap"
functions -i 100:900 >whole.json
functions -i 100:500 -i 300:900 >joined.json
cmp whole.json joined.json || fail "overlapping intervals do not count once"

# The tree's answer equals a scan: a filter that lets every processor through is answered from the samples themselves.
for interval in 0:3000 1:2 333.333:777.777 50%:51% 2999: ; do
	functions -i $interval >tree.json
	functions -i $interval --cpu 0-100000 >scan.json
	cmp tree.json scan.json || fail "tree and scan differ in $interval"
	ctxan -q a.db -r tree --format json -i $interval | jq -c '[.rows[] | del(.calls)]' >tree.rows
	ctxan -q a.db -r tree --format json -i $interval --cpu 0-100000 | jq -c '[.rows[] | del(.calls)]' >scan.rows
	cmp tree.rows scan.rows || fail "call trees differ in $interval"
done

# SQL that a report names gives the report's numbers.
sql=$(ctxan -q a.db -r functions -i 300:700 --show-sql)
ctxan -q a.db --sql "$sql" --format json | jq -c '[.[] | select(.function != "<Total>") | {function, exclusive, inclusive}] | sort_by(.function, .exclusive, .inclusive)' >sql.json
ctxan -q a.db -r functions -i 300:700 --format json | jq -c '[.rows[] | select(.function != "<Total>") | {function, exclusive, inclusive}] | sort_by(.function, .exclusive, .inclusive)' >report.json
cmp sql.json report.json || fail "--show-sql gives other numbers"

# Stanzas: the four invariants, from the JSON as others read it.
ctxan -q a.db -r callers-callees --format json | jq -e '[.rows[] | select(.function != "<Total>") |
  ((.parents | map(.calls) | add) == .calls) and ((.parents | map(.base) | add) == .base) and
  ((.parents | map(.cum) | add) == .cum) and (((.children | map(.cum) | add) // 0) + .base == .cum)] | all' >/dev/null ||
	fail "the invariants of the stanzas"

# --coverage top says what it leaves out.
ctxan -q a.db -r functions --format json --coverage top -i 100:2000 >top.json
jq -e '.coverage > 0.5 and .coverage <= 1 and (.largest_omitted >= 0)' top.json >/dev/null || fail "coverage: $(jq -c '{coverage, largest_omitted}' top.json)"

# Every report in every format, at two widths, from a read-only copy.
for kind in header overview tree functions callers-callees stacks threads processes timeline; do
	for format in text json csv; do
		ctxan -q a.db -r $kind --format $format >out.$format || fail "$kind as $format"
	done
	jq -e --arg k $kind '.report == $k and (.rows | type == "array") and has("intervals_ns") and has("coverage")' out.json >/dev/null || fail "$kind: JSON head"
	for width in 80 200; do
		ctxan -q a.db -r $kind --width $width >out.text
		longest=$(wc -L <out.text)
		[ "$longest" -le $width ] || fail "$kind: a line of $longest columns at width $width"
	done
done

# Reports as an export are reports.
for format in json csv; do
	ctxan -q a.db -r functions --format $format >format.txt
	ctxan -q a.db -r functions --export $format | cmp -s format.txt - || fail "--export $format is not --format $format"
done

# An experiment that changed is ingested again.
ctxan -q run.er -r functions --format json | jq .samples >before.txt
gen_experiment --samples 500 --threads 1 --stacks 20 --depth 5 --seed 9 --duration-ms 100 -o other.er
cp run.er/ctxan.db other.er/
[ "$(ctxan -q other.er -r functions --format json | jq .samples)" = 500 ] || fail "a stale database was used"
finish
