# Traces of calls in text, of each kind: what reports print of them is what can be counted by hand (testdata/calltrace/README.md).
. "$(dirname "$0")/../common.sh" "$@"

for text in "$source_dir"/testdata/calltrace/*.txt; do
	name=$(basename "$text" .txt)
	cp "$text" .
	{
		ctxan -q "$name.txt" -r header 2>&1 | grep -E '^(format|duration|damaged|note)|^elapsed|^traced|^samples|^page-faults'
		case $name in
		own) metrics="--metric samples,elapsed,traced,traced-off,lock,page-faults" ;;
		interrupt) metrics="--metric traced,elapsed" ;;
		*) metrics="" ;;
		esac
		ctxan -q "$name.txt" -r tree --no-fold $metrics 2>&1
		ctxan -q "$name.txt" -r tree --no-fold --columns 2>&1
		ctxan -q "$name.txt" -r functions --columns 2>&1
		ctxan -q "$name.txt" -r callers-callees 2>&1
		ctxan -q "$name.txt" -r calls 2>&1
	} >"$name.said"
	if [ "${UPDATE_GOLDEN:-0}" = 1 ]; then
		cp "$name.said" "$source_dir/testdata/calltrace/$name.expected"
	fi
	diff -u "$source_dir/testdata/calltrace/$name.expected" "$name.said" || fail "$name"
done

# One function, one call, what took longer: an interval has the calls that end in it, and a call its own thread.
{
	ctxan -q own.txt -r calls=step
	ctxan -q own.txt -r calls --slower-than 1us
	ctxan -q own.txt -r calls --interval 0.007:0.0085
	ctxan -q own.txt -r calls=step --format json
	ctxan -q own.txt -r calls=step --format csv
	ctxan -q own.txt -r tree --no-fold --metric elapsed -i call:step#2
	for bad in call:nix call:step#5 call:step#0; do ctxan -q own.txt -i "$bad"; done
	ctxan -q own.txt -r calls --slower-than 5x
	ctxan -q own.txt --sql "SELECT c.time_ns, c.thread, printf('%x', major) AS major, printf('%x', minor) AS minor, f.name, c.duration_ns
		FROM call_event AS c JOIN stack AS s ON s.id = c.stack JOIN function AS f ON f.id = s.function ORDER BY 1, 2, 4, 6"
	ctxan -q interrupt.txt --sql "SELECT operation, duration_ns, off_ns, self_ns, failed FROM traced WHERE kind = 'call'"
} >calls.said 2>&1
[ "${UPDATE_GOLDEN:-0}" = 1 ] && cp calls.said "$source_dir/testdata/calltrace/own-calls.expected"
diff -u "$source_dir/testdata/calltrace/own-calls.expected" calls.said || fail "calls"

# Each event in order of time: an interval has an exit without its entry, and an entry without its exit.
{
	ctxan -q own.txt -r events
	ctxan -q own.txt -r events --format csv
	ctxan -q own.txt -r events --format json -i 0.006:0.008
	ctxan -q own.txt -r events --limit 3 -t w
	ctxan -q own.txt -r events --function parse --format csv
	ctxan -q same-ns.txt -r events
	ctxan -q own.txt -r events --sort name
} >events.said 2>&1
[ "${UPDATE_GOLDEN:-0}" = 1 ] && cp events.said "$source_dir/testdata/calltrace/own-events.expected"
diff -u "$source_dir/testdata/calltrace/own-events.expected" events.said || fail "events"

# What each thread is in over time, in text and JSON; calls without a hidden function, whose time is its caller's.
{
	ctxan -q worked-example.txt -r timeline
	ctxan -q own.txt -r timeline -t main
	ctxan -q own.txt -r timeline --hide alloc -t main --ascii
	ctxan -q interrupt.txt -r timeline --format csv -i 3:5 | sed -n '1,2p;150,154p'
	ctxan -q own.txt -r calls --hide '^parse$'
	ctxan -q own.txt -r events --hide '^parse$' -t main
	ctxan -q own.txt -r calls --fold-object nix --show 'parse|job'
} >timeline.said 2>&1
[ "${UPDATE_GOLDEN:-0}" = 1 ] && cp timeline.said "$source_dir/testdata/calltrace/own-timeline.expected"
diff -u "$source_dir/testdata/calltrace/own-timeline.expected" timeline.said || fail "timeline"

# Exports have calls as they were: B twice without a pause between, C within one ns, A while its thread does not run.
for format in chrome-trace speedscope firefox; do
	ctxan -q same-ns.txt --export "$format" -o "same-ns.$format" 2>/dev/null || fail "$format"
	sed 's/ctxan[ @][0-9.]*/ctxan/' "same-ns.$format" >"same-ns.$format.said"
	[ "${UPDATE_GOLDEN:-0}" = 1 ] && cp "same-ns.$format.said" "$source_dir/testdata/calltrace/same-ns.$format.expected"
	diff -u "$source_dir/testdata/calltrace/same-ns.$format.expected" "same-ns.$format.said" || fail "$format of same-ns"
done

# Requirement C12, in the rows.
ctxan -q worked-example-in-b.txt -r tree --no-fold --columns | grep -qE '^ +4  1     2   3\.000  4\.000 .*B' || fail "worked example"
finish
