"""coverage_same.py LCOV GCOV_JSON.gz...: lines that both know have the same answer.

gcov takes the line of a function's name for its entry and has no closing braces: lines that only one has are printed, and must be few."""
import collections
import gzip
import json
import os
import sys


def read_lcov(path):
    files = collections.defaultdict(dict)
    for line in open(path):
        if line.startswith("SF:"):
            lines = files[os.path.basename(line[3:].rstrip())]
        elif line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            lines[int(number)] = int(count) > 0
    return files


def read_gcov(paths):
    files = collections.defaultdict(dict)
    for path in paths:
        for file in json.load(gzip.open(path))["files"]:
            if file["file"].startswith("/usr/"):
                continue  # the compiler's own headers
            lines = files[os.path.basename(file["file"])]
            for line in file["lines"]:
                lines[line["line_number"]] = lines.get(line["line_number"], False) or line["count"] > 0
    return files


def main():
    ours, theirs = read_lcov(sys.argv[1]), read_gcov(sys.argv[2:])
    bad = 0
    for file, lines in theirs.items():
        if file not in ours:
            continue
        both = set(lines) & set(ours[file])
        differ = [n for n in sorted(both) if lines[n] != ours[file][n]]
        print(f"{file}: {len(both)} lines in both, {sum(ours[file][n] for n in both)} executed, {len(ours[file])} ours, {len(lines)} gcov's, different {differ}")
        bad += len(differ) + (len(both) * 2 < len(lines))
    return bad != 0 or not theirs


sys.exit(main())
