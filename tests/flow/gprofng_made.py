#!/usr/bin/env python3
"""Experiments of every kind that gprofng can describe, generated (gprofng_make.py): compares ctxan's reports with the generated data, and with gprofng's.

Hardware counters, thread states of Solaris, 32 bits, the other byte order, Java, groups, descendants opened alone, labels and warnings.
Works in the current directory. gprofng's output may be kept (gprofng_said.py), for experiments of exactly these bytes. If neither gprofng nor its
kept output is available, only the first is compared.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import defaultdict

from gprofng_make import CODE_32, JNI, MARK_TRUNCATED, RUN, SECOND, Experiment, stamp
from gprofng_said import ask, bytes_of, kept

failures = []
compared = 0
HAVE_GPROFNG = shutil.which("gprofng") is not None or "CTX_ONLY_SAID" in os.environ
asked = set()


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def check(what, ours, theirs):
    global compared
    compared += 1
    if ours != theirs:
        fail(f"{what}: {ours!r} is not {theirs!r}")


def ctxan(*arguments):
    done = subprocess.run(["ctxan", "-q", *arguments], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        fail(f"ctxan {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def gprofng(path, *commands):
    """What gprofng display text prints of an experiment."""
    if path not in asked:
        asked.add(path)
        check(f"{path}: the checksum of what gprofng was asked about", bytes_of(path), kept(path, "sha256", bytes_of(path)))
    return ask(path, *commands)[0]


class Truth:
    """Exclusive and inclusive weights by metric and function, as they are laid down."""

    def __init__(self):
        self.values = defaultdict(lambda: defaultdict(lambda: [0, 0]))

    def add(self, metric, names, weight):
        values = self.values[metric]
        values["<Total>"][0] += weight
        values["<Total>"][1] += weight
        if names:
            values[names[0]][0] += weight
        for name in set(names):
            values[name][1] += weight

    def compare(self, path, word, scale=1):
        """`word` names the metric for both programs. gprofng prints times with three decimals: `scale` is what a second has."""
        truth = {name: tuple(pair) for name, pair in self.values[word].items() if any(pair)}
        rows = json.loads(ctxan(path, "-r", "functions", "--metric", word, "--limit", "0", "--format", "json"))["rows"]
        ours = {}
        for row in rows:  # a Java method and its compiled code bear one name
            name = "<Truncated-stack>" if row["function"].startswith("<Truncated-stack") else row["function"]
            before = ours.get(name, (0, 0))
            ours[name] = (before[0] + row["exclusive"], before[1] + row["inclusive"])
        ours = {name: pair for name, pair in ours.items() if any(pair)}
        check(f"{path}: {word}", ours, truth)
        if not HAVE_GPROFNG:
            return
        text = gprofng(path, "-viewmode", "expert", "-limit", "0", "-metrics", f"e.{THEIRS.get(word, word)}:i.{THEIRS.get(word, word)}:name", "-functions")
        theirs = {}
        for line in text.splitlines():
            row = re.match(r"\s*(\d+\.\d*|\d+)\s+(\d+\.\d*|\d+)\s+(\S.*)$", line)
            if row:
                exclusive, inclusive = theirs.get(row[3].strip(), (0, 0))
                theirs[row[3].strip()] = (round(exclusive + float(row[1]), 3), round(inclusive + float(row[2]), 3))
        wanted = {name: (round(a / scale, 3), round(b / scale, 3)) for name, (a, b) in truth.items()}
        check(f"{path}: gprofng's {word}", {name: pair for name, pair in theirs.items() if pair != (0, 0)}, wanted)


def header(path, *arguments):
    return ctxan(path, "-r", "header", "--reingest", *arguments)


# ---- counters

def counters(cpu, titles):
    truth, exp = Truth(), Experiment(f"counters{cpu}.er", pid=100)
    exp.cpu = cpu
    names = [f"function_{i}" for i in range(8)]
    places = {name: exp.function(name) for name in names}
    words = ("cycles", "insts", "ex_ret_brn", "some~umask=0x2")
    internal = {"cycles": "cpu_clk_unhalted.thread_p", "insts": "inst_retired.any_p"}
    for i, word in enumerate(words):
        exp.counter(word, 1000 + i, internal.get(word), memop=int(i == 3))
    chance = random.Random(cpu)
    for k in range(400):
        stack = [chance.choice(names) for _ in range(chance.randrange(1, 9))]
        tag = k % 4
        value = chance.randrange(1, 10**9) if k % 3 else 1000 + tag
        number = exp.stack([places[name] + 4 * chance.randrange(9) for name in stack])
        if k % 50 == 9:
            value |= 1 << 63  # the collector could not read it
        else:
            truth.add(words[tag], stack, value)
        exp.count(k * 1_000_000, 100 + k % 3, number, tag, value, 0xdead0000 + k if tag == 3 else None)
    exp.close()
    text = header(exp.path)
    for word, title in zip(words, titles):
        truth.compare(exp.path, word, 2e9 if title == "CPU Cycles" else 1)  # gprofng makes seconds of them
        if not re.search(rf"^{re.escape(title)} +\d+ samples, \d+ events +\(--metric {word}\)$", text, re.M):
            fail(f"{exp.path}: {word} is not called {title}: {text}")
    for line in ("hardware counter +cycles, every 1000", "hardware counter +some~umask=0x2, every 1003, with addresses of data"):
        if not re.search("^" + line + "$", text, re.M):
            fail(f"{exp.path}: the header has no line {line!r}")
    if not re.search("^note: .*8 samples with an impossible weight", text, re.M):
        fail(f"{exp.path}: the values that could not be read are not reported: {text}")
    if HAVE_GPROFNG:
        lines = gprofng(exp.path, "-metric_list")
        for word, title in zip(words, titles):
            check(f"{exp.path}: gprofng's name of {word}", re.findall(rf"Exclusive (.*): e[.+]*%?{re.escape(word)}$", lines, re.M), [title])


# ---- thread states

THEIRS = {"wait-cpu": "wait"}
STATES = ("user", "system", "trap", "textpfault", "datapfault", "kernelpfault", "lock", "sleep", "wait-cpu", "stop")


def states(old):
    truth, exp = Truth(), Experiment(f"states{old}.er", pid=100, arch="i86pc")
    exp.states_reported = 10
    names = [f"function_{i}" for i in range(5)]
    places = {name: exp.function(name) for name in names}
    chance = random.Random(5)

    def add(state, ticks, stack):
        weight = ticks * exp.ticks_us * 1000
        truth.add(STATES[state], stack, weight)
        truth.add("total", stack, weight)
        if state <= 2:
            truth.add("totalcpu", stack, weight)

    for k in range(300):
        stack = [chance.choice(names) for _ in range(chance.randrange(1, 6))]
        number = exp.stack([places[name] + 8 for name in stack])
        if old:
            ticks = [chance.choice((0, 0, 0, 1, 3)) for _ in range(10)]
            exp.states(k * 1_000_000, 100, number, ticks)
            for state, n in enumerate(ticks):
                add(state, n, stack)
        else:
            state, n = chance.randrange(10), chance.randrange(1, 4)
            exp.clock(k * 1_000_000, 100, number, state, n)
            add(state, n, stack)
    exp.close()
    header(exp.path)
    for word in STATES + ("total", "totalcpu"):
        truth.compare(exp.path, word, SECOND)


# ---- layouts

def layout(bits, big):
    """All kinds of records, usage, stacks in part."""
    truth, exp = Truth(), Experiment(f"layout{bits}{'big' if big else ''}.er", pid=100, bits=bits, big=big,
                                     arch=None if big else "i686" if bits == 32 else "x86_64")
    if bits == 32:
        exp.base = CODE_32 * 3  # addresses whose highest bit is set
    names = [f"function_{i}" for i in range(12)]
    places = {name: exp.function(name) for name in names}
    exp.counter("ctr", 1000)
    chance = random.Random(bits + big)
    for k in range(500):
        stack = [chance.choice(names) for _ in range(chance.randrange(1, 14))]
        number = exp.stack([places[name] + 8 for name in stack] + ([MARK_TRUNCATED] if k % 11 == 0 else []))
        if k % 11 == 0:
            stack.append("<Truncated-stack>")
        ns = k * 1_000_000
        exp.clock(ns, 100 + k % 2, number)
        truth.add("totalcpu", stack, exp.ticks_us * 1000)
        exp.heap(ns + 1, 100, number, 0, 16 + k, 0x1000 + k * 0x400)
        truth.add("heapallocbytes", stack, 16 + k)
        truth.add("heapalloccnt", stack, 1)
        if k % 2:
            exp.heap(ns + 2, 100, number, 1, 0, 0x1000 + k * 0x400)
        else:
            truth.add("heapleakbytes", stack, 16 + k)
        if k % 5 == 0:
            exp.wait(ns + 3000, 100, number, ns, 0xf0000000 + k)
            truth.add("sync", stack, 3000)
        exp.io(ns + 9000, 101, number, 1, 3, k, ns + 1000, old=-1)
        truth.add("iowritebytes", stack, k)
        exp.count(ns + 5, 100, number, 0, 7 + k)
        truth.add("ctr", stack, 7 + k)
    for i in range(4):
        exp.usage(i * 150_000_000, i * 40_000_000, f"label {i}")
    exp.close()
    text = header(exp.path)
    for word, scale in (("totalcpu", SECOND), ("heapallocbytes", 1), ("heapalloccnt", 1), ("heapleakbytes", 1), ("iowritebytes", 1),
                        ("ctr", 1)):
        truth.compare(exp.path, word, scale)
    check(f"{exp.path}: word size", re.findall(r"^word size +(\d+)", text, re.M), [str(bits)])
    check(f"{exp.path}: damage", re.findall(r"^damaged +(\d+)", text, re.M), ["0"])
    check(f"{exp.path}: labels", re.findall(r"^sample +(.*)$", text, re.M),
          [f"{i} ends at {i * 150}.000 ms: label {i}" for i in range(4)])
    rows = json.loads(ctxan(exp.path, "-r", "samples", "--format", "json"))["rows"]
    check(f"{exp.path}: usage", [row["user_ns"] for row in rows if row.get("user_ns")], [40_000_000] * 3)
    waits = ctxan(exp.path, "--sql", "SELECT count(*), sum(duration_ns), min(address) FROM traced WHERE kind = 'sync'").split()
    check(f"{exp.path}: waits", waits[-3:], ["100", str(100 * 3000), str(0xf0000000)])


def impossible():
    """Operations of sizes that cannot be are in no sum, neither of metrics nor of reports."""
    exp = Experiment("impossible.er", pid=100)
    stack = exp.stack([exp.function("function_0") + 4])
    for k in range(6):
        exp.heap(k * 1000 + 1, 100, stack, 0, (1 << 63) + k if k % 2 else 100, 0x1000 * (k + 1))
        exp.io(k * 1000 + 900, 100, stack, k % 2, 3, (1 << 62) + k if k > 1 else 10, k * 1000, old=-1)
    exp.close()
    text = header(exp.path)
    if not re.search("^note: .*7 samples with an impossible weight", text, re.M):
        fail(f"{exp.path}: what is left out is not reported: {text}")
    total = json.loads(ctxan(exp.path, "-r", "heap", "--format", "json"))["rows"][0]
    check(f"{exp.path}: heap", [total[key] for key in ("allocations", "bytes", "leaked_bytes", "peak_bytes")], [3, 300, 300, 300])
    total = json.loads(ctxan(exp.path, "-r", "io", "--format", "json"))["rows"][0]
    check(f"{exp.path}: io", [total[key] for key in ("reads", "writes", "read_bytes", "write_bytes")], [1, 1, 10, 10])


# ---- Java

def java(bits, big):
    truth, exp = Truth(), Experiment(f"java{bits}{'big' if big else ''}.er", pid=100, bits=bits, big=big,
                                     arch=None if big else "i686" if bits == 32 else "x86_64")
    main = "demo.Main.main(java.lang.String[])"
    spin = "demo.Main.spin(int, long[][], boolean, demo.Other)"
    read = "demo.Other.read0(byte, char, short, float, double)"
    interpreter, stub = exp.function("Interpreter"), exp.function("call_stub")
    compiled = exp.compiled(0x9008)
    exp.segment("/nonexistent/libjvm.so", exp.base + 0x2000000, 0x100000)
    exp.java_class(0x7000, "Ldemo/Main;", "Main.java",
                   [(0x9000, "main", "([Ljava/lang/String;)V"), (0x9008, "spin", "(I[[JZLdemo/Other;)D")], at=RUN)
    exp.java_class(0x7008, "[Ldemo/Main;", "", [(0x9020, "none", "()V")], at=RUN)
    exp.java_class(0x7010, "Ldemo/Other;", "Other.java", [(0x9010, "read0", "(BCSFD)J")], at=RUN)
    exp.java_thread(101, "worker thread")
    native = [interpreter + 8, interpreter + 8, stub + 4]
    kinds = (
        (native, [(0x9008, 17), (0x9000, 3)], [spin, main]),
        ([compiled + 64] + native, [(0x9008, 40), (0x9008, 2), (0x9000, 3)], [spin, spin, main]),
        (native, [(0x9010, JNI), (0x9008, 2), (0x9000, 3)], [read, spin, main]),
        (native, [(0, -5)], ["Interpreter", "Interpreter", "call_stub"]),
        ([compiled + 32, stub + 4], [], [spin, "call_stub"]),
        (native, [(0x9008, 5), (MARK_TRUNCATED, 0)], [spin, "<Truncated-stack>"]),
        (native, [(0x9999, 5)], ["Interpreter", "Interpreter", "call_stub"]),
    )
    for k in range(350):
        frames, methods, names = kinds[k % len(kinds)]
        exp.clock(k * 1_000_000, 100 + k % 2, exp.stack(frames, methods))
        truth.add("totalcpu", names, exp.ticks_us * 1000)
    exp.close()
    text = header(exp.path)
    check(f"{exp.path}: java", re.findall(r"^java +(.*)$", text, re.M), ["17"])
    check(f"{exp.path}: damage", re.findall(r"^damaged +(\d+)", text, re.M), ["0"])
    truth.compare(exp.path, "totalcpu", SECOND)
    threads = json.loads(ctxan(exp.path, "-r", "threads", "--format", "json"))["rows"]
    check(f"{exp.path}: name of a thread", [row["name"] for row in threads if row["thread"] == 101], ["worker thread"])


def java_native(bits, big):
    """Native code under a native method: of a library it is on top of the method, of the virtual machine it is not."""
    exp = Experiment(f"native{bits}{'big' if big else ''}.er", pid=100, bits=bits, big=big,
                     arch=None if big else "i686" if bits == 32 else "x86_64")
    interpreter = exp.function("Interpreter")
    exp.segment("/nonexistent/libjvm.so", exp.base + 0x2000000, 0x100000)
    exp.segment("/nonexistent/libdemo.so", exp.base + 0x4000000, 0x100000)
    exp.java_class(0x7000, "LDemo;", "Demo.java", [(0x9000, "main", "()V"), (0x9008, "run", "()V")], at=RUN)
    library, jvm = exp.base + 0x4000100, exp.base + 0x2000100
    methods = [(0x9008, JNI), (0x9000, 3)]
    exp.clock(0, 100, exp.stack([jvm, library, interpreter + 8], methods))
    exp.clock(1000, 100, exp.stack([library, jvm, interpreter + 8], methods))
    exp.clock(2000, 100, exp.stack([library + 64, library, interpreter + 8], methods))
    exp.close()
    header(exp.path)
    stacks = [line.split(" ")[0] for line in subprocess.run(
        ["ctxan", "-q", exp.path, "--export", "folded", "-o", "/dev/stdout"], capture_output=True, text=True).stdout.splitlines()]
    check(exp.path, sorted(stack[stack.index("Demo.main"):] for stack in stacks),
          ["Demo.main();Demo.run()", "Demo.main();Demo.run();<Unknown>@0x100", "Demo.main();Demo.run();<Unknown>@0x100"])


# ---- several experiments

def group():
    """Members are on one clock, that of the same machine, or that of the wall; those that have none begin together."""
    truth = Truth()
    for name, start, wall, host in (("one", 0, 0, "h"), ("two", 3, 3, "h"), ("three", -1000, 10, "elsewhere")):
        exp = Experiment(f"{name}.er", pid=100, start=RUN + start * SECOND)
        exp.wall, exp.host = 1795229715 + wall, host
        function = exp.function(f"in_{name}")
        for k in range(10):
            exp.clock(k * 1_000_000, 100, exp.stack([function]))
            truth.add("totalcpu", [f"in_{name}"], exp.ticks_us * 1000)
        exp.usage(0, 0, "first")
        exp.file("notes", f"note of {name}\n".encode())
        exp.close()
    with open("all.erg", "w") as out:
        out.write("#analyzer experiment group\none.er\n# a remark\ntwo.er\n\n" + os.path.abspath("three.er") + "\n")
    text = header("all.erg")
    truth.compare("all.erg", "totalcpu", SECOND)
    begins = [row["begin"] for row in json.loads(ctxan("all.erg", "-r", "processes", "--format", "json"))["rows"]]
    check("group: where its members begin", begins, [0, 3 * SECOND, 10 * SECOND])
    inside = json.loads(ctxan("all.erg", "-r", "functions", "-i", "3s:4s", "--format", "json"))["rows"]
    check("group: an interval", [row["function"] for row in inside if row["exclusive"]], ["<Total>", "in_two"])
    # Exported from a recording that does not know when it was made.
    for name, host in (("four", "h"), ("five", "nowhere")):
        exp = Experiment(f"{name}.er", pid=100, start=RUN + 2 * SECOND)
        exp.wall, exp.host = 0, host
        exp.close()
    with open("timeless.erg", "w") as out:
        out.write("#analyzer experiment group\none.er\nfour.er\nfive.er\n")
    begins = [row["begin"] for row in json.loads(ctxan("timeless.erg", "-r", "processes", "--format", "json"))["rows"]]
    check("group: where members without a time begin", begins, [0, 0, 2 * SECOND])
    # Names that are seen from where we are, in a group that lies elsewhere; blanks around them.
    os.makedirs("elsewhere", exist_ok=True)
    with open("elsewhere/all.erg", "w") as out:
        out.write("#analyzer experiment group\n  one.er \n\ttwo.er\r\n")
    check("group elsewhere", re.findall(r"^processes +(\d+)", header("elsewhere/all.erg"), re.M), ["2"])
    for name in ("one", "two", "three"):
        if f"note of {name}" not in text:
            fail(f"group: the note of {name} is missing: {text}")


def parents():
    """Whose child each process is: executed, forked, with a number that was given out again, by its name alone."""
    family = (("", 100, 1, ""), ("_f1", 101, 100, ""), ("_f1_x1", 101, 100, "_f1"), ("_f1_x1_f1", 102, 101, "_f1_x1"), ("_f2", 101, 100, ""),
              ("_f2_f1", 103, 101, "_f2"), ("_f2_f1_f1", 104, 9, "_f2_f1"), ("_f3", 105, 9, ""), ("_f4_f1", 106, 9, ""))
    made = []
    for k, (lineage, pid, ppid, _) in enumerate(family):
        path = os.path.join("family.er", lineage + ".er") if lineage else "family.er"
        exp = Experiment(path, pid=pid, ppid=ppid, start=RUN + k * SECOND, command=lineage or "founder")
        if lineage == "_f1":
            exp.events.append(f'<event kind="exec_start" tstamp="{stamp(SECOND // 2)}" variant="execve" lineage="_f1_x1" follow="1" msg=""/>')
        exp.usage(0, 0, "first")
        made.append((exp, lineage != "_f1"))
    for exp, closed in made:
        exp.close(closed)
    rows = json.loads(ctxan("family.er", "--sql", "SELECT id, parent, command FROM process", "--format", "json"))
    ours = {row["command"]: row["parent"] for row in rows}
    numbers = {row["command"]: row["id"] for row in rows}
    for lineage, _, _, parent in family[1:]:
        check(f"the parent of {lineage}", ours[lineage], numbers[parent or "founder"])


def descriptors():
    """Each descriptor has the name that it was opened with last; those of others have nothing to do with that."""
    exp = Experiment("descriptors.er", pid=100)
    stack, at, names, wanted = exp.stack([exp.function("in_out")]), 0, {}, {}

    def step(kind, fd, size=0, name=""):
        nonlocal at
        at += 1000
        exp.io(at, 100, stack, kind, fd, size, at - 500, name)

    for turn in range(3):
        for fd in range(3, 120):
            names[fd] = f"/file {fd} of turn {turn}"
            step(2, fd, name=names[fd])
        for fd in random.Random(turn).sample(range(3, 120), 80):
            step(3, fd)
            del names[fd]
        for fd in range(3, 120):
            step(1, fd, 10)
            wanted[fd, names.get(fd)] = wanted.get((fd, names.get(fd)), 0) + 1
    exp.close()
    rows = json.loads(ctxan("descriptors.er", "-r", "io", "--format", "json"))["rows"]
    found = {(row["descriptor"], row["file"]): row["writes"] for row in rows if row["section"] == "descriptor" and row["writes"]}
    check("files of descriptors", found, wanted)


def rebuilt():
    """A program that was built anew since, of which there is no copy: its names may be wrong, and that is said."""
    shutil.copy(shutil.which("true"), "prog")
    exp = Experiment("rebuilt.er", pid=100)
    exp.segment(os.path.abspath("prog"), 0x5000000, 0x80000)
    exp.clock(0, 100, exp.stack([0x5002000]))
    exp.close()
    made = os.stat("rebuilt.er/log.xml").st_mtime
    for later in (-100, 100):
        os.utime("prog", (made + later, made + later))
        said = "1 load object changed since the recording (prog)" in header("rebuilt.er").replace("\n      ", " ")
        check(f"a program that was written {later} s later", said, later > 0)


def descendant_alone():
    exp = Experiment("family.er", pid=100)
    exp.clock(0, 100, exp.stack([exp.function("in_founder")]))
    exp.close()
    child = Experiment("family.er/_f1.er", pid=200, ppid=100, start=RUN + SECOND)
    child.segment("/usr/lib/x86_64-linux-gnu/libdemo.so", 0x7000000000, 0x100000)
    child.clock(0, 200, child.stack([0x7000000100]))
    child.close()
    os.rmdir("family.er/_f1.er/archives")
    shutil.copy(shutil.which("ctxan"), "family.er/archives/libdemo.so_dnWuQRcLhw9")
    header("family.er/_f1.er")
    rows = json.loads(ctxan("family.er/_f1.er", "-r", "objects", "--format", "json"))["rows"]
    with_symbols = [row for row in rows if "libdemo" in json.dumps(row) and "archive" in json.dumps(row)]
    check("a descendant alone: its library comes from the founder's archives", len(with_symbols), 1)


# ---- what people wrote

def texts():
    exp = Experiment("texts.er", pid=100)
    exp.clock(0, 100, exp.stack([exp.function("f")]))
    exp.usage(0, 0, "collector_open_experiment")
    exp.usage(100_000_000, 0, "periodic")
    exp.usage(400_000_000, 0, "phase <two> & more")
    exp.usage(500_000_000, 0, "collector_close_experiment")
    for at, kind in ((100, "pause"), (150, "resume"), (160, "resume"), (200, "pause"), (210, "pause")):
        exp.events.append(f'<event kind="{kind}" tstamp="0.{at}000000"/>')
    for at, kind in ((200, "gc_start"), (225, "gc_end"), (300, "gc_start"), (301, "gc_end")):  # absolute
        exp.events.append(f'<event kind="{kind}" tstamp="{RUN // SECOND}.{at}000000"/>')
    exp.file("notes", b"first line\nsecond line\n")
    exp.file("labels.xml", (
        '<id name="warm up" cmd="start" hostname="h" relative="0" lbl_ts="0.1"/>\n'
        '<id name="warm up" cmd="stop" hostname="h" relative="0" lbl_ts="0.25" comment="not &lt;counted&gt;"/>\n'
        f'<id name="now" cmd="start" hostname="h" relative="2" tstamp="{(RUN + SECOND // 5) // SECOND}.2" lbl_ts="0.05"/>\n'
        f'<id name="now" cmd="stop" hostname="h" relative="2" tstamp="{(RUN + SECOND // 5) // SECOND}.2" lbl_ts="0.15"/>\n'
        '<id name="open" cmd="start" hostname="h" relative="0" lbl_ts="0.3"/>\n'
        '<id name="words" comment="a comment alone" hostname="h"/>\n'
        '<id cmd="start"/>\n').encode())
    exp.file("warnings.xml", b'<event kind="cwarn" id="216">SIGPROF</event>\n<event kind="cerror" id="14">x</event>\n')
    exp.close()
    text = header(exp.path)
    check("labels", re.findall(r"^label +(.*)$", text, re.M),
          ["warm up: 100.000:250.000 ms, not <counted>", "now: 250.000:350.000 ms", "open: 300.000: ms", "words: a comment alone"])
    check("pauses", re.findall(r"^paused +(.*)$", text, re.M), ["2 times, 350.001 ms"])
    check("garbage", re.findall(r"^garbage collection +(.*)$", text, re.M), ["2 times, 26.000 ms"])
    check("samples with names", re.findall(r"^sample +(.*)$", text, re.M), ["2 ends at 400.000 ms: phase <two> & more"])
    for words in ("wanted to block the profiling signal", "the limit of the experiment's size was reached", "first line", "second line",
                  "labels.xml: 1 labels that make no sense"):
        if words not in text:
            fail(f"texts.er: the header does not say {words!r}: {text}")


def main():
    counters(2499, ("cycles Events", "insts Events", "ex_ret_brn Events", "some~umask=0x2 Events"))
    counters(2080, ("CPU Cycles", "Instructions Executed", "ex_ret_brn Events", "some~umask=0x2 Events"))
    states(0)
    states(1)
    for bits, big in ((64, False), (32, False), (64, True), (32, True)):
        layout(bits, big)
        java(bits, big)
        java_native(bits, big)
    impossible()
    group()
    parents()
    descriptors()
    rebuilt()
    descendant_alone()
    texts()
    print(f"{compared} comparisons{'' if HAVE_GPROFNG else ', none with gprofng, which is not here'}")
    sys.exit(1 if failures else 0)


main()
