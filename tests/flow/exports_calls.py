"""Exports of exact calls, read strictly by readers of their own, against the trace that they come from.

exports_calls.py WORK_FOLDER: ctxan is in the path. The trace is made by chance, the same each time: calls of one function that follow each other without a
pause, calls without length, pauses in which no call is open, two threads.
"""
import collections
import decimal
import json
import random
import subprocess
import sys

NAMES = ["parse", "lex", "read", "hash"]


def trace(seed):
    """The lines, and the calls by thread: (name, depth, begin, end), in order of begins, the outer first."""
    chance = random.Random(seed)
    lines, calls = [], collections.defaultdict(list)
    for thread in ("main", "worker"):
        now, stack = chance.randrange(50), []
        for _ in range(600):
            now += chance.choice([0, 0, 1, 7, 1000])
            if not stack or (len(stack) < 6 and chance.random() < 0.5):
                name = chance.choice(NAMES)
                calls[thread].append([name, len(stack) + 1, now, None])
                stack.append(calls[thread][-1])
                lines.append((now, f"{now} {thread} enter {name}"))
            else:
                stack.pop()[3] = now
                lines.append((now, f"{now} {thread} exit"))
        while stack:
            now += 3
            stack.pop()[3] = now
            lines.append((now, f"{now} {thread} exit"))
    lines.sort(key=lambda line: line[0])
    for call in [call for some in calls.values() for call in some]:  # the run begins with its first event
        call[2] -= lines[0][0]
        call[3] -= lines[0][0]
    return "# unit ns\n" + "".join(line + "\n" for _, line in lines), calls


def firefox_calls(data):
    """What the profiler draws: a sample's stack lasts up to the next sample."""
    shared = data["shared"]
    texts, functions, frames, stacks = (shared[key] for key in ("stringArray", "funcTable", "frameTable", "stackTable"))
    paths = []
    assert len(stacks["frame"]) == len(stacks["prefixOffset"]) == stacks["length"]
    for frame, offset in zip(stacks["frame"], stacks["prefixOffset"]):
        assert 0 <= offset <= len(paths)
        paths.append((paths[len(paths) - offset] if offset else []) + [texts[functions["name"][frames["func"][frame]]]])
    found = {}
    for thread in data["threads"]:
        samples = thread["samples"]
        assert samples["weightType"] == "tracing-ms"
        for column in samples.keys() - {"length", "weightType"}:
            assert len(samples[column]) == samples["length"], column
        now, open_calls, done, before, used = decimal.Decimal(0), [], [], None, []
        for delta, stack, weight in zip(samples["timeDeltas"], samples["stack"], samples["weight"]):
            assert delta >= 0 and weight >= 0
            if before is not None:
                assert delta == before, "a sample lasts as long as it weighs" if before else "pauses have no stack"
            now += delta
            path = [] if stack is None else paths[stack]
            at = int(now * 1000000)
            kept = 0
            while kept < len(path) and kept < len(open_calls) and path[kept] == open_calls[kept][0]:
                kept += 1
            for call in open_calls[kept:]:
                call[3] = at
            del open_calls[kept:]
            for depth, name in enumerate(path[kept:], kept + 1):
                open_calls.append([name, depth, at, None])
                done.append(open_calls[-1])
            before = None if stack is None else weight
            used.append(int(weight * 1000000))
            assert stack is not None or weight == 0
        assert not open_calls, "calls are open at the end"
        assert samples["threadCPUDelta"] == [0, *used][: len(used)], "CPU use since the sample before"
        found[thread["name"]] = done
    return found


def main():
    text, wanted = trace(11)
    with open("calls.txt", "w", encoding="utf-8") as stream:
        stream.write(text)
    said = subprocess.run(["ctxan", "-q", "calls.txt", "--export", "firefox"], check=True, capture_output=True, timeout=60).stdout
    found = firefox_calls(json.loads(said, parse_float=decimal.Decimal))
    for thread, calls in wanted.items():
        if found[thread] != calls:
            at = next((i for i, (have, want) in enumerate(zip(found[thread], calls)) if have != want), min(len(calls), len(found[thread])))
            print(f"FAILED: firefox: {thread}: {len(found[thread])} of {len(calls)} calls; call {at}: {found[thread][at:at + 2]} instead of {calls[at:at + 2]}")
            return 1
    print(f"firefox: {sum(map(len, wanted.values()))} calls")
    return 0


sys.exit(main())
