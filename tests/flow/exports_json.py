"""Compares the JSON exports of a recording with ctxan's own report of functions, for the same selection.

Usage: exports_json.py RECORDING READERS [METRIC]...     READERS: folder with npm's packages, or - for none

Every file is read by the readers below, which are written from the formats' descriptions and check their structure, and by the
tools' own ones too if their packages are given.
"""

import collections
import decimal
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAIL:", text)


def run(*command, env=None):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=env, timeout=120).stdout


def base(path):
    return path.rstrip("/").rsplit("/", 1)[-1] if path else ""


class Tally:
    """Exclusive and inclusive weight by function; a function counts once for each stack that it is on."""

    def __init__(self):
        self.total = 0
        self.exclusive = collections.Counter()
        self.inclusive = collections.Counter()

    def add(self, stack, weight):
        self.total += weight
        self.exclusive[stack[-1]] += weight
        for function in set(stack):
            self.inclusive[function] += weight

    def functions(self):
        return {key: (self.exclusive[key], self.inclusive[key]) for key in self.inclusive if self.inclusive[key]}


def wanted(recording, options):
    """What ctxan's report says, with names as exports write them."""
    report = json.loads(run("ctxan", "-q", recording, "-r", "functions", "--limit", "0", "--format", "json", *options))
    functions = collections.defaultdict(lambda: (0, 0))
    for row in report["rows"]:
        if row["function"] == "<Total>":
            continue
        name, path = row["function"], base(row["object"])
        if name.startswith("<Unknown>") and path:
            name += f" {path}" if path.startswith("[") else f" [{path}]"
        both = functions[name, path]  # static functions of one name, or unknown ones of one object
        functions[name, path] = (both[0] + row["exclusive"], both[1] + row["inclusive"])
    bare = report["weight"] - sum(exclusive for exclusive, _ in functions.values())
    if bare:
        functions["<No stack>", ""] = (bare, bare)
    return report, {key: value for key, value in functions.items() if any(value)}


# ---- readers of our own ----


def read_speedscope(data, report):
    frames = data["shared"]["frames"]
    tally = Tally()
    for profile in data["profiles"]:
        assert profile["type"] == "sampled" and len(profile["samples"]) == len(profile["weights"])
        assert profile["unit"] == {"ns": "nanoseconds"}.get(report["metric"]["unit"], "none")
        assert profile["startValue"] + sum(profile["weights"]) <= profile["endValue"]
        for stack, weight in zip(profile["samples"], profile["weights"]):
            if stack:
                tally.add([(i, frames[i]["name"], base(frames[i].get("file"))) for i in stack], weight)
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert 0 <= data["activeProfileIndex"] < len(data["profiles"])
    return tally


COLUMNS = {  # format version 70
    "stackTable": "frame prefixOffset",
    "frameTable": "address lib inlineDepth category subcategory func nativeSymbol innerWindowID line column originalLocation",
    "funcTable": "name isJS relevantForJS resource source lineNumber columnNumber originalLocation",
    "resourceTable": "name host type",
    "nativeSymbols": "libIndex address name functionSize",
    "sources": "id filename startLine startColumn sourceMapURL content",
    "sourceLocationTable": "source line column",
    "markers": "data name startTime endTime phase category",
}
THREAD = (
    "processType processStartupTime processShutdownTime registerTime unregisterTime pausedRanges name isMainThread "
    "pid tid samples markers"
)


def check_table(name, table):
    columns = COLUMNS[name].split()
    assert sorted(table) == sorted(columns + ["length"]), f"{name}: {sorted(table)}"
    for column in columns:
        assert len(table[column]) == table["length"], f"{name}.{column}"


def check_shared(data):
    shared, meta = data["shared"], data["meta"]
    assert meta["platform"] == "Linux" and meta["oscpu"].startswith("Linux ") and meta["oscpu"].endswith(" " + meta["abi"])
    assert meta["logicalCPUs"] > 0
    for name in COLUMNS:
        if name != "markers":
            check_table(name, shared[name])
    texts = len(shared["stringArray"])
    for table, column, length in [
        ("stackTable", "frame", shared["frameTable"]["length"]),
        ("frameTable", "func", shared["funcTable"]["length"]),
        ("frameTable", "category", len(meta["categories"])),
        ("funcTable", "name", texts),
        ("resourceTable", "name", texts),
    ]:
        assert all(0 <= i < length for i in shared[table][column]), f"{table}.{column}"
    assert all(-1 <= i < shared["resourceTable"]["length"] for i in shared["funcTable"]["resource"])
    assert all(-1 <= i < len(data["libs"]) for i in shared["frameTable"]["lib"])
    assert all(0 <= offset <= i for i, offset in enumerate(shared["stackTable"]["prefixOffset"]))
    assert meta["preprocessedProfileVersion"] == 70 and meta["interval"] > 0 and meta["startTime"] >= 0
    assert any(category["color"] == "grey" for category in meta["categories"])


