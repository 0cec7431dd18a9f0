"""Compares gprofng's output of an experiment exported by ctxan with ctxan's reports: export_gprofng.py RECORDING WORD [SELECTION...]

WORD is gprofng's for the metric, with + in front where it is a count. What gprofng prints may be kept (gprofng_said.py): then the export must have the
bytes that it had when gprofng was asked.

Functions are named by the linker's names, as both know them. gprofng has no inlined functions, so its numbers are compared with those of
--no-inlines. Where the dynamic linker binds a symbol, ctxan shows the stub NAME@plt that jumped there; an experiment has return addresses only, and no
such frame. Then ctxan opens the export, and its reports must be those of the recording, to the last digit.
"""
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict

from gprofng_said import ask, bytes_of, kept

DIGITS = 0.00051  # seconds: three digits are printed
ROUNDED = 1e-6  # a stack of gprofng's is a whole number of microseconds
NAMES = {"<Truncated-stack: too deep>": "<Truncated-stack>", "<Truncated-stack>": "<Stack-unwind-failed>"}
STUB = "@plt"  # all stubs are compared as one function: in an experiment the first one of a table has no name
BINDING = ("_dl_runtime_resolve", "_dl_runtime_profile", "_dl_fixup", "_dl_profile_fixup")  # what a stub jumps to: ingest/resolver_binding.c
LIFE_STEP = 10000000  # a second life of a thread id has so much added in an export: docs/exports.md
failures = 0


def fail(*what):
    global failures
    failures += 1
    if failures <= 12:
        print("   ", *what)


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


TOGETHER = ("functions", "tree", "threads", "objects")


@functools.cache
def reports(recording, *options):
    """Those that are compared, in one run: it is the start of ctxan that takes its time."""
    text = output_of("ctxan", "-q", "--format", "json", "--limit", "0", "-r", ",".join(TOGETHER), *options, recording)
    found = {}
    for report in TOGETHER:
        found[report], end = json.JSONDecoder().raw_decode(text)
        text = text[end:].lstrip()
    return found


def ctxan(recording, report, *options):
    return reports(recording, *options)[report]


def display(*commands):
    return ask(OUT, "-name", "mangled", "-metrics", f"e.{word}:i.{word}:name", *commands)[0]


def near(printed, weight, unit, rows=1, samples=0):
    """`rows`: so many printed numbers were added; `samples`: the most stacks that it may be the sum of."""
    tolerance = rows * DIGITS + samples * ROUNDED if unit == 1e9 else 0
    return abs(printed - weight / unit) <= tolerance


def stub(name):
    return STUB if name.endswith(STUB) else name


def exported_tree(rows, name_of):
    """[(path, row)] of a call tree as it is in an experiment: the caller of a stub calls what the stub jumps to."""
    found, path, above = [], [], []
    for row in rows:
        path, above = path[: row["level"]] + [stub(row["function"])], above[: row["level"]]
        enters = [name == STUB and below.startswith(BINDING) for name, below in zip(path, path[1:])] + [False]
        if len(path) > 1 and enters[-2]:
            entered = above[-1][1]
            for key in ("cum", "cum_samples"):
                entered[key] -= row[key]
            entered["left"] = entered["cum_samples"] > 0
        row = {**row, "function": path[-1]}
        above.append((name_of(row), row))
        found.append((tuple(name for (name, _), dropped in zip(above, enters) if not dropped), row))
    return [(names, row) for names, row in found if row.get("left", True)]


# ---- what gprofng prints

def functions():
    """name -> [(exclusive, inclusive)]"""
    found = defaultdict(list)
    for line in display("-functions").splitlines():
        match = re.match(r"\s*([\d.]+)\s+([\d.]+)\s+(\S.*)$", line)
        if match:
            found[stub(match[3].strip())].append((float(match[1]), float(match[2])))
    return found


def tree():
    """path from <Total> -> weight"""
    found, rows, path = defaultdict(float), Counter(), []  # path: (column, name)
    for line in display("-calltree").splitlines():
        match = re.match(r"\s*([\d.]+)(\s[\s|]*)\+-(.*)$", line)
        if match:
            column = match.end(2)
            while path and path[-1][0] >= column:
                path.pop()
            path.append((column, stub(match[3].strip())))
            names = tuple(name for _, name in path)
            found[names] += float(match[1])
            rows[names] += 1
    return found, rows


