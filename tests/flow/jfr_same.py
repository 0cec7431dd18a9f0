#!/usr/bin/env python3
"""Compares ctxan with OpenJDK's jfr on one recording, event for event.

    jfr_same.py RECORDING [--least TYPE=N ...]

    jfr summary  ==  jfr print, counted                 for each type that is read
    jfr print    ==  ctxan's samples, operations, marks  each: time, thread, weight or duration, and the stack with its lines
    ctxan's samples, added up  ==  ctxan -r functions

--least: as many events of a type at least, so that the comparison is one of something.
jfr is asked, or its answers are beside the recording (perf_said.py).
"""
import json
import re
import struct
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import datetime, timezone

import perf_said

SAMPLES = {"jdk.ExecutionSample": "Java Execution", "jdk.NativeMethodSample": "Java in Native Methods"}
BYTES = {"jdk.ObjectAllocationSample": ("Java Bytes Allocated", "weight"),
         "jdk.ObjectAllocationInNewTLAB": ("Java Bytes by TLABs", "tlabSize"),
         "jdk.ObjectAllocationOutsideTLAB": ("Java Bytes by TLABs", "allocationSize")}
WAITS = {"jdk.JavaMonitorEnter": "mutex", "jdk.JavaMonitorWait": "condition", "jdk.ThreadPark": "wait"}
INPUT = {"jdk.FileRead": ("read", "bytesRead", "path"), "jdk.FileWrite": ("write", "bytesWritten", "path"),
         "jdk.SocketRead": ("read", "bytesRead", "host"), "jdk.SocketWrite": ("write", "bytesWritten", "host")}
MARKS = {"jdk.GarbageCollection": ("GC", ("name", "cause")), "jdk.GCPhasePause": ("GC Phase Pause", ()),
         "jdk.ExecuteVMOperation": ("VM Operation", ("operation",)), "jdk.SafepointBegin": ("Safepoint Begin", ()),
         "jdk.SafepointStateSynchronization": ("Safepoint State Synchronization", ()), "jdk.SafepointEnd": ("Safepoint End", ()),
         "jdk.Compilation": ("Compilation", ()), "jdk.ClassLoad": ("Class Load", ()), "jdk.Deoptimization": ("Deoptimization", ())}
LOADS = {"jvmUser": "CPU load of the JVM, user (per mille)", "jvmSystem": "CPU load of the JVM, system (per mille)",
         "machineTotal": "CPU load of the machine (per mille)"}
OTHERS = ["jdk.ThreadSleep", "jdk.CPULoad", "jdk.GCHeapSummary", "jdk.ThreadStart", "jdk.ThreadEnd"]
TYPES = [*SAMPLES, *BYTES, *WAITS, *INPUT, *MARKS, *OTHERS]
PRIMITIVE = {"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float", "D": "double"}
CLOCK_NS = 1000  # jfr converts ticks with floating numbers


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


# ---- jfr's side

def time_of(text):
    whole, _, rest = text.partition(".")
    fraction = re.match(r"\d*", rest)[0]
    zone = (rest[len(fraction):] if rest else "") or "Z"
    if not rest:
        whole, zone = re.match(r"(.*T[\d:]+?)(Z|[+-]\d\d:\d\d)?$", whole).groups()
    seconds = datetime.fromisoformat(whole + ("+00:00" if zone in ("Z", None) else zone)).astimezone(timezone.utc).timestamp()
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0") or 0)


def span_of(text):
    """ns of PT1.5S, PT2M3S."""
    hours, minutes, whole, fraction = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?", text).groups()
    return (int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(whole or 0)) * 10**9 + int((fraction or "").ljust(9, "0"))


def class_name(name):
    dimensions = len(name) - len(name.lstrip("["))
    if dimensions:
        name = name[dimensions:]
        name = PRIMITIVE[name] if name in PRIMITIVE else name[1:-1]
    name = re.sub(r"[+/.]0x[0-9a-f].*", "", name)
    name = re.sub(r"(\$\$Lambda)\$\d+$|((?:Method|Constructor)Accessor)\d+$", lambda hit: hit[1] or hit[2], name)
    return name.replace("/", ".") + "[]" * dimensions


def method_name(method):
    types = re.findall(r"\[*(?:L[^;]*;|.)", re.match(r"\((.*)\)", method["descriptor"])[1])
    return f"{class_name(method['type']['name'])}.{method['name']}({', '.join(class_name(name if name[0] == '[' else PRIMITIVE.get(name) or name[1:-1]) for name in types)})"