def check_times(samples, report):
    now, ends = 0, report["intervals_ns"]
    for delta in samples["timeDeltas"]:
        assert delta >= 0
        now += int(delta * 1000000)
        assert any(begin <= now < end for begin, end in ends), f"a sample at {now} ns"


def read_firefox(data, report):
    check_shared(data)
    shared = data["shared"]
    texts, functions, stacks = shared["stringArray"], shared["funcTable"], shared["stackTable"]
    names = []
    for row, text in enumerate(functions["name"]):
        resource = functions["resource"][row]
        library = texts[shared["resourceTable"]["name"][resource]] if resource >= 0 else ""
        names.append((row, texts[text], library))
    paths = []
    for frame, offset in zip(stacks["frame"], stacks["prefixOffset"]):
        parent = paths[len(paths) - offset] if offset else []
        paths.append(parent + [names[shared["frameTable"]["func"][frame]]])
    kernel = {i for i, lib in enumerate(data["libs"]) if lib["path"] == "[kernel]"}
    for lib, category in zip(shared["frameTable"]["lib"], shared["frameTable"]["category"]):
        assert data["meta"]["categories"][category]["name"] == "Kernel" or lib not in kernel
    tally, n = Tally(), 0
    who = set()
    for thread in data["threads"]:
        assert not set(THREAD.split()) - set(thread), set(THREAD.split()) - set(thread)
        check_table("markers", thread["markers"])
        who.add((thread["pid"], str(thread["tid"])))
        samples = thread["samples"]
        scale = 1000000 if samples["weightType"] == "tracing-ms" else 1
        assert scale == (1000000 if report["metric"]["unit"] == "ns" else 1)
        for column in samples.keys() - {"length", "weightType"}:
            assert len(samples[column]) == samples["length"], column
        check_times(samples, report)
        if scale == 1000000:  # CPU use since the sample before, in ns
            use = [0] + [int(weight * scale) for weight in samples["weight"][1:]]
            assert samples["threadCPUDelta"] == use, "CPU use"
        n += samples["length"]
        for stack, weight in zip(samples["stack"], samples["weight"]):
            tally.add(paths[stack], int(weight * scale))
    assert len(who) == len(data["threads"]), "two threads are one"
    assert n == report["samples"], f"{n} samples instead of {report['samples']}"
    return tally


def check_fields(event, fields):
    """Exactly these fields, each of its kind. Times are us with three digits: ns."""
    assert sorted(event) == sorted(["ph", "pid", "tid", *fields.split()]), sorted(event)
    for key, value in event.items():
        if key in ("pid", "tid", "sf"):
            assert type(value) is int and value >= 0, f"{key} {value}"
        elif key == "ts":
            assert type(value) in (int, decimal.Decimal) and value >= 0 and value * 1000 == int(value * 1000), f"ts {value}"
        elif key != "args":
            assert type(value) is str and (value or key == "cat"), f"{key} {value}"


def trace_names(events, data):
    """Each thread is introduced once, before its events, which follow each other; its process has one name."""
    assert sorted(data) == sorted({"displayTimeUnit", "otherData", "traceEvents"} | ({"stackFrames"} & data.keys())), sorted(data)
    assert data["displayTimeUnit"] == "ns" and all(type(value) is str for value in data["otherData"].values())
    processes, threads, current = {}, {}, None
    for event in events:
        place = event["pid"], event["tid"]
        if event["ph"] != "M":
            assert place == current, f"an event of {place} among those of {current}"
            continue
        check_fields(event, "name args")
        assert event["name"] in ("process_name", "thread_name") and list(event["args"]) == ["name"]
        name = event["args"]["name"]
        assert type(name) is str
        if event["name"] == "process_name":
            assert processes.setdefault(event["pid"], name) == name, f"two names of process {event['pid']}"
            continue
        assert place not in threads and event["pid"] in processes, f"thread {place} again"
        threads[place] = name
        current = place
    return threads


def trace_slices(events, tally):
    """Slices have to nest: an end belongs to the innermost slice that is open."""
    open_slices = collections.defaultdict(list)
    last = {}
    for event in events:
        check_fields(event, "ts name cat" if event["ph"] == "B" else "ts name")
        place, now = (event["pid"], event["tid"]), int(event["ts"] * 1000)
        stack = open_slices[place]
        assert now >= last.get(place, 0)
        if stack and now > last[place]:
            tally.add([(0, *frame) for _, *frame in stack], now - last[place])
        last[place] = now
        if event["ph"] == "B":
            stack.append((now, event["name"], event["cat"]))
        else:
            assert event["ph"] == "E", event["ph"]
            begin, name, _ = stack.pop()
            assert name == event["name"], f"{event['name']} ends in {name}"
            assert begin < now, f"{name} has no length"
    assert not any(open_slices.values())


