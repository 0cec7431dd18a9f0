#!/usr/bin/env python3
"""Holds call_sums against uftrace on the same directories.

    uftrace_same.py CALL_SUMS NAME...     NAME.data is a directory; what uftrace says is asked of it

    CTX_KEEP_SAID=1     uftrace's answers are kept in NAME.report, NAME.dump and NAME.graph
    CTX_ONLY_SAID=1     only kept answers are used

By `uftrace dump`: each entry and exit is the same, to the ns. By `uftrace report`: calls, total and own time of each function
are the same, as far as it prints digits. By `uftrace graph`: calls and total time of each stack of functions. EXPLAINED lists what uftrace does otherwise.
"""
import os
import re
import subprocess
import sys

# Programs whose reports differ, and why; their dumps are compared all the same.
EXPLAINED = {
    "forks": "calls that exec ends are not in uftrace's report",
    "jumps": "calls that longjmp leaves are not in uftrace's report; setjmp returns once for each of them",
}
# uftrace's report takes the time off the processor out of the own time, as a function of its own.
SCHEDULE = "linux:schedule"


def said(name, question, command):
    path = f"{name}.{question}"
    if os.environ.get("CTX_ONLY_SAID"):
        with open(path, encoding="utf-8") as file:
            return file.read()
    text = subprocess.run(command + ["-d", f"{name}.data", "--no-pager", "--demangle=no"], capture_output=True,
                          text=True, check=True).stdout
    if os.environ.get("CTX_KEEP_SAID"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text


def as_printed(nanoseconds):
    """A duration as uftrace prints it: three digits behind the point, cut."""
    for unit, size in (("us", 10**3), ("ms", 10**6), (" s", 10**9)):
        if nanoseconds < size * 1000 or unit == " s":
            return f"{nanoseconds // size}.{nanoseconds % size * 1000 // size:03d} {unit}"
    return ""


def compare_reports(name, sums):
    expected, found = {}, {}
    for line in said(name, "report", ["uftrace", "report"]).splitlines()[2:]:
        match = re.match(r"\s*(?:([\d.]+ [mun]?s)\s+([\d.]+ [mun]?s))?\s+(\d+)\s+(\S+)$", line)
        if match and match.group(4) != SCHEDULE:
            expected[match.group(4)] = (match.group(3), match.group(1) or "0.000 us", match.group(2) or "0.000 us")
    waits = SCHEDULE in said(name, "report", ["uftrace", "report"])
    for line in sums.splitlines():
        match = re.match(r"(\d+) (\d+) (\d+) (\S+)$", line)
        if match:
            found[match.group(4)] = (match.group(1), as_printed(int(match.group(2))), as_printed(int(match.group(3))))
    return [f"{name}: {function}: uftrace says {expected.get(function)}, ctxan {found.get(function)}"
            for function in sorted(set(expected) | set(found))
            if expected.get(function, ())[:2 if waits else 3] != found.get(function, ())[:2 if waits else 3]]


def dumped(name):
    """By thread: time, what, depth, function."""
    events = {}
    for line in said(name, "dump", ["uftrace", "dump"]).splitlines():
        match = re.match(r"(\d+)\.(\d+)\s+(\d+): \[(entry|exit )\] (.+)\([0-9a-f]+\) depth: (\d+)$", line)
        if match:
            time = int(match.group(1)) * 10**9 + int(match.group(2))
            events.setdefault(match.group(3), []).append((time, match.group(4).strip(), int(match.group(6)), match.group(5)))
    return events


def read_events(text):
    events = {}
    for line in text.splitlines():
        match = re.match(r"(\d+) (\d+) (entry|exit) (\d+) (.+)$", line)
        if match:
            events.setdefault(match.group(2), []).append(
                (int(match.group(1)), match.group(3), int(match.group(4)), match.group(5)))
    return events


def compare_dumps(name, text):
    """Ours may have more only where a process went on in its parent's calls, or calls were left: EXPLAINED."""
    expected, found = dumped(name), read_events(text)
    if set(expected) != set(found):
        return [f"{name}: threads {sorted(expected)} are in uftrace's dump, {sorted(found)} in ours"]
    first = min(events[0][0] for events in expected.values())
    ours = min(event[0] for events in found.values() for event in events)
    wrong = []
    for tid, events in expected.items():
        want = [(time - first, *rest) for time, *rest in events]
        have = [(time - ours, *rest) for time, *rest in found[tid]]
        if name in EXPLAINED:
            more = len(have) - len(want)
            want = [event for event in want if name != "jumps" or event[1] == "entry"]
            have = [event for event in have if event in set(want)]
            if more < 0:
                wrong.append(f"{name}: thread {tid}: {-more} events are missing")
        if want != have:
            wrong += [f"{name}: thread {tid}: {event}" for event in list(set(want) ^ set(have))[:3]] or [f"{name}: order"]
    return wrong


def graphed(name):
    """Calls and time by stack of functions, from the drawing: a branch `+-(` hangs below the last `(` one column before it, a
    line without one below the last `(` of its column."""
    stacks, last = {}, {}
    for line in said(name, "graph", ["uftrace", "graph"]).splitlines():
        match = re.match(r"\s*([\d.]+ [mun]?s) : (.*?)(\+-)?\((\d+)\) (\S+)$", line)
        if not match:
            continue
        column = len(match.group(2)) + (2 if match.group(3) else 0)
        above = last.get(column - 3 if match.group(3) else column, ())
        last[column] = above + (match.group(5),)
        stacks[last[column][1:]] = (int(match.group(4)), match.group(1))
    return stacks


def compare_graphs(name, text):
    sums, expected = {}, graphed(name)
    for events in read_events(text).values():
        stack = []
        for time, what, _, function in events:
            if what == "entry":
                stack.append((function, time))
                continue
            path = tuple(item[0] for item in stack)
            calls, total = sums.get(path, (0, 0))
            sums[path] = (calls + 1, total + time - stack.pop()[1])
    found = {path: (calls, as_printed(total)) for path, (calls, total) in sums.items()}
    return [f"{name}: {' > '.join(path)}: uftrace's graph says {expected.get(path)}, ctxan {found.get(path)}"
            for path in sorted(set(expected) | set(found)) if path and expected.get(path) != found.get(path)]


def main():
    wrong, compared = [], 0
    for name in sys.argv[2:]:
        sums, events = (subprocess.run([sys.argv[1], "uftrace", f"{name}.data", *more], capture_output=True, text=True,
                                       check=True).stdout for more in ([], ["events"]))
        wrong += compare_dumps(name, events)
        if name not in EXPLAINED:
            wrong += compare_reports(name, sums)
        if name not in EXPLAINED and SCHEDULE not in said(name, "graph", ["uftrace", "graph"]):
            wrong += compare_graphs(name, events)
        if "out of order" in sums or "damage:" in sums:
            wrong.append(f"{name}: {sums.splitlines()[0]}")
        compared += sum(len(items) for items in dumped(name).values())
    print("\n".join(wrong[:40]))
    print(f"{compared} entries and exits of {len(sys.argv) - 2} directories compared")
    return 1 if wrong or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
