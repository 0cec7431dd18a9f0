#!/usr/bin/env python3
"""The sums of a trace in the Trace Event Format, in the obvious way: all of it in memory.

    traceevent_slow.py FILE                 a line for each function: calls, time, own time (ns), name
    traceevent_slow.py FILE CALL_SUMS       compares these with what call_sums prints; exit status 1 if they differ

The rules are those of docs/traceevent.md: by time; ends before begins; of one time slices with a duration come last, the
longest first; a slice that would end after the one around it is cut; an end ends the innermost open slice of its
name, and those inside.
"""
import decimal
import gzip
import json
import subprocess
import sys

NEVER = 1 << 62


def nanoseconds(value):
    return int(decimal.Decimal(str(value)) * 1000)


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode("utf-8-sig", "replace").rstrip()
    decoder = json.JSONDecoder(parse_float=decimal.Decimal)
    try:
        trace = decoder.decode(text)
    except json.JSONDecodeError:  # a list without its end
        trace = decoder.decode(text.rstrip(",") + "]")
    return trace["traceEvents"] if isinstance(trace, dict) else trace


class Thread:
    def __init__(self, sums):
        self.open, self.last, self.sums = [], 0, sums

    def begin(self, time, name, end):
        if self.open and self.open[-1]["end"] < end and end != NEVER:
            end = self.open[-1]["end"]
        self.open.append({"name": name, "begin": time, "end": end, "inside": 0})

    def end_from(self, index, time):
        while len(self.open) > index:
            done = self.open.pop()
            elapsed = time - done["begin"]
            sum_of = self.sums.setdefault(done["name"][0], [0, 0, 0])
            sum_of[0] += 1
            if all(outer["name"][0] != done["name"][0] for outer in self.open):
                sum_of[1] += elapsed
            sum_of[2] += elapsed - done["inside"]
            if self.open:
                self.open[-1]["inside"] += elapsed

    def run_to(self, time):
        """Ends what ends up to a time, the earliest first."""
        while True:
            ends = [(item["end"], -index) for index, item in enumerate(self.open) if item["end"] <= time]
            if not ends:
                return
            end, index = min(ends)
            self.end_from(-index, end)

    def end(self, time, name):
        for index in range(len(self.open) - 1, -1, -1):
            item = self.open[index]
            if item["end"] == NEVER and name in (None, item["name"][0]):
                self.end_from(index, time)
                return


def outer_is_later(events):
    begins, ends, last = 0, 0, {}
    for event in events:
        if event.get("ph") != "X" or "dur" not in event or "ts" not in event:
            continue
        key = (event.get("pid", 0), event.get("tid", 0))
        begin = nanoseconds(event["ts"])
        end = begin + max(0, nanoseconds(event["dur"]))
        if key in last:
            begins += begin >= last[key][0]
            ends += end >= last[key][1]
        last[key] = (begin, end)
    return ends > begins


def sums_of(events):
    events = [event for event in events if isinstance(event, dict)]
    later = -1 if outer_is_later(events) else 1
    order, lasts, sums = [], {}, {}
    for index, event in enumerate(events):
        if event.get("ph") not in tuple("BEXbeSFnTpiIRC") or "ts" not in event:
            continue
        time = nanoseconds(event["ts"])
        is_slice = event["ph"] == "X" and "dur" in event
        dur = max(0, nanoseconds(event["dur"])) if is_slice else 0
        key = (event.get("pid", 0), event.get("tid", 0))
        lasts[key] = max(lasts.get(key, time), time + dur)
        lasts[key[0]] = max(lasts.get(key[0], time), time + dur)
        order.append((time, is_slice, -dur, index * (later if is_slice else 1), event))
    order.sort(key=lambda item: item[:4])
    threads = {}
    for time, is_slice, dur, _, event in order:
        phase = event["ph"]
        key = (event.get("pid", 0), event.get("tid", 0))
        if phase in "beSF":
            id_of = json.dumps([event.get("id"), event.get("id2"), event.get("scope")], default=str)
            key = (key[0], "lane", event.get("cat") or None, id_of)
        elif phase not in "BEX":
            continue
        thread = threads.setdefault(key, Thread(sums))
        thread.run_to(time)
        name = (event.get("name") or "<Unnamed>", event.get("cat"))
        if phase in "EeF":
            thread.end(time, event.get("name"))
        else:
            thread.begin(time, name, time - dur if is_slice else NEVER)
    for key, thread in threads.items():
        last = lasts[key[0]] if len(key) == 4 else lasts[key]
        thread.run_to(last)
        thread.end_from(0, last)
    return sums


def lines_of(sums):
    return sorted(f"{calls} {total} {own} {name}" for name, (calls, total, own) in sums.items())


def main():
    expected = lines_of(sums_of(load(sys.argv[1])))
    if len(sys.argv) < 3:
        print("\n".join(expected))
        return 0
    said = subprocess.run([sys.argv[2], "trace", sys.argv[1]], capture_output=True, check=True).stdout
    said = said.decode("utf-8", "replace")
    found = sorted(line for line in said.splitlines() if line.split(" ")[0].isdigit())
    wrong = sorted(set(expected) ^ set(found))
    for line in wrong[:20]:
        print(f"{'expected' if line in expected else 'found'}: {line}")
    if "out of order" in said:
        print("events are not in order of time")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
