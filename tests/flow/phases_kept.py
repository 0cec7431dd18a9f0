"""Phases of kept recordings against what their programs do, and against the other reports."""

import csv
import io
import json
import os
import subprocess
import sys

os.chdir(sys.argv[1])
failures = 0


def check(what, got, wanted):
	global failures
	if got != wanted:
		failures += 1
		print(f"FAIL: {what}: {str(got)[:300]} instead of {str(wanted)[:300]}")


def ctxan(recording, *args):
	return subprocess.run(["ctxan", "-q", recording, *args], check=True, capture_output=True, text=True).stdout


def report(recording, kind, *args):
	return json.loads(ctxan(recording, "-r", kind, "--limit", "0", "--format", "json", *args))


def rows_of(phases):
	return [row for row in phases["rows"] if row["process"] is None]


def samples_with(recording, function):
	"""The first and the last time of samples with a function, in ms."""
	times = [row["index"] for row in report(recording, "index", "--by", "TSTAMP/1000000", "--filter", f'STACK SOME IN "{function}"')["rows"]]
	return min(times), max(times) + 1


def borders(recording, *functions):
	"""Between functions that follow each other, each with one stretch of time."""
	ends = [samples_with(recording, function) for function in functions]
	return [(a[1] + b[0]) / 2 for a, b in zip(ends, ends[1:])]


def near(what, recording, found, known):
	length = report(recording, "phases")["intervals_ns"][0][1] / 1e6
	check(f"{what}: number", len(found), len(known))
	for got, wanted in zip(found, known):
		check(f"{what}: {got:.1f} ms is within 2 % of {wanted:.1f} ms", abs(got - wanted) <= 0.02 * length, True)


def begins(recording):
	return [row["begin"] / 1e6 for row in rows_of(report(recording, "phases"))[1:]]


def letters(recording):
	return " ".join(row["letter"] for row in rows_of(report(recording, "phases")))


# phases.c: what its main thread does, beside two workers that do the same all the time, and go on for a while.
near("phases", "phases.er", begins("phases.er"), [*borders("phases.er", "tokenize", "build_ast", "multiply", "phase_report"), samples_with("phases.er", "phase_report")[1]])
check("phases: letters", letters("phases.er"), "A B C D E")
check("phases: what distinguishes", [sorted(one["function"] for one in row["distinguishing"] if one["contribution"] > 0.05) for row in rows_of(report("phases.er", "phases"))],
	[[], ["build_ast", "tokenize"], ["build_ast", "multiply"], ["multiply", "phase_report"], ["phase_report"]])

# spin.c: two functions, one after the other.
near("spin", "spin.er", begins("spin.er"), borders("spin.er", "many_turns", "divisions"))

# served.c: it loads, waits, serves, loads again, serves.
served = report("served.er", "phases")
check("served: letters", letters("served.er"), "A B C A C")
check("served: idle", [row["idle"] for row in served["rows"]], [False, True, False, False, False])
check("served: functions", [row["function"] for row in served["rows"]], ["load_index", None, "answer_request", "load_index", "answer_request"])
check("served: paths", [row["path"][-1:] for row in served["rows"]], [["load_index"], [], ["answer_request"], ["load_index"], ["answer_request"]])
first_answer = samples_with("served.er", "answer_request")
check("served: the first phase begins with the run", served["rows"][0]["begin"], 0)
check("served: the last one ends with it", served["rows"][-1]["end"], served["intervals_ns"][0][1])
near("served: serving", "served.er", [begins("served.er")[1]], [first_answer[0]])
check("served: a period of 20 ms", round(served["periods"][0]["period"] / 1e6), 20)
check("served: of 50 frames at most", 30 <= served["periods"][0]["cycles"] <= 50, True)

# Programs that do the same all the time; a producer makes an item in 10 ms.
for recording in ("tight.er", "convoy.er", "lock_convoy.er", "producer_consumer.er"):
	check(f"{recording}: letters", letters(recording), "A")
check("producer_consumer: a period of 10 ms", [round(one["period"] / 1e6) for one in report("producer_consumer.er", "phases")["periods"]], [10])

