# A fleet on two shards of ClickHouse: what it says is the sum of what its recordings say, to the nanosecond and the sample; a push that is
# killed, repeated or refused leaves no part; a shard that is down is named.
. "$(dirname "$0")/../common.sh"
PATH=$PATH:/usr/sbin
need clickhouse-server clickhouse-client python3 xz jq

CTX_FLEET_PORT=$((20000 + $$ % 200 * 50))
export CTX_FLEET_PORT
stop_all() {
	"$source_dir/tools/fleet.sh" stop "$work/servers"
	cleanup
}
trap stop_all EXIT
urls=$("$source_dir/tools/fleet.sh" start "$work/servers" 2) || skip "clickhouse-server does not start: $(tail -n 1 "$work/servers/0/errors")"
first=$(printf '%s\n' "$urls" | head -n 1)
second=$(printf '%s\n' "$urls" | tail -n 1)

# ask URL STATEMENT: by the port for ClickHouse's own clients, which is the next one.
ask() { clickhouse-client --host 127.0.0.1 --port $((${1##*:} + 1)) --query "$2"; }

ctxan fleet "$first" >said 2>&1 && fail "a server without tables has answered"
grep -q 'there is no fleet' said || fail "without tables: $(cat said)"
ctxan fleet --init "$first" "$second" --cluster fleet >said 2>&1 || fail "init: $(cat said)"

for kept in recordings/marked recordings/served recordings/regression recordings/execs states/full states/lock_convoy states/producer_consumer states/reuse_tids; do
	tar -xf "$source_dir/testdata/$kept.tar.xz" || fail "$kept"
done
for i in 1 2 3; do
	gen_experiment --samples 20000 --threads 4 --stacks 500 --depth 20 --seed $i --duration-ms $((70000 * i + 333)) --changes 3000 --thread-name worker-$i --thread-name io --host h$i \
		--start-unix-ns $((1700000000123456789 + i * 77777777777)) -o gen$i.er || fail "gen$i"
done
for recording in *.er; do
	ctxan push "$recording" --to "$first" -q --label "pick=$recording" --label service=made >said 2>&1 || fail "push $recording: $(cat said)"
done
[ "$(ask "$first" 'SELECT count() FROM ctx_recording_local')" != 0 ] && [ "$(ask "$second" 'SELECT count() FROM ctx_recording_local')" != 0 ] ||
	fail "one shard has all recordings"

# Exact: recordings of a few seconds, and generated ones with whole minutes.
python3 "$source_dir/tests/flow/fleet_same.py" "$bin/ctxan" "$second" 1 40 ./*.er || fail "kept and generated recordings"
python3 "$source_dir/tests/flow/fleet_same.py" "$bin/ctxan" "$first" 2 25 ./gen*.er || fail "generated recordings"

# A comparison is that of the same recordings in archives, which have no samples one by one either.
ctxan -q --archive before.db before.?.er && ctxan -q --archive after.db after.?.er || fail "archives"
for report in functions objects callers-callees stacks tree; do
	ctxan -q before.db after.db --diff --per share -r $report --format json --limit 0 | jq -S '.rows | sort_by(tojson)' >wanted.json || fail "diff of archives: $report"
	ctxan fleet "$first" -q service=made --diff 'pick=before.*' 'pick=after.*' -r $report --format json --limit 0 | jq -S '.rows | sort_by(tojson)' >got.json || fail "diff: $report"
	[ "$(jq length wanted.json)" -gt 2 ] || fail "diff of archives: $report has no rows"
	cmp -s wanted.json got.json || fail "diff of $report: $(diff wanted.json got.json | head -n 5)"
done
ctxan fleet "$first" -q service=made --diff 'pick=before.*' 'pick=after.*' -r lines >said 2>&1 && fail "lines of fleets are compared"
ctxan fleet "$first" -q service=made --diff 'pick=before.*' 'pick=after.*' --export html -o diff.html && [ -s diff.html ] || fail "page of a difference"
ctxan fleet "$first" -q service=made --diff 'pick=before.*' 'pick=after.*' -r lines --export html >said 2>&1 && fail "a page has lines of fleets"
ctxan fleet "$first" -q service=made --diff 'pick=before.*' 'pick=after.*' --per-count calls:solve >said 2>&1 && fail "calls of fleets"
grep -q 'a comparison of fleets has no calls' said || fail "calls of fleets: $(cat said)"

# In a view, too.
mkdir omp && tar -xf "$source_dir/testdata/recordings/openmp.tar.xz" -C omp || fail "openmp"
for name in clang gcc; do
	ctxan push omp/$name.er --to "$first" -q --label service=omp >said 2>&1 || fail "push $name: $(cat said)"
	ctxan -q --archive $name.db omp/$name.er || fail "archive of $name"
done
for view in user expert; do
	ctxan -q clang.db gcc.db --diff --per share --view $view --format json --limit 0 | jq -S '.rows | sort_by(tojson)' >wanted.$view || fail "diff of archives: $view"
	ctxan fleet "$first" -q service=omp --diff name=clang.er name=gcc.er --view $view --format json --limit 0 | jq -S '.rows | sort_by(tojson)' >got.json || fail "diff: $view"
	cmp -s wanted.$view got.json || fail "diff in the view $view: $(diff wanted.$view got.json | head -n 5)"
done
cmp -s wanted.user wanted.expert && fail "views are the same"

# Again, and two at once: nothing more.
ctxan push marked.er --to "$second" -q >said 2>&1
grep -q 'is there already' said || fail "pushed again: $(cat said)"
gen_experiment --samples 50000 --threads 2 --stacks 2000 --depth 20 --seed 9 --duration-ms 60000 --start-unix-ns 1700001000000000000 -o twice.er
ctxan -q twice.er >/dev/null
ctxan push twice.er --to "$first" -q --label pick=twice.er >said.1 2>&1 &
ctxan push twice.er --to "$second" -q --label pick=twice.er >said.2 2>&1
wait
python3 "$source_dir/tests/flow/fleet_same.py" "$bin/ctxan" "$first" 3 3 ./twice.er || fail "pushed twice at once"

# Killed at many moments: no recording, or all of it.
gen_experiment --samples 100000 --threads 2 --stacks 5000 --depth 30 --seed 10 --duration-ms 60000 --start-unix-ns 1700002000000000000 -o killed.er
ctxan -q killed.er >/dev/null
whole=$(ctxan killed.er -q -r functions --format json --limit 1 | jq .weight)
i=0
while [ $i -lt 30 ]; do
	ctxan push killed.er --to "$first" -q --label pick=killed.er >said 2>&1 &
	pid=$!
	sleep "0.0$((i * 3 % 60 + 10))"
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	got=$(ctxan fleet "$second" -q pick=killed.er -r functions --format json --limit 1 2>/dev/null | jq .weight)
	[ -z "$got" ] || [ "$got" = "$whole" ] || fail "killed: $got of $whole"
	i=$((i + 1))
done
ctxan push killed.er --to "$first" -q --label pick=killed.er >said 2>&1 || fail "push after kills: $(cat said)"
got=$(ctxan fleet "$second" -q pick=killed.er -r functions --format json --limit 1 | jq .weight)
[ "$got" = "$whole" ] || fail "after kills: $got of $whole"
# Their cells are found; a day later they would be removed.
ctxan fleet --check "$first" "$second" >said 2>&1 || fail "check: $(cat said)"
grep -q damaged said && fail "check: $(cat said)"

# Cells that are gone are damage.
before=$(ctxan fleet "$first" -q service=made -r functions --format json --limit 1 | jq .weight)
push=$(ask "$first" "SELECT push FROM ctx_recording WHERE name = 'gen2.er'")
for url in $urls; do ask "$url" "ALTER TABLE ctx_cell_local DELETE WHERE push = $push AND level = 10"; done
tries=0
while [ "$(ask "$first" "SELECT count() FROM ctx_cell WHERE push = $push AND level = 10")" != 0 ] && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	sleep 0.2
done
ctxan fleet --check "$first" >said 2>&1 && fail "damage is not found: $(cat said)"
grep -q "damaged: push $push" said || fail "damage: $(cat said)"
[ "$(ctxan fleet "$first" -q service=made -r functions --format json --limit 1 | jq .weight)" = "$before" ] || fail "whole recordings changed"

# Who may only read does; a wrong password, and one in a URL, do not get in.
CTXAN_FLEET_USER=reader ctxan fleet "$first" -q service=made -r tree >/dev/null 2>said || fail "reader: $(cat said)"
CTXAN_FLEET_USER=reader ctxan fleet --init "$first" --cluster fleet >said 2>&1 && fail "a reader has made tables"
grep -q readonly said || fail "reader: $(cat said)"
CTXAN_FLEET_USER=writer CTXAN_FLEET_PASSWORD=wrong ctxan fleet "$first" >said 2>&1 && fail "a wrong password"
grep -qi password said || fail "wrong password: $(cat said)"
printf 'user = writer\npassword = secret\n' >login
chmod 600 login
ctxan fleet "$first" --credentials login -q service=made >/dev/null 2>said || fail "credentials: $(cat said)"
chmod 644 login
ctxan fleet "$first" --credentials login >said 2>&1 && fail "credentials that all can read"
ctxan fleet "http://writer:secret@127.0.0.1:$CTX_FLEET_PORT" >said 2>&1 && fail "a password in a URL"
ctxan fleet http://127.0.0.1:9 >said 2>&1 && fail "no server"
grep -q '127.0.0.1:9' said || fail "no server: $(cat said)"

# Another version of the tables, and a shard that is down.
ask "$second" "INSERT INTO ctx_fleet SELECT 'version', '2', count() FROM ctx_fleet"
ctxan fleet "$second" >said 2>&1 && fail "tables of another version"
grep -q 'version 2' said || fail "version: $(cat said)"
kill "$(cat servers/1/pid)"
while kill -0 "$(cat servers/1/pid)" 2>/dev/null; do sleep 0.1; done
ctxan fleet "$first" -q service=made >said 2>&1 && fail "a part of the shards has answered"
grep -q "$((CTX_FLEET_PORT + 11))" said || fail "the shard is not named: $(cat said)"
gen_experiment --samples 1000 --seed 11 --start-unix-ns 1700003000000000000 -o down.er
ctxan push down.er --to "$first" -q >said 2>&1 && fail "pushed without a shard"
finish