def trace_instants(events, frames, tally):
    used = set()
    for event in events:
        check_fields(event, "ts name cat s sf args")
        assert event["ph"] == "i" and event["s"] == "t" and list(event["args"]) == ["weight"]
        stack, at = [], event["sf"]
        while at is not None:
            used.add(str(at))
            frame = frames[str(at)]
            stack.insert(0, (0, frame["name"], frame["category"]))
            assert frame.get("parent", -1) < at, "a frame is above itself"
            at = frame.get("parent")
        assert stack[-1][1:] == (event["name"], event["cat"])
        assert type(event["args"]["weight"]) is int
        tally.add(stack, event["args"]["weight"])
    assert used == set(frames), "frames that no sample has"


def read_trace(data, report):
    tally = Tally()
    threads = trace_names(data["traceEvents"], data)
    events = [event for event in data["traceEvents"] if event["ph"] != "M"]
    assert {(event["pid"], event["tid"]) for event in events} == set(threads)
    if report["metric"]["unit"] == "ns":
        trace_slices(events, tally)
        return tally
    trace_instants(events, data["stackFrames"], tally)
    assert len(events) == report["samples"]
    return tally


def by_name(functions):
    """Rows of a file are functions; the report's are, too, but it distinguishes them by name only."""
    out = collections.defaultdict(lambda: (0, 0))
    for (_, name, path), both in functions.items():
        out[name, path] = (out[name, path][0] + both[0], out[name, path][1] + both[1])
    return dict(out)


def compare(what, total, functions, report, want):
    if total != report["weight"]:
        fail(f"{what}: total {total} instead of {report['weight']}")
    for key in sorted(functions.keys() | want.keys()):
        if functions.get(key) != want.get(key):
            fail(f"{what}: {key}: {functions.get(key)} instead of {want.get(key)}")


def plain(functions, want):
    """Names in a trace have their object behind them where functions share a name: here they lose it again."""
    out = collections.defaultdict(lambda: (0, 0))
    for (name, path), both in functions.items():
        if (name, path) not in want:
            name = re.sub(r"( #\d+)$|( \+0x[0-9a-f]+)$", "", name)
            name = name.removesuffix(f" [{path}]").removesuffix(f" {path}")
        out[name, path] = (out[name, path][0] + both[0], out[name, path][1] + both[1])
    return dict(out)


# ---- readers of the tools ----


def speedscope_imports(readers, file):
    script = os.path.join(HERE, "exports_json_speedscope.cjs")
    return json.loads(run("node", script, os.path.join(readers, "speedscope"), file))[file]["profiles"]


def speedscope_reads(what, readers, file, report, want):
    total, functions = 0, collections.defaultdict(lambda: (0, 0))
    for profile in speedscope_imports(readers, file):
        total += profile["weight"]
        for frame in profile["frames"]:
            key = frame["name"], base(frame["file"])
            both = functions[key]
            functions[key] = (both[0] + frame["exclusive"], both[1] + frame["inclusive"])
    compare(what, total, {key: both for key, both in functions.items() if any(both)}, report, want)


def speedscope_reads_trace(what, readers, file, report, want):
    """
    Of an end and a begin at the same time speedscope takes the begin first where both have one name and one set of arguments, whatever
    is open. So each pair gets a number here; the times are those of the file.
    """
    with open(file, encoding="utf-8") as stream:
        data = json.load(stream)
    pairs, n = collections.defaultdict(list), 0
    for event in data["traceEvents"]:
        if event["ph"] == "B":
            n += 1
            pairs[event["pid"], event["tid"]].append(n)
        if event["ph"] in "BE":
            stack = pairs[event["pid"], event["tid"]]
            event["args"] = stack[-1] if event["ph"] == "B" else stack.pop()
    with open("pairs.trace.json", "w", encoding="utf-8") as stream:
        json.dump(data, stream)
    total, have = 0, collections.Counter()
    for profile in speedscope_imports(readers, "pairs.trace.json"):
        total += profile["weight"] * 1000  # us
        for frame in profile["frames"]:
            have[frame["name"].rpartition(" ")[0]] += frame["exclusive"] * 1000
    file_names = {}  # speedscope passes over categories
    for event in data["traceEvents"]:
        if event["ph"] == "B":
            file_names[event["name"]] = event["cat"]
    functions = {(name, file_names[name]): (round(weight), 0) for name, weight in have.items()}
    names = {key: exclusive for key, (exclusive, _) in plain(functions, want).items() if exclusive}
    compare(what, round(total), names, report, {key: exclusive for key, (exclusive, _) in want.items() if exclusive})


