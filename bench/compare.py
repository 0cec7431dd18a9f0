# How often --diff finds what changed, and what did not: compare.py BUILD FOLDER [RECORDINGS [SCALE]]
# Records slower.c at 0, 1, 2, 5 and 10 per cent (RECORDINGS each, twice as many at 0, in turn; kept in FOLDER and not made again), and compares 200 pairs
# of sides of 1, 3 and 5 recordings. Printed: the share of comparisons in which any row has a verdict where nothing changed, those in which render has one
# where it changed, and any other row; beside them how often perf diff's order (largest change first, of shares) has render first.
import itertools
import json
import os
import random
import subprocess
import sys

COMPARISONS = 200
PERCENTS = (0, 1, 2, 5, 10)


def record(build, folder, recordings, scale):
    program = os.path.join(folder, "slower")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slower.c")
    subprocess.run(["cc", "-O1", "-g", "-o", program, source], check=True)
    for i in range(2 * recordings):
        for percent in PERCENTS:
            name = os.path.join(folder, f"{percent}.{i}.er")
            if (i < recordings or percent == 0) and not os.path.exists(name):
                subprocess.run([os.path.join(build, "bin/ctxrec"), "-q", "-o", name, "--", program, str(percent), str(scale)], check=True)


def diff(build, a, b):
    done = subprocess.run([os.path.join(build, "bin/ctxan"), "-q", ",".join(a), ",".join(b), "--diff", "--format", "json", "--limit", "0"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["rows"]


def shares_first(rows):
    """The function whose share of its side changed most: what perf diff puts first."""
    total = rows[0]
    return max(rows[1:], key=lambda row: abs(row["b"] / total["b"] - row["a"] / total["a"]))["function"]


def sides(folder, percent, size, recordings, chance):
    base = [os.path.join(folder, f"0.{i}.er") for i in range(2 * recordings)]
    if percent == 0:
        chosen = chance.sample(base, 2 * size)
        return chosen[:size], chosen[size:]
    changed = [os.path.join(folder, f"{percent}.{i}.er") for i in range(recordings)]
    return chance.sample(base, size), chance.sample(changed, size)


def main():
    build, folder = sys.argv[1:3]
    recordings = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    scale = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    os.makedirs(folder, exist_ok=True)
    record(build, folder, recordings, scale)
    print("| recordings of a side | render slower by | any verdict | render slower | another row | <Total> | render first by shares |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for size, percent in itertools.product((1, 3, 5), PERCENTS):
        chance = random.Random(1)
        found = {"any": 0, "render": 0, "other": 0, "total": 0, "first": 0}
        for _ in range(COMPARISONS):
            rows = diff(build, *sides(folder, percent, size, recordings, chance))
            verdicts = {row["function"] for row in rows[1:] if row["verdict"] != "no evidence"}
            found["any"] += bool(verdicts)
            found["render"] += "render" in verdicts
            found["other"] += bool(verdicts - {"render"})
            found["total"] += rows[0]["verdict"] != "no evidence"
            found["first"] += shares_first(rows) == "render"
        print(f"| {size} | {percent} % | " + " | ".join(f"{100 * n / COMPARISONS:.1f} %" for n in found.values()) + " |", flush=True)


main()
