#!/usr/bin/env python3
"""Compares ctxan with perf on one recording, sample for sample.

    perfdata_same.py RECORDING [--no-chains] [CTXAN_OPTION...]

Four equalities, and nothing is left between perf's report and ours:

    perf report  ==  perf script, added up      rows of perf report --no-children and --children
    perf script  ==  ctxan's samples            each sample: time, thread, weight, and the stack frame by frame
    ctxan's samples, added up  ==  ctxan -r functions
    perf report --sort comm,dso,sym  ==  ctxan --by comm,dso,sym

for each event, over the whole recording and over three intervals. Where a frame differs because of a choice of
perf's (see EXPLAINED) it is counted and printed; anything else is a failure.
--no-chains: leaves only, where perf unwinds stacks by itself that ctxan takes as they are.
perf is asked, or its answers are beside the recording (perf_said.py).
"""
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict, namedtuple

import perf_said

EXPLAINED = {
    "alias": "perf shows another name of the same address",
    "noreturn": "perf looks up the return address of a call that does not return: it is behind the caller's end",
    "plt": "perf does not name this slot of the procedure linkage table, or takes it for another's",
    "static": "no symbol is there; ctxan knows from the unwind tables where the function begins",
    "part": "perf shows a clone or an outlined part, ctxan the function that it belongs to",
    "truncated": "ctxan says where the recorded stack was cut",
    "exec": "perf keeps the mappings of the program before execve, to ctxan the new one has none there",
    "vdso": "the recording does not say which vdso it had: perf takes the one that it has itself",
    "garbage": "perf drops a whole stack that holds a number which looks like a mark",
}

Sample = namedtuple("Sample", "time pid tid event weight frames garbage", defaults=[False])
Theirs = namedtuple("Theirs", "ip object symbol offset")  # symbol None: unknown; offset: in the symbol
Function = namedtuple("Function", "name linkage aliases object build_id start size kind")
Ours = namedtuple("Ours", "address function")
Row = namedtuple("Row", "samples weight percent lines")

KERNEL = "[kernel]"
UNKNOWN, TRUNCATED = 1, 2  # kinds of functions in ctxan's database
NOWHERE = Function("<Unknown>", "<Unknown>", "", None, None, 0, 0, UNKNOWN)
UNKNOWN_VDSO = NOWHERE._replace(object="[vdso]", build_id="")
NO_FILES = ("anon", "[heap]", "[stack]")
STATIC = "<static>@0x"
PART = re.compile(r"\.(cold|part|isra|constprop|clone)(\.\d+)?$")
COMM_WIDTHS = "0,0,16,0,0"  # otherwise perf cuts comm to the width that it had before exec
STACK_MAX = 127  # frames that the kernel records, sysctl kernel.perf_event_max_stack
MARKS_FROM = 2**64 - 4095  # of linux/perf_event.h: PERF_CONTEXT_MAX; hypervisor, kernel, user, guest, guest's kernel, user
MARKS = [2**64 - n for n in (32, 128, 512, 2048, 2176, 2560)]

ctxan_options = []


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def object_name(path):
    """perf report prints the last part of paths."""
    if path is None or path == "[unknown]":
        return ""
    if path.startswith("[kernel."):
        return KERNEL
    if path.startswith("[JIT] tid "):
        return f"perf-{path.split()[-1]}.map"
    return os.path.basename(path)


# ---- perf's side

HEAD = re.compile(r"\s*(-?\d+)/(-?\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\S+):\s*(.*)")
FRAME = re.compile(r"\s*([0-9a-f]+) (?:\[unknown\]|(.+)\+0x([0-9a-f]+)) \((.*)\)$")


def perf_frame(line):
    ip, symbol, offset, path = FRAME.match(line).groups()
    return Theirs(int(ip, 16), object_name(path), symbol, int(offset or "0", 16))


