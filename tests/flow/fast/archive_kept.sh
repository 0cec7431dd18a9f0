# Archives of kept recordings: what their runs say is what the recordings say, to the nanosecond; what is refused, and that nothing is lost.
. "$(dirname "$0")/../common.sh" "$@"
need jq

for kept in phases spin execs; do
	tar -xf "$source_dir/testdata/recordings/$kept.tar.xz"
done
tar -xf "$source_dir/testdata/states/lock_convoy.tar.xz"
runs='phases.er spin.er execs.er lock_convoy.er'
ctxan -q --archive base.db $runs || fail "archive"
ctxan -q --archive full.db --with-samples $runs || fail "archive with samples"
[ "$(stat -c %s base.db)" -lt "$(stat -c %s full.db)" ] || fail "without samples it is no smaller"

ctxan base.db --format json >list.json
[ "$(jq -r '[.rows[].name] | join(" ")' list.json)" = "$runs" ] || fail "list: $(cat list.json)"
[ "$(jq -c '[.rows[] | .with_samples] | unique' list.json)" = '[false]' ] || fail "list: $(cat list.json)"
[ "$(ctxan full.db --format json | jq -c '[.rows[] | .with_samples] | unique')" = '[true]' ] || fail "list with samples"
ctxan base.db | grep -q '^    2 .* trees    spin.er$' || fail "list: $(ctxan base.db)"

# ---- the same reports ----
number=0
for recording in $runs; do
	number=$((number + 1))
	for report in functions tree callers-callees objects threads processes header overview; do
		ctxan -q "$recording" -r $report --format json --limit 0 | sed 1,1d >want.txt
		ctxan -q base.db --run $number -r $report --format json --limit 0 | sed 1,1d >got.txt
		cmp -s want.txt got.txt || fail "$recording: $report without samples: $(diff want.txt got.txt | head -5)"
	done
	for report in summary lines timeline stacks pcs; do
		ctxan -q "$recording" -r $report --format json --limit 0 2>want.err | sed 1,1d >want.txt
		ctxan -q full.db --run $number -r $report --format json --limit 0 2>got.err | sed "1,1d; s/full\\.db --run $number/$recording/g" >got.txt
		cmp -s want.txt got.txt || fail "$recording: $report with samples: $(diff want.txt got.txt | head -5)"
	done
	ctxan -q "$recording" -r functions -t 0 --format json | sed 1,1d >want.txt
	ctxan -q base.db --run $number -r functions -t 0 --format json | sed 1,1d >got.txt
	cmp -s want.txt got.txt || fail "$recording: of a thread"
done
ctxan -q lock_convoy.er -r states --metric wall --format json | sed 1,1d >want.txt
ctxan -q base.db --run 4 -r states --metric wall --format json | sed 1,1d >got.txt
cmp -s want.txt got.txt || fail "states"
# Waits are not in time trees: the archive has kept their sums.
printf 'wait.any.ms > 0 -> note "{b} {wait.mutex} {wait.lock} {state.sleep} {run.wall} {run.cpu} {run.samples}"' >waits.rules
[ "$(ctxan lock_convoy.er --rules waits.rules --format json | jq -c '.rules')" = "$(ctxan base.db --run 4 --rules waits.rules --format json | jq -c '.rules')" ] ||
	fail "waits: $(ctxan base.db --run 4 --rules waits.rules)"
[ "$(ctxan -q base.db -r functions | grep -c ': functions |')" = 4 ] || fail "reports of all runs"
[ "$(ctxan -q base.db --run 2 | head -n 1 | cut -d: -f1)" = spin.er ] || fail "the first report of a run"

# ---- what needs samples ----
for report in lines waits pcs; do
	expect 1 'base.db:4 was archived without samples' ctxan -q base.db --run 4 -r $report
done
expect 1 'archived without samples' ctxan -q base.db --run 1 -r functions --filter 'CPUID==0'
expect 1 'archived without samples' ctxan -q base.db --run 1 -r functions -i 3.01:7.7
printf 'line.self.share > 1%% -> fail' >lines.rules
expect 1 'archived without samples' ctxan -q base.db --run 2 --rules lines.rules
ctxan -q base.db spin.er --run 2 --diff >out.txt || fail "one run of each side"
grep -q 'does not tell changes from chance' out.txt || fail "one run of each side: $(cat out.txt)"
grep -Eq ' (slower|faster|new|gone) ' out.txt && fail "evidence without samples"

# ---- more runs ----
cp base.db kept.db
expect 1 'run 2 \(spin.er\) is the same recording as spin.er' ctxan -q --archive base.db --append spin.er
cmp -s base.db kept.db || fail "a refused run changed the archive"
ctxan -q --archive two.db phases.er spin.er && ctxan -q --archive two.db --append execs.er lock_convoy.er || fail "append"
[ "$(ctxan two.db --format json | jq -c .rows)" = "$(jq -c .rows list.json)" ] || fail "appended: $(ctxan two.db)"
ctxan -q --archive new.db --append phases.er || fail "append to nothing"
ctxan -q --archive joined.db new.db two.db >out.txt 2>err.txt && fail "the same run twice"
ctxan -q --archive joined.db base.db --run 3 && [ "$(ctxan joined.db --format json | jq -r '.rows[0].name')" = execs.er ] || fail "a run of an archive"
ctxan -q --archive joined.db spin.er && [ "$(ctxan joined.db --format json | jq -r '[.rows[].name] | join(" ")')" = spin.er ] || fail "it is not replaced"
# Two at once: none is lost.
ctxan -q --archive both.db phases.er
ctxan -q --archive both.db --append spin.er &
ctxan -q --archive both.db --append execs.er
wait
[ "$(ctxan both.db --format json | jq '.rows | length')" = 3 ] || fail "two at once: $(ctxan both.db)"
[ "$(ls -A | grep -c 'both.db')" = 1 ] || fail "files left: $(ls -A)"

# ---- what is refused ----
cp spin.er/ctxan.db copy.db
for victim in copy.db waits.rules; do
	cp $victim victim
	expect 1 'is not an archive of ctxan: not overwritten' ctxan -q --archive victim spin.er
	cmp -s $victim victim || fail "$victim was changed"
done
head -c 9000 base.db >short.db
expect 1 'short.db' ctxan short.db
expect 1 'has no run 9: it has 4' ctxan base.db --run 9
expect 1 '--run requires an archive' ctxan spin.er --run 1
expect 1 'which recordings' ctxan --archive x.db
expect 1 'keeps whole runs' ctxan --archive x.db spin.er -i 0:50%
expect 1 'missing.er' ctxan -q --archive x.db spin.er missing.er
[ ! -e x.db ] || fail "a failed archive was written"
expect 1 'nowhere' ctxan -q --archive nowhere/x.db spin.er
expect 1 'text or JSON' ctxan base.db --format csv
expect 1 'has 4 runs: --run chooses one' ctxan base.db --sql 'select 1'
[ "$(ctxan base.db --run 2 --sql 'select count(*) n from function' --format csv | tail -n 1)" = "$(ctxan spin.er --sql 'select count(*) n from function' --format csv | tail -n 1)" ] || fail "sql"
finish
