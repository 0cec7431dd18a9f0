#!/usr/bin/env python3
"""Compares ctxan's other reports with gprofng's: traced operations by stack, their statistics, index objects, samples, the header.

    gprofng_tables.py EXPERIMENT.er

    -heap -allocs -leaks -iocallstack       ==  ctxan's operations by stack, frame for frame
    -heapstat -iostat -ioactivity -iodetail ==  ctxan -r heap, io
    -indxobj Threads CPUs Seconds Samples Processes Datasize Duration, one of its own  ==  ctxan --by
    -sample_detail -header -objects         ==  ctxan -r samples, header, the database's objects
"""
import os
import re
import sys
from collections import Counter, defaultdict

from gprofng_reports import Count
from gprofng_same import Failures, logs
from gprofng_text import (DIGITS, Names, Stacks, as_theirs, display, is_near, our_json, spelled, sql, table, unit,
                          words_of)

KB = 1024
NOWHERE = ()
GOT = "operation IN ('allocate', 'reallocate', 'map')"


def unsigned(value):
    return (value or 0) % 2**64


# ---- by stack

def frames_of(stanza):
    """("name", offset) of each frame, leaf first."""
    found = []
    for line in stanza.splitlines():
        frame = re.match(r"  (\S.*?) \+ 0x([0-9A-F]+)(?:, line .*)?$", line)
        if frame:
            found.append((frame[1], int(frame[2], 16)))
    return tuple(found)


class ByStack:
    """Our operations by gprofng's frames: Counter of (frames, numbers)."""

    def __init__(self, names, stacks, failures):
        self.names, self.stacks, self.failures = names, stacks, failures

    def frames(self, raw_stack):
        keys, _ = as_theirs(self.names, self.stacks.frames[raw_stack or 0], self.failures)
        return tuple((self.names.of[key], self.names.offsets[key]) for key in keys or ())

    def rows(self, recording, columns, where, weightless=lambda numbers: False):
        found = Counter()
        for row in sql(recording, f"SELECT raw_stack, {columns} FROM traced WHERE {where} GROUP BY raw_stack"):
            stack = row.pop("raw_stack")
            numbers = tuple(row.values())
            if any(numbers):
                found[NOWHERE if weightless(numbers) else self.frames(stack), numbers] += 1
        return found


def compare_counters(what, theirs, ours, failures, count):
    count.values[what] += sum(theirs.values())
    for item, n in (theirs - ours).items():
        failures.add(what, "ctxan lacks", n, item)
    for item, n in (ours - theirs).items():
        failures.add(what, "only ctxan has", n, item)


def no_bytes(numbers):
    """A realloc to nothing has no value of any metric: gprofng's -pcs does not have where it was."""
    return not any(numbers[1:])


def compare_heap_stacks(recording, by_stack, failures, count):
    theirs = Counter()
    for stanza in display(recording, "-heap").split("\n\n"):
        numbers = {what: (int(n), int(size))
                   for n, what, size in re.findall(r"^Instances = (\d+)  Bytes (Allocated|Leaked) = (\d+)", stanza, re.M)}
        if numbers and "<Total>" not in stanza:
            values = numbers.get("Allocated", (0, 0)) + numbers.get("Leaked", (0, 0))
            theirs[NOWHERE if no_bytes(values) else frames_of(stanza), values] += 1
    ours = by_stack.rows(recording, "count(*) AS n, sum(size) AS size, sum(leaked) AS leaks, "
                                    "coalesce(sum(leaked_size), 0) AS leaked", f"kind = 'heap' AND {GOT}", no_bytes)
    compare_counters("-heap", theirs, ours, failures, count)
    for command, word, where in (("-leaks", "Leak", "leaked = 1"), ("-allocs", "Allocation", "(size <> 0 OR operation <> 'reallocate')")):
        theirs = Counter()
        for stanza in display(recording, command).split("\n\n"):
            numbers = re.search(rf"^{word} #\d+, Instances = (\d+), Bytes \w+ = (\d+)", stanza, re.M)
            if numbers:
                values = int(numbers[1]), int(numbers[2])
                theirs[NOWHERE if no_bytes(values) else frames_of(stanza), values] += 1
        size = "leaked_size" if command == "-leaks" else "size"
        ours = by_stack.rows(recording, f"count(*) AS n, sum({size}) AS size", f"kind = 'heap' AND {GOT} AND {where}", no_bytes)
        compare_counters(command, theirs, ours, failures, count)


