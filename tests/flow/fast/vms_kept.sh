# -r vms and the columns of -r threads on a kept recording of Java: what the virtual machine said, its collections, and each sample once, in every view.
. "$(dirname "$0")/../common.sh" "$@"
need jq xz

unpack java/shares
ctxan -q shares.er -r vms --format json >vms.json || fail "vms"
row=$(jq -c '.rows[] | [.vm, .process_id, .collector, .command, .gc_count]' vms.json)
[ "$row" = '[0,0,"Serial","Shares 100",2]' ] || fail "vms: $(cat vms.json)"
# What it said at its end, and the marks of its collections.
text shares.er/log.xml | sed -n 's/.*kind="vm-end".*heap_used="\([0-9]*\)" heap_max="\([0-9]*\)" classes="\([0-9]*\)" compilations="\([0-9]*\)".*/[\1,\2,\3,\4]/p' >said.txt
jq -c '.rows[0] | [.heap_used_bytes, .heap_max_bytes, .classes, .compilations]' vms.json | cmp -s - said.txt || fail "it said $(cat said.txt): $(cat vms.json)"
ctxan -q shares.er --format json --sql "select sum(duration_ns) as ns from traced as t join traced_file as f on f.id = t.file where f.name = 'GC pause'" | jq '.[0].ns' >pauses.txt
jq '.rows[0].gc_ns' vms.json | cmp -s - pauses.txt || fail "$(cat pauses.txt) ns of pauses: $(cat vms.json)"
jq '.samples' vms.json >all.txt
jq '.rows[0] | .inside_samples + .gc_samples + .outside_samples' vms.json | cmp -s - all.txt || fail "$(cat all.txt) samples: $(cat vms.json)"
# Threads in all views, and parts of the time: sums are those of the whole.
for view in user expert machine; do
	ctxan -q shares.er -r threads --view $view --format json | jq -c '[.rows[] | [.thread_id, .inside_samples, .gc_samples, .outside_samples]] | sort' >$view.txt
done
cmp -s user.txt expert.txt && cmp -s user.txt machine.txt || fail "views differ: $(cat user.txt expert.txt machine.txt)"
jq -c '[[.[][1]], [.[][2]], [.[][3]] | add]' user.txt >threads.txt
jq -c '.rows[0] | [.inside_samples, .gc_samples, .outside_samples]' vms.json | cmp -s - threads.txt || fail "threads have $(cat threads.txt): $(cat vms.json)"
half=$(jq '.intervals_ns[0][1] / 2000000 | floor' vms.json)
for part in ":$half" "$half:"; do
	ctxan -q shares.er -r vms -i "$part" --format json | jq -c '.rows[0] | [.inside_samples, .gc_samples, .outside_samples, .gc_count, .gc_ns]' || fail "interval $part"
done | jq -sc 'transpose | map(add)' >parts.txt
jq -c '.rows[0] | [.inside_samples, .gc_samples, .outside_samples, .gc_count, .gc_ns]' vms.json | cmp -s - parts.txt || fail "parts have $(cat parts.txt): $(cat vms.json)"
# A recording without a virtual machine has none, and says so.
printf 'a;b 3\n' >folded.txt
expect 1 'no virtual machine was recorded' ctxan -q folded.txt -r vms
ctxan -q folded.txt -r threads --format json | jq -e '.rows[0].inside_samples == null' >/dev/null || fail "threads of no virtual machine"
finish
