# A recorder that is stopped for a while loses what its rings cannot hold: located, counted, and said of the intervals that it is of.
. "$(dirname "$0")/../common.sh" "$@"
need jq python3
need_perf

python3 "$source_dir/tests/flow/record_losses.py" stopped || fail "the recorder that was stopped"
[ "$(ctxan -q stopped.er --sql 'select sum(count) from loss' | tail -n 1)" = "$(ctxan -q stopped.er -r header --format json | jq .lost_samples)" ] ||
	fail "the losses are not all that was lost"
ctxan -q stopped.er -r timeline | grep -q '^ *lost records .*!' || fail "no mark below the strips"
finish