IO_KINDS = {"Write": "operation = 'write' AND NOT failed", "Read": "operation = 'read' AND NOT failed",
            "Other I/O": "operation NOT IN ('read', 'write') AND NOT failed", "I/O Error": "failed"}


def compare_io_stacks(recording, by_stack, failures, count):
    """Times to the microsecond: they are added up with one more digit."""
    stanzas = display(recording, "-iocallstack").split("\n\n")
    for kind, where in IO_KINDS.items():
        theirs, their_times = Counter(), Counter()
        for stanza in stanzas:
            row = re.search(rf"^{kind} Time=([\d.]+) \(secs.\)(?:  {kind} Bytes=(\d+))?  {kind} Count=(\d+)", stanza, re.M)
            if row and "<Total>" not in stanza:
                key = frames_of(stanza)
                theirs[key, (int(row[3]), int(row[2] or 0))] += 1
                their_times[key] += float(row[1])
        size = "sum(size)" if kind in ("Read", "Write") else "0"
        ours = by_stack.rows(recording, f"count(*) AS n, {size} AS size", f"kind = 'io' AND {where}")
        compare_counters("-iocallstack", theirs, ours, failures, count)
        for (frames, (ns,)), _ in by_stack.rows(recording, "sum(duration_ns) AS ns", f"kind = 'io' AND {where}").items():
            count.values["-iocallstack"] += 1
            if abs(their_times[frames] - ns / 1e9) > 1.1e-6 * max(1, theirs.total()):
                failures.add("-iocallstack", kind, frames, their_times[frames], "and not", ns / 1e9)


# ---- statistics

def bounds(text):
    """"1KB - 8KB": from the first, but not it, to the second. 1000KB is what others call 1 MB."""
    low, high = (float(n) * {"KB": KB, "MB": KB**2, "GB": KB**3}[unit]
                 for n, unit in re.findall(r"(\d+)(KB|MB|GB)", text.replace("1000KB", "1MB").replace("1000MB", "1GB")))
    return low, high


def compare_ranges(what, part, sizes, failures, count):
    for text, n in re.findall(r"^  (\d+\w+ - \d+\w+)\s+(\d+)\s*$", part, re.M):
        low, high = bounds(text)
        count.values[what] += 1
        got = sum(low < size <= high or size == low == 0 for size in sizes)
        if got != int(n):
            failures.add(what, text, n, "ctxan:", got)


def compare_numbers(what, part, wanted, failures, count):
    """wanted: what gprofng calls it -> ours."""
    for title, ours in wanted.items():
        found = re.search(rf"^{re.escape(title)}\s+([\d.]+)", part, re.M)
        if not found:
            failures.add(what, "does not say", title)
            continue
        count.values[what] += 1
        near = 1.1e-6 if "." in found[1] and len(found[1].split(".")[1]) == 6 else DIGITS if "." in found[1] else 0
        if abs(float(found[1]) - ours) > near:
            failures.add(what, title, found[1], "ctxan:", ours)


def section(text, title):
    found = re.search(rf"^{title}$(.*?)(?=^[A-Z][\w /]* Statistics$|\Z)", text, re.M | re.S)
    return found[1] if found else None


def given_again(recording):
    live = set()
    for row in sql(recording, "SELECT operation, address, old_address FROM traced WHERE kind = 'heap' ORDER BY time_ns"):
        if row["operation"] == "reallocate":
            live.discard(row["old_address"])
        if row["operation"] in ("free", "unmap"):
            live.discard(row["address"])
        elif row["address"] in live:
            return True
        elif row["address"]:
            live.add(row["address"])
    return False


