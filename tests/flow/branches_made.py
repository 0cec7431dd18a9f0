"""Holds `ctxan -r branches --format json` against what the recording was made of, or what perf says of it.

	branches_made.py REPORT.json ANSWERS.json [PERF.txt]
PERF.txt: perf report -b -x ';' -F period,symbol_from,symbol_to
"""
import json
import sys

report, answers = (json.load(open(path)) for path in sys.argv[1:3])
rows = report['rows']
wrong = 0


def same(what, got, expected):
    global wrong
    if got != expected:
        wrong += 1
        print(f'{what}: got {sorted(got, key=str)[:5]}..., expected {sorted(expected, key=str)[:5]}...' if isinstance(got, (set, dict))
              else f'{what}: got {got}, expected {expected}')


def of(section):
    return [row for row in rows if row['section'] == section]


def name(text):
    return None if text in (None, '<Unknown>') else text


same('pairs', {(name(r['function']), name(r['to_function']), r['count'], r['mispredicted'], r['cycles']) for r in of('function')},
     {tuple(pair) for pair in answers['pairs']})
same('edges', {(r['address'], r['to_address'], r['count'], r['not_taken']) for r in of('edge')}, {tuple(edge) for edge in answers['edges']})
same('blocks', {(r['address'] - r['bytes'], r['address'], r['count']) for r in of('block')}, {tuple(block) for block in answers['blocks']})
loop = answers['loop']
found = [r for r in of('loop') if r['address'] == loop['head']]
same('loops at the head', len(found), 1)
if found:
    same('the loop', (found[0]['count'], found[0]['entries']), (loop['back'], loop['entries']))
    same('its iterations', found[0]['iterations'], round((loop['back'] + loop['entries']) / loop['entries'], 1))
same('the total', report['samples'], sum(r['count'] for r in of('edge')))
if len(sys.argv) > 3:
    said = {}
    for line in open(sys.argv[3]):
        parts = [part.strip() for part in line.split(';')]
        if len(parts) == 3 and parts[0].isdigit():
            names = tuple(None if n[4:].startswith('0x') else n[4:] for n in parts[1:])
            said[names] = said.get(names, 0) + int(parts[0])
    ours = {}
    for r in of('function'):
        key = name(r['function']), name(r['to_function'])
        ours[key] = ours.get(key, 0) + r['count']
    same("perf's pairs", ours, said)
sys.exit(wrong != 0)
