#!/usr/bin/env python3
"""Holds the reports on a fleet against the sum of the reports on its recordings, to the nanosecond and the sample.

    fleet_same.py CTXAN URL SEED SELECTIONS RECORDING...

The recordings have been pushed with the label "pick" of their names. Selections are random: some of the recordings, and all of their time
or an interval with borders at seconds of the clock of the day, which cuts spans and leaves out recordings.
"""
import collections
import datetime
import json
import os
import random
import subprocess
import sys

# Of each report: what names a row, and what is added up.
TESTS = ['main', 'work', '^work_[0-4]', 'a', 'lib']
KEYS = {
    'functions': ('function', 'object', 'inlined'),
    'objects': ('object',),
    'states': ('name',),
    'waits': ('caller', 'object', 'kind', 'state'),
}
SUMS = {
    'functions': ('exclusive', 'inclusive', 'exclusive_samples', 'inclusive_samples'),
    'objects': ('exclusive', 'inclusive', 'exclusive_samples', 'inclusive_samples'),
    'states': ('wall', 'user', 'system', 'wait-cpu', 'lock', 'text-fault', 'data-fault', 'other-wait', 'USER', 'SYSTEM', 'TRAP',
               'TFAULT', 'DFAULT', 'KFAULT', 'USER_LOCK', 'SLEEP', 'STOPPED', 'WAIT_CPU', 'UNKNOWN'),
    'waits': ('waits', 'wait_ns'),
}


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


def reports(command):
    code, out, err = run(command + ['--format', 'json', '--limit', '0'])
    if code != 0:
        sys.exit('%s\n%s' % (' '.join(command), err))
    said, decoder = [], json.JSONDecoder()
    while out:
        report, end = decoder.raw_decode(out)
        said.append(report)
        out = out[end:].lstrip()
    return said


def pattern(name):
    """A thread's name with * for each number, as groups are called."""
    out = ''
    for at, c in enumerate(name):
        if not c.isdigit():
            out += c
        elif at == 0 or not name[at - 1].isdigit():
            out += '*'
    return out


def rows_of_tree(report):
    """Each node by the path of its functions; nodes with equal paths are one."""
    out, path = collections.Counter(), []
    for row in report['rows']:
        del path[row['level']:]
        path.append((row['function'], row['object']))
        key = tuple(path)
        for name in ('base', 'cum', 'base_samples', 'cum_samples', 'calls'):
            out[key + (name,)] += row[name] or 0
    return out


def rows_of_stacks(report):
    out = collections.Counter()
    for row in report['rows']:
        key = tuple((frame['function'], frame['object']) for frame in row['frames'])
        out[key + ('weight',)] += row['exclusive']
        out[key + ('samples',)] += row['samples']
    return out


def key_of(kind, row):
    key = tuple(row.get(name) for name in KEYS[kind])
    if kind == 'states':
        return (pattern(key[0]),)
    # The wait before a program's start is known by its samples alone: a fleet has it among the others without a stack.
    return tuple('other' if name == 'start' else name for name in key) if kind == 'waits' else key


def sums_of(report):
    kind = report['report']
    out = collections.Counter({('samples',): report['samples'], ('weight',): report['weight']})
    if kind == 'tree':
        out.update(rows_of_tree(report))
    elif kind == 'stacks':
        out.update(rows_of_stacks(report))
    else:
        for row in report['rows']:
            key = key_of(kind, row)
            for name in SUMS[kind]:
                out[key + (name,)] += row[name]
            for state, spans in row.get('spans', {}).items():
                out[key + ('spans', state)] += spans
    return collections.Counter({key: value for key, value in out.items() if value != 0})


def longest(report):
    out = {}
    for row in report['rows'] if report['report'] == 'waits' else []:
        key = key_of('waits', row)
        out[key] = max(out.get(key, 0), row['max_ns'])
    return out


class Recording:
    def __init__(self, ctxan, path):
        self.path = path
        self.name = os.path.basename(path)
        code, out, err = run([ctxan, '-q', path, '--sql', "SELECT key, value FROM experiment WHERE key = 'end_ns' UNION ALL SELECT key, value FROM property WHERE key = 'start_unix_ns'",
                              '--format', 'csv'])
        if code != 0:
            sys.exit(err)
        facts = dict(line.split(',') for line in out.split()[1:])
        self.begin = int(facts['start_unix_ns'])
        self.length = int(facts['end_ns'])
        code, out, err = run([ctxan, '-q', path, '-r', 'states', '--format', 'json'])
        self.has_states = code == 0
        code, out, err = run([ctxan, '-q', path, '-r', 'functions', '--format', 'json'])
        self.metric = json.loads(out)['metric'].get('word') or json.loads(out)['metric']['name']


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S')


def single_interval(recording, interval):
    """The options of an interval of the clock for one recording; None: it has no part of it."""
    if interval is None:
        return []
    begin = max(interval[0] * 10**9 - recording.begin, 0)
    end = min(interval[1] * 10**9 - recording.begin, recording.length)
    return ['-i', '%dns:%dns' % (begin, end)] if begin < end else None