def compare_heapstat(recording, failures, count):
    text = display(recording, "-heapstat")
    rows = our_json(recording, "-r", "heap")
    total = next(row for row in rows if row["section"] == "total")
    n_processes = [row for row in sql(recording, "SELECT count(DISTINCT t.process) AS n FROM traced AS o JOIN thread AS t ON t.id = o.thread "
                                             "WHERE o.kind = 'heap'")][0]["n"]
    # gprofng names the process with the highest peak, ctxan has the peak of all. A block at an address that is given out again was freed
    # by something that was not recorded, to ctxan; to gprofng both live.
    if n_processes == 1 and not given_again(recording):
        compare_numbers("-heapstat", text, {"Heap size bytes": total["peak_bytes"], "Time of peak": total["peak_ns"] / 1e9}, failures, count)
    sizes = [unsigned(row["size"]) for row in sql(recording, f"SELECT size FROM traced WHERE kind = 'heap' AND {GOT}")]
    leaks = [row["leaked_size"] for row in sql(recording, f"SELECT leaked_size FROM traced WHERE kind = 'heap' AND leaked = 1")]
    part = section(text, "Memory Allocations Statistics")
    # A realloc to no bytes is one of gprofng's instances, and no allocation of the metric's.
    compare_numbers("-heapstat", part, {"Smallest allocation bytes": min(s for s in sizes if s) if min(sizes) else 0,
                                        "Largest allocation bytes": total["largest"], "Total allocations": len(sizes),
                                        "Total bytes": total["bytes"]}, failures, count)
    compare_ranges("-heapstat", part, sizes, failures, count)
    part = section(text, "Memory Leaks Statistics")
    if leaks:
        compare_numbers("-heapstat", part, {"Smallest leaked bytes": min(leaks), "Largest leaked bytes": max(leaks),
                                            "Total leaked": total["leaks"], "Total bytes": total["leaked_bytes"]}, failures, count)
        compare_ranges("-heapstat", part, leaks, failures, count)


def compare_filtered_peak(recording, failures, count):
    """What is not selected does not live, but frees what it frees."""
    live, now, peak = {}, 0, 0
    for row in sql(recording, "SELECT operation, address, old_address, size, t.process FROM traced AS o JOIN thread AS t ON t.id = o.thread "
                              "WHERE kind = 'heap' ORDER BY time_ns"):
        place, old = (row["process"], row["address"]), (row["process"], row["old_address"])
        if row["operation"] == "reallocate" and row["old_address"] and (row["address"] or not row["size"]):
            now -= live.pop(old, 0)
        if row["operation"] != "unmap":  # of maps none live
            now -= live.pop(place, 0)
        if row["operation"] in ("allocate", "reallocate") and row["address"] and row["size"] > 100:
            live[place] = row["size"]
            now += row["size"]
            peak = max(peak, now)
    total = next(row for row in our_json(recording, "-r", "heap", "--filter", 'HSIZE>100 && HTYPE!="mmap"') if row["section"] == "total")
    count.values["peak under a filter"] += 1
    if total["peak_bytes"] != peak:
        failures.add("peak under a filter:", total["peak_bytes"], "and not", peak)


def compare_iostat(recording, failures, count):
    text = display(recording, "-iostat")
    total = next(row for row in our_json(recording, "-r", "io") if row["section"] == "total")
    for title, word, n, ns in (("Write", "write", total["writes"], total["write_ns"]), ("Read", "read", total["reads"], total["read_ns"]),
                               ("Other I/O", "other", total["opens"] + total["closes"] + total["others"], total["other_ns"]),
                               ("I/O Error", "error", total["errors"], total["error_ns"])):
        part = section(text, f"{title} Statistics")
        if part is None:
            if n != 0:
                failures.add("-iostat has no", title)
            continue
        wanted = {"Total time": ns / 1e9, "Total calls": n}
        if word in ("read", "write"):
            moved = sql(recording, f"SELECT size, duration_ns FROM traced WHERE kind = 'io' AND operation = '{word}' AND NOT failed")
            sizes = [row["size"] for row in moved]
            wanted |= {"Total bytes": total[f"{word}_bytes"], f"Largest {word} bytes": max(sizes),
                       "Longest write" if word == "write" else "Longest time": max(row["duration_ns"] for row in moved) / 1e9,
                       f"Smallest {word} bytes": min((s for s in sizes if s), default=0)}
            compare_ranges("-iostat", part, sizes, failures, count)
        compare_numbers("-iostat", part, wanted, failures, count)


