# What ctxan exports as folded stacks, for pprof, speedscope and the Firefox Profiler it reads back: the same own weight for every function, and the
# same weights with callees together.
. "$(dirname "$0")/../common.sh" "$@"
need jq gzip
unpack perfdata/same

# by_name FILE: the own weight of each name that has some; those of one name in several load objects are one.
by_name() {
	ctxan -q "$1" -r functions --limit 0 --format json |
		jq -r '[.rows[] | select(.function != "<Total>" and .exclusive > 0) | {n: (.function | sub(" \\[[^\\]]*\\]$"; "")), e: .exclusive}] | group_by(.n)[] | "\(.[0].n) \(map(.e) | add)"' | sort
}

# with_callees FILE: the weights with callees of all functions together: without callers they would be the own ones.
with_callees() {
	ctxan -q "$1" -r functions --limit 0 --format json | jq '[.rows[].inclusive] | add'
}

for file in good.data processes.data; do
	by_name "$file" >own.txt
	[ "$(wc -l <own.txt)" -gt 3 ] || fail "$file: only $(wc -l <own.txt) functions"
	ctxan -q "$file" --export folded -o back.folded || fail "$file: folded"
	ctxan -q "$file" --export pprof -o back.pb.gz || fail "$file: pprof"
	by_name back.folded >folded.txt
	by_name back.pb.gz >pprof.txt
	cmp -s own.txt pprof.txt || fail "$file, pprof: $(diff own.txt pprof.txt | head -n 5)"
	all=$(with_callees "$file")
	[ "$(with_callees back.pb.gz)" = "$all" ] || fail "$file, pprof: other callers"
	# Folded stacks have no load objects: <Unknown> functions are named with theirs there.
	grep -v '<' own.txt >own.named
	grep -v '<' folded.txt >folded.named
	cmp -s own.named folded.named || fail "$file, folded: $(diff own.named folded.named | head -n 5)"
	# callgrind's format has own costs alone.
	ctxan -q "$file" --export callgrind -o back.callgrind || fail "$file: callgrind"
	by_name back.callgrind >callgrind.txt
	grep -v '<' callgrind.txt >callgrind.named
	cmp -s own.named callgrind.named || fail "$file, callgrind: $(diff own.named callgrind.named | head -n 5)"
	# With times: the time tree is that of the recording.
	for format in speedscope firefox; do
		ctxan -q "$file" --export $format -o back.json || fail "$file: $format"
		by_name back.json >json.txt
		grep -v '<' json.txt >json.named
		cmp -s own.named json.named || fail "$file, $format: $(diff own.named json.named | head -n 5)"
		[ "$(ctxan -q back.json -r functions --limit 1 --format json | jq .samples)" = "$(ctxan -q "$file" -r functions --limit 1 --format json | jq .samples)" ] || fail "$file, $format: another number of samples"
		[ "$(with_callees back.json)" = "$all" ] || fail "$file, $format: other callers"
		rm -f back.json*
	done
	rm -f back.*
done
expect 1 'no thread states' ctxan -q good.data -r states
finish
