#!/bin/sh
# bench/data.sh BUILD_DIR [ROUNDS]: what the addresses of --data cost: a program of 120,000 page faults, each of which is a sample, recorded with and without,
# by turns, beside perf with and without -d. CPU time of the program and the recorder.
set -eu
build=$(cd "$1" && pwd)
rounds=${2:-9}
work=$(mktemp -d "${TMPDIR:-/tmp}/ctx-bench-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >touch.c <<'EOF'
#include <stdlib.h>
#include <sys/mman.h>
int main(void)
{
	size_t n = (size_t)30000 * 4096;

	for (int round = 0; round < 4; round++) {
		char *pages = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(pages, n, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < n; i += 4096)
			pages[i] = 1;
		munmap(pages, n);
	}
}
EOF
cc -O1 -o touch touch.c
python3 - "$build/bin/ctxrec" "$rounds" <<'EOF'
import os, resource, statistics, subprocess, sys
ctxrec = [sys.argv[1], '-q', '-O', '--states', 'off', '-e', 'page-faults/period=1/u', '-o']
perf = ['perf', 'record', '-q', '-e', 'page-faults:u', '-c', '1', '-g', '-o']
commands = {'bare': [], 'ctxrec': [*ctxrec, 'a.er'], 'ctxrec --data': [*ctxrec, 'b.er', '--data'],
            'ctxrec --unwind fp': [*ctxrec, 'c.er', '--unwind', 'fp'], 'ctxrec --unwind fp --data': [*ctxrec, 'd.er', '--unwind', 'fp', '--data'],
            'perf -g': [*perf, 'e.data'], 'perf -g -d': [*perf, 'f.data', '-d']}
used = {name: [] for name in commands}


def seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def size(path):
    return sum(os.path.getsize(os.path.join(where, file)) for where, _, files in os.walk(path) for file in files) if os.path.isdir(path) else os.path.getsize(path)


for _ in range(int(sys.argv[2])):
    for name, command in commands.items():
        before = seconds()
        subprocess.run(command + (['--'] if command else []) + ['./touch'], check=True, stdout=subprocess.DEVNULL)
        used[name].append(seconds() - before)
print('| | CPU s: least | median | : bare | bytes |\n|---|---:|---:|---:|---:|')
for name, values in used.items():
    bytes_used = size(next(word for word in commands[name] if word.endswith(('.er', '.data')))) if commands[name] else ''
    print(f'| {name} | {min(values):.3f} | {statistics.median(values):.3f} | {statistics.median(values) / statistics.median(used["bare"]):.2f} | {bytes_used} |')
for name, other in (('ctxrec --data', 'ctxrec'), ('ctxrec --unwind fp --data', 'ctxrec --unwind fp'), ('perf -g -d', 'perf -g')):
    ratios = sorted(a / b for a, b in zip(used[name], used[other]))
    print(f'{name} : {other}, pairs: median {statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f}')
EOF
