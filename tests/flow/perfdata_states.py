"""Compares ctxan's thread states of a perf.data with perf sched timehist on the same file.

perfdata_states.py FILE COMMAND: sums of each thread of COMMAND: on a CPU, waiting for one, waiting for anything else. Its last moments are left
out: perf's sample of a dying thread does not identify it. perf is run, or its answers are beside the recording (perf_said.py).
"""
import collections
import json
import re
import subprocess
import sys

import perf_said

PART = 0.01  # of the larger one
NEAR_NS = 200_000  # perf's columns are in us, one error for each switch

ROW = re.compile(
    r"\s*(?P<time>[\d.]+)\s+(?:\[\d+\]\s+)?(?P<task>\S.*?)\s+(?P<wait>\d+\.\d+)\s+(?P<delay>\d+\.\d+)\s+(?P<run>\d+\.\d+)"
    r"\s+(?P<state>\S+)\s*$")
SWITCH = re.compile(r"\[(?P<cpu>\d+)\].*prev_pid=(?P<prev>\d+) .*next_pid=(?P<next>\d+)")
RUNNING = "R"


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def ns(text):
    return round(float(text) * 1e6)


def tid_of(task):
    found = re.search(r"\[(\d+)(?:/\d+)?\]$", task)
    return int(found[1]) if found else None


def first_time(path):
    """Of all samples: where ctxan's times begin."""
    lines = perf_said.ask(path, "perf", "script", "--ns", "-i", path, "-F", "time").splitlines()
    return min(float(line.split(":")[0]) for line in lines)


def of_perf(path, command):
    """tid -> [begin, end, run, wait for a CPU, other wait] between the first and the last time that it leaves the CPU as a thread of the command.

    What it did between two rows, the state of the first one says. The delay, from the wake-up to the CPU, is the end of the wait.
    """
    sums, before, start = {}, {}, first_time(path)
    for line in perf_said.ask(path, "perf", "sched", "timehist", "--state", "-i", path).splitlines():
        row = ROW.match(line)
        tid = tid_of(row["task"]) if row else None
        if tid is None or not row["task"].startswith(command + "["):
            continue  # before exec it is another program
        time = round((float(row["time"]) - start) * 1e9)
        one = sums.setdefault(tid, [time, time, 0, 0, 0])
        if tid in before:
            wait, delay, run = ns(row["wait"]), ns(row["delay"]), ns(row["run"])
            preempted = before[tid].startswith(RUNNING)
            one[1] = time
            one[2] += run
            one[3] += wait if preempted else delay
            one[4] += 0 if preempted else wait - delay
        before[tid] = row["state"]
    return sums


def broken(path):
    """Threads of which the file lacks switches: both have to guess there, and guess differently."""
    last, ret = {}, set()
    for line in perf_said.ask(path, "perf", "script", "-i", path, "-F", "cpu,event,trace").splitlines():
        switch = SWITCH.search(line)
        if not switch:
            continue
        if last.get(switch["cpu"], switch["prev"]) != switch["prev"]:
            ret |= {int(last[switch["cpu"]]), int(switch["prev"])}
        last[switch["cpu"]] = switch["next"]
    return ret


def of_ctxan(path, command, *interval):
    """tid -> [run, wait for a CPU, other wait]"""
    states = json.loads(output("ctxan", "-q", path, "-r", "states", "--format", "json", *interval))
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for row in states["rows"]:
        if row["thread"] is None or row["thread"] <= 0 or command != row["name"]:
            continue  # -1: of a thread that is dead already
        one = sums[row["thread"]]  # one tid may have several lives: exec begins another
        one[0] += row["USER"] + row["SYSTEM"] + row["TRAP"]
        one[1] += row["WAIT_CPU"]
        one[2] += sum(row[key] for key in ("SLEEP", "USER_LOCK", "STOPPED", "TFAULT", "DFAULT", "KFAULT"))
    return sums


def main():
    path, command = sys.argv[1:]
    perf, holes, ours = of_perf(path, command), broken(path), of_ctxan(path, command)
    compared = failures = 0
    for tid in sorted(ours):
        if tid in holes or tid not in perf:
            print(f"{tid} is left out: the file lacks some of its switches")
            continue
        begin, end, *theirs = perf[tid]
        if abs(sum(theirs) - (end - begin)) > NEAR_NS:
            print(f"{tid} is left out: what perf says of it adds up to {sum(theirs) / 1e6:.3f} ms of {(end - begin) / 1e6:.3f}")
            continue
        compared += 1
        own = of_ctxan(path, command, "-i", f"{begin / 1e6:.6f}:{end / 1e6:.6f}")[tid]
        for what, one, other in zip(("on a CPU", "waits for a CPU", "waits"), theirs, own):
            if abs(one - other) > max(PART * max(one, other), NEAR_NS):
                print(f"FAIL: {path}: thread {tid}, {what}: {other / 1e6:.3f} ms, and {one / 1e6:.3f} ms says perf")
                failures += 1
    print(f"{path}: {compared} threads of {len(ours)} compared")
    if not ours:
        print(f"FAIL: {path}: no thread of {command}")
        return 1
    if compared == 0:
        print("SKIP: every thread lacks switches")
        return 77
    return 1 if failures else 0


sys.exit(main())
