"""Makes perf.data files whose answers are known, and prints the answers as JSON.

	perfdata_make.py branches ELF OUT [N]	samples with branch stacks, between functions of ELF
	perfdata_make.py memory ELF OUT [N]	samples of memory: addresses, latencies, data sources, maps of data, a control group
	perfdata_make.py topology ELF OUT [N]	samples on the processors of a machine of two sockets, three nodes and two kinds of cores
	perfdata_make.py offcpu ELF OUT [N]	waits, as perf record --off-cpu has them
"""
import collections
import json
import random
import struct
import sys

HEADER = 104
IP, TID, TIME, ADDR, CPU, PERIOD, BRANCHES, WEIGHT, SOURCE, PHYSICAL, CGROUP = (1 << n for n in (0, 1, 2, 3, 7, 8, 11, 14, 15, 19, 21))
USER = 2
BASE = 0x555500000000
PID = 4711


def functions(path):
    """Of an ELF file of 64 bits: its functions (address, size, name), and where its code is (offset, address, size)."""
    data = open(path, 'rb').read()
    phoff, shoff = struct.unpack_from('<QQ', data, 32)
    phnum, = struct.unpack_from('<H', data, 56)
    shnum, = struct.unpack_from('<H', data, 60)
    code = next(struct.unpack_from('<IIQQQQ', data, phoff + 56 * i) for i in range(phnum)
                if struct.unpack_from('<II', data, phoff + 56 * i)[0] == 1 and struct.unpack_from('<II', data, phoff + 56 * i)[1] & 1)
    found = {}
    sections = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + 64 * i) for i in range(shnum)]
    for section in sections:
        if section[1] != 2:
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, value, size = struct.unpack_from('<IBBHQQ', data, at)
            if info & 15 == 2 and index != 0 and size >= 128:
                end = data.index(b'\0', strings + name)
                found[value] = (value, size, data[strings + name:end].decode())
    return sorted(found.values()), (code[2], code[3], code[5])


def record(kind, misc, body):
    body += b'\0' * (-len(body) % 8)
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def text(name):
    name = name.encode() + b'\0'
    return name + b'\0' * (-len(name) % 8)


def trailer(time):
    return struct.pack('<iiQII', PID, PID, time, 0, 0)


def comm(tid, name):
    return record(3, 0, struct.pack('<ii', PID, tid) + text(name) + struct.pack('<iiQII', PID, tid, 0, 0, 0))


def mmap2(address, size, offset, path, executable=True):
    return record(10, USER if executable else USER | 1 << 13,
                  struct.pack('<iiQQQIIQQII', PID, PID, address, size, offset, 0, 0, 0, 0, 5 if executable else 3, 2) +
                  text(path) + trailer(0))


def packed(attr):
    return struct.pack('<IIQQQQQIIQQQQIiQIHHIIQ', *attr).ljust(128, b'\0')


def write(path, attr, records, features=None):
    """One event, without ids. `features`: contents by number."""
    features = features or {}
    data = b''.join(records)
    attr = packed(attr)
    header = struct.pack('<8sQQ', b'PERFILE2', HEADER, len(attr) + 16)
    header += struct.pack('<QQ', HEADER, len(attr) + 16) + struct.pack('<QQ', HEADER + len(attr) + 16, len(data)) + struct.pack('<QQ', 0, 0)
    header = (header + struct.pack('<Q', sum(1 << n for n in features))).ljust(HEADER, b'\0')
    at = HEADER + len(attr) + 16 + len(data) + 16 * len(features)
    with open(path, 'wb') as out:
        out.write(header + attr + struct.pack('<QQ', 0, 0) + data)
        for _, content in sorted(features.items()):
            out.write(struct.pack('<QQ', at, len(content)))
            at += len(content)
        out.write(b''.join(content for _, content in sorted(features.items())))


def counted(name):
    """A text of a feature."""
    name = name.encode() + b'\0'
    name += b'\0' * (-len(name) % 64)
    return struct.pack('<I', len(name)) + name


