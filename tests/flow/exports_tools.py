#!/usr/bin/env python3
"""Compares what callgrind_annotate, go tool pprof and a folding script read in our exports with ctxan's reports, to the last unit.

    exports_tools.py RECORDING [CTXAN OPTION]... [-- [CTXAN OPTION]...]...      each -- begins another selection

Compared: totals and, for every function, exclusive and inclusive cost; of pprof the sample counts and the sums of each thread too.
"""
import collections
import json
import re
import shutil
import subprocess
import sys

recording = sys.argv[1]
options, ours, rows, plain_names = [], {}, [], set()  # of the selection that is compared
failures = 0


def fail(text):
    global failures
    failures += 1
    print(f"FAIL: {recording} {' '.join(options)}: {text}")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        fail(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
    return done.stdout.decode()


def ask(report):
    return json.loads(run("ctxan", "-q", recording, *options, "-r", report, "--limit", "0", "--format", "json"))


def export(kind):
    path = f"compared.{kind}"
    run("ctxan", "-q", recording, *options, "--export", kind, "-o", path)
    return path


def base(path):
    return "" if path is None else path.rsplit("/", 1)[-1]


def bracketed(path):
    return "" if path is None else base(path) if base(path).startswith("[") else f"[{base(path)}]"


def place(name):
    """(function, object in brackets or None) of a name in a file: a name that several functions have has an object behind it."""
    if name in plain_names and name not in ("<Total>", "<Unknown>"):
        return name, None
    match = re.match(r"(.*?) (\[[^\]]*\])( \+0x[0-9a-f]+)?( #\d+)?$", name)
    return (match[1], match[2]) if match else (re.sub(r" #\d+$", "", name), None)


def compare(what, got, key):
    """`got`: (name in the file, cost). Functions that bear one name in one object are compared as a heap."""
    expected = collections.defaultdict(list)
    read = collections.defaultdict(list)
    shared = collections.defaultdict(set)
    for name, value in got:
        function, place_of = place(name)
        if function == "<No stack>":
            continue
        shared[function].add(place_of)
        read[function, place_of].append(value)
    for row in rows:
        has_object = bracketed(row["object"]) in shared[row["function"]]
        expected[row["function"], bracketed(row["object"]) if has_object else None].append(row[key])
    for pair in sorted(set(expected) | set(read), key=str):
        left, right = (sorted(value for value in side.get(pair, []) if value != 0) for side in (expected, read))
        if left != right:
            fail(f"{what}: {key} of {pair}: {right} instead of {left}")
    if len(rows) > 2 and len(read) < 2:
        fail(f"{what}: nothing was read")


def check_folded():
    exclusive, inclusive = collections.Counter(), collections.Counter()
    total = 0
    with open(export("folded"), encoding="utf-8") as lines:
        for line in lines:
            stack, weight = line.rstrip("\n").rsplit(" ", 1)
            frames = stack.split(";")[1:]
            total += int(weight)
            if frames:
                exclusive[frames[-1]] += int(weight)
            for frame in set(frames):
                inclusive[frame] += int(weight)
    if total != ours["weight"]:
        fail(f"folded: total {total} instead of {ours['weight']}")
    by_name = collections.defaultdict(list)
    for row in rows:
        suffix = " " + bracketed(row["object"]) if row["function"].startswith("<Unknown>") and row["object"] else ""
        by_name[(row["function"] + suffix).replace(";", ":")].append(row)
    if set(by_name) != set(inclusive):
        fail(f"folded: names {sorted(set(by_name) ^ set(inclusive))[:5]} are on one side only")
    for name, same in by_name.items():
        if exclusive[name] != sum(row["exclusive"] for row in same):
            fail(f"folded: exclusive of {name}: {exclusive[name]}")
        if len(same) == 1 and inclusive[name] != same[0]["inclusive"]:
            fail(f"folded: inclusive of {name}: {inclusive[name]} instead of {same[0]['inclusive']}")


def annotate(path, how):
    """callgrind_annotate's table: [(name, cost)], and the total."""
    text = run("callgrind_annotate", "--auto=no", "--threshold=100", "--show-percs=no", f"--inclusive={how}", path)
    total = re.search(r"^ *([\d,]+) +PROGRAM TOTALS$", text, re.M)
    table = re.findall(r"^ *([\d,]+) +\?\?\?:(.*) \[(?:.*)\]$", text, re.M)
    return int(total[1].replace(",", "")) if total else None, [(name, int(cost.replace(",", ""))) for cost, name in table]


def check_callgrind():
    path = export("callgrind")
    for how, key in (("no", "exclusive"), ("yes", "inclusive")):
        total, table = annotate(path, how)
        if total != ours["weight"]:
            fail(f"callgrind: total {total} instead of {ours['weight']}")
        if [cost for name, cost in table if name == "<Total>"] != [ours["weight"] if how == "yes" else 0]:
            fail(f"callgrind: <Total>: {table[:3]}")
        compare("callgrind", [(name, cost) for name, cost in table if name != "<Total>"], key)


def pprof(path, *arguments):
    return run("go", "tool", "pprof", *arguments, path)


def check_pprof():
    path = export("pprof")
    metric, unit = ours["metric"]["name"], {"ns": "nanoseconds", "events": "count"}.get(ours["metric"]["unit"])
    for index, suffix, total in ((metric, "", ours["weight"]), ("samples", "_samples", ours["samples"])):
        text = pprof(path, "-top", "-nodecount=0", "-nodefraction=0", "-edgefraction=0", f"-sample_index={index}", "-unit=ns")
        shown = re.search(r" of (\d+)(?:ns)? total$", text, re.M)
        if not shown or int(shown[1]) != total:
            fail(f"pprof: total of {index} {shown and shown[1]} instead of {total}")
        table = re.findall(r"^ *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +(\d+)(?:ns)? +[\d.]+% +(.*)$", text, re.M)
        # pprof says behind a name that it is inlined; our names of inlined functions say so, too.
        table = [(flat, cumulative, re.sub(r" \((partial-)?inline\)$", "", name)) for flat, cumulative, name in table]
        compare("pprof", [(name, int(flat)) for flat, cumulative, name in table], "exclusive" + suffix)
        compare("pprof", [(name, int(cumulative)) for flat, cumulative, name in table], "inclusive" + suffix)
    check_pprof_threads(pprof(path, "-raw"), unit)


def check_pprof_threads(text, unit):
    if f"{ours['metric']['name']}/{unit}[dflt]" not in text:
        fail("pprof: the metric is not the type that is shown first")
    sums = collections.Counter()
    for samples, weight, labels in re.findall(r"^ +(\d+) +(\d+): [\d ]*\n((?: {16}\S.*\n)*)", text, re.M):
        tid = re.search(r" tid:\[(\d+)\]$", labels, re.M)
        tid = int(tid[1]) if tid else 0  # of the idle task; pprof drops numbers that are 0
        sums[tid, "samples"] += int(samples)
        sums[tid, "weight"] += int(weight)
    expected = collections.Counter()
    for row in ask("threads")["rows"]:
        expected[row["thread"], "samples"] += row["samples"]
        expected[row["thread"], "weight"] += row["weight"]
    if +sums != +expected:
        wrong = {tid for tid, key in set(sums) | set(expected) if sums[tid, key] != expected[tid, key]}
        fail(f"pprof: sums of threads {sorted(wrong)[:9]}")


def check_selection(words):
    global options, ours, rows, plain_names
    options = words
    ours = ask("functions")
    rows = [row for row in ours["rows"] if not (row["function"] == "<Total>" and row["object"] is None)]
    plain_names = {row["function"] for row in rows}
    if len(rows) < 2:
        fail("the recording has nothing to compare")
    check_folded()
    if shutil.which("callgrind_annotate"):
        check_callgrind()
    if shutil.which("go"):
        check_pprof()


selections = [[]]
for word in sys.argv[2:]:
    if word == "--":
        selections.append([])
    else:
        selections[-1].append(word)
for selection in selections:
    check_selection(selection)
sys.exit(failures != 0)
