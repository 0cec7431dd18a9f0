#!/usr/bin/env python3
"""Compares ctxan with gprofng on traced operations: heap, synchronisation, I/O.

    gprofng_traced.py EXPERIMENT.er

    -dheap -dsync -diotrace        ==  ctxan's operations   each one: time, kind, bytes, addresses, descriptor, duration
    -functions with all metrics    ==  ctxan -r functions   the totals, and each function that both name
    -heap -leaks -iostat           ==  ctxan's operations   added up, by call stack
"""
import json
import re
import sys
from collections import Counter, defaultdict

from gprofng_said import ask
from gprofng_same import PACKET, Failures, logs, run_ns
from perfdata_same import output_of

WORDS = ("heapallocbytes heapalloccnt heapleakbytes heapleakcnt sync syncn ioreadbytes ioreadcnt ioreadtime iowritebytes "
         "iowritecnt iowritetime ioothertime ioothercnt ioerrortime ioerrorcnt").split()
TIMES = {"sync", "ioreadtime", "iowritetime", "ioothertime", "ioerrortime"}
HEAP = {"malloc": "allocate", "free": "free", "realloc": "reallocate", "mmap": "map", "munmap": "unmap"}
DIGITS = 0.001  # seconds: gprofng prints three, and cuts


def display(recording, *commands):
    return ask(recording, *commands)[0]


def sql(recording, statement):
    lines = output_of("ctxan", "-q", recording, "--sql", statement).splitlines()
    return [line.split("\t") for line in lines[1:]]


# ---- one by one

def their_heap(recording, start):
    found, time = [], None
    for line in display(recording, "-dheap").splitlines():
        packet = PACKET.match(line)
        if packet:
            time = int(packet[1]) - start
        row = re.match(r"\s+type = \d+ \((\w+)\), size = (\d+) .*VADDR = 0x(\w+), OVADDR = 0x(\w+)", line)
        if row:
            kind = HEAP[row[1]]
            # Of munmap gprofng keeps the size in the place of the other address.
            size = int(row[4], 16) if kind == "unmap" and row[2] == "0" else int(row[2])
            other = int(row[4], 16) if kind == "reallocate" else 0
            found.append((time, kind, size, int(row[3], 16), other))
    return found


def unsigned(text):
    return int(text or 0) % 2**64


def our_heap(recording):
    rows = sql(recording, "SELECT time_ns, operation, size, address, old_address FROM traced WHERE kind = 'heap'")
    return [(int(t), op, unsigned(size), unsigned(address), unsigned(other)) for t, op, size, address, other in rows]


def their_sync(recording, start):
    out, errors = ask(recording, "-dsync")  # the waits are on stderr
    waits = re.findall(r"synchronization object @ 0x(\w+);\s+synchronization delay\s+(\d+)\.(\d{9})", errors)
    times = [int(packet[1]) - start for packet in map(PACKET.match, out.splitlines()) if packet]
    return Counter(times), Counter((int(a, 16), int(s) * 10**9 + int(f)) for a, s, f in waits)


def our_sync(recording):
    rows = sql(recording, "SELECT time_ns, address, duration_ns FROM traced WHERE kind = 'sync'")
    return Counter(int(r[0]) for r in rows), Counter((unsigned(r[1]), int(r[2])) for r in rows)


def their_io(recording, start):
    found, time = [], None
    for line in display(recording, "-diotrace").splitlines():
        packet = PACKET.match(line)
        if packet:
            time = int(packet[1]) - start
        row = re.match(r"\s+(\w+)Trace(Error)?: fd = (-?\d+), .*rqst =\s+(\d+)\.(\d{9})", line)
        if row:
            kind = row[1].lower().replace("otherio", "other")
            request = int(row[4]) * 10**9 + int(row[5])
            found.append([time, kind, row[2] is not None, int(row[3]), time + start - request, 0])
        row = re.match(r"\s+filename = `.*', nbytes = (-?\d+)", line)
        if row:
            found[-1][5] = max(int(row[1]), 0)
    return [tuple(operation) for operation in found]


def our_io(recording):
    rows = sql(recording, "SELECT time_ns, operation, failed, coalesce(descriptor, -1), duration_ns, size FROM traced "
                          "WHERE kind = 'io'")
    return [(int(t), op, failed == "1", int(fd), int(ns), int(size)) for t, op, failed, fd, ns, size in rows]


def compare_lists(what, theirs, ours, failures):
    theirs, ours = Counter(theirs), Counter(ours)
    for item in (theirs - ours):
        failures.add(what, "is missing:", item)
    for item in (ours - theirs):
        failures.add(what, "is too much:", item)


def compare_operations(recording, failures):
    start = run_ns(logs(recording)[0])
    heap, io = our_heap(recording), our_io(recording)
    compare_lists("heap", their_heap(recording, start), heap, failures)
    times, waits = their_sync(recording, start)
    our_times, our_waits = our_sync(recording)
    compare_lists("time of a wait", times, our_times, failures)
    compare_lists("wait", waits, our_waits, failures)
    # What is moved only counts where it was; neither says a descriptor of what is no file's.
    shorten = lambda rows: [(t, op, failed, fd if op != "other" else -1, ns, size if op in ("read", "write") and not failed else 0)
                            for t, op, failed, fd, ns, size in rows]
    compare_lists("I/O", shorten(their_io(recording, start)), shorten(io), failures)
    return len(heap), sum(our_times.values()), len(io)


# ---- added up

def available(recording):
    """The metrics that both have: of what never happened ctxan has none."""
    ours = {row[0] for row in sql(recording, "SELECT word FROM metric")}
    return [word for word in WORDS
            if re.search(rf"e[.+]%{word}$", display(recording, "-metric_list"), re.M) and word in ours]