# Every recording: phases tile the run, their samples are all there are, and other reports agree.
for recording in ("phases.er", "served.er", "spin.er", "execs.er", "deep.er", "convoy.er"):
	phases = report(recording, "phases")
	rows = rows_of(phases)
	if not rows:
		continue
	check(f"{recording}: tiles", [row["end"] for row in rows[:-1]], [row["begin"] for row in rows[1:]])
	check(f"{recording}: samples", sum(row["samples"] for row in rows), phases["samples"])
	check(f"{recording}: weight", sum(row["weight"] for row in rows), phases["weight"])
	check(f"{recording}: numbers", [row["phase"] for row in rows], list(range(1, len(rows) + 1)))
	check(f"{recording}: neighbours differ", any(a["letter"] == b["letter"] for a, b in zip(rows, rows[1:])), False)
	check(f"{recording}: similarity", all(0 <= row["similarity"] <= 1 for row in rows[1:]) and rows[0]["similarity"] is None, True)
	by_letter = {}
	for row in rows:
		one = report(recording, "functions", "-i", f"phase:{row['phase']}")
		check(f"{recording}: -i phase:{row['phase']}", (one["samples"], one["weight"], one["intervals_ns"]), (row["samples"], row["weight"], [[row["begin"], row["end"]]]))
		by_letter.setdefault(row["letter"], [0, 0])
		by_letter[row["letter"]][0] += row["samples"]
		by_letter[row["letter"]][1] += row["weight"]
	for letter, (samples, weight) in by_letter.items():
		one = report(recording, "functions", "-i", f"phase:{letter}")
		check(f"{recording}: -i phase:{letter}", (one["samples"], one["weight"]), (samples, weight))
	index = report(recording, "index", "--by", "phase")
	check(f"{recording}: --by phase", {row["name"]: [row["samples"], row["weight"]] for row in index["rows"]}, {letter: sums for letter, sums in by_letter.items() if sums[0] != 0})
	index = report(recording, "index", "--by", "phase,function")
	check(f"{recording}: --by phase,function", {row["phase"] for row in index["rows"]}, {letter for letter, sums in by_letter.items() if sums[0] != 0})
	table = list(csv.DictReader(io.StringIO(ctxan(recording, "-r", "phases", "--format", "csv"))))
	check(f"{recording}: CSV", [(row["letter"], row["begin"], row["samples"]) for row in table], [(row["letter"], str(row["begin"]), str(row["samples"])) for row in phases["rows"]])
	# Without some frames the phases are the same, by other names.
	hidden = rows_of(report(recording, "phases", "--hide", "answer_request|multiply"))
	check(f"{recording}: --hide", [(row["begin"], row["letter"], row["samples"]) for row in hidden], [(row["begin"], row["letter"], row["samples"]) for row in rows])
	check(f"{recording}: --hide hides", any(name in ("answer_request", "multiply") for row in hidden for name in [row["function"], *row["path"]]), False)

# A part of the run is divided by itself; filters scan, and find what the trees find.
whole = rows_of(report("phases.er", "phases"))
part = rows_of(report("phases.er", "phases", "-i", "phase:2..3"))
check("a part: letters", [row["letter"] for row in part], ["A", "B"])
check("a part: begin", part[0]["begin"], whole[1]["begin"])
filtered = rows_of(report("phases.er", "phases", "--filter", "CPUID>=0"))
check("a filter that keeps all", [(row["begin"], row["end"], row["letter"], row["samples"]) for row in filtered], [(row["begin"], row["end"], row["letter"], row["samples"]) for row in whole])
alone = rows_of(report("phases.er", "phases", "--filter", "THRID>=0"))
check("a filter by threads", len(alone), len(whole))
# Thread states: spans of time, with waits.
wall = rows_of(report("served.er", "phases", "--metric", "wall"))
check("wall: tiles", wall[-1]["end"], served["intervals_ns"][0][1])
# By process.
execs = report("execs.er", "phases")
processes = {row["process"] for row in execs["rows"] if row["process"] is not None}
check("execs: processes", len(processes) >= 2, True)
sys.exit(failures != 0)