def stack_of(values):
    trace = values.get("stackTrace")
    if not trace:
        return ()
    frames = [(method_name(frame["method"]), max(frame["lineNumber"], 0)) for frame in trace["frames"]]
    return tuple(frames + [("<Truncated-stack>", 0)] * trace["truncated"])


def thread_of(values, *names):
    for name in names:
        if values.get(name):
            return values[name]["osThreadId"] or values[name]["javaThreadId"]
    return None


def their_events(recording, periods, pid):
    """Ours would be: (what, time, weights, ...), times in ns since 1970."""
    text = perf_said.ask(recording, "jfr", "print", "--json", "--stack-depth", "64", "--events", ",".join(TYPES), recording)
    counts, events = Counter(), []
    for event in json.loads(text)["recording"]["events"]:
        kind, values = event["type"], event["values"]
        counts[kind] += 1
        time = time_of(values["startTime"])
        duration = span_of(values["duration"]) if "duration" in values else 0
        thread = thread_of(values, "sampledThread", "eventThread") or pid
        key = kind, time, duration
        if kind in SAMPLES:
            events.append((*key, "sample", thread, SAMPLES[kind], periods[kind], stack_of(values)))
        elif kind in BYTES:
            metric, field = BYTES[kind]
            stack = ((class_name(values["objectClass"]["name"]), 0), *stack_of(values))
            events.append((*key, "sample", thread, metric, values[field], stack))
        elif kind in WAITS:
            other = values.get("previousOwner") and values["previousOwner"]["javaName"]
            events.append((*key, "sync", thread, WAITS[kind], values["address"], int(values.get("timedOut", False)), other, stack_of(values)))
        elif kind in INPUT:
            operation, field, name = INPUT[kind]
            events.append((*key, "io", thread, operation, max(values[field], 0), values[name], stack_of(values)))
        elif kind == "jdk.ThreadSleep":
            events.append((*key, "sample", thread, "Java Sleep", None, stack_of(values)))
        elif kind in MARKS:
            label, fields = MARKS[kind]
            texts = ", ".join(values[field] for field in fields if values[field])
            events.append((*key, "mark", thread, f"{label}: {texts}" if texts else label))
        elif kind == "jdk.CPULoad":
            events += [(*key, "counter", thread, name, round(values[field] * 1000)) for field, name in LOADS.items()]
        elif kind == "jdk.GCHeapSummary":
            events.append((*key, "counter", thread, "Java heap in use (bytes)", values["heapUsed"]))
    return counts, events


def their_summary(recording):
    text = perf_said.ask(recording, "jfr", "summary", recording)
    return {row[0]: int(row[1]) for row in (line.split() for line in text.splitlines()) if len(row) == 3 and row[0].startswith("jdk.")}


def their_settings(recording):
    """The periods of events, in ns, each with the number of its type, and the VM's pid."""
    text = perf_said.ask(recording, "jfr", "print", "--json", "--events", "jdk.ActiveSetting,jdk.JVMInformation", recording)
    units = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
    periods, pid = set(), 0
    for event in json.loads(text)["recording"]["events"]:
        values = event["values"]
        if event["type"] == "jdk.JVMInformation":
            pid = values["pid"]
        elif values["name"] == "period" and re.fullmatch(r"\d+ [num]?s", values["value"]):
            number, unit = values["value"].split()
            periods.add((values["id"], int(number) * units[unit]))
    return periods, pid


# ---- ctxan's side

def sql(recording, statement):
    return json.loads(output_of("ctxan", "-q", recording, "--format", "json", "--sql", statement))


def our_stacks(recording):
    functions = {row["id"]: row["name"] for row in sql(recording, "select id, name from function")}
    places = {row["id"]: (functions[row["function"]], row["line"] or 0) for row in sql(recording, "select id, function, line from location")}
    stacks = {}
    for row in sql(recording, "select id, parent, location from raw_stack order by id"):
        stacks[row["id"]] = () if row["parent"] is None else (places[row["location"]], *stacks[row["parent"]])
    return {number: tuple((re.sub("^<Truncated-stack.*", "<Truncated-stack>", name), line) for name, line in stack) for number, stack in stacks.items()}