def perf_samples(recording, *options):
    text = perf_said.ask(recording, "perf", "script", "-i", recording, "--ns", "--no-inline", "--no-demangle",
                     "-F", "pid,tid,time,event,period,ip,sym,symoff,dso", *options)
    samples = []
    for line in text.splitlines():
        head = HEAD.match(line)
        if head:
            frames = [perf_frame(head[7])] if head[7] else []
            samples.append(Sample(int(head[3] + head[4]), int(head[1]), int(head[2]), head[6], int(head[5]), frames))
        elif line.strip():
            samples[-1].frames.append(perf_frame(line))
    return samples


def garbage_samples(recording):
    """(time, tid) of the samples whose call chain holds a number from the range of the marks that is none."""
    garbage, sample = set(), None
    for line in perf_said.ask(recording, "perf", "script", "-i", recording, "-D").splitlines():
        head = re.match(r"(?:\d+ )?(\d+) 0x[0-9a-f]+ .*: PERF_RECORD_SAMPLE\(.*\): -?\d+/(-?\d+): ", line)
        if head:
            sample = int(head[1]), int(head[2])
        entry = re.match(r"\.\.\.\.\. +\d+: ([0-9a-f]{16})$", line)
        if entry and int(entry[1], 16) >= MARKS_FROM and int(entry[1], 16) not in MARKS:
            garbage.add(sample)
    return garbage


def perf_stacks(recording):
    """perf's samples, each with a leaf at least."""
    samples, leaves = perf_samples(recording), perf_samples(recording, "-G")
    if all(sample.frames for sample in samples):
        return samples
    garbage = garbage_samples(recording)
    return [s if s.frames else leaf._replace(garbage=(s.time, s.tid) in garbage) for s, leaf in zip(samples, leaves)]


def perf_report(recording, *options):
    """Rows by event and (object, symbol), which may represent several lines: static functions may share a name, and
    the unknown functions of an object are one row, without percent."""
    text = perf_said.ask(recording, "perf", "report", "-i", recording, "--stdio", "-g", "none", "--no-inline", "--no-demangle",
                     "--percent-limit", "0", "-t", "\t", *options)
    events = {}
    for line in text.splitlines():
        title = re.match(r"# Samples: .* of event '(.*)'", line)
        if title:
            rows = events.setdefault(title[1], {})
        elif line and not line.startswith("#"):
            percent, samples, weight, path, symbol = [cell.strip() for cell in line.split("\t")]
            symbol = symbol.split(" ", 1)[1]
            percent = None if percent == "N/A" else float(percent.rstrip("%"))
            if re.fullmatch("(0x)?[0-9a-f]{16}", symbol):
                symbol, percent = None, None
            key = (object_name(path), symbol)
            old = rows.get(key, Row(0, 0, 0, 0))
            together = None if percent is None else old.percent + percent
            rows[key] = Row(old.samples + int(samples), old.weight + int(weight), together, old.lines + 1)
    return events


def perf_by_comm(recording):
    """By event, then by (comm, (object, symbol)): samples and weight."""
    text = perf_said.ask(recording, "perf", "report", "-i", recording, "--stdio", "-g", "none", "--no-inline", "--no-demangle", "--percent-limit", "0",
                         "-t", "\t", "--no-children", "--sort", "comm,dso,sym", "-F", "sample,period,comm,dso,sym", "-w", COMM_WIDTHS)
    events = {}
    for line in text.splitlines():
        title = re.match(r"# Samples: .* of event '(.*)'", line)
        if title:
            rows = events.setdefault(title[1], defaultdict(lambda: [0, 0]))
        elif line and not line.startswith("#"):
            samples, weight, comm, path, symbol = [cell.strip() for cell in line.split("\t")]
            symbol = symbol.split(" ", 1)[1]
            if re.fullmatch("(0x)?[0-9a-f]{16}", symbol):
                symbol = None
            row = rows[comm, (object_name(path), symbol)]
            row[0] += int(samples)
            row[1] += int(weight)
    return events


# ---- ctxan's side

def sql(recording, statement):
    return json.loads(output_of("ctxan", "-q", "--no-inlines", *ctxan_options, recording, "--format", "json", "--sql", statement))


