"""Compares filters and index objects of one experiment with other ways to compute the same numbers."""

import json
import re
import subprocess
import sys

experiment = sys.argv[1]
failures = 0


def ctxan(*args):
	return subprocess.run(["ctxan", "-q", experiment, *args], check=True, capture_output=True, text=True).stdout


def report(kind, *args):
	return json.loads(ctxan("-r", kind, "--limit", "0", "--format", "json", *args))


def check(what, got, wanted):
	global failures
	if got != wanted:
		failures += 1
		print(f"FAIL: {what}: {str(got)[:300]} instead of {str(wanted)[:300]}")


def busy_threads(*args):
	"""Filters leave threads in the list that have nothing."""
	return [row for row in report("threads", *args)["rows"] if row["samples"] != 0]


def same(what, left, right):
	"""Every number of these reports, whichever way they were asked for."""
	for kind in ("functions", "tree", "callers-callees", "stacks", "processes", "objects", "lines", "pcs"):
		check(f"{what}, {kind}", report(kind, *left)["rows"], report(kind, *right)["rows"])
	check(f"{what}, folded", sorted(ctxan("--export", "folded", *left).splitlines()),
	      sorted(ctxan("--export", "folded", *right).splitlines()))
	check(f"{what}, threads", busy_threads(*left), busy_threads(*right))


def sums(*args):
	head = report("functions", *args)
	return head["samples"], head["weight"]


whole = sums()
check("samples", whole[0], 30000)
threads = [row["thread"] for row in report("threads", "--sort", "thread")["rows"]]

same("thread", ["--filter", "THRID==2"], ["--thread", "2"])
same("tid", ["--filter", f"LWPID=={threads[1]} || LWPID=={threads[3]}"], ["--thread", f"{threads[1]},{threads[3]}"])
same("processor", ["--filter", "CPUID==1"], ["--cpu", "1"])
same("interval", ["--filter", "TSTAMP>=300000000 && TSTAMP<700000000"], ["--interval", "300:700"])
same("interval, decimal", ["--filter", "TSTAMP>=3e8 && TSTAMP*1e-9<.7"], ["--interval", "300:700"])
same("all of it", ["--filter", "1", "--filter", "METRIC==\"cpu-clock.*\""], [])
same("with others", ["--filter", "TSTAMP<5e8", "--cpu", "0", "--thread", "0,1", "--filter", "THRID!=1", "-i", "100:900"],
     ["-i", "100:500", "--thread", "0", "--cpu", "0"])

# What a filter and its opposite have is everything.
for expression in ('LEAF IN "work_0.*"', 'STACK SOME IN "work_.[5-9]."', '("work_.*", "work_.*") ORDERED IN STACK', "TSTAMP%3==1",
                   "DEPTH>6 && CPUID", "WEIGHT>>2 & THRID"):
	kept, rest = sums("--filter", expression), sums("--filter", f"!({expression})")
	check(expression, (kept[0] + rest[0], kept[1] + rest[1]), whole)
check("no value", sums("--filter", "1/(THRID-THRID)"), (0, 0))
check("no value, opposite", sums("--filter", "!(1/0)"), (0, 0))

# Tests of stacks, against the stacks.
stacks = [([frame["function"] for frame in row["frames"]], row["samples"], row["exclusive"]) for row in report("stacks")["rows"]]
names = sorted({name for frames, _, _ in stacks for name in frames})
some, other = names[len(names) // 3], names[2 * len(names) // 3]


def whole_match(pattern, name):
	return re.fullmatch(pattern, name) is not None


def directly(first, second, frames):
	return any(whole_match(first, a) and whole_match(second, b) for a, b in zip(frames, frames[1:]))


tests = {
	f'LEAF IN "{some}"': lambda f: f[-1] == some,
	'LEAF IN "work_.*[02468]"': lambda f: whole_match("work_.*[02468]", f[-1]),
	'LEAF IN "work_"': lambda f: False,
	'STACK SOME IN "work_1.*"': lambda f: any(whole_match("work_1.*", name) for name in f),
	f'(FNAME("{some}") SOME IN STACK) || "{other}" IN STACK': lambda f: some in f or other in f,
	f'("{some}", "{other}") IN STACK': lambda f: some in f and other in f,
	'STACK IN ".*[0-8]"': lambda f: all(whole_match(".*[0-8]", name) for name in f),
	'("work_[0-4].*", "work_[5-9].*") ORDERED IN STACK': lambda f: directly("work_[0-4].*", "work_[5-9].*", f),
	"DEPTH<=5": lambda f: len(f) <= 5,
}
for expression, holds in tests.items():
	wanted = [(samples, weight) for frames, samples, weight in stacks if holds(frames)]
	check(expression, sums("--filter", expression), (sum(s for s, _ in wanted), sum(w for _, w in wanted)))
check("the tests find something", sums("--filter", "STACK SOME IN \"work_1.*\"")[0] > 0, True)

# ---- index objects ----


def index(*args):
	return {row["index"]: (row["samples"], row["weight"]) for row in report("index", *args)["rows"]}


def total(rows):
	return sum(samples for samples, _ in rows.values()), sum(weight for _, weight in rows.values())


for by in ("thread", "process", "cpu", "second", "state", "metric", "DEPTH", "TSTAMP/100000000", "TSTAMP/1.5e7", "WEIGHT%7-3"):
	check(f"--by {by}", total(index("--by", by)), whole)
	check(f"--by {by}, a part", total(index("--by", by, "-i", "250:600", "--thread", "1,3", "--filter", "CPUID==0")),
	      sums("-i", "250:600", "--thread", "1,3", "--filter", "CPUID==0"))
for thread, (samples, weight) in index("--by", "thread").items():
	check(f"thread {thread}", (samples, weight), sums("--thread", str(thread)))
for tenth, row in index("--by", "tenth", "--index", "tenth=TSTAMP/100000000").items():
	check(f"tenth {tenth}", row, sums("-i", f"{tenth * 100}:{tenth * 100 + 100}"))
check("no state is known", index("--by", "state"), {-1: whole})
check("no value is -1", index("--by", "1/0"), {-1: whole})
check("its name", report("index", "--by", "1/0")["rows"][0]["name"], "<Unknown>")
check("in order", list(index("--by", "-THRID")), [-3, -2, -1, 0])
by_weight = [row["weight"] for row in report("index", "--by", "DEPTH", "--sort", "weight")["rows"]]
check("by weight", by_weight, sorted(by_weight, reverse=True))
lines = ctxan("--by", "thread", "--format", "csv").splitlines()
check("CSV", (lines[0], len(lines)), ("index,name,samples,weight", 1 + len(threads)))
check("--by alone is the report", ctxan("--by", "thread"), ctxan("-r", "index", "--by", "thread"))
check("the report alone is by thread", ctxan("-r", "index"), ctxan("-r", "index", "--by", "thread"))
check("limit", len(json.loads(ctxan("--by", "DEPTH", "--limit", "2", "--format", "json"))["rows"]), 2)

sys.exit(1 if failures else 0)
