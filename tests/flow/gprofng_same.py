#!/usr/bin/env python3
"""Compares ctxan with gprofng on one experiment, sample for sample.

    gprofng_same.py EXPERIMENT.er

    gprofng -dprofile  ==  ctxan's samples      each sample: time, thread, weight, and the stack frame by frame
    -dprofile added up ==  gprofng's reports    -functions, -callers-callees, -calltree, -threads, to the printed digits
    ctxan's samples    ==  ctxan's reports      functions, callers-callees, tree, threads
    -dheap -dsync -diotrace  ==  ctxan's reader     each event with all its fields, and the depth of its stack (root process only)

so that what differs between the reports is only what differs between two frames, and that is counted and printed: see EXPLAINED.
"""
import json
import os
import re
import sys
from collections import Counter, defaultdict, namedtuple

from gprofng_said import ask
from perfdata_same import UNKNOWN, output_of, our_report, our_samples

EXPLAINED = {
    "static": "gprofng knows no symbol there, ctxan has one from debug information or unwind tables",
    "alias": "ctxan shows another name of the same address",
    "plt": "gprofng drops a slot of the procedure linkage table where it is the leaf",
    "part": "gprofng shows a clone or an outlined part, ctxan the function that it belongs to",
}

Theirs = namedtuple("Theirs", "time thread weight frames")  # frames leaf first
Frame = namedtuple("Frame", "name offset")

PACKET = re.compile(r"#\s*\d+:\s+(\d+),\s+-?[\d.]+ \(\s*-?[\d.]+\) t = (\d+), cpu = (-?\d+), frames = (\d+)")
FRAME = re.compile(r"\s+(.*?)(?: \+ 0x([0-9A-Fa-f]+))?(?:, line \d+ in .*)? \[0x[0-9a-f]+\]$")
STATIC = re.compile(r"<static>@0x[0-9a-f]+ \(<(.*?)>\)")
DIGITS = 0.0005 + 1e-9  # seconds: gprofng prints three


class Failures:
    def __init__(self):
        self.n = 0

    def add(self, *words):
        self.n += 1
        if self.n <= 12:
            print("   ", *words)
        elif self.n == 13:
            print("    ...")


def logs(recording):
    """The directories that gprofng loads, in its order: log text of each."""
    found = []
    for path in [recording] + sorted(os.path.join(recording, n) for n in os.listdir(recording)
                                     if n.startswith("_") and n.endswith(".er")):
        stacks = os.path.join(path, "data.frameinfo")
        if path == recording or os.path.exists(stacks) and os.path.getsize(stacks) != 0:
            with open(os.path.join(path, "log.xml"), "rb") as log:
                found.append(log.read().replace(b"\0", b"").decode())
    return found


def run_ns(log):
    seconds, fraction = re.search(r'<event kind="run" tstamp="(\d+)\.(\d{9})"', log).groups()
    return int(seconds) * 10**9 + int(fraction)


def display(recording, *commands):
    return ask(recording, "-metrics", "e.%totalcpu:i.%totalcpu", *commands)[0]


def their_samples(recording):
    """A list for each experiment; times from the root process's run, threads as (experiment, number)."""
    experiments = logs(recording)
    start = run_ns(experiments[0])
    found, number = [], -1
    for line in display(recording, "-dprofile").splitlines():
        if "Clock Profiling Packets" in line:
            number += 1
            ticks = int(re.search(r'ptimer="(\d+)"', experiments[number]).group(1))
            continue
        packet, frame = PACKET.match(line), FRAME.match(line)
        if packet:
            found.append(Theirs(int(packet[1]) - start, (number + 1, int(packet[2])), ticks * 1000, []))
        elif frame:
            found[-1].frames.insert(0, Frame(frame[1], int(frame[2] or "0", 16)))
    return found


# ---- sample for sample

def differs(theirs, ours):
    """None: the same place. Otherwise why it is another name, or "" for no reason at all."""
    function = ours.function
    names = {function.name, function.linkage, *function.aliases.split()}
    static = STATIC.match(theirs.name)
    if static:
        return "static" if os.path.basename(function.object or "") == static[1] else ""
    if theirs.name in ("<Unknown>", "<Truncated-stack>"):
        return None if function.name.startswith(theirs.name[:-1]) else "static"
    if function.size != 0 and ours.address - function.start != theirs.offset and "." not in theirs.name:
        return ""
    if theirs.name == function.name:
        return None
    if theirs.name.split(".")[0] in (function.name, function.linkage) or "[part" in function.name:
        return "part"
    return "alias" if theirs.name in names or function.object == "[vdso]" or function.size != 0 else ""