def our_samples(recording, first_ns):
    objects = {row["id"]: (row["path"], row["build_id"])
               for row in sql(recording, "select id, path, build_id from load_object")}
    functions = {}
    for row in sql(recording, "select id, name, linkage_name, aliases, object, offset, size, kind from function"):
        path, build_id = objects.get(row["object"], (None, None))
        functions[row["id"]] = Function(row["name"], row["linkage_name"] or row["name"], row["aliases"], path, build_id,
                                        row["offset"], row["size"], row["kind"])
    places = {row["id"]: Ours(row["address"], functions[row["function"]])
              for row in sql(recording, "select id, function, address from location")}
    stacks = {}
    for row in sql(recording, "select id, parent, location from raw_stack order by id"):
        stacks[row["id"]] = [] if row["parent"] is None else [places[row["location"]]] + stacks[row["parent"]]
    return [Sample(first_ns + row["time_ns"], row["pid"], row["tid"], row["event"], row["weight"], stacks[row["raw_stack"]])
            for row in sql(recording, """select s.time_ns, p.pid, t.tid, m.name as event, s.weight, s.raw_stack
                from samples as s join thread as t on t.id = s.thread join process as p on p.id = t.process
                join metric as m on m.id = s.metric""")]


def our_report(recording, event, *options):
    """(function, object) -> exclusive samples and weight, inclusive samples and weight; without call stacks the latter are
    null, and each sample is its leaf."""
    text = output_of("ctxan", "-q", "--no-inlines", *ctxan_options, recording, "-r", "functions", "--format", "json", "--limit", "0",
                     "--metric", event, *options)
    rows = defaultdict(lambda: [0, 0, 0, 0])
    for row in json.loads(text)["rows"]:
        if row["function"] != "<Total>":
            sums = rows[row["function"], row["object"]]
            for i, key in enumerate(("exclusive_samples", "exclusive", "inclusive_samples", "inclusive")):
                sums[i] += row[key] if row[key] is not None else row[key.replace("inclusive", "exclusive")]
    return dict(rows)


def our_by_comm(recording, event):
    text = output_of("ctxan", "-q", "--no-inlines", *ctxan_options, recording, "--sort", "comm,dso,sym", "--format", "json", "--limit", "0",
                     "--metric", event)
    return {(row["thread_name"], (row["function"], row["object"])): [row["samples"], row["weight"]] for row in json.loads(text)["rows"]}


# ---- the comparison

class Failures:
    def __init__(self):
        self.tables = 0

    def table(self, title, rows):
        """Rows (what, perf's, ours) that differ."""
        if not rows:
            return
        self.tables += 1
        print(f"  {title}")
        for what, theirs, ours in rows[:20]:
            print(f"    {what:60} perf {theirs}   ctxan {ours}")
        if len(rows) > 20:
            print(f"    ... and {len(rows) - 20} more")


def has_name(function, symbol):
    """Is this a name of the function? Aliases are demangled."""
    names = {function.name, function.linkage, *function.aliases.split(" ")}
    if symbol in names or symbol.split("@")[0] in names:
        return True
    readable = demangled(symbol)
    return readable is not None and (readable == function.name or f" {readable} " in f" {function.aliases} ")


def is_part(function, symbol):
    """Is this symbol a clone or a part of the function?"""
    while PART.search(symbol):
        symbol = PART.sub("", symbol)
        if has_name(function, symbol):
            return True
    return False


def demangled(symbol, known={}):
    if not symbol.startswith("_Z"):
        return None
    if symbol not in known:
        known[symbol] = output_of("c++filt", symbol).strip()
    return known[symbol]