def io_values(row):
    return (row["reads"], row["read_bytes"], row["writes"], row["write_bytes"], row["opens"] + row["closes"] + row["others"],
            row["errors"])


def compare_io_tables(recording, failures, count):
    words = "ioreadcnt ioreadbytes iowritecnt iowritebytes ioothercnt ioerrorcnt".split()
    rows = our_json(recording, "-r", "io")
    # gprofng does not name the standard descriptors.
    nameless = {"<pipe(), socket(), or other fds>", "<Other IO activity>"}
    standard = {"<stdin>", "<stdout>", "<stderr>"}
    theirs, ours = Counter(), Counter()
    for row in rows:
        if row["section"] in ("file", "total"):
            key = "<Total>" if row["section"] == "total" else row.get("file")
            for i, value in enumerate(io_values(row)):
                ours[None if key in standard else key, words[i]] += value
    for values, _, name in table(display(recording, "-metrics", spelled(words, "e") + ":name", "-ioactivity"), len(words)):
        key = None if name in nameless | standard else name
        for i, value in enumerate(values):
            theirs[key, words[i]] += int(value)
    for key in set(theirs) | set(ours):
        count.values["-ioactivity"] += 1
        if theirs[key] != ours[key]:
            failures.add("-ioactivity", key, theirs[key], "ctxan:", ours[key])
    # By descriptor: gprofng has a row for each time that it was opened.
    theirs, ours = Counter(), Counter()
    for values, _, name in table(display(recording, "-metrics", spelled(words, "e") + ":name", "-iodetail"), len(words)):
        found = re.match(r"(.*) \(IOVFD=\d+(?:, FD=(\d+))?\)$", name)
        if found:
            file = None if found[1] in nameless | standard else found[1]
            for i, value in enumerate(values):
                theirs[file, int(found[2]) if found[2] else None, words[i]] += int(value)
    for row in rows:
        if row["section"] == "descriptor":
            file = None if row["file"] in standard else row["file"]
            for i, value in enumerate(io_values(row)):
                ours[file, row["descriptor"], words[i]] += value
    for key in set(theirs) | set(ours):
        count.values["-iodetail"] += 1
        if theirs[key] != ours[key]:
            failures.add("-iodetail", key, theirs[key], "ctxan:", ours[key])


# ---- index objects

def our_index(recording, words, by, *options):
    """key -> values by word; only of rows that have something."""
    found = {}
    for row in our_json(recording, "--by", by, "--metric", ",".join(words), *options):
        weights = [row["weight"]] + [more["weight"] for more in row.get("metrics", [])]
        found[row["index"]] = weights
    return found


def compare_index(recording, words, what, theirs, ours, failures, count):
    """key -> values; theirs as printed. Rows of gprofng's without anything need not be there."""
    for key in set(theirs) | set(ours):
        for i, word in enumerate(words):
            value, weight = theirs.get(key, [0] * len(words))[i], ours.get(key, [0] * len(words))[i]
            count.values[what] += 1
            if not is_near(word, value, weight):
                failures.add(what, key, word, value, "ctxan:", weight / unit(word))


def their_index(recording, words, command, pattern, *define):
    found = {}
    for values, _, name in table(display(recording, "-metrics", spelled(words, "e") + ":name", *define, *command), len(words)):
        match = re.match(pattern, name)
        if match:
            found[tuple(int(n, 0) for n in match.groups())] = values
        elif name == "<Unknown>":
            found[-1,] = values
    return found


def single(rows):
    return {(key,): values for key, values in rows.items()}


