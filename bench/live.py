#!/usr/bin/env python3
# CPU time of an answer of `ctxan --follow` at 10 s and at 100 s of a recording. Prints a Markdown table.
#   bench/live.py [BIN [RECORDING.er...]]
#
# Recordings of 105 s, generated and those given, are copied second by second as a recorder writes them: lines and blocks up to
# that second, then the sign of life. ctxan answers once for each second; the CPU time of it and of the processes that it forked
# is the mean of eight answers, around 10 s and around 100 s.
import fcntl
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

bin_directory = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/bin")
SECOND = 10**9
LAG_NS = 900_000_000  # CTX_EXP_FOLLOW_LAG_NS
ANSWERS = 8
work = tempfile.mkdtemp()


# The pieces of a file with the time of each: lines, blocks; stacks come with the first of them.
def pieces(path):
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".xml"):
        for line in data.splitlines(keepends=True):
            time = re.search(rb' tstamp="(\d+)\.(\d{9})"', line)
            is_run = b'kind="run"' in line or time is None
            yield (0 if is_run else int(time[1]) * SECOND + int(time[2]), line)
        return
    at, head = 16, data[:16]
    while at + 64 <= len(data):
        header, frame, first_ns = (
            struct.unpack_from("<H", data, at + 4)[0],
            struct.unpack_from("<I", data, at + 12)[0],
            struct.unpack_from("<Q", data, at + 24)[0],
        )
        yield (first_ns, head + data[at : at + header + frame])
        at, head = at + header + frame, b""


def cpu_ms(pid):
    with open(f"/proc/{pid}/schedstat") as file:
        own = int(file.read().split()[0]) / 1e6
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return own, sum(int(field) for field in fields[13:15]) * 1000 / os.sysconf("SC_CLK_TCK")


def measure(name, source):
    copy = os.path.join(tempfile.mkdtemp(dir=work), os.path.basename(source.rstrip("/")))
    os.mkdir(copy)
    lock = os.open(os.path.join(copy, "log.xml"), os.O_WRONLY | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    files = []
    for directory, below, names in os.walk(source):
        below[:] = [item for item in below if item.startswith("_")]
        for item in names:
            if item in ("map.xml", "frameinfo", "profile", "states", "overview") or (item == "log.xml" and directory == source):
                path = os.path.join(directory, item)
                files.append((os.path.relpath(path, source), list(pieces(path))))
    # Stacks of a process are there with its first samples.
    first = {os.path.dirname(item): part[0][0] for item, part in files if item.endswith("profile") and part}
    todo = []
    for item, part in files:
        begin = first.get(os.path.dirname(item), 0)
        todo += [(max(time, begin) if item != "log.xml" else time, item, data) for time, data in part]
    todo.sort(key=lambda each: (each[0], each[1] != "log.xml", each[1] in ("profile", "states")))
    viewer = subprocess.Popen(
        [os.path.join(bin_directory, "ctxan"), "-q", "--follow", copy, "-r", "summary", "--format", "json", "--refresh", "0.02"],
        stdout=subprocess.PIPE,
        text=True,
    )
    at, costs, answer = 0, {}, None
    for second in range(1, 105):
        while at < len(todo) and todo[at][0] < second * SECOND:
            path = os.path.join(copy, todo[at][1])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "ab") as file:
                file.write(todo[at][2])
            at += 1
        if at == len(todo):
            break
        ns = second * SECOND + LAG_NS
        last = os.open(os.path.join(copy, "last.xml"), os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(last, f'<event kind="alive" tstamp="{ns // SECOND}.{ns % SECOND:09}"/>\n'.encode(), 0)
        os.close(last)
        answer = json.loads(viewer.stdout.readline())
        costs[second] = cpu_ms(viewer.pid)
        for end in (10, 100):
            if second == end + ANSWERS // 2:
                before, after = costs[end - ANSWERS // 2], costs[second]
                row = answer["rows"][0]
                waits = sum(wait["waits"] for wait in row["waits"])
                print(
                    f'| {name} | {end} | {(after[0] - before[0]) / ANSWERS:.1f} | {(after[1] - before[1]) / ANSWERS:.0f} '
                    f'| {answer["samples"]} samples, {waits} waits, {row["threads"]} threads |',
                    flush=True,
                )
    viewer.kill()
    viewer.wait()
    os.close(lock)


print("| recording | seconds | reading, CPU ms | answering, CPU ms | in the last 5 s |")
print("|---|---:|---:|---:|---|")
made = []
for name, options in (
    ("1,000 samples a second, 5,000 stacks", ["--samples", "105000", "--threads", "4", "--stacks", "5000"]),
    (
        "the same and 10,000 switches a second, 20 threads, 50,000 stacks",
        ["--samples", "105000", "--threads", "20", "--stacks", "50000", "--changes", "3150000"],
    ),
):
    path = os.path.join(work, f"generated{len(made)}.er")
    command = [os.path.join(bin_directory, "gen_experiment"), *options, "--depth", "30", "--seed", "1", "--duration-ms", "105000"]
    subprocess.run([*command, "-o", path], check=True)
    made.append((name, path))
for name, path in made + [(os.path.basename(path.rstrip("/")), path) for path in sys.argv[2:]]:
    measure(name, path)
shutil.rmtree(work)