def threads():
    text = ask(OUT, "-metrics", f"e.{word}:name", "-threads")[0]
    return sorted(float(value) for value in re.findall(r"^\s*([\d.]+)\s+Process \d+, Thread \d+$", text, re.M))


# ---- what ctxan reports

class Linker:
    """The linker's name of a function that a report names."""

    def __init__(self):
        self.names = {}
        text = output_of("ctxan", "-q", "--no-inlines", "--db", "plain.db", recording, "--format", "json", "--sql",
                         "select f.name, f.linkage_name, o.path from function as f left join load_object as o on o.id = f.object")
        for row in json.loads(text):
            self.names[row["name"], row["path"]] = printable(row["linkage_name"] or row["name"])

    def name(self, row):
        name = self.names.get((row["function"], row["object"]), row["function"])
        return NAMES.get(name, name) if row["object"] is None else name


def printable(name):
    return "".join(c if c >= " " and c != "\x7f" else " " for c in name).strip()


def compare_functions(linker, unit):
    theirs, ours, inclusive = functions(), defaultdict(lambda: [0, 0]), defaultdict(list)
    for row in ctxan(recording, "functions", "--no-inlines", "--db", "plain.db", *selection)["rows"]:
        name = stub(linker.name(row))
        ours[name][0] += row["exclusive"]
        ours[name][1] += row["exclusive_samples"]
        inclusive[name].append((row["inclusive"], row["inclusive_samples"]))
    for name in set(theirs) | set(ours):
        rows = theirs.get(name, [])
        if not near(sum(row[0] for row in rows), ours[name][0], unit, max(1, len(rows)), ours[name][1]):
            fail(name, "exclusive: gprofng", rows, "ctxan", ours[name])
        if name != STUB and len(rows) == len(inclusive[name]):
            for (_, printed), (weight, samples) in zip(sorted(rows, key=lambda row: row[1]), sorted(inclusive[name])):
                if not near(printed, weight, unit, 1, samples):
                    fail(name, "inclusive: gprofng", printed, "ctxan", weight)
    if len(theirs) < 2 and ours["<Total>"][0] > 0:
        fail("gprofng lists no function")
    return len(ours)


def compare_tree(linker, unit):
    theirs, rows = tree()
    ours, samples = Counter(), Counter()
    for path, row in exported_tree(ctxan(recording, "tree", "--no-inlines", "--db", "plain.db", *selection)["rows"], linker.name):
        ours[path] += row["cum"]
        samples[path] += row["cum_samples"]
    for path in set(theirs) | set(ours):
        if not near(theirs.get(path, 0), ours[path], unit, max(1, rows[path]), samples[path]):
            fail(";".join(path[-4:]), "gprofng", theirs.get(path), "ctxan", ours[path])
    return len(ours)


def compare_threads(unit):
    ours = [row for row in ctxan(recording, "threads", *selection)["rows"] if row.get("weight")]
    ours = sorted((row["weight"], row["samples"]) for row in ours)
    theirs = [value for value in threads()][-len(ours):] if ours else []
    if len(theirs) != len(ours) or not all(near(a, b, unit, 1, n) for a, (b, n) in zip(theirs, ours)):
        fail("threads: gprofng", theirs, "ctxan", ours)


def compare_head():
    text = ask(OUT, "-header")[0]
    for wanted in ("No errors", "No warnings", "experiment version 12.4 (64-bit)", "Note: exported by ctxan"):
        if wanted not in text:
            fail("header: no", repr(wanted), "in", text)


# ---- there and back

def kernel_functions_in_parts():
    """Functions of the kernel with clones elsewhere (NAME.constprop.0) are one to ctxan; exported they are as many as there are places: sums are compared."""
    rows = ctxan(recording, "functions", *selection)["rows"]
    return {(row["function"], row["object"]) for row in rows if row["object"] == "[kernel]" and row.get("parts")}