def is_plt(ours):
    return ours.function.name.endswith("@plt") or ours.function.name.endswith("@plt>")


def compare_samples(theirs, ours, failures):
    """Pairs (theirs, ours) in order of time."""
    explained = Counter()
    threads = {}
    theirs = sorted(theirs, key=lambda sample: (sample.time, sample.thread))
    by_time = defaultdict(list)
    for sample in ours:
        by_time[sample.time].append(sample)
    pairs = []
    if len(theirs) != len(ours):
        failures.add(f"{len(theirs)} samples, ctxan has {len(ours)}")
    for sample in theirs:
        candidates = by_time[sample.time]
        known = threads.get(sample.thread)
        mine = next((c for c in candidates if known in (None, (c.pid, c.tid))), None)
        if mine is None or mine.weight != sample.weight:
            failures.add("no such sample:", sample.time, sample.thread, sample.weight)
            continue
        candidates.remove(mine)
        threads.setdefault(sample.thread, (mine.pid, mine.tid))
        frames = mine.frames
        if len(frames) == len(sample.frames) + 1 and is_plt(frames[0]):
            explained["plt"] += 1
            frames = frames[1:]
        if len(frames) != len(sample.frames):
            failures.add(sample.time, f"{len(sample.frames)} frames, ctxan has {len(frames)}:",
                         [f.name for f in sample.frames][-3:], [f.function.name for f in mine.frames][-3:])
            continue
        for a, b in zip(sample.frames, frames):
            why = differs(a, b)
            if why == "":
                failures.add(sample.time, a.name, hex(a.offset), "is to ctxan", b.function.name,
                             hex(b.address - b.function.start))
            elif why:
                explained[why] += 1
        pairs.append((sample, mine))
    for why, n in sorted(explained.items()):
        print(f"    {n} frames: {EXPLAINED[why]}")
    return pairs


# ---- added up

def add_up(samples):
    """samples: (thread, weight, names leaf first). Exclusive, inclusive, by path, by edge, by thread."""
    sums = {key: Counter() for key in ("exclusive", "inclusive", "path", "caller", "callee", "thread")}
    for thread, weight, names in samples:
        sums["thread"][thread] += weight
        sums["exclusive"][names[0] if names else "<Total>"] += weight
        for name in set(names):
            sums["inclusive"][name] += weight
            innermost = names.index(name)
            caller = names[innermost + 1] if innermost + 1 < len(names) else "<Total>"
            sums["caller"][name, caller] += weight
            if innermost != 0:
                sums["callee"][name, names[innermost - 1]] += weight
        for i in range(len(names)):
            sums["path"][tuple(names[i:])] += weight
    return sums


def is_near(printed, ns):
    return abs(float(printed) - ns / 1e9) <= DIGITS


def compare_functions(text, sums, failures):
    printed, wanted = [], []
    for line in text.splitlines():
        row = re.match(r"\s*([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(\S.*)", line)
        if row and row[5] != "<Total>":
            printed.append((row[5], float(row[1]), float(row[3])))
    for name, inclusive in sums["inclusive"].items():
        wanted.append((name, sums["exclusive"][name] / 1e9, inclusive / 1e9))
    by_name = defaultdict(lambda: [0, 0, 0])
    for name, exclusive, inclusive in printed:  # functions of one name cannot be distinguished by anything that both print
        by_name[name] = [x + y for x, y in zip(by_name[name], (exclusive, inclusive, 1))]
    for name, exclusive, inclusive in wanted:
        got = by_name.pop(name, None)
        if got is None:
            failures.add("gprofng -functions lacks", name)
        elif abs(got[0] - exclusive) > DIGITS * got[2] or (got[2] == 1 and abs(got[1] - inclusive) > DIGITS):
            failures.add("gprofng -functions:", name, got, "and not", exclusive, inclusive)
    for name in by_name:
        if by_name[name][1] == 0:  # of events that are no clock samples
            continue
        failures.add("gprofng -functions has", name, by_name[name])


