# Feeds a kept experiment to `ctxan --follow` in steps, as if it were being recorded, and compares the answers with those of
# `ctxan -i` on what is there.
#   follow_kept.py RECORDING.er COPY.er SEED SECONDS [marks]
#
# With `marks` it is the report of marks that is compared.
#
# Data files grow by pieces that end at any byte; last.xml says up to which time all blocks are there, and the log is locked,
# as a recorder does it. ctxan answers once for each such time. At the end the lock is released.
import fcntl
import json
import os
import random
import shutil
import struct
import subprocess
import sys

LAG_NS = 900_000_000  # CTX_EXP_FOLLOW_LAG_NS
STEPS = 5
source, copy, seed, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
of_marks = sys.argv[5:] == ["marks"]
chance = random.Random(seed)
failures = 0


def fail(text):
    global failures
    failures += 1
    print(f"{source}: {text}")


def is_data(name):
    return os.path.basename(name) in ("profile", "states", "overview", "hwcounters", "marktrace")


class Growing:
    def __init__(self, name):
        self.to = os.path.join(copy, name)
        with open(os.path.join(source, name), "rb") as file:
            self.bytes = file.read()
        self.done = 0

    def grow(self, n):
        with open(self.to, "ab") as file:
            file.write(self.bytes[self.done : self.done + n])
        self.done = min(self.done + n, len(self.bytes))

    # The first time of the first block that is not whole; None: all are there.
    def missing_since(self):
        at = 16
        while at < len(self.bytes):
            header, frame, first_ns = (
                struct.unpack_from("<H", self.bytes, at + 4)[0],
                struct.unpack_from("<I", self.bytes, at + 12)[0],
                struct.unpack_from("<Q", self.bytes, at + 24)[0],
            )
            at += header + frame
            if at > self.done:
                return first_ns
        return None


# Without a metric, ctxan takes the first that has samples yet.
REPORT = ["-r", "summary", "--format", "json", "--metric", "cpu-clock"]
if of_marks:
    REPORT = ["-r", "marks", "--format", "json"]


def ctxan(path, interval):
    run = subprocess.run(["ctxan", "-q", path, *REPORT, "-i", interval], capture_output=True, check=False)
    if run.returncode != 0:
        fail(f"ctxan -i {interval}: {run.stderr.decode()}")
        return {}
    return json.loads(run.stdout)


def interval_of(answer):
    begin, end = answer["intervals_ns"][0]
    return f"{begin}ns:{end}ns"


def compare(what, got, wanted):
    for key in sorted(set(got) | set(wanted)):
        if got.get(key) == wanted.get(key):
            continue
        if key != "rows":
            fail(f"{what}: {key}: {got.get(key)} instead of {wanted.get(key)}")
            continue
        for column in wanted[key][0]:
            if got[key][0].get(column) != wanted[key][0][column]:
                fail(f"{what}: {column}: {got[key][0].get(column)} instead of {wanted[key][0][column]}")


# What ends later is open in the answer.
def told(rows):
    return [
        [row["section"], row["name"], row["count"], row.get("total_ns"), row.get("max_ns"), row.get("last")]
        for row in rows
        if row["count"] > 0
    ]


def compare_marks(horizon, answer, wanted):
    got, there = told(answer["rows"]), told(wanted["rows"])
    if got != there:
        fail(f"up to {horizon} ns: {got} instead of {there}")


def say_alive(time_ns):
    ns = time_ns + LAG_NS
    text = f'<experiment version="1"/>\n<event kind="alive" tstamp="{ns // 10**9}.{ns % 10**9:09}"/>\n'.ljust(4096, "\n")
    file = os.open(os.path.join(copy, "last.xml"), os.O_WRONLY | os.O_CREAT, 0o600)
    os.pwrite(file, text.encode(), 0)
    os.close(file)


# The text and the stacks first; what samples refer to is written before them.
files = []
os.mkdir(copy)
lock = os.open(os.path.join(copy, "log.xml"), os.O_WRONLY | os.O_CREAT, 0o600)
fcntl.flock(lock, fcntl.LOCK_EX)
for directory, below, names in os.walk(source):
    inside = os.path.relpath(directory, source)
    below[:] = [name for name in below if name != "archives"]
    os.makedirs(os.path.join(copy, inside), exist_ok=True)
    for name in names:
        if name.startswith("ctxan.db") or name == "last.xml":
            continue
        file = Growing(os.path.normpath(os.path.join(inside, name)))
        if is_data(name):
            files.append(file)
        else:
            file.grow(len(file.bytes))
if os.path.isdir(os.path.join(source, "archives")):
    shutil.copytree(os.path.join(source, "archives"), os.path.join(copy, "archives"))

follow = subprocess.Popen(
    ["ctxan", "-q", "--follow", copy, *REPORT, "--refresh", "0.02", "--last", str(seconds)],
    stdout=subprocess.PIPE,
)
horizon = 0
cut = None
while True:
    for file in files:
        file.grow(chance.randrange(2 * len(file.bytes) // STEPS + 1))
    missing = [since for since in (file.missing_since() for file in files) if since is not None]
    if not missing:
        break
    if min(missing) <= horizon:
        continue
    horizon = min(missing)
    say_alive(horizon)
    answer = json.loads(follow.stdout.readline())
    if answer["intervals_ns"][0] != [max(0, horizon - int(seconds * 1e9)), horizon]:
        fail(f"an answer for {answer['intervals_ns']}, but {horizon} ns are there")
        break
    # What was sampled before that time is there, and nothing else.
    wanted = ctxan(source, interval_of(answer))
    if of_marks:
        compare_marks(horizon, answer, wanted)
    for key in () if of_marks else ("samples", "weight", "metric"):
        if answer[key] != wanted[key]:
            fail(f"up to {horizon} ns: {key}: {answer[key]} instead of {wanted[key]}")
    for column in () if of_marks else ("functions", "hottest_path", "missing_objects"):
        if answer["rows"][0][column] != wanted["rows"][0][column]:
            fail(f"up to {horizon} ns: {column}: {answer['rows'][0][column]} instead of {wanted['rows'][0][column]}")
    if cut is None and answer["samples"] > 0:
        cut = copy + ".cut.er"
        shutil.copytree(copy, cut)

# The recorder has ended: once more, and that is all.
os.close(lock)
if os.path.exists(os.path.join(copy, "last.xml")):
    os.remove(os.path.join(copy, "last.xml"))
rest = [json.loads(line) for line in follow.stdout]
if follow.wait() != 0 or len(rest) != 1:
    fail(f"the end: exit status {follow.returncode}, {len(rest)} answers")
else:
    compare("at the end", rest[0], ctxan(copy, interval_of(rest[0])))

# A recorder that was killed there, with torn blocks at the ends of files.
if cut is None:
    fail("it came in one piece")
else:
    run = subprocess.run(
        ["ctxan", "-q", "--follow", cut, *REPORT, "--last", str(seconds)], capture_output=True, check=False
    )
    answer = json.loads(run.stdout)
    compare("killed", answer, ctxan(cut, interval_of(answer)))
sys.exit(1 if failures else 0)