def their_functions(recording, words):
    """By name: sums of exclusive and inclusive values; functions of one name together."""
    metrics = ":".join(f"e.{word}:i.{word}" if word in TIMES else f"e+{word}:i+{word}" for word in words)
    found = defaultdict(lambda: [0.0] * (2 * len(words) + 1))
    for line in display(recording, "-metrics", metrics + ":name", "-functions").splitlines():
        row = re.match(r"\s*((?:[\d.]+\s+){%d})(\S.*)$" % (2 * len(words)), line)
        if row:
            values = [float(value) for value in row[1].split()] + [1]
            found[row[2]] = [a + b for a, b in zip(found[row[2]], values)]
    return found


def our_functions(recording, word):
    text = output_of("ctxan", "-q", "--no-inlines", recording, "-r", "functions", "--metric", word, "--format", "json",
                     "--limit", "0")
    found = defaultdict(lambda: [0, 0, 0])
    for row in json.loads(text)["rows"]:
        found[row["function"]] = [a + b for a, b in zip(found[row["function"]], (row["exclusive"], row["inclusive"], 1))]
    return found


def compare_functions(recording, failures):
    words = available(recording)
    theirs = their_functions(recording, words)
    aliases = {name for row in sql(recording, "SELECT name, linkage_name, aliases FROM function") for text in row[1:]
               for name in text.split()}
    n = 0
    if "<Total>" not in theirs:
        failures.add("gprofng -functions: nothing was read")
    for k, word in enumerate(words):
        ours = our_functions(recording, word)
        unit = 1e9 if word in TIMES else 1
        for name, values in theirs.items():
            has_any = values[2 * k] or values[2 * k + 1]
            if name not in ours and has_any and name.isidentifier() and name not in aliases:
                failures.add(word, "ctxan lacks", name)
            if name not in ours or name.startswith("<") and name != "<Total>" or ours[name][2] != values[-1]:
                continue
            n += 1
            near = DIGITS * values[-1] if word in TIMES else 0
            for i, what in enumerate(("exclusive", "inclusive")):
                if abs(ours[name][i] / unit - values[2 * k + i]) > near:
                    failures.add(word, what, name, ours[name][i] / unit, "and not", values[2 * k + i])
    return words, n


def compare_stacks(recording, failures):
    text = display(recording, "-heap")
    theirs = Counter()
    for stanza in text.split("\n\n"):
        numbers = re.findall(r"^Instances = (\d+)  Bytes (Allocated|Leaked) = (\d+)", stanza, re.M)
        if "<Total>" in stanza:
            total = {what: (int(n), int(size)) for n, what, size in numbers}
        elif numbers:
            found = {what: (int(n), int(size)) for n, what, size in numbers}
            theirs[found.get("Allocated", (0, 0)) + found.get("Leaked", (0, 0))] += 1
    # A realloc to no bytes is one of -heap's instances, and no allocation of the metric's.
    rows = sql(recording, "SELECT count(*), sum(size), sum(leaked), coalesce(sum(leaked_size), 0) FROM traced WHERE kind = 'heap' AND "
                          "operation IN ('allocate', 'reallocate', 'map') GROUP BY raw_stack")
    rows = [tuple(map(int, row)) for row in rows]
    sums = [sum(column) for column in zip(*rows)]
    if tuple(sums[:2]) != total["Allocated"] or tuple(sums[2:]) != total.get("Leaked", (0, 0)):
        failures.add("gprofng -heap:", total, "ctxan:", sums)
    if len(logs(recording)) == 1:
        compare_lists("-heap: a stack", theirs, rows, failures)
    found = re.search(r"Total Instances = (\d+), Total Bytes Leaked = (\d+)", display(recording, "-leaks"))
    if found and (int(found[1]), int(found[2])) != tuple(sums[2:]):
        failures.add("gprofng -leaks:", found[0], "ctxan:", sums)


def compare_iostat(recording, failures):
    ours = defaultdict(lambda: [0, 0, 0])
    for operation, n, size, time in sql(recording, "SELECT CASE WHEN failed THEN 'error' WHEN operation IN ('read', 'write') THEN operation "
                                                   "ELSE 'other' END, count(*), sum(size), sum(duration_ns) FROM traced "
                                                   "WHERE kind = 'io' GROUP BY 1"):
        ours[operation] = [int(n), int(size), int(time)]
    text = display(recording, "-iostat")
    for title, key in (("Write", "write"), ("Read", "read"), ("Other I/O", "other"), ("I/O Error", "error")):
        part = re.search(rf"^{title} Statistics$(.*?)(?:^\w[\w/ ]* Statistics$|\Z)", text, re.M | re.S)
        if not part:
            continue
        calls = int(re.search(r"Total calls\s+(\d+)", part[1])[1])
        time = float(re.search(r"Total time\s+([\d.]+)", part[1])[1])
        size = re.search(r"Total bytes\s+(\d+)", part[1])
        if calls != ours[key][0] or abs(time - ours[key][2] / 1e9) > 1e-6 or (size and int(size[1]) != ours[key][1]):
            failures.add("gprofng -iostat:", title, calls, size and size[1], time, "ctxan:", ours[key])


def main():
    recording = sys.argv[1].rstrip("/")
    failures = Failures()
    heap, sync, io = compare_operations(recording, failures)
    words, n = compare_functions(recording, failures)
    if heap:
        compare_stacks(recording, failures)
    if io:
        compare_iostat(recording, failures)
    print(f"    {heap} heap, {sync} synchronisation, {io} I/O operations; {n} values of functions of {len(words)} metrics")
    return 1 if failures.n or heap + sync + io == 0 or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
