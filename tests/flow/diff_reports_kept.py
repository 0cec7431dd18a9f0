# Comparisons of two intervals of a kept recording by every report: diff_reports_kept.py CTXAN RECORDING WAITING: WAITING is one with waits.
# Both sides of each row are what the report says of that side, to the nanosecond; exports have the same sums.
import base64
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

HALVES = ("0:50%", "50%:100%")


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, check=True).stdout


class Recording:
    def __init__(self, ctxan, path):
        self.ctxan, self.path = ctxan, path

    def report(self, name, interval):
        return json.loads(run(self.ctxan, "-q", self.path, "-r", name, "-i", interval, "--limit", "0", "--format", "json"))["rows"]

    def diff(self, *words):
        return run(self.ctxan, "-q", self.path, "--diff", "-i", HALVES[0], "-i", HALVES[1], *words)

    def rows(self, name, *words):
        return json.loads(self.diff("-r", name, "--limit", "0", "--format", "json", *words))["rows"]


def plain(name):
    return name.removesuffix(" (inlined)") if name else name


def add(found, key, weight):
    if weight:
        found[key] = found.get(key, 0) + weight


def paths(rows, weight):
    """Rows of a tree, depth first: by the names from the top to the node."""
    found, path = {}, []
    for row in rows:
        path[row["level"]:] = [plain(row["function"])]
        add(found, tuple(path), row[weight])
    return found


def calls(rows):
    """The callers of each function. A recursive call has no weight of its own there."""
    found = {}
    for row in rows:
        for parent in row["parents"]:
            caller = None if parent["function"] == "<Total>" else plain(parent["function"])
            add(found, (caller, plain(row["function"])), parent["cum"])
    return found


STATES = ("USER", "SYSTEM", "TRAP", "TFAULT", "DFAULT", "KFAULT", "USER_LOCK", "SLEEP", "STOPPED", "WAIT_CPU", "UNKNOWN")


def said(recording, name, interval):
    """What a report says of a side: weights by key."""
    rows, found = recording.report(name, interval), {}
    if name == "tree":
        return paths(rows, "cum")
    if name == "callers-callees":
        return calls(rows)
    for row in rows:
        if name == "stacks":
            add(found, tuple(plain(frame["function"]) for frame in row["frames"]), row["exclusive"])
        elif name == "threads":
            add(found, row["name"], row["weight"])
        elif name == "lines":
            add(found, (plain(row["function"]), os.path.basename(row["file"] or ""), row["line"]), row["exclusive"])
        elif name == "waits" and row["kind"] != "start":
            add(found, (plain(row["caller"]), row["kind"], row["state"]), row["wait_ns"])
        elif name == "states" and row["thread"] is not None:
            for state in STATES:
                add(found, state, row[state])
    return found


def compared(recording, name, side):
    rows, found = recording.rows(name), {}
    if name == "tree":
        return paths(rows, side)
    for row in rows[1:]:
        key = {"stacks": lambda: tuple(plain(frame["function"]) for frame in row["frames"]),
               "threads": lambda: row["name"],
               "lines": lambda: (plain(row["function"]), os.path.basename(row["file"] or ""), row["line_" + side]),
               "waits": lambda: (plain(row["caller"]), row["kind"], row["state"]),
               "states": lambda: row["state"],
               "callers-callees": lambda: (plain(row["caller"]), plain(row["function"]))}[name]()
        add(found, key, row[side])
    return found


def check_reports(recording, *names):
    for name in names:
        for side, interval in zip("ab", HALVES):
            one, two = compared(recording, name, side), said(recording, name, interval)
            assert one and one == two, (name, side, {key: (one.get(key), two.get(key)) for key in set(one) | set(two) if one.get(key) != two.get(key)})
        for row in recording.rows(name):
            assert row["change"] == row["b"] - row["a"], row
        table = list(csv.DictReader(io.StringIO(recording.diff("-r", name, "--limit", "0", "--format", "csv").decode())))
        assert [(int(row["a"]), int(row["b"])) for row in table] == [(row["a"], row["b"]) for row in recording.rows(name)], name
        for width in ("80", "200"):
            text = recording.diff("-r", name, "--width", width, "--ascii").decode()
            assert all(len(line) <= int(width) for line in text.splitlines()), (name, text)


def check_html(recording):
    """Paths of functions are names there."""
    for name in ("stacks", "tree", "callers-callees"):
        page = recording.diff("-r", name, "--format", "html").decode()
        assert ("phase_report" if name == "tree" else "\u203a phase_report") in page, name