def explain(theirs, ours, is_return):
    """"": the same function. A key of EXPLAINED. None: they must not differ."""
    function = ours.function
    unknown = function.kind == UNKNOWN
    name = object_name(function.object)
    if theirs.symbol is None and unknown and theirs.object == "" and name == KERNEL and is_kernel(theirs.ip):
        return ""  # nothing is known there; to ctxan it is the kernel's all the same
    if theirs.symbol is None and unknown and re.fullmatch(r"perf-\d+\.map", theirs.object) and name in NO_FILES:
        return ""  # perf assigns code without a file to the file that would contain the names
    if theirs.object != name:
        return None
    if theirs.symbol is None and unknown:
        return ""
    next_address = ours.address + 1 if is_return else ours.address
    behind = not unknown and next_address == function.start + function.size
    if function.name.endswith("@plt") and theirs.symbol != function.name:
        # perf takes the order of relocations for that of slots, and lets what lies before run into them.
        other_slot = theirs.symbol is None or theirs.symbol.endswith("@plt")
        return "plt" if other_slot or theirs.offset > next_address - function.start else None
    if function.name.startswith(STATIC):
        # Where perf has a name it is of a symbol without a size, which it lets run into what follows.
        if theirs.symbol is None or theirs.offset > next_address - function.start:
            return "static"
    if theirs.symbol is None:
        return "noreturn" if is_return and behind else None
    if is_part(function, theirs.symbol):
        return "part"
    if not unknown and next_address - function.start == theirs.offset:
        if theirs.symbol.split("@")[0] in (function.linkage.split("@")[0], function.name):
            return ""
        return "alias" if has_name(function, theirs.symbol) else None
    if is_return and theirs.offset == 0 and (unknown or behind):
        return "noreturn"
    return None


def is_kernel(ip):
    return ip >> 48 == 0xFFFF


def show(frame):
    if isinstance(frame, Theirs):
        return f"{frame.symbol or hex(frame.ip)}+{frame.offset:#x} ({frame.object or '?'})"
    return f"{frame.function.name} ({object_name(frame.function.object) or '?'})"


def compare_frames(theirs, ours, images, differences, explained):
    """Two samples' stacks, leaf first."""
    mine = list(ours.frames)
    if theirs.garbage:
        mine = mine[:1]
        explained["garbage", show(theirs.frames[0]), "more frames"] += 1
    if len(theirs.frames) == STACK_MAX and len(mine) == STACK_MAX + 1 and mine[-1].function.kind == TRUNCATED:
        explained["truncated", "nothing", show(mine.pop())] += 1
    if len(mine) != len(theirs.frames):
        differences[f"stack of {len(theirs.frames)} frames at {show(theirs.frames[0])}", "", f"{len(mine)} frames"] += 1
        return
    # The first frame of the program, below the kernel's, is where it was interrupted, not a return address.
    program = next((i for i, frame in enumerate(theirs.frames) if not is_kernel(frame.ip)), 0)
    for i, (frame, own) in enumerate(zip(theirs.frames, mine)):
        why = explain(frame, own, i not in (0, program))
        if why is None and own.function == UNKNOWN_VDSO:
            why = "vdso"
        if why is None and own.function == NOWHERE and images.is_old(frame.object, theirs):
            why = "exec"
        if why is None:
            differences[f"frame {'0' if i == 0 else '>0'}", show(frame), show(own)] += 1
        elif why:
            explained[why, show(frame), show(own)] += 1


class Images:
    """Which objects a process has mapped since it became another program, as perf itself lists the events."""

    def __init__(self, recording):
        self.recording = recording
        self.events = None

    def read(self):
        self.events = defaultdict(list)
        event = re.compile(r".* (\d+)\.(\d{9}): PERF_RECORD_(COMM exec|MMAP2?)\b\D*: ?.*?(-?\d+)/\d+(?:: .* (\S+))?$")
        for line in perf_said.ask(self.recording, "perf", "script", "-i", self.recording, "--show-mmap-events", "--show-task-events", "--ns",
                                  "-F", "comm,pid,tid,time").splitlines():
            found = event.match(line)
            if found:
                path = found[5] if found[3] != "COMM exec" else None
                self.events[int(found[4])].append((int(found[1] + found[2]), path))

    def is_old(self, name, sample):
        """Was the object mapped by the program before the last exec only? Then what perf finds there is of another one."""
        if self.events is None:
            self.read()
        before = [path for time, path in self.events[sample.pid] if time <= sample.time]
        if None not in before:
            return False
        since = before[len(before) - before[::-1].index(None):]
        return name not in map(object_name, since)


