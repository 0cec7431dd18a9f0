#!/usr/bin/env python3
"""CPU time of ctxan --browse for a key, by pane: from the key until the screen stands.	bench/browse.py CTXAN RECORDING [ROWS COLUMNS]

Prints a Markdown table. Times are the process's own (schedstat), so other programs do not change them.
"""
import os, statistics, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/flow"))
from browse_terminal import Terminal

PANES = [("1", "functions"), ("2", "tree"), ("3", "callers"), ("4", "waits"), ("5", "threads"), ("6", "source, whole count"), ("7", "instructions, whole count")]
# Interval as typed; then steps.
INTERVALS = ["10%:11%", "10%:20%", "20%:60%", "0%:100%"]


def cpu_ms(t):
	with open(f"/proc/{t.pid}/schedstat") as f:
		return int(f.read().split()[0]) / 1e6


def settle(t):
	"""Until the program waits for a key: nothing is written, and no CPU time passes."""
	before = cpu_ms(t)
	while True:
		while t.read(0.15):
			pass
		now = cpu_ms(t)
		if now - before < 0.05:
			return now
		before = now


def cost(t, keys):
	begin = settle(t)
	t.type(keys)
	return settle(t) - begin


def main():
	rows, columns = map(int, sys.argv[3:5]) if len(sys.argv) > 4 else (24, 80)
	with Terminal([sys.argv[1], "-q", "--browse", sys.argv[2]], rows, columns, {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}) as t:
		t.expect("q quit")
		print(f"First screen, with the time line of {columns} columns: {settle(t):.0f} ms CPU, opening included.\n")
		print("| pane | interval | a key, CPU ms: median | largest |")
		print("|---|---|---|---|")
		for key, name in PANES:
			cost(t, "1g" + "\033OB" + key)
			for interval in INTERVALS:
				times = [cost(t, f"i{interval}\n")]
				# Steps of its length; the whole run has none, so its end moves.
				for i in range(6):
					times.append(cost(t, ("{" if i % 2 == 0 else "}") if interval == "0%:100%" else "><"[i % 2]))
				print(f"| {name} | {interval} | {statistics.median(times):.1f} | {max(times):.1f} |", flush=True)
		t.type("q")
		t.end()


main()
