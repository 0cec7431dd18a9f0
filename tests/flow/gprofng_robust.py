#!/usr/bin/env python3
"""Experiments of gprofng that are damaged in every way: intact data is reported, damage is noted, in bounded time and memory.

    gprofng_robust.py [--sanitized] [--all | --more] [RECORDED.er...]

Works in the current directory. Two experiments are generated (gprofng_make.py); those that are named are used too. Every seventh damage (sanitized: fifteenth) is done to each file
in turn, so that each kind is done to some; --all: each to each; --more: five times the seeds besides.
"""
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys

from gprofng_make import BLOCK, JNI, Experiment

SECONDS = 60
BYTES = 1 << 30
RESIDENT_KB = 200 << 10
SANITIZED = "--sanitized" in sys.argv
TIMES = 5 if "--more" in sys.argv else 1
STEP = 1 if TIMES > 1 or "--all" in sys.argv else 15 if SANITIZED else 7
NOWHERE = os.path.abspath("none")  # else what this machine has of libc is read each time
failures = []
runs = 0


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def ctxan(what, *arguments):
    """Exit status, standard output, standard error. A crash, a hang, too much memory or many lines on stderr are failures."""
    global runs
    runs += 1
    process = subprocess.Popen(["ctxan", "-q", "--debug-root", NOWHERE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        fail(f"{what}: does not end")
        return None, "", ""
    out, err = out.decode(errors="replace"), err.decode(errors="replace")
    if process.returncode not in (0, 1, 2) or "Sanitizer" in err or "runtime error" in err:
        name = signal.Signals(-process.returncode).name if process.returncode < 0 else process.returncode
        fail(f"{what}: ends with {name}: {err[:600]}")
        return None, out, err
    if process.returncode != 0 and (err.count("\n") != 1 or not err.startswith("ctxan: ") or len(err) > 1200):
        fail(f"{what}: is not refused with one line: {err[:600]!r}")
    if process.returncode != 0 and out:
        fail(f"{what}: is refused, but something was printed")
    if "out of memory" in err.lower() or "not enough memory" in err.lower():
        fail(f"{what}: asks for memory without end: {err[:300]}")
    return process.returncode, out, err


def facts(header):
    """What the header counts: samples of each metric, damage, processes."""
    found = {m[1].strip(): int(m[2]) for m in re.finditer(r"^(\w.*?)  +(\d+) samples?, ", header, re.M)}
    damaged = re.search(r"^damaged +(\d+)$", header, re.M)
    processes = re.search(r"^processes +(\d+)$", header, re.M)
    return found, int(damaged[1]) if damaged else -1, int(processes[1]) if processes else -1


class Case:
    """A copy of an experiment that something is done to. Its files are links to those of the whole one, so they are replaced and not changed."""

    def __init__(self, whole, name):
        self.path = "case.er"
        self.name = f"{whole}: {name}"
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(whole, self.path, symlinks=True, copy_function=os.link, ignore=shutil.ignore_patterns("ctxan.db*"))

    def file(self, name):
        return os.path.join(self.path, name)

    def read(self, name):
        with open(self.file(name), "rb") as file:
            return file.read()

    def write(self, name, raw):
        if os.path.exists(self.file(name)):
            os.unlink(self.file(name))
        with open(self.file(name), "wb") as file:
            file.write(raw)

    def report(self, whole=None, untouched=(), noted=False, refused=None, least=None):
        """
        Reports on it. `whole`: facts of the undamaged one, of which the metrics `untouched` must be there in full. `noted`: the
        header must count the damage. `refused`: True or False where one of the two is a must. `least`: facts of what must be there
        in any case.
        """
        status, out, err = ctxan(self.name, self.path, "-r", "header,functions,tree,callers-callees,threads,overview", "--reingest",
                                 "--limit", "5")
        if status is None:
            return None
        if refused is True and status == 0:
            fail(f"{self.name}: is not refused")
        if refused is False and status != 0:
            fail(f"{self.name}: is refused: {err.strip()}")
        if status != 0:
            return None
        found, damaged, _ = facts(out)
        for metric in untouched:
            if found.get(metric) != whole[0].get(metric):
                fail(f"{self.name}: {metric}: {found.get(metric)} samples of {whole[0].get(metric)}")
        for metric, n in least[0].items() if least else ():
            if found.get(metric, 0) < n:
                fail(f"{self.name}: {metric}: {found.get(metric)} samples, {n} have nothing to do with it")
        for metric, n in found.items():
            # Whoever says where fields lie says what the records are.
            if " twice" not in self.name and "log.xml" not in self.name and whole and metric in whole[0] and n > whole[0][metric] + 20 and "Leak" not in metric:
                fail(f"{self.name}: {metric}: {n} samples out of {whole[0][metric]}")
        if noted and damaged == 0:
            fail(f"{self.name}: nothing is said of the damage")
        return out


# ---- the experiments

def generate(path):
    """All kinds of data, two threads, usage, Java, descendants."""
    chance = random.Random(7)
    main = Experiment(path, pid=100, compress="anywhere")
    names = [main.function(f"function_{i}") for i in range(20)]
    main.java_class(0x7000, "LDemo;", "Demo.java", [(0x9000, "main", "([Ljava/lang/String;)V"), (0x9008, "read0", "(J[B)I")])
    main.java_thread(101, "worker")
    compiled = main.compiled(0x9008)
    main.counter("cycles", 1000003)
    main.counter("llm", 1009, memop=1)
    for i in range(1000):
        ns, tid = i * 1_000_000, 100 + i % 2
        stack = main.stack([names[chance.randrange(20)] + 8 for _ in range(chance.randrange(2, 12))])
        main.clock(ns, tid, stack)
        if i % 3 == 0:
            address = 0x10000 + i * 64
            main.heap(ns + 1, tid, stack, 0, 100 + i, address)
            main.wait(ns + 5000, tid, stack, ns, 0xabc0)
            main.io(ns + 9000, tid, stack, 1 if i % 2 else 2, 5, 77, ns + 100, "/tmp/file" if i % 2 == 0 else "")
            main.count(ns + 2, tid, stack, 0, 1000003)
            main.count(ns + 3, tid, stack, 1, 1009, 0xdead0)
            if i % 6 == 0:
                main.heap(ns + 4, tid, stack, 1, 0, address)
        if i % 5 == 0:
            java = main.stack([names[0], compiled, names[1]], [(JNI, 0x9008), (7, 0x9000)])
            main.clock(ns + 7, 101, java)
    for second in range(3):
        main.usage(second * 500_000_000, second * 400_000_000, f"label {second}")
    main.events.append('<event kind="cwarn" id="207">10007 -&gt; 0</event>')
    main.close()
    for i, lineage in enumerate(("_f1", "_f1_x1")):
        child = Experiment(os.path.join(path, lineage + ".er"), pid=200, ppid=100, start=main.start + 100_000_000 * (i + 1),
                           command="child")
        function = child.function("in_child")
        for k in range(50):
            child.clock(k * 1_000_000, 200, child.stack([function, function + 16]))
        child.close()


metrics_of_all = ("profile", "synctrace", "heaptrace", "iotrace", "hwcounters", "data.frameinfo")


def metrics_of(file):
    return {"profile": ("Total CPU",), "synctrace": ("Sync Wait Time",), "heaptrace": ("Bytes Allocated",),
            "iotrace": ("Write Time", "Other I/O Time"), "hwcounters": ("cycles Events", "llm Events")}.get(file, ())


# ---- damage

def damages(raw, chance):
    """Pairs (name, other bytes) of one file."""
    n = len(raw)
    yield "emptied", b""
    if n == 0:
        yield "garbage", chance.randbytes(5000) * 14
        return
    places = {1, 3, 20, 100, n // 3, n // 2, n - 1, n - 100, BLOCK, BLOCK + 10}
    for at in sorted(place for place in places if 0 < place < n):
        yield f"cut at {at}", raw[:at]
    for seed in range(6 * TIMES):
        other = bytearray(raw)
        used = max(len(raw.rstrip(b"\0")), 1)
        for _ in range((1, 1, 4, 40, 400, 2000)[seed % 6]):
            at = chance.randrange(min(used, 2000) if seed % 2 else used)
            other[at] ^= 1 << chance.randrange(8)
        yield f"bits flipped ({seed})", bytes(other)
    yield "garbage", chance.randbytes(5000) * 14
    yield "zeros", bytes(n)
    yield "ones", b"\xff" * n
    yield "text", b"<a b=\"" * 3000
    if n >= 64:
        at = chance.randrange(1, n // 8) * 4
        yield "a record of size 0", raw[:at] + b"\0\0" + raw[at + 2:]
        yield "a record of size 1", raw[:at] + b"\1\0" + raw[at + 2:]
        yield "twice", raw + raw
        yield "shifted", b"\1" + raw


def without_descendants(whole):
    case = Case(whole, "without descendants")
    for name in os.listdir(case.path):
        if name.startswith("_"):
            shutil.rmtree(case.file(name))
    return facts(case.report(refused=False) or "")


def every_file(whole, known, step):
    """Each file damaged in each way; of the ways every `step`-th is tried."""
    chance = random.Random(3)
    alone = without_descendants(whole)
    n = 0
    files = sorted(os.path.join(where, name)[len(whole) + 1:] for where, _, names in os.walk(whole) for name in names
                   if "archives" not in where and not name.startswith("ctxan.db"))
    for file in files:
        base = os.path.basename(file)
        everything = [metric for metric in known[0] if metric not in metrics_of(base)]
        inside = file != base
        # The log says what there is: without it nothing can be promised. What is lost with a descendant is its own.
        untouched = [] if base == "log.xml" else everything
        if inside:
            untouched = []
        elif base in ("heaptrace",):
            untouched = [metric for metric in everything if metric not in ("Bytes Leaked", "Leaks", "Allocations")]
        elif base in ("iotrace", "synctrace"):
            untouched = [metric for metric in everything if "Count" not in metric and not metric.startswith(("Read", "Write", "I/O", "Other"))]
        needed = base == "log.xml" and not inside
        raw = open(os.path.join(whole, file), "rb").read()
        for name, other in damages(raw, chance):
            n += 1
            if n % step != 0:
                continue
            case = Case(whole, f"{file} {name}")
            case.write(file, other)
            gone = name in ("emptied", "zeros", "garbage", "ones")
            case.report(known, untouched, noted=name == "garbage" and base in metrics_of_all and not inside,
                        refused=True if needed and gone else None if needed else False, least=alone if inside else None)
        for name in ("removed", "a directory", "a pipe", "a device", "a link to itself", "a link to nothing", "a socket's name"):
            n += 1
            if n % step != 0:
                continue
            case = Case(whole, f"{file} is {name}")
            path = case.file(file)
            os.unlink(path)
            if name == "a directory":
                os.mkdir(path)
            elif name == "a pipe":
                os.mkfifo(path)
            elif name == "a device":
                os.symlink("/dev/zero", path)
            elif name == "a link to itself":
                os.symlink(base, path)
            elif name == "a link to nothing":
                os.symlink("/nonexistent", path)
            elif name == "a socket's name":
                os.symlink("/dev/full", path)
            case.report(known, untouched, noted=not inside and base not in ("archive.log", "dyntext", "jclasses", "notes"),
                        refused=True if needed else False, least=alone if inside else None)


def enormous(whole, known):
    """Sparse files of 1 TB: refused or skipped, or read in a time that does not depend on the holes."""
    for file in sorted(os.listdir(whole)):
        if os.path.isfile(os.path.join(whole, file)) and not file.startswith("ctxan.db"):
            case = Case(whole, f"{file} of 1 TB")
            case.write(file, case.read(file))
            with open(case.file(file), "r+b") as out:
                out.truncate(1 << 40)
            case.report(known, [m for m in known[0] if m in ("Sync Wait Time",)] if file != "log.xml" and file != "synctrace" else [],
                        refused=None if file == "log.xml" else False)


def links(whole, known):
    case = Case(whole, "descendants that are links to each other")
    os.symlink("_f8.er", case.file("_f9.er"))
    os.symlink("_f9.er", case.file("_f8.er"))
    case.report(known, known[0], noted=True, refused=False)
    case = Case(whole, "a descendant that is the experiment itself")
    os.symlink(".", case.file("_f7.er"))
    case.report(known, known[0], noted=True, refused=False)
    case = Case(whole, "descendants that contain each other")
    for outer, inner in (("_f5.er", "_f6.er"), ("_f6.er", "_f5.er")):
        os.mkdir(case.file(outer))
        shutil.copy(case.file("log.xml"), case.file(outer))
        os.symlink(os.path.join("..", inner), os.path.join(case.file(outer), inner))
    case.report(known, [m for m in known[0] if m != "Total CPU"], refused=False)
    case = Case(whole, "archives that are a link to the experiment")
    shutil.rmtree(case.file("archives"))
    os.symlink(".", case.file("archives"))
    case.report(known, known[0], refused=False)
    case = Case(whole, "data that is a file of another process")
    os.unlink(case.file("profile"))
    os.symlink("_f1.er/profile", case.file("profile"))
    case.report(known, refused=False)
    case = Case(whole, "300 descendants that are empty")
    for i in range(300):
        os.mkdir(case.file(f"_f{i + 10}.er"))
    case.report(known, known[0], noted=True, refused=False)
    case = Case(whole, "directories in directories")
    deep = case.path
    for _ in range(200):
        deep = os.path.join(deep, "_f9.er")
        os.mkdir(deep)
    case.report(known, known[0], noted=True, refused=False)


def bombs(whole, known):
    laughs = '<!DOCTYPE lolz [<!ENTITY lol "lol">' + "".join(
        f'<!ENTITY lol{i} "' + f"&lol{i - 1 if i > 1 else ''};" * 10 + '">' for i in range(1, 10)) + "]>\n"
    texts = {
        "billion laughs": laughs + '<event kind="comment" id="400">&lol9;</event>\n<process cwd="&lol9;"/>\n',
        "an external entity": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n<event kind="cwarn" id="999">&e;</event>\n',
        "an entity of parameters": '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>\n',
        "an instruction": '<?xml version="1.0" encoding="UTF-7"?><?php x ?>\n',
        "CDATA": "<![CDATA[" + "<event " * 1000 + "]]>\n",
        "a comment without an end": "<!-- " + "x" * 100000,
        "deep elements": "<a>" * 100000 + "</a>" * 100000,
        "a name of 1 MB": "<" + "n" * (1 << 20) + ">",
        "a value of 1 MB": '<event kind="' + "v" * (1 << 20) + '"/>\n',
        "100000 attributes": "<event " + " ".join(f'a{i}="1"' for i in range(100000)) + "/>\n",
        "numbers beyond all": '<event kind="sample" tstamp="99999999999999999999.5" id="18446744073709551616"/>\n'
                              '<event kind="map" object="segment" vaddr="0xffffffffffffffff" size="18446744073709551615" '
                              'foffset="-0xffffffffffffffff" modes="0x5" name="x"/>\n<process pid="-1"/>\n<process wsize="77"/>\n',
        "quotes that do not close": '<event kind="cwarn" id="1\n<event kind="x>\n' * 1000,
    }
    # All are parsed by the same code: each text at each place is in log.xml, and in one of the others (--all: in each); numbers, which mean
    # something else in each file, are in all.
    others = ("map.xml", "labels.xml", "warnings.xml", "_f1.er/log.xml")
    for file in ("log.xml", *others):
        for i, (name, text) in enumerate(texts.items()):
            for at_end in (True, False):
                if file in others and STEP > 1 and name != "numbers beyond all" and (2 * i + i // 2 + at_end) % 4 != others.index(file):
                    continue
                case = Case(whole, f"{file}: {name} at the {'end' if at_end else 'beginning'}")
                raw = case.read(file).rstrip(b"\0") if os.path.exists(case.file(file)) else b""
                case.write(file, raw + text.encode() if at_end else text.encode() + raw)
                kept = [m for m in known[0] if m != "Total CPU"] if at_end else []
                if name in ("a name of 1 MB", "numbers beyond all") or (at_end and name == "deep elements"):
                    kept = []
                out = case.report(known, kept, refused=False if at_end or "log" not in file or "/" in file else None)
                if out and ("root:" in out or "lollol" in out):
                    fail(f"{case.name}: was expanded")


def groups(whole):
    def group(name, text, refused):
        with open("group.erg", "w") as out:
            out.write(text)
        for left in os.listdir("."):
            if "group.erg" in left and left != "group.erg":
                os.unlink(left)
        status, out, err = ctxan(f"group: {name}", "group.erg", "-r", "header", "--reingest")
        if status is not None and (status != 0) != refused:
            fail(f"group: {name}: {'is not refused' if refused else err}")
        return out

    first = "#analyzer experiment group\n"
    group("of nothing", first, True)
    group("of itself", first + "group.erg\n", True)
    group("with a member that is not there", first + f"missing.er\n{whole}\n", False)
    group("with names of every kind", first + "\0\n/\n..\n" + "x" * 100000 + f"\n\xff\n{whole}\n", False)
    group("of the same 40 times", first + f"{whole}\n" * 40, False)


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    generate("made.er")
    if not SANITIZED:  # its shadow takes any amount of address space
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))  # of ctxan, which inherits it
    wholes = ["made.er"] + arguments
    for whole in wholes:
        status, out, err = ctxan(whole, whole, "-r", "header", "--reingest")
        known = facts(out)
        if status != 0 or known[1] != 0 or not known[0]:
            fail(f"{whole}: undamaged: {status} {err} {out}")
            continue
        every_file(whole, known, STEP * (1 if whole == wholes[0] or TIMES > 1 else 4))
        if whole == wholes[0]:
            bombs(whole, known)
            links(whole, known)
            enormous(whole, known)
            groups(whole)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{runs} runs, {len(failures)} failures, at most {peak >> 10} MB of memory")
    if not SANITIZED and peak > RESIDENT_KB:
        fail(f"{peak >> 10} MB of memory were in use")
    sys.exit(1 if failures else 0)


main()