def our_events(recording):
    """(what, time of the end since the begin, duration, ...)"""
    stacks, events = our_stacks(recording), []
    for row in sql(recording, """select s.time_ns, t.tid, m.name as metric, s.weight, s.raw_stack from samples as s
            join thread as t on t.id = s.thread join metric as m on m.id = s.metric where m.name like 'Java%'"""):
        sleeps = row["metric"] == "Java Sleep"
        events.append((row["time_ns"], row["weight"] if sleeps else 0, "sample", row["tid"], row["metric"], None if sleeps else row["weight"],
                       stacks[row["raw_stack"]]))
    for row in sql(recording, """select o.*, t.tid, u.name as other_name, f.name as file_name from traced as o join thread as t on t.id = o.thread
            left join thread as u on u.id = o.other left join traced_file as f on f.id = o.file"""):
        head, stack = (row["time_ns"], row["duration_ns"] or 0), stacks[row["raw_stack"] or 0]
        if row["kind"] == "sync":
            events.append((*head, "sync", row["tid"], row["operation"], row["address"], row["failed"], row["other_name"], stack))
        elif row["kind"] == "io":
            events.append((*head, "io", row["tid"], row["operation"], row["size"], row["file_name"], stack))
        elif row["operation"] == "counter":
            events.append((*head, "counter", row["tid"], row["file_name"], row["value"]))
        else:
            events.append((*head, "mark", row["tid"], row["file_name"]))
    return events


# ---- comparison

def chunk_starts(recording):
    starts, at = [], 0
    with open(recording, "rb") as file:
        data = file.read()
    while at < len(data):
        starts.append(struct.unpack_from(">Q", data, at + 32)[0])
        at += struct.unpack_from(">Q", data, at + 8)[0]
    return starts


def grouped(events):
    groups = defaultdict(list)
    for time, duration, *rest in events:
        groups[tuple(rest)].append((time, duration))
    return {key: sorted(times) for key, times in groups.items()}


def compare(theirs, ours, failures):
    theirs, ours = grouped(theirs), grouped(ours)
    for key in sorted({*theirs, *ours}, key=repr):
        a, b = theirs.get(key, []), ours.get(key, [])
        same = len(a) == len(b) and all(abs(x[0] - y[0]) <= CLOCK_NS and abs(x[1] - y[1]) <= CLOCK_NS for x, y in zip(a, b))
        if not same:
            failures.append(f"{key}: jfr {a[:3]} ({len(a)}), ctxan {b[:3]} ({len(b)})")


def compare_functions(recording, metric, word, events, failures):
    """Own and inclusive samples of each function."""
    own, inclusive = Counter(), Counter()
    for event in events:
        if event[2] == "sample" and event[4] == metric:
            own[event[6][0][0] if event[6] else "<Unknown>"] += 1
            inclusive.update({name for name, _ in event[6]})
    rows = json.loads(output_of("ctxan", "-q", recording, "-r", "functions", "--format", "json", "--limit", "0", "--metric", word))["rows"]
    names = {re.sub(r"^<Truncated-stack.*", "<Truncated-stack>", re.sub(r" \[[^\[\]]*\]$", "", row["function"])): row for row in rows if row["function"] != "<Total>"}
    for name in {*own, *inclusive}:
        if name not in names or names[name]["exclusive_samples"] != own[name]:
            failures.append(f"functions, {metric}: {name}: {own[name]} own samples, the report has {names.get(name)}")


def main():
    recording, least = sys.argv[1], dict(text.split("=") for text in sys.argv[3:])
    settings, pid = their_settings(recording)
    failures = []
    ours = our_events(recording)
    # A type's period is one of the settings'; which one, the weights of its samples tell.
    periods = {}
    for kind, metric in SAMPLES.items():
        weights = {event[5] for event in ours if event[4] == metric}
        if weights and not weights <= {period for _, period in settings}:
            failures.append(f"{metric}: weights {weights}, periods {settings}")
        periods[kind] = next(iter(weights), None)
    counts, theirs = their_events(recording, periods, pid)
    summary = their_summary(recording)
    for kind in TYPES:
        if summary.get(kind, 0) != counts[kind]:
            failures.append(f"{kind}: jfr summary {summary.get(kind)}, jfr print {counts[kind]}")
    for kind, number in least.items():
        if counts[kind] < int(number):
            failures.append(f"{kind}: only {counts[kind]}")
    begin = min([*chunk_starts(recording), *(event[1] for event in theirs)])
    compare([(time + duration - begin, duration, *rest) for _, time, duration, *rest in theirs], ours, failures)
    if counts["jdk.ExecutionSample"]:
        compare_functions(recording, "Java Execution", "java", ours, failures)
    for failure in failures[:20]:
        print(failure)
    print(f"{recording}: {len(theirs)} events of {len(counts)} types, {len(failures)} differences")
    sys.exit(bool(failures))


main()