def without_source(name):
    """An exported object has linker's names and no source files: dup (a.c) comes back as dup."""
    return re.sub(r" \([^() ]*\.\w+\)$", "", name)


MARKS = ("[marks]", "<execve>", "<Frames-left-out>")  # no load object has these frames; exported they are of one that is called [marks]


def without_marks(row):
    return {**row, "object": None if row.get("function") in MARKS else row["object"]} if "object" in row else row


def rows_of(where, report, keys, *options):
    found = Counter()
    for row in map(without_marks, ctxan(where, report, *options)["rows"]):
        if report == "objects" and row["object"] in MARKS:
            for key in keys[1:]:
                found["[marks]", key] += int(row[key])
            continue
        if "function" in row:
            row = {**row, "function": without_source(row["function"])}
        if row.get("thread") is not None:
            row["thread"] %= LIFE_STEP
        if "function" in row and (stub(row["function"]) == STUB or (row["function"], row["object"]) in in_parts):
            row["function"] = stub(row["function"])
            for key in ("exclusive", "exclusive_samples"):
                found[row["function"], key] += row[key]
            continue
        found[tuple(str(row.get(key)) for key in keys)] += 1
    return found


def paths_of(where, *options):
    """The call tree without its order: of siblings that weigh the same any may be first."""
    found = Counter()
    for path, row in exported_tree(ctxan(where, "tree", *options)["rows"], lambda row: (without_source(row["function"]), without_marks(row)["object"])):
        if in_parts & set(path) or any(name == STUB or name.startswith(BINDING) for name, _ in path):
            for key in ("base", "cum", "base_samples", "cum_samples"):
                found[path, key] += row[key]
            continue
        calls = row["calls"] if not selection else None  # they depend on the sample before, which may not be selected
        found[path, calls, row["base"], row["cum"], row["base_samples"], row["cum_samples"], row["recursion_level"]] += 1
    return found


def compare_back():
    global in_parts
    in_parts = kernel_functions_in_parts()
    options = ["--metric", word] if "--metric" in selection else []  # gprofng's words are known to ctxan
    reports = {"functions": ("function", "object", "exclusive", "inclusive", "exclusive_samples", "inclusive_samples", "inlined"),
               "threads": ("process", "thread", "name", "samples", "weight"), "objects": ("object", "exclusive", "inclusive")}
    for report, keys in reports.items():
        ours, theirs = rows_of(recording, report, keys, *selection), rows_of(OUT, report, keys, *options)
        if report != "functions":  # what has no sample is not exported
            ours, theirs = (Counter({row: n for row, n in rows.items() if not set(row[-2:]) <= {"0", "None"}}) for rows in (ours, theirs))
        for row in (ours - theirs) + (theirs - ours):
            fail("back:", report, row, "ours" if row in ours else "theirs")
    ours, theirs = paths_of(recording, *selection), paths_of(OUT, *options)
    for path in (ours - theirs) + (theirs - ours):
        fail("back: tree", path[0][-3:], path[1:], "ours" if path in ours else "theirs")


recording, word = sys.argv[1], sys.argv[2]
selection = sys.argv[3:]
OUT = re.sub(r"[^\w.]+", "_", " ".join([recording.removesuffix(".er"), *sys.argv[2:]])).strip("_") + ".er"
shutil.rmtree(OUT, ignore_errors=True)
if os.path.exists("plain.db"):
    os.remove("plain.db")
output_of("ctxan", "-q", "--export", "gprofng", "-o", OUT, *selection, recording)
if kept(OUT, "sha256", bytes_of(OUT)) != bytes_of(OUT):
    fail("the export has other bytes than the one that gprofng was asked about: testdata/recordings/make.sh BUILD_DIR exported, and compare what it prints")
unit = 1 if word.startswith("+") else 1e9
word = word.lstrip("+")
names = Linker()
n_functions, n_paths = compare_functions(names, unit), compare_tree(names, unit)
compare_threads(unit)
compare_head()
compare_back()
print(f"{recording} {' '.join(selection)}: {n_functions} functions, {n_paths} nodes of the tree, {failures} differ")
sys.exit(1 if failures else 0)
