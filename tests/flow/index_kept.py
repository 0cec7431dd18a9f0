# Indexes by several keys, of every recording below a folder, against other reports: index_kept.py CTXAN FOLDER...
# In each metric the rows add up to the total; by function they are Self of the report functions, by line and function that of lines, by wait the waits of
# the report waits.
import json
import os
import subprocess
import sys
from collections import Counter

FUNCTIONS = "command,object,function"
HIDDEN = ("lock_convoy.er", "phases.er", "good.data")
LINES = "thread-pattern,thread-name,thread,process,line,sym,cpu,TSTAMP/50000000"


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, errors="replace", check=False)


def ask(*arguments):
    done = run(*arguments, "--limit", "0", "--format", "json")
    if done.returncode != 0:
        raise RuntimeError(" ".join(arguments[2:]) + ": " + done.stderr.strip())
    return json.loads(done.stdout)


def recordings(folders):
    for folder in folders:
        for path in sorted(os.listdir(folder)):
            if path.endswith((".er", ".data")):
                yield os.path.join(folder, path)


def sums(row, n_metrics, key):
    """One of each metric."""
    found = [row[key]] + [more[key] for more in row.get("metrics", ())]
    assert len(found) == n_metrics, row
    return found


def add_up(rows, n_metrics, key, names):
    """By the values of `names`, what is not 0 in all metrics."""
    by = Counter()
    for row in rows:
        for metric, value in enumerate(sums(row, n_metrics, key)):
            by[tuple(row[name] for name in names) + (metric,)] += value
    return +by


def metrics_of(ctxan, path):
    rows = ask(ctxan, "-q", path, "-r", "header")["rows"]
    names = [row["value"] for row in rows if row["section"] == "metric" and row["key"] == "name"]
    return [name for name in names if "," not in name and name.count("/") != 1]


def difference(by, got, want):
    return f"--by {by}: {list((got - want).items())[:3]}, not {list((want - got).items())[:3]}" if got != want else None


def check_functions(ctxan, path, metrics):
    """In all metrics."""
    several = ("--metric", ",".join(metrics))
    functions = ask(ctxan, "-q", path, "-r", "functions", *several)["rows"]
    rows = ask(ctxan, "-q", path, "--by", FUNCTIONS, *several)["rows"]
    n = len(metrics)
    totals = sums(functions[0], n, "exclusive")
    got = [sum(column) for column in zip(*(sums(row, n, "weight") for row in rows))] if rows else [0] * n
    if got != totals:
        return f"--by {FUNCTIONS}: {got} instead of {totals}"
    weights = [row["weight"] for row in rows]
    if weights != sorted(weights, reverse=True):
        return f"--by {FUNCTIONS}: not by weight"
    names = ("function", "object")
    # What was recorded without a stack has no function: it is in the total, and in no row of functions.
    rows = [row for row in rows if row["function"] is not None]
    return difference(FUNCTIONS, add_up(rows, n, "weight", names), add_up(functions[1:], n, "exclusive", names))


def check_lines(ctxan, path):
    rows = ask(ctxan, "-q", path, "--by", LINES)["rows"]
    names = ("function", "object", "file", "line")
    return difference(LINES, add_up(rows, 1, "weight", names), add_up(ask(ctxan, "-q", path, "-r", "lines")["rows"], 1, "exclusive", names))


def check_hiding(ctxan, path):
    """Leaves are those of the rewritten stacks; lines are compared by themselves: a folded kernel has its function in one report alone."""
    for options in (("--hide", "^add_to"), ("--fold-object", "kernel,libc"), ("--show", "^work")):
        rows = ask(ctxan, "-q", path, "--by", "function,line", *options)["rows"]
        names = ("function", "object")
        functions = ask(ctxan, "-q", path, "-r", "functions", *options)["rows"][1:]
        lines = ask(ctxan, "-q", path, "-r", "lines", *options)["rows"]
        wrong = difference("function,line " + options[0], add_up(rows, 1, "weight", names), add_up(functions, 1, "exclusive", names)) or difference(
            "line,function " + options[0], add_up(rows, 1, "weight", ("file", "line")), add_up(lines, 1, "exclusive", ("file", "line")))
        if wrong:
            return wrong
    return None


def check_recording(ctxan, path):
    metrics = metrics_of(ctxan, path)
    if not metrics:
        return None
    return check_functions(ctxan, path, metrics) or check_lines(ctxan, path) or check_waits(ctxan, path) or (check_hiding(ctxan, path) if path.endswith(HIDDEN) else None)


def check_waits(ctxan, path):
    done = run(ctxan, "-q", path, "--by", "wait,state", "--limit", "0", "--format", "json")
    if "no thread states" in done.stderr:
        return None if run(ctxan, "-q", path, "-r", "states").returncode == 1 else "--by wait is refused"
    rows = json.loads(done.stdout)["rows"]
    got = add_up((row for row in rows if row["wait"] is not None and row["wait"][0] != "<"), 1, "weight", ("wait", "state"))
    want = add_up(ask(ctxan, "-q", path, "-r", "waits")["rows"], 1, "wait_ns", ("kind", "state"))
    if got != want:
        return f"--by wait,state: {got} instead of {want}"
    others = {row["wait"]: row["state"] for row in rows if row["wait"] is None or row["wait"][0] == "<"}
    known = {"<On a CPU>": ("USER", "SYSTEM", "TRAP"), "<Waiting for a CPU>": ("WAIT_CPU",), None: ("UNKNOWN",)}
    wrong = [wait for wait, state in others.items() if state not in known.get(wait, ())]
    return f"--by wait: {wrong}" if wrong else None


def main(ctxan, *folders):
    wrong = checked = 0
    for path in recordings(folders):
        try:
            problem = check_recording(ctxan, path)
        except RuntimeError as error:
            problem = str(error)
        checked += 1
        if problem is not None:
            wrong += 1
            print(f"{path}: {problem}")
    print(f"{checked} recordings, {wrong} wrong")
    return 1 if wrong or checked < 20 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
