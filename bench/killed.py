#!/usr/bin/env python3
"""How much of a recording kill -9 of the recorder loses: many recorders, each killed at a random moment.

	bench/killed.py BUILD_DIR [RUNS [LONGEST_SECONDS [CTXREC_OPTIONS...]]]

The target counts without pause and notes each millisecond in which it ran. Lost is the time from the first millisecond after
the last sample of the recording in which it ran, up to the kill: where the target had no processor, nothing is missing. The
moments are even over 0.2 s to LONGEST_SECONDS (4) after the first note, from a fixed seed. Prints the loss of the worst runs, and the distribution; fails if one lost more than
a second."""

import mmap
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NOTES = 65536  # milliseconds
TARGET = f"""
import mmap, os, sys, time
notes = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), {NOTES})
begin = int(sys.argv[2])
while True:
	notes[min((time.clock_gettime_ns(time.CLOCK_MONOTONIC) - begin) // 1000000, {NOTES - 1})] = 1
"""


def last_sample_ns(build, experiment):
    """Nanoseconds of CLOCK_MONOTONIC, the run's begin where there is no sample."""
    log = open(f"{experiment}/log.xml", "rb").read().decode("latin-1")
    begin = re.search(r'kind="run" tstamp="(\d+)\.(\d+)"', log)
    said = subprocess.run([f"{build}/bin/ctxan", "-q", experiment, "--db", f"{experiment}.db", "--sql",
                           "select coalesce(max(time_ns), 0) from samples"], capture_output=True, text=True, check=True).stdout
    return int(begin.group(1)) * 10**9 + int(begin.group(2).ljust(9, "0")) + int(said.split()[-1])


def lose(build, place, seconds, options):
    """One run; seconds that are missing, or None if the recorder could not be killed in time."""
    experiment = f"{place}/run.er"
    path = f"{place}/notes"
    with open(path, "wb") as file:
        file.truncate(NOTES)
    begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    recorder = subprocess.Popen([f"{build}/bin/ctxrec", "-q", "-O", "-o", experiment, "--no-archive", *options, "--",
                                 sys.executable, "-c", TARGET, path, str(begin)], start_new_session=True)
    with open(path, "r+b") as file:
        notes = mmap.mmap(file.fileno(), NOTES)
    while notes.find(b"\1") < 0:
        time.sleep(0.01)
    time.sleep(seconds)
    killed = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    recorder.kill()
    kept = bytes(notes)
    recorder.wait()
    os.killpg(recorder.pid, signal.SIGKILL)  # the target, in the recorder's session
    last = last_sample_ns(build, experiment)
    at = kept.find(b"\1", (last - begin) // 1000000 + 3)
    lost = 0 if at < 0 else max(0, killed - begin - at * 1000000)
    shutil.rmtree(experiment)
    return lost / 1e9


def main():
    build = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    longest = float(sys.argv[3]) if len(sys.argv) > 3 else 4
    chance = random.Random(14)
    losses = []
    with tempfile.TemporaryDirectory() as place:
        for i in range(runs):
            seconds = chance.uniform(0.2, longest)
            losses.append((lose(build, place, seconds, sys.argv[4:]), seconds))
            if losses[-1][0] > 1:
                print(f"run {i}: lost {losses[-1][0]:.3f} s, killed {seconds:.3f} s after the first note", flush=True)
    losses.sort()
    sizes = [lost for lost, _ in losses]
    print(f"{runs} kills: median {sizes[runs // 2]:.3f} s, 90 % {sizes[runs * 9 // 10]:.3f} s, most {sizes[-1]:.3f} s lost; "
          f"{sum(lost > 1 for lost in sizes)} of more than a second")
    sys.exit(sizes[-1] > 1)


main()
