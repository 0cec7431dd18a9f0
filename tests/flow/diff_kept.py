# Comparisons of kept recordings: diff_kept.py CTXAN FOLDER.
# Both sides of each row, and the totals, are what the report functions says of the side; with itself nothing differs; the formats agree.
import csv
import glob
import io
import json
import os
import re
import subprocess
import sys

VERDICTS = {"slower", "faster", "new", "gone", "no evidence"}
KEYS = {"function", "object", "a", "b", "change", "change_percent", "low", "high", "p", "verdict"}


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


def ask(ctxan, *arguments):
    return json.loads(run(ctxan, "-q", *arguments, "--limit", "0", "--format", "json"))


def plain(row):
    return row["function"].removesuffix(" (inlined)"), os.path.basename(row["object"] or "")


def by_function(rows, key):
    found = {}
    for row in rows:
        if row["function"] != "<Total>" and row[key]:
            found[plain(row)] = found.get(plain(row), 0) + row[key]
    return found


def check_row(row):
    assert set(row) == KEYS, row
    assert row["verdict"] in VERDICTS, row
    assert row["change"] == row["b"] - row["a"], row
    if row["a"]:
        assert abs(row["change_percent"] - 100 * row["change"] / row["a"]) < 1e-3, row
    else:
        assert row["change_percent"] is None, row
    if row["p"] is None:
        assert row["low"] is None and row["high"] is None and row["verdict"] == "no evidence", row
    else:
        assert 0 <= row["p"] <= 1 and row["low"] <= row["change"] <= row["high"], row


def check_side(diff, side, functions, key):
    """Names without directories and versions of objects can join what the report functions keeps apart: sums then."""
    mine, theirs = by_function(diff["rows"], side), by_function(functions["rows"], key)
    names = {name for name, _ in mine} | {name for name, _ in theirs}
    for name in names:
        one = sum(weight for (other, _), weight in mine.items() if other == name)
        two = sum(weight for (other, _), weight in theirs.items() if other == name)
        # In the total time, an inlined instance below its own function, or one function of two objects, counts once here.
        alone = sum(name == plain(row)[0] for row in functions["rows"]) == 1
        assert (one == two if alone or key == "exclusive" else one <= two), (name, one, two, functions["experiment"], functions["intervals_ns"], side)
    assert diff["rows"][0]["function"] == "<Total>" and diff["rows"][0][side] == functions["weight"]


def object_names(rows):
    """Without directory and version, as they are matched."""
    found = {}
    for row in rows:
        if row["object"] and row["object"] != "<Total>":
            name = re.sub(r"\.so\..*", ".so", os.path.basename(row["object"]))
            found.setdefault(name, []).append(row)
    return found


def check_objects(ctxan, a, b):
    diff = ask(ctxan, a, b, "--diff", "-r", "objects")
    mine = object_names(diff["rows"])
    for side, path in (("a", a), ("b", b)):
        theirs = object_names(ask(ctxan, path, "-r", "objects")["rows"])
        one, two = {name for name in mine if mine[name][0][side]}, {name for name in theirs if any(row["exclusive"] for row in theirs[name])}
        assert one == two, (one, two)
        for name, rows in theirs.items():
            assert name not in mine or mine[name][0][side] == sum(row["exclusive"] for row in rows), name


def check_pair(ctxan, sides, options, key):
    inputs = [name for name, _ in sides]
    given = [inputs[0]] if inputs[0] == inputs[1] and sides[0][1] else inputs
    intervals = [word for _, interval in sides if interval for word in ("-i", interval)]
    diff = ask(ctxan, *given, "--diff", *intervals, *options, "--sort", key)
    for row in diff["rows"]:
        check_row(row)
    for side, (name, interval) in zip("ab", sides):
        words = ["-i", interval] if interval else []
        check_side(diff, side, ask(ctxan, name, "-r", "functions", *words, *options), key)
    assert [side["inputs"] for side in diff["sides"]] == [[name] for name in inputs]
    table = list(csv.DictReader(io.StringIO(run(ctxan, "-q", *given, "--diff", *intervals, *options, "--sort", key, "--limit", "0",
                                                "--format", "csv"))))
    assert [(row["function"], int(row["a"]), int(row["b"]), row["verdict"]) for row in table] == \
        [(row["function"], row["a"], row["b"], row["verdict"]) for row in diff["rows"]]
    return diff


def main():
    ctxan, folder = sys.argv[1:]
    recordings = sorted(glob.glob(os.path.join(folder, "*.er")) + [os.path.join(folder, name) for name in ("good.data", "flat.data")])
    checked = 0
    for path in recordings:
        for options in ([], ["--metric", "wall"]) if path.endswith("phases.er") else ([],):
            # Without call stacks inclusive times are refused.
            stacks = ask(ctxan, path, "-r", "functions").get("call_stacks", True)
            for key in ("exclusive", "inclusive") if stacks else ("exclusive",):
                same = check_pair(ctxan, [(path, None), (path, None)], options, key)
                assert all(row["change"] == 0 and row["verdict"] == "no evidence" for row in same["rows"]), path
                check_pair(ctxan, [(path, "0:50%"), (path, "50%:100%")], options, key)
                checked += 1
    assert checked >= 4, recordings
    check_pair(ctxan, [(recordings[0], None), (recordings[1], None)], [], "exclusive")
    check_objects(ctxan, recordings[0], recordings[1])
    # Three of each side: the means.
    first = recordings[0]
    several = ask(ctxan, ",".join([first] * 3), ",".join([first] * 3), "--diff")
    assert several["sides"][0]["inputs"] == [first] * 3 and several["sides"][0]["blocks"] == 3
    assert several["rows"][0]["a"] == ask(ctxan, first, "-r", "functions")["weight"]
    # What is assumed of runs is said where it is: with one recording of each side.
    for one in (",".join([first] * 3), first), (first, ",".join([first] * 2)):
        assert "is assumed" not in run(ctxan, "-q", *one, "--diff"), one
    # Processes of an experiment.
    processes = [os.path.join(folder, "processes", "execs.er", name) for name in ("_f1.er", "_f2_x1.er")]
    whole = check_pair(ctxan, [(name, None) for name in processes], [], "exclusive")["rows"][0]
    assert 0 < whole["a"] + whole["b"] < ask(ctxan, os.path.dirname(processes[0]), "-r", "functions")["weight"], whole
    text = run(ctxan, "-q", first, first, "--diff", "--ascii", "--width", "80")
    assert "no evidence" in text and "2 % is assumed" in " ".join(text.split()), text
    assert all(len(line) <= 80 for line in text.splitlines()), text


main()