def compare_indexes(recording, words, failures, count):
    pids = [int(re.search(r'pid="(\d+)"', log)[1]) for log in logs(recording)]
    compare_index(recording, words, "-indxobj CPUs", their_index(recording, words, ("-indxobj", "CPUs"), r"CPU (\d+)$"),
                  single(our_index(recording, words, "cpu")), failures, count)
    if len(pids) == 1:  # to gprofng each experiment has seconds of its own
        compare_index(recording, words, "-indxobj Seconds",
                      their_index(recording, words, ("-indxobj", "Seconds"), r"Second of execution (\d+)$"),
                      single(our_index(recording, words, "second")), failures, count)
        compare_index(recording, words, "-indxobj_define",
                      their_index(recording, words, ("-indxobj", "mine"), r"mine 0x[0-9a-f]+ \((\d+)\)$", "-indxobj_define", "mine",
                                  "(TSTAMP/30000000)*16+CPUID"),
                      single(our_index(recording, words, "mine", "--index", "mine=(TSTAMP/30000000)*16+CPUID")), failures, count)
    # Threads are numbered in the order in which gprofng met them: those of a process as a set.
    theirs, ours = defaultdict(list), defaultdict(list)
    for key, values in their_index(recording, words, ("-indxobj", "Threads"), r"Process (\d+), Thread (\d+)$").items():
        theirs[pids[key[0] - 1]].append(values)
    pid_of = {row["id"]: row["pid"] for row in sql(recording, "SELECT t.id, p.pid FROM thread AS t JOIN process AS p ON p.id = t.process")}
    for key, weights in our_index(recording, words, "thread").items():
        ours[pid_of[key]].append(weights)
    for pid in set(theirs) | set(ours):
        left = list(ours[pid])
        if len(theirs[pid]) != len(left):
            failures.add("-indxobj Threads: process", pid, "has", len(theirs[pid]), "and in ctxan", len(left))
        for printed in theirs[pid]:
            count.values["-indxobj Threads"] += len(words)
            same = next((weights for weights in left if all(map(is_near, words, printed, weights))), None)
            if same is None:
                failures.add("-indxobj Threads: process", pid, "has a thread with", printed, "ctxan:", left)
            else:
                left.remove(same)
    theirs, ours = defaultdict(lambda: [0] * len(words)), defaultdict(lambda: [0] * len(words))
    rows = their_index(recording, words, ("-indxobj", "Processes"), r".*, Process\s+\d+, PID (\d+)$")
    for key, weights in our_index(recording, words, "PID").items():
        ours[key,] = weights
    if len(set(pids)) == len(pids):  # the same pid again, after exec: two rows of one name
        compare_index(recording, words, "-indxobj Processes", rows, ours, failures, count)


# ---- samples, header

DETAIL = {"Start Time (sec.)": "begin", "End Time (sec.)": "end", "Duration (sec.)": "duration_ns", "User CPU": "user_ns",
          "System CPU": "system_ns"}
STATISTICS = {"Minor Page Faults": "minor_faults", "Major Page Faults": "major_faults",
              "Voluntary context switches": "voluntary_switches", "Involuntary context switches": "involuntary_switches"}


def printed_samples(text):
    """Of one experiment: the values of each sample, in the order of DETAIL."""
    found = []
    for part in re.split(r"^\s+Sample Number: \d+$", text, flags=re.M)[1:]:
        found.append([float(re.search(rf"^\s+{re.escape(title)}: ([\d.]+)", part, re.M)[1]) for title in DETAIL])
    return found


def are_samples(printed, rows, start_ns):
    """gprofng counts from the experiment's own run."""
    if len(printed) != len(rows):
        return False
    for values, row in zip(printed, sorted(rows, key=lambda row: row["sample"])):
        for value, key in zip(values, DETAIL.values()):
            ns = row[key] - (start_ns if key in ("begin", "end") else 0)
            if abs(value - ns / 1e9) > DIGITS:
                return False
    return True


def compare_samples(recording, failures, count):
    """A pid may have several lives: one of them must be what gprofng prints."""
    processes = {row["id"]: row for row in sql(recording, "SELECT id, pid, begin_ns FROM process")}
    ours = defaultdict(list)
    for row in our_json(recording, "-r", "samples"):
        ours[row["process_id"]].append(row)
    blocks = display(recording, "-sample_detail", "all").split("Experiment: ")[1:]
    pids = [int(re.search(r'pid="(\d+)"', log)[1]) for log in logs(recording)]
    if len(blocks) != len(pids):
        failures.add("-sample_detail:", len(blocks), "experiments and not", len(pids))
    for pid, block in zip(pids, blocks):
        printed = printed_samples(block)
        count.values["-sample_detail"] += len(printed) * len(DETAIL)
        lives = [i for i, process in processes.items() if process["pid"] == pid]
        if not any(are_samples(printed, ours[i], processes[i]["begin_ns"]) for i in lives):
            failures.add("-sample_detail", pid, printed, "ctxan:", [ours[i] for i in lives])
    text = display(recording, "-statistics", "1")
    for title, key in STATISTICS.items():
        found = re.search(rf"^\s+{re.escape(title)}:\s+(\d+)", text, re.M)
        count.values["-statistics"] += 1
        if not found or int(found[1]) != sum(row[key] for row in ours[0]):
            failures.add("-statistics", title, found and found[1], "ctxan:", sum(row[key] for row in ours[0]))