def attr(kind, config, sample_type, branches=0):
    flags = 1 << 5 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23  # exclude_kernel, mmap, comm, task, sample_id_all, mmap2
    return (kind, 128, config, 1000, sample_type, 0, flags, 0, 0, 0, 0, branches, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


class Path:
    """A program that runs: a loop of nine times back, then another function, and so on. Its branches, the last first."""

    def __init__(self, all_functions, choose):
        self.loop, self.other = all_functions[0], all_functions[1]
        self.rest = all_functions[2:]
        self.choose = choose
        self.branches = []
        self.at = self.next()

    def next(self):
        loop, other = self.loop[0], self.other[0]
        while True:
            yield other + 8, loop + 16, 2  # into the loop
            for _ in range(9):
                yield loop + 48, loop + 16, 1  # back to its head
            third = self.choose.choice(self.rest)
            yield loop + 64, third[0], 4  # the loop was left: the branch at 48 was passed
            yield third[0] + self.choose.randrange(0, 64), other, 6
            yield 0x100, other, 0  # of nothing that is mapped

    def step(self):
        source, target, kind = next(self.at)
        wrong = self.choose.random() < .1
        self.branches.insert(0, (source, target, kind, wrong, self.choose.randrange(0, 50)))
        del self.branches[16:]


def make_branches(elf, out, n=300):
    all_functions, code = functions(elf)
    choose = random.Random(7)
    path = Path(all_functions[3:9], choose)
    base = BASE - code[1]  # of the file's addresses
    records = [comm(PID, 'made'), mmap2(BASE, (code[2] + 4095) & ~4095, code[0], elf)]
    counts = collections.Counter()
    pairs = collections.defaultdict(lambda: [0, 0, 0])
    blocks = collections.Counter()

    def name(address):
        return next((n for a, s, n in all_functions if a <= address < a + s), None)
    for i in range(n):
        for _ in range(choose.randrange(1, 20)):
            path.step()
        stack = path.branches
        body = struct.pack('<QiiQIIQ', base + path.other[0], PID, PID, 1000 + i * 10, 0, 0, 1000)
        body += struct.pack('<Q', len(stack))
        for source, target, kind, wrong, cycles in stack:
            body += struct.pack('<QQQ', source + (base if source != 0x100 else 0), target + base,
                                (1 if wrong else 2) | cycles << 4 | kind << 20)
            pair = pairs[name(source), name(target)]
            pair[0] += 1
            pair[1] += wrong
            pair[2] += cycles
            counts[source, target] += 1
        for newer, older in zip(stack, stack[1:]):
            if 0 <= newer[0] - older[1] < 1 << 20 and newer[0] != 0x100:
                blocks[older[1], newer[0]] += 1
        records.append(record(9, USER, body))
    write(out, attr(0, 0, IP | TID | TIME | CPU | PERIOD | BRANCHES, 1 | 8), records, {15: b''})
    head, back = path.loop[0] + 16, path.loop[0] + 48
    entries = sum(n for (s, t), n in counts.items() if t == head and s != back)
    entries += sum(n for (b, e), n in blocks.items() if b < head <= e)
    print(json.dumps({
        'pairs': [[*names, *sums] for names, sums in pairs.items()],
        'edges': [[s, t, n, sum(c for (b, e), c in blocks.items() if b <= s < e)] for (s, t), n in counts.items()],
        'blocks': [[b, e, n] for (b, e), n in blocks.items()],
        'loop': {'head': head, 'back': counts[back, head], 'entries': entries}}))


def make_memory(elf, out, n=400):
    all_functions, code = functions(elf)
    choose = random.Random(11)
    base = BASE - code[1]
    heap, anonymous, stack = 0x556600000000, 0x7f1100000000, 0x7ffe00000000
    records = [comm(PID, 'made'), comm(PID + 1, 'second'), mmap2(BASE, (code[2] + 4095) & ~4095, code[0], elf),
               record(19, 0, struct.pack('<Q', 77) + text('/made.slice/x.scope') + trailer(0)),
               mmap2(heap, 0x100000, 0, '[heap]', False), mmap2(anonymous, 0x10000, 0, '//anon', False),
               mmap2(stack, 0x20000, 0, '[stack]', False)]
    # L1 hit, L3 hit with the line modified elsewhere, RAM, a store that hit L1; the TLB by L1, L1, a walk, L1
    sources = [(2 | (2 | 8) << 5 | 2 << 19 | 1 << 24 | (2 | 8) << 26 | 1 << 33, 'load', 'L1'),
               (2 | (2 | 64) << 5 | 16 << 19 | 1 << 24 | (2 | 8) << 26 | 3 << 33, 'load', 'L3'),
               (2 | (2 | 128) << 5 | 8 << 19 | 1 << 24 | (2 | 32) << 26 | 13 << 33, 'load', 'RAM'),
               (4 | (2 | 8) << 5 | 2 << 19 | 2 << 24 | (2 | 8) << 26 | 1 << 33, 'store', 'L1')]
    levels, places, pages, lines, latency = (collections.Counter() for _ in range(5))
    for i in range(n):
        place, area, size = choose.choice([('[heap]', heap, 0x8000), ('//anon', anonymous, 0x100),
                                           ('[stack]', stack, 0x1000), ('', 0x1000, 0x1000)])
        address = area + choose.randrange(0, size, 8)
        if i % 8 == 0:  # false sharing: two threads, one line, a half of it each
            place, address = '[heap]', heap + 0x9000 + 32 * (i // 8 % 2)
        tid = PID + i // 8 % 2
        source, operation, level = sources[1 if i % 8 == 0 and i % 16 == 0 else 3 if i % 8 == 0 else choose.randrange(4)]
        weight = choose.randrange(3, 400)
        function = choose.choice(all_functions[3:9])
        records.append(record(9, USER, struct.pack('<QiiQQIIQQQQQ', base + function[0] + 4, PID, tid, 1000 + i * 10, address, 0, 0, 50,
                                                   weight, source, address & 0xffffff, 77)))
        levels[operation + ' ' + level] += 1
        places[place] += 1
        pages[address >> 12 << 12] += 1
        lines[address >> 6 << 6] += 1
        latency[level] += weight
    write(out, attr(4, 0x1cd, IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT | SOURCE | PHYSICAL | CGROUP), records)
    print(json.dumps({'levels': levels, 'places': places, 'pages': pages, 'lines': lines, 'latency': latency,
                      'shared': heap + 0x9000}))


def make_offcpu(elf, out, n=100):
    all_functions, code = functions(elf)
    choose = random.Random(5)
    records = [comm(PID, 'made'), mmap2(BASE, (code[2] + 4095) & ~4095, code[0], elf)]
    waits = collections.Counter()
    for i in range(n):
        function, ns = choose.choice(all_functions[3:9]), choose.randrange(1000, 1000000)
        time = 0xffffffff00000000 if i % 10 == 0 else 1000000 + i * 1000000
        records.append(record(9, USER, struct.pack('<QiiQIIQ', BASE - code[1] + function[0] + 4, PID, PID, time, 0, 0, ns)))
        waits[function[2]] += ns
    described = attr(1, 10, IP | TID | TIME | CPU | PERIOD)
    name = text('offcpu-time')
    content = struct.pack('<II', 1, 128) + packed(described) + struct.pack('<II', 0, len(name)) + name
    write(out, described, records, {12: content})
    print(json.dumps({'waits': waits}))


def make_topology(elf, out, n=600):
    """24 processors: 0-15 are pairs of threads of cpu_core, 16-23 cores of cpu_atom; 5 is offline."""
    all_functions, code = functions(elf)
    choose = random.Random(3)
    places = {}
    for cpu in range(24):
        socket = 3 if cpu in range(8, 16) or cpu >= 20 else 0
        core = cpu // 2 * 4 if cpu < 16 else cpu + 20
        places[cpu] = {'socket': socket, 'core': f'S{socket}-D{cpu // 20}-C{core}', 'node': cpu // 8, 'pmu': 'cpu_core' if cpu < 16 else 'cpu_atom'}
    places[5] = None
    records = [comm(PID, 'made'), mmap2(BASE, (code[2] + 4095) & ~4095, code[0], elf)]
    sums = {key: collections.Counter() for key in places[0]}
    for i in range(n):
        cpu = choose.choice([cpu for cpu in places if cpu != 5])
        function, period = choose.choice(all_functions[3:9]), choose.randrange(1, 1000)
        records.append(record(9, USER, struct.pack('<QiiQIIQ', BASE - code[1] + function[0] + 4, PID, PID, 1000 + i * 10, cpu, 0, period)))
        for key, value in places[cpu].items():
            sums[key][value] += period
    numbers = b''.join(struct.pack('<ii', int(p['core'].split('C')[1]), p['socket']) if p else struct.pack('<ii', -1, -1) for p in places.values())
    dies = b''.join(struct.pack('<i', cpu // 20 if p else -1) for cpu, p in places.items())
    siblings = struct.pack('<I', 2) + counted('0-7,16-19') + counted('8-15,20-23')
    threads = struct.pack('<I', 1) + counted('0-1')
    topology = siblings + threads + numbers + siblings + dies
    numa = struct.pack('<I', 3) + b''.join(struct.pack('<IQQ', node, 1 << 20, 1 << 10) + counted(cpus) for node, cpus in
                                           enumerate(('0-4,6-7', '8-15', '16-23')))
    hybrid = struct.pack('<I', 2) + counted('cpu_core') + counted('0-4,6-15') + counted('cpu_atom') + counted('16-23')
    write(out, attr(0, 0, IP | TID | TIME | CPU | PERIOD), records,
          {3: counted('made'), 7: struct.pack('<II', 24, 23), 13: topology, 14: numa, 30: hybrid})
    print(json.dumps(sums))


if __name__ == '__main__':
    {'branches': make_branches, 'memory': make_memory, 'topology': make_topology, 'offcpu': make_offcpu}[sys.argv[1]](sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