def firefox_load(tool, file):
    """profiler-cli gives its own background process half a second to begin, which a busy machine does not always do: it is started again."""
    times = 6
    for attempt in range(1, times + 1):
        if attempt > 1:
            print(f"REPEAT: {attempt} of {times}: profiler-cli load {file}", flush=True)
        env = dict(os.environ, PROFILER_CLI_SESSION_DIR=os.path.join(os.getcwd(), f"sessions{attempt}"))
        done = subprocess.run([*tool, "load", file], env=env, timeout=120, capture_output=True, text=True)
        if done.returncode == 0:
            return env
        time.sleep(2)  # the process may come up late: then it is ended here
        subprocess.run([*tool, "stop", "--all"], env=env, timeout=120, capture_output=True)
    raise OSError(f"profiler-cli cannot load {file}: {done.stderr[-300:]}")


def firefox_reads(what, readers, file, report, want):
    tool = ["node", os.path.join(readers, "@firefox-devtools", "profiler-cli", "dist", "profiler-cli.js")]
    scale = 1000000 if report["metric"]["unit"] == "ns" else 1
    functions = collections.defaultdict(lambda: (0, 0))
    with open(file, encoding="utf-8") as stream:
        threads = len(json.load(stream)["threads"])
    env = firefox_load(tool, file)
    try:
        for i in range(threads):
            rows = json.loads(
                run(*tool, "thread", "functions", "--thread", f"t-{i}", "--include-idle", "--limit", "0", "--json", env=env)
            )
            for row in rows["functions"]:
                key = row["name"], row.get("library", "")
                both = functions[key]
                functions[key] = (both[0] + row["selfSamples"] * scale, both[1] + row["totalSamples"] * scale)
    finally:
        run(*tool, "stop", "--all", env=env)
    rounded = {key: (round(both[0]), round(both[1])) for key, both in functions.items() if any(both)}
    compare(what, sum(both[0] for both in rounded.values()), rounded, report, want)


# ---- one selection ----


def check(recording, readers, options, with_tools):
    report, want = wanted(recording, options)
    what = " ".join([recording, *options])
    print(f"{what}: {report['samples']} samples, {len(want)} functions")
    if not report["samples"]:
        fail(f"{what}: nothing to compare")
    kinds = [
        ("speedscope", "out.speedscope.json", read_speedscope, speedscope_reads),
        ("firefox", "out.firefox.json", read_firefox, firefox_reads),
        ("chrome-trace", "out.trace.json", read_trace, speedscope_reads_trace if report["metric"]["unit"] == "ns" else None),
    ]
    for kind, file, read, tool_reads in kinds:
        run("ctxan", "-q", recording, "--export", kind, "-o", file, *options)
        with open(file, encoding="utf-8") as stream:
            first = stream.read()
        if first.encode() != run("ctxan", "-q", recording, "--export", kind, *options):
            fail(f"{what}: {kind}: not the same bytes again")
        try:
            tally = read(json.loads(first, parse_float=decimal.Decimal), report)
        except (AssertionError, LookupError, TypeError) as error:
            fail(f"{what}: {kind}: {type(error).__name__} {error} at line {error.__traceback__.tb_next.tb_lineno}")
            continue
        have = by_name(tally.functions())
        if kind == "chrome-trace":
            compare(f"{what}: {kind}", tally.total, plain(have, want), report, want)
        else:
            compare(f"{what}: {kind}", tally.total, have, report, want)
        if tool_reads and with_tools and readers != "-":
            tool_reads(f"{what}: {kind}, read by its tool", readers, file, report, want)


def main():
    recording, readers = sys.argv[1:3]
    threads = json.loads(run("ctxan", "-q", recording, "-r", "threads", "--format", "json"))
    heavy = max(threads["rows"], key=lambda row: row["weight"])
    fifths = [heavy["begin"] + (heavy["end"] - heavy["begin"]) * i // 5 for i in range(6)]
    some = ["-t", f"tid:{heavy['thread']}", "-i", f"{fifths[1]}ns:{fifths[2]}ns", "-i", f"{fifths[3]}ns:{fifths[4]}ns"]
    check(recording, readers, [], True)
    check(recording, readers, ["-i", "20%:57%"], True)
    check(recording, readers, some, True)
    check(recording, readers, ["-t", f"tid:{heavy['thread']}", "--cpu", "0-1023"], False)
    for metric in sys.argv[3:]:
        check(recording, readers, ["--metric", metric], True)
    sys.exit(1 if failures else 0)


main()