def compare_samples(theirs, ours, chains, images, failures):
    key = lambda sample: sample[:5]
    theirs, ours = sorted(theirs, key=key), sorted(ours, key=key)
    heads = [Counter(key(s) for s in side) for side in (theirs, ours)]
    missing, more = heads[0] - heads[1], heads[1] - heads[0]
    failures.table("samples (time, process, thread, event, weight) that only one of them has",
                   [(str(k), n, 0) for k, n in missing.items()] + [(str(k), 0, n) for k, n in more.items()])
    if missing or more:
        return
    differences, explained = Counter(), Counter()
    for one, other in zip(theirs, ours):
        if not chains:
            other = other._replace(frames=other.frames[:1])
        compare_frames(one, other, images, differences, explained)
    failures.table("frames that differ", [(f"{n} times: {what}", a, b) for (what, a, b), n in differences.most_common()])
    for why, reason in EXPLAINED.items():
        examples = [(n, perf, ctxan) for (key, perf, ctxan), n in explained.most_common() if key == why]
        if examples:
            print(f"  {sum(n for n, _, _ in examples)} frames: {reason}; as perf {examples[0][1]}, ctxan {examples[0][2]}")


def add_up(samples, key_of):
    """Name -> exclusive samples and weight, inclusive samples and weight. `key_of` a frame is (name, identity): several
    functions may have one name."""
    sums = defaultdict(lambda: [0, 0, 0, 0])
    for sample in samples:
        leaf = sums[key_of(sample.frames[0])[0]]
        leaf[0] += 1
        leaf[1] += sample.weight
        for name, _ in {key_of(frame) for frame in sample.frames}:
            sums[name][2] += 1
            sums[name][3] += sample.weight
    return dict(sums)


def their_key(frame):
    return (frame.object, frame.symbol), frame.ip - frame.offset if frame.symbol else None


def our_key(frame):
    return (frame.function.name, frame.function.object), frame.function


def compare_perf(what, rows, sums, failures):
    """perf report's rows with the sums of perf script."""
    exclusive = {name: (sums[name][0], sums[name][1]) for name in sums if sums[name][0]}
    printed = {name: (row.samples, row.weight) for name, row in rows.items() if row.samples}
    failures.table(f"{what}: exclusive samples and weight in perf report, and in perf script (in the place of ctxan)",
                   [(str(name), printed.get(name), exclusive.get(name))
                    for name in sorted(printed.keys() | exclusive.keys(), key=str)
                    if printed.get(name) != exclusive.get(name)])
    if not any(row.percent for row in rows.values()):
        return  # --no-children, or a pipe: perf knows too late that there are stacks
    total = sum(weight for _, weight in exclusive.values())
    shares = []
    for name in sorted(sums.keys() | rows.keys(), key=str):
        row = rows.get(name, Row(0, 0, 0, 1))
        share = 100 * sums[name][3] / total if name in sums else 0
        if row.percent is not None and abs(share - row.percent) > 0.0051 * row.lines:
            shares.append((str(name), f"{row.percent} %", f"{share:.4f} %"))
    failures.table(f"{what}: inclusive weight in perf report, and in perf script (in the place of ctxan)", shares)


def compare_ours(what, rows, sums, failures):
    """The rows of ctxan -r functions with the sums of samples that were found to be perf's."""
    failures.table(f"{what}: exclusive samples, weight, inclusive samples, weight of all samples, and in ctxan -r functions",
                   [(str(name), sums.get(name), rows.get(name)) for name in sorted(rows.keys() | sums.keys(), key=str)
                    if rows.get(name) != sums.get(name)])


