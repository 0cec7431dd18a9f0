"""Holds the reports of a recording of memory accesses against what it was made of, or against what perf says of it.

	memory_made.py MEMORY.json CACHELINES.json PAGES.json ANSWERS.json [PERF.txt]
PERF.txt: perf script -F addr,weight,phys_addr
"""
import collections
import json
import sys

memory, cachelines, pages, answers = (json.load(open(path)) for path in sys.argv[1:5])
wrong = 0


def same(what, got, expected):
    global wrong
    if got != expected:
        wrong += 1
        print(f'{what}: got {got}, expected {expected}')


def of(report, section):
    return [row for row in report['rows'] if row['section'] == section]


levels, latency = collections.Counter(), collections.Counter()
for row in of(memory, 'level'):
    if row['operation'] is not None:
        levels[f"{row['operation']} {row['level']}"] += row['accesses']
        latency[row['level']] += row['latency']
same('levels', dict(levels), answers['levels'])
same('latencies', dict(latency), answers['latency'])
same('mappings', {row['mapping'] or '': row['accesses'] for row in of(memory, 'mapping')}, answers['places'])
same('the histogram', sum(row['accesses'] for row in of(memory, 'latency')), sum(answers['levels'].values()))
same('pages', {str(row['index']): row['samples'] for row in pages['rows']}, answers['pages'])
lines = {str(row['address']): row['accesses'] for row in of(cachelines, 'line')}
same('lines', {line: n for line, n in lines.items() if answers['lines'].get(line) != n}, {})
shared = [row for row in of(cachelines, 'line') if row['address'] == answers['shared']]
same('false sharing', [(row['sharing'], row['threads'], row['offsets']) for row in shared], [('false', 2, 2)])
same('its accesses', sum(row['accesses'] for row in of(cachelines, 'access') if row['address'] == answers['shared']),
     answers['lines'][str(answers['shared'])])
if len(sys.argv) > 5:
    said = [line.split() for line in open(sys.argv[5]) if line.strip()]
    addresses = collections.Counter(int(words[0], 16) >> 12 << 12 for words in said)
    same("perf's pages", {str(page): n for page, n in addresses.items()}, answers['pages'])
    same("perf's latency", sum(int(words[1]) for words in said), sum(row['latency'] for row in of(memory, 'mapping')))
sys.exit(wrong != 0)