def compare_header(recording, failures, count):
    """The data of gprofng's header about the root process is in ctxan's too."""
    text = display(recording, "-header", "1")
    rows = our_json(recording, "-r", "header")
    ours = defaultdict(str)
    for row in rows:
        ours[row["key"]] += str(row["value"]) + "\n"
    wanted = [("command", r"Target command \(\d+-bit\): '(.*)'$"), ("word size", r"Target command \((\d+)-bit\)"),
              ("directory", r"^Current working directory: (.*)$"), ("collector", r"^Collector version: `(.*)';"),
              ("host", r"^Host `(.*)', OS"), ("os", r"OS `(.*)', page"), ("page size", r"page size (\d+)"),
              ("arch", r"architecture `(.*)'$"), ("cpus", r"^  (\d+) CPUs"), ("cpus", r"clock speed (\d+) MHz"),
              ("memory", r"= (\d+) MB"), ("clock profile", r"Clock-profiling, interval = (\d+) "), ("usage", r"Periodic sampling, (\d+) secs"),
              ("follows", r"Follow descendant processes from: (.*)$"), ("process", r"^Process pid (\d+),"), ("process", r"ppid (\d+),"),
              ("synchronization trace", r"Synchronization tracing, threshold = (\d+) ")]
    for key, pattern in wanted:
        found = re.search(pattern, text, re.M)
        if not found:
            continue
        count.values["-header"] += 1
        if found[1] not in ours[key]:
            failures.add("-header:", key, found[1], "ctxan:", ours[key].strip())
    ended = re.search(r"^Experiment Ended: ([\d.]+)", text, re.M)
    duration = sql(recording, "SELECT value FROM experiment WHERE key = 'end_ns'")[0]["value"]
    # Of one that was not closed gprofng says when its last sample was.
    if ended and len(logs(recording)) == 1 and "not closed" not in text:
        count.values["-header"] += 1
        if abs(float(ended[1]) * 1e9 - int(duration)) > 2:
            failures.add("-header: the end", ended[1], "ctxan:", duration)


def compare_objects(recording, failures, count):
    ours = {os.path.basename(row["path"]) for row in sql(recording, "SELECT path FROM load_object")}
    for name, path in re.findall(r"^ <(.*)> \((.*)\)$", display(recording, "-objects"), re.M):
        if name in ("Unknown", "DYNAMIC_FUNCTIONS", "<Unknown>"):
            continue
        count.values["-objects"] += 1
        if os.path.basename(path) not in ours:
            failures.add("-objects: ctxan lacks", path)


def main():
    recording = sys.argv[1].rstrip("/")
    failures, count = Failures(), Count()
    words = words_of(recording)
    names, stacks = Names(recording, words), Stacks(recording)
    by_stack = ByStack(names, stacks, failures)
    if "heapalloccnt" in words:
        compare_heap_stacks(recording, by_stack, failures, count)
        compare_heapstat(recording, failures, count)
        compare_filtered_peak(recording, failures, count)
    if "ioreadcnt" in words:
        compare_io_stacks(recording, by_stack, failures, count)
        compare_iostat(recording, failures, count)
        compare_io_tables(recording, failures, count)
    compare_indexes(recording, words, failures, count)
    compare_samples(recording, failures, count)
    compare_header(recording, failures, count)
    compare_objects(recording, failures, count)
    print(f"    {sum(count.values.values())} values: {count}")
    return 1 if failures.n else 0


if __name__ == "__main__":
    sys.exit(main())