def check_tree(recording):
    """Siblings by the size of their change; what explains a change is below, and has most of it."""
    rows, last = recording.rows("tree"), {}
    for i, row in enumerate(rows):
        last = {level: size for level, size in last.items() if level <= row["level"]}
        assert abs(row["change"]) <= last.get(row["level"], float("inf")), row
        last[row["level"]] = abs(row["change"])
        path, at = row["explained_by"], i
        for name in path:
            level, above = rows[at]["level"] + 1, rows[at]["change"]
            at = next(k for k in range(at + 1, len(rows)) if rows[k]["level"] == level and rows[k]["function"] == name and
                      0.8 <= rows[k]["change"] / above <= 1.25)
    text = recording.diff("-r", "tree").decode()
    assert "Explained by" in text, text


def check_weights(recording):
    whole = recording.rows("functions")
    run_ns = [end - begin for begin, end in
              (recording_side["intervals"][0].values() for recording_side in
               json.loads(recording.diff("--format", "json", "--limit", "1"))["sides"])]
    for words, units in (["--per", "second"], [ns / 1e9 for ns in run_ns]), (["--per-count", "4,5"], [4, 5]), \
            (["--per", "share"], [whole[0]["a"] / 100, whole[0]["b"] / 100]):
        rows = {(row["function"], row["object"]): row for row in recording.rows("functions", *words)}
        for row in whole:
            scaled = rows[(row["function"], row["object"])]
            for side, unit in zip("ab", units):
                assert abs(scaled[side] - row[side] / unit) < 1e-5 * max(1, scaled[side]), (words, row, scaled)