def compare(ctxan, url, chosen, interval, wanted, metric):
    command = [ctxan, 'fleet', url, '-q'] + ['pick=' + recording.name for recording in chosen]
    names = ','.join(wanted)
    if interval is not None:
        command += ['-i', utc(interval[0]) + ':' + utc(interval[1])]
    fleet = reports(command + ['-r', names, '--metric', metric])
    expected = [collections.Counter() for _ in wanted]
    expected_longest = [{} for _ in wanted]
    for recording in chosen:
        part = single_interval(recording, interval)
        if part is None:
            continue
        said = reports([ctxan, '-q', recording.path, '-r', names, '--metric', metric] + part)
        for i, report in enumerate(said):
            expected[i].update(sums_of(report))
            for key, value in longest(report).items():
                expected_longest[i][key] = max(expected_longest[i].get(key, 0), value)
    rows = 0
    for i, report in enumerate(fleet):
        got = sums_of(report)
        rows += len(got)
        if longest(report) != expected_longest[i]:
            sys.exit('%s: the longest waits are %s, those of the recordings %s' %
                     (' '.join(command), longest(report), expected_longest[i]))
        for key in sorted(set(got) | set(expected[i]), key=str):
            if got[key] != expected[i][key]:
                sys.exit('%s\n%s: %s: %d, the recordings have %d' %
                         (' '.join(command), report['report'], key, got[key], expected[i][key]))
    return rows


def compare_index(ctxan, url, chosen, interval, metric, tests):
    """--by recording and function, where stacks are tested: of each recording what it has by function itself."""
    command = [ctxan, 'fleet', url, '-q', '--by', 'pick,function', '--metric', metric] + tests + ['pick=' + recording.name for recording in chosen]
    if interval is not None:
        command += ['-i', utc(interval[0]) + ':' + utc(interval[1])]
    expected = collections.Counter()
    for recording in chosen:
        part = single_interval(recording, interval)
        if part is None:
            continue
        for row in reports([ctxan, '-q', recording.path, '--by', 'function', '--metric', metric] + tests + part)[0]['rows']:
            expected[(recording.name, row['function'], row['object'], 'samples')] += row['samples']
            expected[(recording.name, row['function'], row['object'], 'weight')] += row['weight']
    got = collections.Counter()
    for row in reports(command)[0]['rows']:
        got[(row['pick'], row['function'], row['object'], 'samples')] += row['samples']
        got[(row['pick'], row['function'], row['object'], 'weight')] += row['weight']
    if +got != +expected:
        sys.exit('%s: %s, the recordings have %s' % (' '.join(command), list((got - expected).items())[:3], list((expected - got).items())[:3]))
    command[command.index('--by'):command.index('--by') + 2] = ['-r', 'recordings']
    for row in reports(command)[0]['rows']:
        weight = sum(value for key, value in expected.items() if key[0] == row['name'] and key[-1] == 'weight')
        if row['weight'] != weight:
            sys.exit('%s: %s, the recording has %d' % (' '.join(command), row, weight))
    return len(got)


def main():
    ctxan, url, seed, selections = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    recordings = [Recording(ctxan, path) for path in sys.argv[5:]]
    chance = random.Random(seed)
    compared = rows = cut = 0
    while compared < selections:
        chosen = sorted(chance.sample(recordings, chance.randint(1, min(4, len(recordings)))), key=lambda r: r.name)
        interval = None
        if chance.random() < 0.7:
            around = chance.choice(chosen)
            first = around.begin // 10**9 - 2
            last = (around.begin + around.length) // 10**9 + 3
            begin = chance.randint(first, last - 1)
            interval = (begin, chance.randint(begin + 1, last))
            overlapping = [r for r in chosen
                           if r.begin < interval[1] * 10**9 and r.begin + r.length > interval[0] * 10**9]
            if not overlapping:
                continue
            cut += any(r.begin < interval[0] * 10**9 or r.begin + r.length > interval[1] * 10**9 for r in overlapping)
        wanted, metrics = ['functions', 'objects', 'tree', 'stacks'], sorted({r.metric for r in chosen})
        if all(r.has_states for r in chosen):
            metrics += ['wall', 'lock', 'other-wait']
            wanted.append('states')
            if interval is None:
                wanted.append('waits')
        metric = chance.choice(metrics)
        rows += compare(ctxan, url, chosen, interval, wanted, metric)
        tests = chance.choice([[], ['--focus', chance.choice(TESTS)], ['--ignore', chance.choice(TESTS)], ['--hide', chance.choice(TESTS)]])
        rows += compare_index(ctxan, url, chosen, interval, metric, tests)
        compared += 1
    print('%d selections are the sums of their recordings (%d figures; in %d the interval cuts recordings)' %
          (compared, rows, cut))
    if selections >= 20 and cut == 0:
        sys.exit('no interval cut a recording')


main()
