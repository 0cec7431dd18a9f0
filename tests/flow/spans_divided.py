"""Spans of thread states are divided by time: seconds, slices and filters of a recording against its intervals."""

import json
import subprocess
import sys

failures = 0


def check(what, got, wanted):
	global failures
	if got != wanted:
		failures += 1
		print(f"FAIL: {what}: {str(got)[:300]} instead of {str(wanted)[:300]}")


def report(recording, kind, *args):
	text = subprocess.run(["ctxan", "-q", recording, "-r", kind, "--limit", "0", "--format", "json", *args],
	                      check=True, capture_output=True, text=True).stdout
	return json.loads(text)


def index(recording, by, *args):
	return {row["index"]: row for row in report(recording, "index", "--by", by, *args)["rows"]}


def weights(recording, by, *args):
	return {key: row["weight"] for key, row in index(recording, by, *args).items()}


def check_times(recording, metric, run_ns, whole):
	for by, length in (("second", 1000000000), ("TSTAMP/100000000", 100000000), ("TSTAMP*1e-7/1.5", 15000000)):
		got = weights(recording, by, "--metric", metric)
		check(f"{recording}: sum of {metric} by {by}", sum(got.values()), whole)
		for slice in (0, 1, run_ns // length // 2, run_ns // length):
			begin, end = slice * length, min((slice + 1) * length, run_ns)
			if begin >= end:
				continue
			interval = f"{begin}ns:{end}ns"
			wanted = report(recording, "functions", "--metric", metric, "-i", interval)["weight"]
			check(f"{recording}: {metric} by {by}, {slice}", got.get(slice, 0), wanted)
	middle = run_ns // 2
	for kind in ("functions", "tree", "lines", "stacks"):
		wanted = report(recording, kind, "--metric", metric, "-i", f"{run_ns // 10}ns:{middle}ns")["rows"]
		got = report(recording, kind, "--metric", metric, "--filter", f"TSTAMP>={run_ns // 10} && TSTAMP<{middle}")["rows"]
		check(f"{recording}: {metric}, {kind}, a filter for an interval", got, wanted)
	parts = [report(recording, "functions", "--metric", metric, "--filter", f"TSTAMP/7000000%3=={part}")["weight"] for part in range(3)]
	check(f"{recording}: {metric}, three filters", sum(parts), whole)


def check_processors(recording, whole):
	wall = index(recording, "cpu", "--metric", "wall")
	on = report(recording, "functions", "--metric", "user")["weight"] + report(recording, "functions", "--metric", "system")["weight"]
	check(f"{recording}: wall of no processor", wall[-2]["weight"], whole - on)
	check(f"{recording}: its name", wall[-2]["name"], "<No processor>")
	for metric in ("SLEEP", "lock", "wait-cpu"):
		if report(recording, "functions", "--metric", metric)["weight"] != 0:
			check(f"{recording}: processors of {metric}", list(weights(recording, "cpu", "--metric", metric)), [-2])
	cpus = [cpu for cpu in wall if cpu >= 0]
	check(f"{recording}: of processors", len(cpus) > 0, True)
	check(f"{recording}: --cpu", report(recording, "functions", "--metric", "wall", "--cpu", str(cpus[0]))["weight"], wall[cpus[0]]["weight"])


for recording in sys.argv[1:]:
	head = report(recording, "functions", "--metric", "wall")
	run_ns = max(row["end"] for row in report(recording, "timeline")["rows"])
	check_times(recording, "wall", run_ns, head["weight"])
	check_times(recording, "SLEEP", run_ns, report(recording, "functions", "--metric", "SLEEP")["weight"])
	check_processors(recording, head["weight"])
sys.exit(failures != 0)