def compare_reports(recording, chains, selection, theirs, ours, failures):
    """perf report and ctxan, of the samples given: all, or those of the selection [begin, end), first."""
    for_perf, for_ctxan, name = [], [], "the whole run"
    events = sorted({sample.event for sample in theirs})
    if selection:
        begin, end, first = selection
        theirs, ours = ([s for s in side if begin <= s.time < end] for side in (theirs, ours))
        # perf counts a sample at the end of an interval, ctxan does not.
        for_perf = ["--time", f"{seconds(begin)},{seconds(end - 1)}"]
        for_ctxan = ["--interval", f"{begin - first}ns:{end - first}ns"]
        name = f"{begin - first}-{end - first} ns"
    columns = ",sample,period,dso,sym"
    flat = perf_report(recording, "--no-children", "-F", "overhead" + columns, *for_perf)
    nested = perf_report(recording, "--children", "-F", "overhead_children" + columns, *for_perf)
    for event in events:
        sums = add_up([s for s in theirs if s.event == event], their_key)
        rows = {key: row._replace(percent=None) for key, row in flat.get(event, {}).items()}
        compare_perf(f"{event}, {name}, --no-children", rows, sums, failures)
        if chains:
            compare_perf(f"{event}, {name}, --children", nested.get(event, {}), sums, failures)
        sums = add_up([s for s in ours if s.event == event], our_key)
        compare_ours(f"{event}, {name}", our_report(recording, event, *for_ctxan), sums, failures)


def leaf_groups(theirs, ours):
    """Names of leaves in groups: perf's and ctxan's names of the same samples."""
    above = {}

    def top(name):
        while above.setdefault(name, name) != name:
            name = above[name]
        return name

    for one, other in zip(sorted(theirs, key=lambda s: s[:5]), sorted(ours, key=lambda s: s[:5])):
        above[top(("perf", their_key(one.frames[0])[0]))] = top(("ctxan", our_key(other.frames[0])[0]))
    return top


def compare_by_comm(recording, theirs, ours, failures):
    """perf report --sort comm,dso,sym with ctxan --by comm,dso,sym."""
    top, printed = leaf_groups(theirs, ours), perf_by_comm(recording)
    for event in sorted({sample.event for sample in theirs}):
        sums = []
        for program, rows in (("perf", printed.get(event, {})), ("ctxan", our_by_comm(recording, event))):
            by_group = defaultdict(lambda: (0, 0))
            for (comm, leaf), (samples, weight) in rows.items():
                old = by_group[comm, top((program, leaf))]
                by_group[comm, top((program, leaf))] = old[0] + samples, old[1] + weight
            sums.append(by_group)
        failures.table(f"{event}, by comm, dso and sym: samples and weight",
                       [(f"{comm} {leaf[1]}", sums[0].get((comm, leaf)), sums[1].get((comm, leaf)))
                        for comm, leaf in sorted(sums[0].keys() | sums[1].keys(), key=str)
                        if sums[0].get((comm, leaf)) != sums[1].get((comm, leaf))])


def intervals(times):
    """A twentieth, two fifths, and the longest gap. Ends are times of samples, as those show who counts them."""
    at = lambda share: times[int(share * (len(times) - 1))]
    yield at(0.3), at(0.35)
    yield at(0.2), at(0.6)
    gap = max(range(1, len(times)), key=lambda i: times[i] - times[i - 1])
    yield times[gap - 1] + 1, times[gap]


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


def main():
    recording = sys.argv[1]
    chains = "--no-chains" not in sys.argv
    ctxan_options.extend(option for option in sys.argv[2:] if option != "--no-chains")
    failures = Failures()
    theirs = perf_stacks(recording) if chains else perf_samples(recording, "-G")
    first = min(sample.time for sample in theirs)
    ours = our_samples(recording, first)
    images = Images(recording)
    if perf_said.KEEPING:
        images.read()
    compare_samples(theirs, ours, chains, images, failures)
    compare_reports(recording, chains, None, theirs, ours, failures)
    compare_by_comm(recording, theirs, ours, failures)
    for begin, end in intervals(sorted(sample.time for sample in theirs)):
        compare_reports(recording, chains, (begin, end, first), theirs, ours, failures)
    counts = Counter(sample.event for sample in theirs)
    print("  " + ", ".join(f"{n} samples of {event}" for event, n in sorted(counts.items())))
    return 1 if failures.tables else 0


if __name__ == "__main__":
    sys.exit(main())
