# What perf script prints of a recording, read back: the threads, samples and weights of the recording itself, and of each symbol as many leaves as the
# text has.
. "$(dirname "$0")/../common.sh" "$@"
need perf awk
unpack perfdata/same

for file in good.data processes.data threads.data two.data flat.data; do
	perf script -f -i "$file" -F comm,pid,tid,time,event,period,ip,sym,dso --no-inline >"$file.txt" 2>script.err || skip "perf script: $(head -n 1 script.err)"
	sums='select name, samples, weight from metric where samples > 0 and kind <> "span" order by name'
	ctxan -q "$file" --sql "$sums" --format csv >plain.txt
	ctxan -q "$file.txt" --sql "$sums" --format csv >text.txt
	[ -s plain.txt ] || fail "$file: no metrics in the header"
	cmp -s plain.txt text.txt || fail "$file: $(diff plain.txt text.txt | head -n 4)"
	# Leaves by name, from the text alone.
	awk '/^[^ \t#]/ { first = 1; next } first && NF { first = 0; $1 = ""; sub(/^ */, ""); sub(/ \([^ ]*\)$/, ""); sub(/\+0x[0-9a-f]*$/, ""); n[$0]++ } END { for (name in n) print n[name], name }' "$file.txt" | sort >leaves.txt
	ctxan -q "$file.txt" -r functions --limit 0 --format json >functions.json
	while read -r count name; do
		case $name in *"[unknown]"* | *" "*) continue ;; esac
		[ "$(wc -l <plain.txt)" = 2 ] || continue
		said=$(jq --arg n "$name" '[.rows[] | select(.function == $n) | .exclusive_samples] | add // 0' functions.json)
		[ "$said" = "$count" ] || fail "$file: $name has $said samples, the text $count leaves"
	done <leaves.txt
done
finish
