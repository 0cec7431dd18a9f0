# How often --diff finds what changed, and what did not: compare.py BUILD FOLDER [RECORDINGS [SCALE [PERCENTS]]]
# Records slower.c at PERCENTS, or 0, 5 and 10 per cent (RECORDINGS each, half as many again at 0, in turn; kept in FOLDER and not made again) in several shapes, and compares
# 200 pairs of sides of 1, 3 and 5 recordings. Printed: the share of comparisons in which any row has a verdict, in which render has one, any other
# row, the total; how often perf diff's order (largest change first, of shares) has render first; and the standard deviation of render's
# change, per cent, over the comparisons: what no test can look below.
import itertools
import json
import os
import random
import statistics
import subprocess
import sys

COMPARISONS = 200
PERCENTS = tuple(map(int, (sys.argv[5] if len(sys.argv) > 5 else "0,5,10").split(",")))


def shapes(scale):
    """Folder, rounds, options: rounds of a third of a sample's period, of 25, of a quarter of the run; the first with five times the samples."""
    return (f"{3000 * scale}", 3000 * scale, ()), (f"{40 * scale}", 40 * scale, ()), ("4", 4, ()), (f"{3000 * scale}.F4999", 3000 * scale, ("-F", "4999"))


def record(build, folder, recordings, scale):
    program = os.path.join(folder, "slower")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slower.c")
    subprocess.run(["cc", "-O1", "-g", "-o", program, source], check=True)
    for i, (name, rounds, options), percent in itertools.product(range(recordings + recordings // 2), shapes(scale), PERCENTS):
        path = os.path.join(folder, name, f"{percent}.{i}.er")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if (i < recordings or percent == 0) and not os.path.exists(path):
            subprocess.run([os.path.join(build, "bin/ctxrec"), "-q", *options, "-o", path, "--", program, str(percent), str(scale), str(rounds)], check=True)


def diff(build, a, b):
    done = subprocess.run([os.path.join(build, "bin/ctxan"), "-q", ",".join(a), ",".join(b), "--diff", "--format", "json", "--limit", "0"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["rows"]


def shares_first(rows):
    """The function whose share of its side changed most: what perf diff puts first."""
    total = rows[0]
    return max(rows[1:], key=lambda row: abs(row["b"] / total["b"] - row["a"] / total["a"]))["function"]


def recordings_of(folder, percent):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(f"{percent}.") and name.endswith(".er"))


def sides(folder, percent, size, chance):
    base = recordings_of(folder, 0)
    if percent == 0:
        chosen = chance.sample(base, 2 * size)
        return chosen[:size], chosen[size:]
    return chance.sample(base, size), chance.sample(recordings_of(folder, percent), size)


def compare(build, folder, percent, size):
    chance = random.Random(1)
    found = {"any": 0, "render": 0, "other": 0, "total": 0, "first": 0}
    changes = []
    for _ in range(COMPARISONS):
        rows = diff(build, *sides(folder, percent, size, chance))
        verdicts = {row["function"] for row in rows[1:] if row["verdict"] != "no evidence"}
        found["any"] += bool(verdicts)
        found["render"] += "render" in verdicts
        found["other"] += bool(verdicts - {"render"})
        found["total"] += rows[0]["verdict"] != "no evidence"
        found["first"] += shares_first(rows) == "render"
        changes += [row["change_percent"] for row in rows if row["function"] == "render"]
    return found, statistics.stdev(changes)


def main():
    build, folder = sys.argv[1:3]
    recordings = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    scale = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    os.makedirs(folder, exist_ok=True)
    record(build, folder, recordings, scale)
    print("| rounds | recordings of a side | render slower by | any verdict | render slower | another row | <Total> | render first by shares | spread of render |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for (name, _, _), size, percent in itertools.product(shapes(scale), (1, 3, 5), PERCENTS):
        if len(recordings_of(os.path.join(folder, name), percent)) < (2 * size if percent == 0 else size):
            continue
        found, spread = compare(build, os.path.join(folder, name), percent, size)
        print(f"| {name} | {size} | {percent} % | " + " | ".join(f"{100 * n / COMPARISONS:.1f} %" for n in found.values()) + f" | {spread:.1f} % |", flush=True)


main()
