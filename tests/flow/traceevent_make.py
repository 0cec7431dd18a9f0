#!/usr/bin/env python3
"""Makes traces in the Trace Event Format.

    traceevent_make.py random SEED EVENTS    events of all kinds, unordered, overlapping, unclosed: not what a program would write
    traceevent_make.py nested EVENTS         slices of four threads as a profiler writes them, in order of their ends
"""
import json
import random
import sys


def random_events(seed, count):
    draw = random.Random(seed)
    names = [f"f{i}" for i in range(8)] + ["Über", 'quo"te', ""]
    for index in range(count):
        event = {"ph": draw.choice("BBEEXXXXbbeeniCMstPO"), "pid": draw.choice([1, 1, 2, "two"]),
                 "tid": draw.choice([1, 2, 3]), "ts": draw.choice([draw.randrange(40), draw.randrange(4000) / 8])}
        if draw.random() < 0.9 or event["ph"] in "CM":
            event["name"] = draw.choice(names)
        if draw.random() < 0.5:
            event["cat"] = draw.choice(["net", "io,disk"])
        if event["ph"] == "X" and draw.random() < 0.95:
            event["dur"] = draw.choice([0, draw.randrange(9), draw.randrange(2000) / 8, -1])
        if event["ph"] in "ben":
            event["id"] = draw.choice(["0x1", "0x2", 7])
        if event["ph"] == "C":
            event["args"] = {"value": index, "other": {"deep": [1, {"a": 2}]}}
        elif draw.random() < 0.2:
            event["args"] = {"name": "n", "text": "x" * draw.randrange(3000), "list": [1, [2, {"ph": "X"}]]}
        if draw.random() < 0.02:
            del event["ts"]
        items = list(event.items())
        draw.shuffle(items)
        yield dict(items)


def nested_events(count):
    """As many slices: batches of one around four around three each."""
    made, begin = 0, 0
    while made < count:
        tid = made // 17 % 4
        for outer in range(4):
            for inner in range(3):
                yield slice_of(tid, begin + outer * 40 + inner * 10, 7, f"inner {inner}")
            yield slice_of(tid, begin + outer * 40, 35, f"outer {outer}")
        yield slice_of(tid, begin, 160, "batch")
        begin += 50
        made += 17


def slice_of(tid, begin, dur, name):
    return {"pid": 1, "tid": tid, "ts": begin * 1000 + 0.125 + tid, "dur": dur * 1000 + 0.5, "ph": "X",
            "cat": "made", "name": name, "args": {"detail": "item"}}


def write(events):
    write_text = sys.stdout.write
    write_text("[")
    for index, event in enumerate(events):
        write_text((",\n" if index else "\n") + json.dumps(event))
    write_text("\n]\n")


if __name__ == "__main__":
    if sys.argv[1] == "random":
        write(random_events(int(sys.argv[2]), int(sys.argv[3])))
    else:
        write(nested_events(int(sys.argv[2])))