def fields(data):
    """The fields of a message of protocol buffers."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 2:
            n = varint()
            yield tag >> 3, data[at:at + n]
            at += n
        else:
            yield tag >> 3, varint()


def numbers(packed):
    values, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value - (1 << 64) if value >> 63 else value)
            value = shift = 0
    return values


def check_pprof(recording, a, b):
    sums, based, texts = {False: 0, True: 0}, 0, []
    for number, value in fields(gzip.decompress(recording.diff("--export", "pprof"))):
        if number == 2:
            sample = list(fields(value))
            weight = numbers(next(item for field, item in sample if field == 2))[1]
            has_label = any(field == 3 for field, _ in sample)
            assert (weight < 0) == has_label, sample
            sums[has_label] += weight
            based += has_label
        elif number == 6:
            texts.append(value)
    assert based and sums == {False: b, True: -a}, sums
    assert b"pprof::base" in texts and b"true" in texts, texts


def check_exports(recording):
    total = recording.rows("functions")[0]
    a, b = total["a"], total["b"]
    lines = recording.diff("--export", "folded").decode().splitlines()
    pairs = {line.rsplit(" ", 2)[0]: tuple(map(int, line.rsplit(" ", 2)[1:])) for line in lines}
    assert (sum(one for one, _ in pairs.values()), sum(two for _, two in pairs.values())) == (a, b)
    for row in recording.rows("stacks")[1:]:
        found = [pair for stack, pair in pairs.items() if [plain(name).split(" [")[0] for name in stack.split(";")] ==
                 [plain(frame["function"]).split(" [")[0] for frame in row["frames"]]]
        assert (row["a"], row["b"]) in found, row
    scope = json.loads(recording.diff("--export", "speedscope"))
    assert [(profile["name"], sum(profile["weights"])) for profile in scope["profiles"]] == [("A", a), ("B", b)]
    check_pprof(recording, a, b)
    graph = xml.etree.ElementTree.fromstring(recording.diff("--export", "flamegraph"))
    titles = [title.text.split("\n") for title in graph.iter("{http://www.w3.org/2000/svg}title")]
    root = next(title for title in titles if title[0] == "<Total>")
    assert root[1] == f"A {a / 1e6:.3f} ms, B {b / 1e6:.3f} ms: {(b - a) / 1e6:+.3f} ms, {100 * (b - a) / a:+.2f} points of A's total", root
    for export in ("folded", "speedscope", "pprof", "flamegraph", "html"):
        assert recording.diff("--export", export) == recording.diff("--export", export), export


def page_of(recording, *words):
    """The head and the data of the page."""
    page = recording.diff("--export", "html", *words).decode()
    head = re.search(r'<script type="application/json" id="head">(.*?)</script>', page, re.S).group(1)
    packed = re.search(r'<script type="text/plain" id="profile">(.*?)</script>', page, re.S).group(1)
    assert json.loads(head) == {"version": 1}, head
    return json.loads(gzip.decompress(base64.b64decode(packed, validate=True))), len(page.encode())


def check_page(recording, *names):
    """The page has the reports as they are in JSON, functions and the tree first."""
    for words, reports in (["--sort", "inclusive", "--per", "second"], names[:1]), ([], names):
        data, _ = page_of(recording, *words, "-r", ",".join([*reports, "tree"]))
        assert [table["data"]["report"] for table in data["tables"]] == ["functions", "tree", *reports], reports
        for table in data["tables"]:
            name = table["data"]["report"]
            assert table["data"] == json.loads(recording.diff("-r", name, "--limit", "0", "--format", "json", *words)), (name, words)
            text = recording.diff("-r", name, "--width", "1000", *words).decode()
            assert text.startswith(f"Difference of {table['title']}"), (table["title"], text)
    assert data["left_out"] == [], data["left_out"]
    for line, interval in zip(data["lines"], HALVES, strict=True):
        functions = json.loads(run(recording.ctxan, "-q", recording.path, "-r", "functions", "-i", interval, "--format", "json"))
        assert [[line["begin_ns"], line["end_ns"]]] == functions["intervals_ns"] and sum(line["weights"]) == functions["weight"], line
    texts = recording.diff("--width", "1000").decode()
    assert len(data["notes"]) == texts.count("\nnote: ") and all(f"note: {note['recording']}: {note['text']}" in texts for note in data["notes"]), data["notes"]


def check_small_page(recording):
    """To fit, the lightest calls are left out, and the page says so."""
    data, size = page_of(recording)
    rows, largest = data["tables"][1]["data"]["rows"], size
    template = size - len(base64.b64encode(gzip.compress(json.dumps(data).encode())))
    for least in (1e-5, 1e-4, 1e-3, 1e-2):
        heavy = [row for row in rows if row["level"] == 0 or row["a"] >= least * rows[0]["a"] or row["b"] >= least * rows[0]["b"]]
        if len(heavy) == len(rows):
            continue
        small, size = page_of(recording, "--max-size", str(largest - 1))
        assert size < largest and small["tables"][1]["data"]["rows"] == heavy and small["tables"][0] == data["tables"][0], least
        assert small["left_out"] == [f"calls with less than {100 * least:g} % of either side are not in the tree"], small["left_out"]
        largest = size
    assert largest < len(recording.diff("--export", "html")), "nothing was left out"
    try:
        recording.diff("--export", "html", "--max-size", str(template))
        raise AssertionError("a page that cannot be as small")
    except subprocess.CalledProcessError as error:
        assert b"larger than --max-size" in error.stderr, error.stderr


def check_sides(recording):
    """Options of one side alone."""
    one = json.loads(run(recording.ctxan, "-q", recording.path, "--diff", "--thread", "A:worker-1", "--thread", "B:worker-2", "-i", "A:0:50%",
                         "--filter", "B:WEIGHT > 0", "--format", "json", "--limit", "1"))
    for side, words in zip("ab", (["--thread", "worker-1", "-i", "0:50%"], ["--thread", "worker-2"])):
        alone = json.loads(run(recording.ctxan, "-q", recording.path, "-r", "functions", "--format", "json", "--limit", "1", *words))
        assert one["rows"][0][side] == alone["weight"], (side, one)


def check_renamed(recording):
    """A function that has another name on one side: nothing is on one side alone any more."""
    def alone(*words):
        return json.loads(recording.diff("--format", "json", "--limit", "1", *words))["sides"][0]["alone"]

    assert alone("--rename", "phase_report|tokenize|build_ast=work") < alone()


def main():
    ctxan, path, waiting = sys.argv[1:]
    recording = Recording(ctxan, path)
    check_reports(recording, "tree", "stacks", "threads", "lines", "callers-callees", "states")
    check_reports(Recording(ctxan, waiting), "states", "waits", "threads")
    check_html(recording)
    check_tree(recording)
    check_weights(recording)
    check_exports(recording)
    check_page(recording, "objects", "lines", "callers-callees", "stacks", "threads", "states")
    check_page(Recording(ctxan, waiting), "states", "waits")
    check_small_page(recording)
    check_sides(recording)
    check_renamed(recording)


main()