def compare_stanzas(text, sums, twins, failures):
    """Callers, the function with *, callees."""
    for stanza in text.split("\n\n"):
        rows = re.findall(r"^\s*([\d.]+)\s+([\d.]+)\s+(\*?)(\S.*)$", stanza, re.M)
        own = [i for i, row in enumerate(rows) if row[2]]
        if len(own) != 1 or rows[own[0]][3] == "<Total>" or rows[own[0]][3] in twins:
            continue
        name = rows[own[0]][3]
        for i, (value, _, _, other) in enumerate(rows):
            if i == own[0]:
                wanted = sums["exclusive"][name]
            else:
                wanted = sums["caller" if i < own[0] else "callee"][name, other]
            if other not in twins and not is_near(value, wanted):
                failures.add("gprofng -callers-callees:", name, other, value, "and not", wanted / 1e9)


def compare_tree(text, sums, twins, failures):
    path, n = [], 0
    for line in text.splitlines():
        row = re.match(r"\s*([\d.]+)\s+([\d.]+)\s+((?:  |[| ] )*?)\s*\+-(\S.*)$", line)
        if not row:
            continue
        depth = (line.index("+-") - line_base(text)) // 2
        path = path[:depth] + [row[4]]
        key = tuple(reversed(path[1:]))
        if depth == 0 or twins & set(key):
            continue
        n += 1
        if not is_near(row[1], sums["path"][key]):
            failures.add("gprofng -calltree:", " > ".join(path), row[1], "and not", sums["path"][key] / 1e9)
    if n == 0 and sums["path"]:
        failures.add("gprofng -calltree: nothing was read")


def line_base(text):
    return next(line.index("+-") for line in text.splitlines() if "+-<Total>" in line)


def compare_theirs(recording, theirs, failures):
    samples = [(s.thread, s.weight, [f.name for f in s.frames]) for s in theirs]
    sums = add_up(samples)
    text = display(recording, "-functions")
    rows = Counter(re.findall(r"^\s*[\d.]+\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+(\S.*)$", text, re.M))
    twins = {name for name, n in rows.items() if n > 1}
    compare_functions(text, sums, failures)
    compare_stanzas(display(recording, "-callers-callees"), sums, twins, failures)
    compare_tree(display(recording, "-calltree"), sums, twins, failures)
    for value, process, thread in re.findall(r"^\s*([\d.]+)\s+[\d.]+\s+Process (\d+), Thread (\d+)",
                                             display(recording, "-threads"), re.M):
        if not is_near(value, sums["thread"][int(process), int(thread)]):
            failures.add("gprofng -threads:", process, thread, value)


def our_rows(recording, report):
    return json.loads(output_of("ctxan", "-q", "--no-inlines", recording, "-r", report, "--format", "json",
                                "--limit", "0"))["rows"]


def name_of(function):
    return function.name, function.object


def compare_ours(recording, ours, failures):
    samples = [((s.pid, s.tid), s.weight, [name_of(f.function) for f in s.frames]) for s in ours]
    sums = add_up(samples)
    report = our_report(recording, "Total CPU")
    for key, inclusive in sums["inclusive"].items():
        if (report[key][1], report[key][3]) != (sums["exclusive"][key], inclusive):
            failures.add("ctxan -r functions:", key, report[key], "and not", sums["exclusive"][key], inclusive)
    path, n = [], 0
    for row in our_rows(recording, "tree"):
        path = path[:row["level"]] + [(row["function"], row["object"])]
        if row["level"] == 0:
            continue
        n += 1
        if row["cum"] != sums["path"][tuple(reversed(path[1:]))]:
            failures.add("ctxan -r tree:", path[-1], row["cum"], "and not", sums["path"][tuple(reversed(path[1:]))])
    if n != len(sums["path"]):
        failures.add(f"ctxan -r tree: {n} nodes and not {len(sums['path'])}")
    recursive = {name for _, _, names in samples for name, k in Counter(names).items() if k > 1}
    for row in our_rows(recording, "callers-callees"):
        name = row["function"], row["object"]
        if name[0] == "<Total>" or name in recursive:
            continue
        for kind, others in (("caller", row["parents"]), ("callee", row["children"])):
            for other in others:
                key = ("<Total>" if other["function"] == "<Total>" else (other["function"], other["object"]))
                if other["cum"] != sums[kind][name, key]:
                    failures.add("ctxan -r callers-callees:", kind, name, key, other["cum"], "and not",
                                 sums[kind][name, key])
    threads = Counter()
    for row in our_rows(recording, "threads"):
        threads[row["process"], row["thread"]] += row["weight"]
    for key, weight in sums["thread"].items():
        if threads[key] != weight:
            failures.add("ctxan -r threads:", key, threads[key], "and not", weight)


