# Functions, lines and instructions of a BPF program of a kept perf.data, against what the kernel said of its addresses and perf of its samples.
. "$(dirname "$0")/../common.sh" "$@"
need python3

unpack perfdata/bpf
for report in lines functions; do
	expect 0 '' ctxan bpf.data -r $report --format json
	cp out.txt $report.json
done
python3 - bpf.json bpf.said <<'EOF' || fail "lines and functions are not the kernel's and perf's"
import bisect, collections, json, sys
kernel = json.load(open(sys.argv[1]))
lines = {address: line for address, _, line in kernel['lines']}  # of one address the last
starts = sorted(lines)
in_lines, in_functions = collections.Counter(), collections.Counter()
for row in open(sys.argv[2]):
    ip, name = row.split()[:2]
    in_lines[name, lines[starts[bisect.bisect_right(starts, int(ip, 16)) - 1]]] += 1
    in_functions[name] += 1
def rows(report):
    return [r for r in json.load(open(report + '.json'))['rows'] if r['function'].startswith('bpf_prog_') and r['exclusive']]
wrong = [({(r['function'], r['line']): r['exclusive_samples'] for r in rows('lines')}, in_lines),
         ({r['function']: r['exclusive_samples'] for r in rows('functions')}, in_functions),
         ({r['file'] for r in rows('lines')}, {file for _, file, _ in kernel['lines']}),
         ({name.split('_')[3] for name in in_functions}, {name for _, _, name in kernel['functions']})]
for got, wanted in wrong:
    if got != wanted or len(in_lines) < 4:
        sys.exit(f'got {got}, expected {wanted}')
EOF
expect 0 '' ctxan bpf.data -r disasm --function "$(sed -n 's/.*\(bpf_prog_[0-9a-f]*_mixed\).*/\1/p' bpf.said | head -1)"
grep -q 'bpf_busy.c:1[0-9]' out.txt && grep -q 'shlq  *\$0xd' out.txt || fail "no instructions with lines: $(cat out.txt)"
expect 0 '' ctxan bpf.data -r header
grep -q BPF_EVENT out.txt && fail "events of BPF programs are records that are not used"
finish
