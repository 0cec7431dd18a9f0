# How often --diff of each report has a verdict though nothing changed: compare_reports.py BUILD FOLDER [RECORDINGS]
# Records three programs of testdata (RECORDINGS each, in turn; kept in FOLDER and not made again), and compares 200 pairs of single recordings of the same program.
import itertools
import json
import os
import random
import subprocess
import sys

PROGRAMS = {"lock_convoy": "targets/lock_convoy.c", "producer_consumer": "targets/producer_consumer.c", "phases": "phases.c"}
REPORTS = ("functions", "tree", "callers-callees", "stacks", "threads", "states", "waits")
PAIRS = 200


def record(build, folder, recordings):
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testdata")
    for name, source in PROGRAMS.items():
        subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-g", "-o", os.path.join(folder, name), os.path.join(data, source), "-lpthread", "-lm"], check=True)
    for i, name in itertools.product(range(recordings), PROGRAMS):
        path = os.path.join(folder, f"{name}.{i}.er")
        if not os.path.exists(path):
            subprocess.run([os.path.join(build, "bin/ctxrec"), "-q", "-o", path, "--", os.path.join(folder, name)], check=True, stdout=subprocess.DEVNULL)


def has_verdict(build, pair, report):
    done = subprocess.run([os.path.join(build, "bin/ctxan"), "-q", *pair, "--diff", "-r", report, "--format", "json", "--limit", "0"],
                          capture_output=True, text=True)
    # Of waits there may be none.
    return None if done.returncode else any(row["verdict"] != "no evidence" for row in json.loads(done.stdout)["rows"][1:])


def main():
    build, folder = sys.argv[1:3]
    recordings = int(sys.argv[3]) if len(sys.argv) > 3 else 24
    os.makedirs(folder, exist_ok=True)
    record(build, folder, recordings)
    random.seed(1)
    print("| program |", " | ".join(REPORTS), "|")
    print("|---" * (len(REPORTS) + 1) + "|")
    for name in PROGRAMS:
        runs = [os.path.join(folder, f"{name}.{i}.er") for i in range(recordings)]
        pairs = list(itertools.combinations(runs, 2))
        pairs = random.sample(pairs, min(PAIRS, len(pairs)))
        cells = []
        for report in REPORTS:
            found = [has_verdict(build, pair, report) for pair in pairs]
            known = [verdict for verdict in found if verdict is not None]
            cells.append(f"{100 * sum(known) / len(known):.1f} %" if known else "none")
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


main()