# ---- heap, synchronization and I/O

HEAP = re.compile(r"#\s*\d+:\s+(\d+),.* cpu = (-?\d+), frames = (\d+)\n\s+type = (\d+) \(.*?size = (\d+) .*"
                  r"VADDR = 0x([0-9a-f]+), OVADDR = 0x([0-9a-f]+)")
SYNC = re.compile(r"#\s*\d+:\s+(\d+),.* cpu = (-?\d+), frames = (\d+)")
DELAY = re.compile(r"object @ 0x([0-9a-f]+);\s+synchronization delay\s+(\d+)\.(\d{9})")
IO = re.compile(r"#\s*\d+:\s+(\d+),.* cpu = (-?\d+), frames = (\d+)\n\s+(\w+): fd = (-?\d+), ofd = (-?\d+), "
                r".*rqst =\s+(\d+)\.(\d{9})\n\s+filename = `(.*?)', nbytes = (-?\d+)")
IO_KINDS = {"ReadTrace": 0, "WriteTrace": 1, "OpenTrace": 2, "CloseTrace": 3, "OtherIOTrace": 4,
            "ReadTraceError": 5, "WriteTraceError": 6, "OpenTraceError": 7, "CloseTraceError": 8, "OtherIOTraceError": 9}


def dump(recording, command, what):
    """Of the root process only."""
    parts = re.split(rf"^Total {what}.*$", display(recording, command), flags=re.M)
    return parts[1] if len(parts) > 1 else ""


def compare_events(recording, failures):
    mine = defaultdict(list)
    for line in output_of("gprofng_events", recording).splitlines():
        fields, depth = line.rsplit(" | ", 1)
        kind, fields = fields.split(" ", 1)
        mine[kind].append((fields, int(depth)))
    text = dump(recording, "-dheap", "Heaptrace")
    heap = [(f"{t} {cpu} {k} {size} {at} {old}", int(n)) for t, cpu, n, k, size, at, old in HEAP.findall(text)]
    said = ask(recording, "-dsync")[1]  # delays and objects are said there
    waits = sorted((at, int(s) * 10**9 + int(ns)) for at, s, ns in DELAY.findall(said))
    text = dump(recording, "-dsync", "Synctrace")
    sync = sorted((int(t), int(cpu), int(n)) for t, cpu, n in SYNC.findall(text))
    text = dump(recording, "-diotrace", "IO trace")
    io = [(f"{t} {cpu} {IO_KINDS[k]} {fd} {old} {size} {int(s) * 10**9 + int(ns)} {'' if name == 'NULL' else name}", int(n))
          for t, cpu, n, k, fd, old, s, ns, name, size in IO.findall(text)]
    our_waits = sorted((fields.split()[2], int(fields.split()[3])) for fields, _ in mine["sync"])
    our_sync = sorted((int(fields.split()[0]), int(fields.split()[1]), n) for fields, n in mine["sync"])
    for what, theirs, ours in (("heap", heap, mine["heap"]), ("I/O", io, mine["io"]), ("waits", waits, our_waits),
                               ("sync", sync, our_sync)):
        for only, where in ((Counter(theirs) - Counter(ours), "gprofng"), (Counter(ours) - Counter(theirs), "ctxan")):
            for event in sorted(only)[:3]:
                failures.add(what, "only in", where, event)
    if any(mine.values()):
        print(f"    {len(heap)} heap, {len(sync)} synchronization and {len(io)} I/O events")


def main():
    recording = sys.argv[1].rstrip("/")
    failures = Failures()
    theirs = their_samples(recording)
    ours = [sample for sample in our_samples(recording, 0) if sample.event == "Total CPU"]
    pairs = compare_samples(theirs, ours, failures)
    compare_theirs(recording, theirs, failures)
    compare_ours(recording, ours, failures)
    compare_events(recording, failures)
    unknown = sum(1 for _, mine in pairs for f in mine.frames if f.function.kind == UNKNOWN)
    print(f"    {len(pairs)} samples of {len({s.thread for s in theirs})} threads; {unknown} frames without a name")
    return 1 if failures.n or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
