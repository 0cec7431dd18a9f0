"""Records a program that makes a known number of page faults, stops the recorder while they go on, and looks for the loss.

	python3 record_losses.py NAME

Holds by construction: more faults than the rings hold are made while the recorder is stopped, so that the rings are full when
it goes on. Each fault is a sample or is lost."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

PAGES = 1024
ROUNDS_STOPPED = 40  # 40,960 faults; a ring of 64 KiB holds less than 2,000
ROUNDS_MORE = 10

TARGET = f"""
import mmap, os, resource, sys
area = mmap.mmap(-1, {PAGES} * 4096)
area.madvise(mmap.MADV_NOHUGEPAGE)
rounds = 0
def touch():
	global rounds
	area.madvise(mmap.MADV_DONTNEED)
	for i in range({PAGES}):
		area[i * 4096] = 1
	rounds += 1
print('begun', flush=True)
for line in sys.stdin:
	for i in range(int(line)):
		touch()
	print(rounds, flush=True)
used = resource.getrusage(resource.RUSAGE_SELF)
print(rounds * {PAGES}, used.ru_minflt + used.ru_majflt, flush=True)
os._exit(0)
"""


def report(*arguments):
    said = subprocess.run(["ctxan", "-q", *arguments, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def record(name):
    recorder = subprocess.Popen(["ctxrec", "-q", "--no-archive", "--states", "off", "--unwind", "none", "-m", "64", "-e", "page-faults",
                                 "-c", "1", "-o", name, "--", sys.executable, "-c", TARGET],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    target = recorder.stdout

    def run(rounds):
        recorder.stdin.write(f"{rounds}\n")
        recorder.stdin.flush()
        target.readline()

    assert target.readline() == "begun\n"
    run(1)
    recorder.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, recorder.pid, os.WSTOPPED)
    run(ROUNDS_STOPPED)
    end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    recorder.send_signal(signal.SIGCONT)
    run(ROUNDS_MORE)
    recorder.stdin.close()
    made, counted = map(int, target.readline().split())
    assert recorder.wait() == 0
    return end, made, counted


def main():
    name = f"{sys.argv[1]}.er"
    end, made, counted = record(name)
    start = re.search(r'kind="run" tstamp="(\d+)\.(\d+)"', open(f"{name}/log.xml", encoding="latin-1").read())
    end -= int(start.group(1)) * 10**9 + int(start.group(2))
    whole = report(name, "-r", "functions")
    losses = whole["losses"]
    across = [loss for loss in losses if loss["begin"] < end <= loss["end"]]
    assert across and all(loss["count"] > 0 for loss in across), (end, losses)
    assert sum(loss["count"] for loss in across) > ROUNDS_STOPPED * PAGES / 2, across
    assert all(0 <= loss["cpu"] < os.cpu_count() + 4096 for loss in across), across
    lost = sum(loss["count"] for loss in losses)
    assert lost == whole["lost_samples"], (lost, whole["lost_samples"])
    # Faults of the interpreter before and after are counted by the process too, and those before its exec are no samples.
    assert made <= whole["samples"] + lost <= counted + 100, (made, whole["samples"], lost, counted)
    inside = report(name, "-r", "functions", "--interval", f"{(end - 1000) / 1e6}:{end / 1e6}")
    assert inside["losses"] and any("lost on CPU" in text or "lost, " in text for text in inside["warnings"]), inside["warnings"]
    before = report(name, "-r", "functions", "--interval", f"0:{min(loss['begin'] for loss in losses) / 1e6}")
    assert "losses" not in before and not any("lost" in text for text in before["warnings"]), before["warnings"]


main()
