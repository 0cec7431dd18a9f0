# Folded call trees against unfolded ones, of every recording below a folder: fold_kept.py CTXAN FOLDER...
# What a folded row has of its own, and what its children have in all, is its total; what all rows have is the total of the unfolded tree; each thread root
# has the total that it has unfolded; and at 1 % the tree is a screen or two.
import json
import os
import re
import subprocess
import sys

MOST_LINES = 60
ROW = re.compile(r" *(\d+) +(\d+) +(>=)?-?\d+ +([\d.]+) +([\d.]+) +([\d.]+) (.*)")


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, errors="replace", check=False)


def recordings(folders):
    for folder in folders:
        for path in sorted(os.listdir(folder)):
            if path.endswith((".er", ".data")):
                yield os.path.join(folder, path)


def depth_of(name):
    return next(i for i in range(0, len(name) + 2, 2) if name[i : i + 2] not in ("│ ", "├─", "└─", "  "))


def folded_rows(text):
    for line in text.splitlines():
        found = ROW.fullmatch(line)
        if found:
            yield depth_of(found[7]) // 2, float(found[4]), float(found[5])


def off_rows(rows):
    """Rows whose total is not their own weight and their children's."""
    sums = [own for _, own, _ in rows]
    above = []
    for i, (depth, _, total) in enumerate(rows):
        del above[depth:]
        if above:
            sums[above[-1]] += total
        above.append(i)
    return [i for i, (_, _, total) in enumerate(rows) if abs(sums[i] - total) > 0.0011 * (len(rows) + 1)]


def check(ctxan, path):
    unfolded = run(ctxan, "-q", path, "-r", "tree", "--format", "json")
    if unfolded.returncode != 0:
        return "not read: " + unfolded.stderr.strip(), 0
    nodes = json.loads(unfolded.stdout)
    scale = {"ns": 1e6}.get(nodes["metric"]["unit"], 1)
    if nodes.get("call_stacks") is False:
        return None, 0
    metric = nodes["metric"]["name"]  # alone: recordings of calls have a second one beside it
    nodes = nodes["rows"]
    if nodes[0]["cum"] >= 100e9:
        scale *= 1000
    rows = list(folded_rows(run(ctxan, "-q", path, "-r", "tree", "--metric", metric, "--columns", "--min-percent", "0", "--width", "9999").stdout))
    if not rows:
        return "no rows", 0
    off = off_rows(rows)
    if off:
        return f"row {off[0]} is not the sum of its own and its children: {rows[off[0]]}", 0
    slack = 0.0011 * (len(rows) + 1)
    if abs(sum(own for _, own, _ in rows) - nodes[0]["cum"] / scale) > slack:
        return f"folded {sum(own for _, own, _ in rows)}, unfolded {nodes[0]['cum'] / scale}", 0
    roots = [sorted(node["cum"] / scale for node in nodes if node["level"] == 1 and round(node["cum"] / scale, 3) != 0), sorted(total for depth, _, total in rows if depth == 1 and total != 0)]
    if len(roots[0]) != len(roots[1]) or any(abs(a - b) > slack for a, b in zip(*roots)):
        return f"thread roots: unfolded {roots[0]}, folded {roots[1]}", 0
    lines = run(ctxan, "-q", path, "-r", "tree", "--min-percent", "1", "--width", "80").stdout.splitlines()
    if len(lines) > MOST_LINES:
        return f"{len(lines)} lines at 1 %", 0
    if any(len(line) > 80 for line in lines):
        return "wider than 80 columns", 0
    return None, len(nodes)


def main(ctxan, *folders):
    wrong = checked = 0
    for path in recordings(folders):
        problem, nodes = check(ctxan, path)
        checked += 1
        wrong += problem is not None
        print(f"{path}: {problem if problem is not None else f'{nodes} nodes'}")
    print(f"{checked} recordings, {wrong} wrong")
    return 1 if wrong or checked < 20 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
