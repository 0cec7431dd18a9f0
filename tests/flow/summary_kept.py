"""The first screen of a recording: it fits, its numbers are those of the other reports, and folding counts every sample once."""

import collections
import json
import re
import subprocess
import sys
import unicodedata

recording = sys.argv[1]
failures = 0
LINES = 23
STATES = ["USER", "SYSTEM", "TRAP", "TFAULT", "DFAULT", "KFAULT", "USER_LOCK", "SLEEP", "STOPPED", "WAIT_CPU", "UNKNOWN"]


def ctxan(*args):
	return subprocess.run(["ctxan", "-q", recording, *args], check=True, capture_output=True, text=True).stdout


def report(kind, *args):
	return json.loads(ctxan("-r", kind, "--limit", "0", "--format", "json", *args))


def check(what, got, wanted):
	global failures
	if got != wanted:
		failures += 1
		print(f"FAIL: {recording}: {what}: {str(got)[:300]} instead of {str(wanted)[:300]}")


def width(text):
	return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fits(columns, *args):
	"""At most 23 lines; only a command, which is for copying, may be longer than the terminal."""
	lines = ctxan("--width", str(columns), *args).splitlines()
	check(f"lines at {columns} {args}", len(lines) <= LINES and len(lines) >= 4, True)
	for line in lines:
		if not re.match("(Next: |      )ctxan ", line):
			check(f"columns at {columns} {args}: {line}", width(line) <= columns, True)
		check(f"a blank at the end: {line!r}", line, line.rstrip())
	check(f"the last line of {args}", lines[-1].endswith("--export html -o run.html") or "ctxan " in lines[-1], True)
	return lines


def numbers(*args):
	"""Against the reports that have the same numbers."""
	summary = report("summary", *args)
	row = summary["rows"][0]
	functions = report("functions", *args)
	check(f"{args}: weight", summary["weight"], functions["weight"])
	check(f"{args}: samples", summary["samples"], functions["samples"])
	missing = {one["object"]: one["samples"] for one in row["missing_objects"]}
	check(f"{args}: missing binaries have samples", min(missing.values(), default=1) > 0, True)
	check(f"{args}: time", sum(f["with_callees"] for f in row["functions"]), functions["weight"])
	# Functions of the program have the numbers of the report functions, by name and object.
	selfs, totals = collections.Counter(), collections.Counter()
	for f in functions["rows"]:
		selfs[f["function"], f["object"]] += f["exclusive"]
		totals[f["function"], f["object"]] += f["inclusive"] or 0
	rows = collections.Counter()
	for f in row["functions"]:
		rows[f["function"], f["object"]] += f["exclusive"]
		check(f"{args}: self of {f['function']}", f["exclusive"] <= f["with_callees"] <= f["inclusive"], True)
	for f in row["functions"]:
		key = (f["function"], f["object"])
		if key in selfs and not (f["object"] or "[").startswith("[") and f["callee"] is not None:
			check(f"{args}: self of {key}", rows[key], selfs[key])
			if functions.get("call_stacks", True):
				check(f"{args}: total of {key}", f["inclusive"] <= totals[key], True)
	lines = {(line["file"], line["line"]) for line in report("lines", *args)["rows"]}
	for f in row["functions"]:
		if f["file"] is not None:
			check(f"{args}: a hot line", (f["file"], f["line"]) in lines, True)
	if "states" not in row:
		check(f"{args}: shares without states", row["shares"], [])
		return row
	states = report("states", *args)["rows"][0]
	check(f"{args}: states", row["states"], {state: states[state] for state in STATES})
	check(f"{args}: thread time", row["thread_ns"], states["wall"])
	check(f"{args}: shares", sum(share["ns"] for share in row["shares"]), states["wall"])
	check(f"{args}: on a CPU", row["cpu_ns"], states["user"] + states["system"])
	waits = report("waits", *args)["rows"]
	check(f"{args}: waits", sorted(map(str, row["waits"])), sorted(map(str, waits)))
	return row


for columns in (80, 200):
	fits(columns)
	fits(columns, "-i", "10%:40%")
for args in ((), ("-i", "10%:40%"), ("-i", "25%:25.001%")):
	numbers(*args)
check("--ascii", all(ord(c) < 128 for c in "".join(fits(80, "--ascii"))), True)
csv = ctxan("-r", "summary", "--format", "csv").splitlines()
check("CSV", [len(csv), csv[0].split(",")[0]], [2, "command"])
sys.exit(failures != 0)
