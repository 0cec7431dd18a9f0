#!/usr/bin/env python3
"""Damaged and hostile objects, debug information and stacks: ctxan ends soon, with status 0 or 1, in little memory, and no
name is a wrong one.

    code_hostile.py BIN_DIR SOURCE_DIR [SEEDS] [--all]     in an empty folder

ctxrec-sources reads debug information by the same source map as ctxan. It is asked about each damage for the files of all code or for those of some
places, in turn; with --all for both. It has no interest in lists of ranges of inlined calls: about those it is asked with --all alone.

The damaged file is at the path in the recording and has its build id, and so is used. The right
names are those of the same recording with the program as it was. Each sample has its own bit in the weights.
"""
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from code_hostile_files import *  # noqa: E402,F403

BIN, SOURCE = sys.argv[1], sys.argv[2]
SEEDS = int(sys.argv[3]) if len(sys.argv) > 3 else 24
ALL = "--all" in sys.argv
SANITIZED = b"__asan_init" in open(BIN + "/ctxan", "rb").read()
MEMORY_KB = 1 << 20 if not SANITIZED else 6 << 20
SECONDS = 60 if not SANITIZED else 240
failures, runs, slowest, largest, asked = 0, 0, (0, ""), (0, ""), 0
os.environ.update(LC_ALL="C", ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=1")


def fail(text):
    global failures
    failures += 1
    print("FAIL:", text, flush=True)


def watch(label, command, output, stdin=subprocess.DEVNULL):
    """Runs a program that has to end soon: its status as wait gives it, what it said on stderr, seconds, kB of memory."""
    global runs, slowest, largest
    began = time.monotonic()
    with open(output, "wb") as out, open("err.txt", "w") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, stdin=stdin)
        timer = threading.Timer(SECONDS, os.kill, (child.pid, 9))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
    took = time.monotonic() - began
    runs += 1
    slowest = max(slowest, (took, label))
    largest = max(largest, (usage.ru_maxrss, label))
    return status, open("err.txt", errors="replace").read(), took, usage.ru_maxrss


def run(label, recording, *options, report="stacks"):
    """The report, or None when it was refused. The database is made anew. Without --debug-root what this machine has of libc is read each time."""
    if "--debug-root" not in options:
        options = ("--debug-root", os.getcwd() + "/none", *options)
    command = [BIN + "/ctxan", "-q", recording, "--reingest", "--db", "hostile.db", "-r", report, "--limit", "0", *options]
    status, text, took, memory = watch(label, command, "out.json")
    if os.WIFSIGNALED(status):
        return fail(f"{label}: signal {os.WTERMSIG(status)} after {took:.0f} s: {text[:600]}")
    if os.WEXITSTATUS(status) not in (0, 1) or "Sanitizer" in text or "runtime error" in text:
        return fail(f"{label}: status {os.WEXITSTATUS(status)}: {text[:1500]}")
    if memory > MEMORY_KB:
        fail(f"{label}: {memory >> 10} MiB of memory")
    if os.WEXITSTATUS(status) != 0:
        return None
    return open("out.json", errors="replace").read()


def source_files(label, world):
    """What ctxrec asks after a recording: the files of all code, and of the places of some functions. Within its limits, so that nothing kills it."""
    global asked
    asked += 1
    offsets = struct.pack(f"={len(world.functions)}Q", *(begin for begin, _ in world.functions.values()))
    with open("places", "wb") as file:
        file.write(offsets)
    for places in (["all"], []) if ALL else (["all"],) if asked % 2 else ([],):
        with open("places", "rb") as file:
            command = [BIN + "/ctxrec-sources", world.path, world.build_id, *places]
            status, text, took, memory = watch("sources: " + label, command, "paths", file)
        paths = open("paths", "rb").read().split(b"\0")
        if os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (0, 3) or "Sanitizer" in text or "runtime error" in text:
            fail(f"{label}: ctxrec-sources: status {status:#x} after {took:.0f} s: {text[:600]}")
        elif memory > MEMORY_KB:
            fail(f"{label}: ctxrec-sources: {memory >> 10} MiB of memory")
        elif paths.pop() != b"" or not all(path.startswith(b"/") for path in paths):
            fail(f"{label}: ctxrec-sources: not all paths are absolute: {paths[:4]}")


def stacks(label, recording, *options):
    """number of the sample -> names, outermost first"""
    text = run(label, recording, "--format", "json", *options)
    found = {}
    for row in json.loads(text)["rows"] if text else []:
        for i in range(64):
            if row["exclusive"] >> i & 1:
                found[i] = [frame["function"] for frame in row["frames"]]
    return found


def is_inlined(name):
    return name.endswith(" (inlined)")


def outer(names):
    return [name for name in names if not is_inlined(name)]


def is_honest(name):
    return name.startswith(("<Unknown>", "<static>@", "<Truncated"))


def same_frames(label, wanted, found, may_be_unknown=False, inlined=None):
    """Each address has the name that it has without damage (or none at all, where that is allowed)."""
    if set(wanted) != set(found):
        fail(f"{label}: samples {sorted(set(wanted) ^ set(found))} are missing")
    for i in set(wanted) & set(found):
        ours, right = outer(found[i]), outer(wanted[i])
        good = len(ours) == len(right) and all(a == b or may_be_unknown and is_honest(a) for a, b in zip(ours, right))
        if not good:
            return fail(f"{label}: sample {i}: {ours} instead of {right}")
        for name in found[i]:
            if inlined is not None and is_inlined(name) and name not in inlined:
                return fail(f"{label}: sample {i}: '{name[:100]}' is inlined nowhere")


def same_leaves(label, wanted, found, known, may_be_unknown=False):
    """Stacks may be others, but of functions that there are, and what each of them ends in is known."""
    if set(wanted) != set(found):
        fail(f"{label}: samples {sorted(set(wanted) ^ set(found))} are missing")
    for i in set(wanted) & set(found):
        ours, right = outer(found[i]), outer(wanted[i])
        if not ours or ours[-1] != right[-1] and not (may_be_unknown and is_honest(ours[-1])):
            fail(f"{label}: sample {i}: {ours} instead of {right}")
        for name in ours:
            if name not in known and not is_honest(name):
                return fail(f"{label}: sample {i}: no function is called '{name}'")


def compile_program(output, *options):
    subprocess.run(["cc", "-O2", "-fno-omit-frame-pointer" if "-fp" in options else "-fomit-frame-pointer", "-Wl,--build-id=sha1", "-w",
                    *[o for o in options if o != "-fp"], "-o", output, "code_hostile.c"], check=True)


def build_id(path):
    for line in subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout.splitlines():
        if "Build ID:" in line:
            return line.split()[-1]
    sys.exit(f"{path} has no build id")


def functions_of(path, *options):
    """name -> (address, size)"""
    found = {}
    for line in subprocess.run(["nm", "-S", *options, path], capture_output=True, text=True).stdout.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTwWi":
            found[fields[3].split("@")[0]] = (int(fields[0], 16), int(fields[1], 16))
    return found


class World:
    """The program, as it was, and its two recordings: chain.data with addresses, stack.data with registers and stacks."""

    def __init__(self, folder):
        self.path = f"{folder}/victim"
        os.makedirs(folder)
        compile_program("good", "-g", "-gdwarf-4")
        self.put("good")
        subprocess.run([self.path, f"{folder}/dump"], check=False)
        self.dump = Dump(f"{folder}/dump")
        self.functions = functions_of("good")
        self.build_id = build_id("good")
        self.ids = {name: build_id(name) for *_, name in self.dump.maps if name[0] == "/"}
        self.chain, self.stack = f"{folder}/chain.data", f"{folder}/stack.data"
        begin, _, offset, _ = next(m for m in self.dump.maps if m[3] == self.path)
        self.base = begin - offset  # the program is linked at 0, and its code at the address of its offset
        random.seed(1)
        names = [n for n in ("take", "alpha", "beta", "gamma_", "by_value", "main") if n in self.functions]
        samples = [[self.base + self.functions[n][0] + 1 + random.randrange(self.functions[n][1] - 1) for n in random.choices(names, k=6)] for _ in range(30)]
        write_perfdata(self.chain, self.dump.maps, self.ids, samples)
        write_perfdata(self.stack, self.dump.maps, self.ids, self.dump.samples)
        self.right_chain = stacks("undamaged", self.chain)
        self.right_stack = stacks("undamaged", self.stack)
        self.known = {name for names in self.right_stack.values() for name in names} | set(self.functions) | {"<Total>"}
        for *_, name in self.dump.maps:
            if name[0] == "/":
                self.known |= set(functions_of(name, "-D"))
        self.inlined = {name for right in (self.right_chain, self.right_stack) for names in right.values() for name in names if is_inlined(name)}
        full = [names for names in self.right_stack.values() if "main" in names and "take" in names and not any("Truncated" in n for n in names)]
        if len(full) != len(self.dump.samples) or len(self.right_chain) != 30 or not self.inlined:
            sys.exit(f"the undamaged stacks are not what the test needs: {self.right_stack} {self.right_chain}")

    def put(self, file):
        shutil.copy(file, self.path + ".new")
        os.rename(self.path + ".new", self.path)


def damaged_frames(world):
    """Flipped bytes, lengths, zeros in the call frame information: names are those of the symbols all the same."""
    for section in (".eh_frame", ".eh_frame_hdr"):
        for seed in range(SEEDS):
            kind = damage("good", "bad", section, seed)
            world.put("bad")
            label = f"{section}, {kind}, seed {seed}"
            same_frames(label, world.right_chain, stacks(label, world.chain))
            same_leaves(label, world.right_stack, stacks(label, world.stack), world.known)


def damaged_debug_information(world):
    for section in (".debug_info", ".debug_abbrev", ".debug_line", ".debug_ranges", ".debug_str"):
        for seed in range(SEEDS):
            if section not in Elf("good").sections:
                continue
            kind = damage("good", "bad", section, seed)
            world.put("bad")
            label = f"{section}, {kind}, seed {seed}"
            same_frames(label, world.right_chain, stacks(label, world.chain))
            source_files(label, world)


def damaged_stacks(world):
    """Registers and copies of the stack that are no such things."""
    for seed in range(2 * SEEDS):
        random.seed(seed)
        samples = []
        for registers, stack in world.dump.samples:
            registers, stack = list(registers), bytearray(stack)
            for _ in range(random.randrange(1, 30)):
                place = random.randrange(STACK // 8) * 8 if seed % 2 else random.randrange(40) * 8
                value = random.choice((0, 2**64 - 1, registers[7], registers[7] + place, registers[8], random.getrandbits(64), random.randrange(4096)))
                struct.pack_into("<Q", stack, place, value)
            if seed % 3 == 0:
                registers[random.choice((3, 6, 7, 16, 20))] = random.choice((0, 2**64 - 1, 2**64 - 8, registers[7] - 1, registers[8]))
            samples.append((registers, bytes(stack)))
        label = f"stacks, seed {seed}"
        write_perfdata("bad.data", world.dump.maps, world.ids, samples)
        same_leaves(label, world.right_stack, stacks(label, "bad.data"), world.known)


# --- debug information made by hand ---


def whole_function(world, name="alpha"):
    address, size = world.functions[name]
    return struct.pack("<QQ", address, size)


def plain_unit_abbreviations():
    return (abbreviation(1, CU, 1, (A_NAME, F_STRING), (A_FOLDER, F_STRING), (A_LOW, F_ADDR), (A_HIGH, F_DATA8))
            + abbreviation(2, SUBPROGRAM, 1, (A_NAME, F_STRING), (A_LOW, F_ADDR), (A_HIGH, F_DATA8)))


def plain_unit_begin(world, name="alpha"):
    return b"\1x.c\0/\0" + whole_function(world, name) + b"\2" + name.encode() + b"\0" + whole_function(world, name)


def bomb_cycle(world):
    """Abstract origins and specifications in circles, of themselves, and into the middle of others."""
    abbrev = plain_unit_abbreviations() + abbreviation(3, INLINED, 1, (A_ORIGIN, F_REF4), (A_LOW, F_ADDR), (A_HIGH, F_DATA8)) + abbreviation(4, SUBPROGRAM, 0, (A_ORIGIN, F_REF4)) + abbreviation(5, SUBPROGRAM, 0, (A_SPECIFICATION, F_REF4)) + b"\0"
    body = plain_unit_begin(world)
    at = head_bytes(4) + len(body)
    n = 20
    functions = at + n * 21 + n + 2
    for i in range(n):
        body += b"\3" + struct.pack("<I", (functions + 5 * i, at, functions + 2)[i % 3]) + whole_function(world)
    body += bytes(n + 1) + bytes(1)
    body += b"".join(bytes([4 + i % 2]) + struct.pack("<I", functions + 5 * ((i + 1) % n)) for i in range(n)) + b"\0"
    return {".debug_info": unit(4, body), ".debug_abbrev": abbrev}


def bomb_depth(world):
    abbrev = plain_unit_abbreviations() + abbreviation(3, INLINED, 1, (A_LOW, F_ADDR), (A_HIGH, F_DATA8)) + b"\0"
    body = plain_unit_begin(world) + (b"\3" + whole_function(world)) * 300000 + bytes(300002)
    return {".debug_info": unit(4, body), ".debug_abbrev": abbrev}


def bomb_ranges(world, version, entries, dies):
    """So many instances that share one list of so many entries, which say nothing."""
    abbrev = plain_unit_abbreviations() + abbreviation(3, INLINED, 0, (A_RANGES, F_OFFSET)) + b"\0"
    body = plain_unit_begin(world) + (b"\3" + bytes(4)) * dies + b"\0\0"
    if version == 4:
        return {".debug_info": unit(4, body), ".debug_abbrev": abbrev, ".debug_ranges": struct.pack("<QQ", 2**64 - 1, 0) * entries + bytes(16)}
    lists = (b"\5" + bytes(8)) * entries + b"\0"
    head = struct.pack("<HBBI", 5, 8, 0, 0)
    body = body.replace(b"\3" + bytes(4), b"\3" + struct.pack("<I", 12))
    return {".debug_info": unit(5, body), ".debug_abbrev": abbrev, ".debug_rnglists": struct.pack("<I", len(head) + len(lists)) + head + lists}


def bomb_full_ranges(world):
    """The same with ranges that there are: a thousand million, of which so many are read as the file has bytes for."""
    sections = bomb_ranges(world, 4, 1, 20000)
    address, size = world.functions["alpha"]
    lists = b"".join(struct.pack("<QQ", address + i % (size - 1), address + i % (size - 1) + 1) for i in range(50000))
    low = world.functions["alpha"][0]
    base = struct.pack("<QQ", 2**64 - 1, 0)
    return {**sections, ".debug_ranges": base + lists + bytes(16)} if low else sections


def bomb_unit_ranges(world, abbreviations=0):
    """Units that share a list, and an abbreviation table of which each needs the last entry."""
    behind_code = abbreviation(0, SUBPROGRAM, 0, (A_NAME, F_STRING))[1:]
    filler = b"".join(uleb(i + 10) + behind_code for i in range(abbreviations))
    abbrev = filler + abbreviation(1, CU, 0, (A_RANGES, F_OFFSET)) + b"\0"
    lists = struct.pack("<QQ", 2**64 - 1, 0) * (100000 if not abbreviations else 1) + bytes(16)
    return {".debug_info": unit(4, b"\1" + bytes(4)) * 20000, ".debug_abbrev": abbrev, ".debug_ranges": lists}


def line_table(version, program, tables=b"\0\0", header=None, opcode_base=13):
    lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1][: opcode_base - 1]) + b"\1" * (opcode_base - 13)
    inner = (b"\1\1" if version >= 4 else b"\1") + struct.pack("<BbBB", 1, -5 & 127, 14, opcode_base) + lengths + tables
    body = struct.pack("<H", version) + (b"\x08\0" if version >= 5 else b"") + struct.pack("<I", len(inner) if header is None else header) + inner + program
    return struct.pack("<I", len(body)) + body


def with_lines(world, table, units=1, stated=True, version=4):
    attributes = [(A_NAME, F_STRING), (A_FOLDER, F_STRING), (A_LINES, F_OFFSET)]
    begin = b"\1x.c\0/\0" + bytes(4)
    if stated:
        attributes += [(A_LOW, F_ADDR), (A_HIGH, F_DATA8)]
        begin += whole_function(world)
    return {".debug_info": unit(version, begin) * units, ".debug_abbrev": abbreviation(1, CU, 0, *attributes) + b"\0", ".debug_line": table}


def line_bombs(world):
    set_address = b"\0\x09\2" + struct.pack("<Q", world.functions["alpha"][0])
    huge = uleb(2**62)
    yield "header length", with_lines(world, line_table(4, b"\1" * 100, header=0xFFFFFFF0))
    yield "opcode base", with_lines(world, line_table(4, set_address + bytes(range(256)) * 50, opcode_base=255))
    yield "opcode base 0", with_lines(world, line_table(4, set_address + b"\1" * 50, opcode_base=0))
    yield "counts", with_lines(world, line_table(5, b"\1", tables=b"\1\1\x0f" + huge + b"\1\1\x0f" + huge), version=5)
    yield "empty entries", with_lines(world, line_table(5, b"\1", tables=b"\0" + uleb(2**40) + b"\0" + uleb(2**40)), version=5)
    yield "formats", with_lines(world, line_table(5, b"\1", tables=b"\xff" + b"\1\x16" * 255 + huge), version=5)
    yield "files", with_lines(world, line_table(4, set_address + b"\1", tables=b"\0" + b"f\0\0\0\0" * 1000000 + b"\0"))
    yield "files of many units", with_lines(world, line_table(4, set_address + b"\1", tables=b"\0" + b"f\0\0\0\0" * 150000 + b"\0"), units=20000, stated=False)
    yield "rows", with_lines(world, line_table(4, set_address + b"\xff" * 12000000))
    yield "rows of many units", with_lines(world, line_table(4, set_address + b"\x20" * 200000), units=20000, stated=False)
    yield "extended", with_lines(world, line_table(4, set_address + b"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1" * 9))


def bomb_names(world):
    """Each name is the end of one that is a megabyte long; and so is the folder of each file."""
    abbrev = (abbreviation(1, CU, 1, (A_NAME, F_STRING), (A_FOLDER, F_STRING), (A_LINES, F_OFFSET), (A_LOW, F_ADDR), (A_HIGH, F_DATA8))
              + abbreviation(2, SUBPROGRAM, 1, (A_NAME, F_STRING), (A_LOW, F_ADDR), (A_HIGH, F_DATA8))
              + abbreviation(3, INLINED, 0, (A_LINKAGE, F_STRP), (A_LOW, F_ADDR), (A_HIGH, F_DATA1)) + b"\0")
    address, size = world.functions["alpha"]
    body = b"\1x.c\0/" + b"d" * 1000000 + b"\0" + bytes(4) + whole_function(world) + b"\2alpha\0" + whole_function(world)
    body += b"".join(b"\3" + struct.pack("<IQB", i, address + i % size, 1) for i in range(20000)) + b"\0\0"
    files = b"".join(b"%d.c\0\0\0\0" % i for i in range(20000))
    program = b"\0\x09\2" + struct.pack("<Q", address) + b"".join(b"\4" + uleb(1 + i) + b"\1" for i in range(20000))
    return {".debug_info": unit(4, body), ".debug_abbrev": abbrev, ".debug_str": b"n" * 1000000 + b"\0", ".debug_line": line_table(4, program, tables=b"\0" + files + b"\0")}


def bomb_indirect(world):
    abbrev = abbreviation(1, CU, 1, (A_NAME, F_INDIRECT), (A_LOW, F_ADDR), (A_HIGH, F_DATA8)) + abbreviation(2, SUBPROGRAM, 0, (A_NAME, F_INDIRECT), (A_INLINE, F_INDIRECT)) + b"\0"
    return {".debug_info": unit(4, b"\1" + uleb(F_INDIRECT) * 1000000 + uleb(F_STRING) + b"x\0" + whole_function(world) + b"\2" + uleb(F_INDIRECT) * 1000 + b"\0\0"), ".debug_abbrev": abbrev}


def bomb_dwo(world, name, version):
    sections = {}
    tag = CU if version == 4 else SKELETON
    attributes = [(A_GNU_DWO_NAME, F_STRING), (A_GNU_DWO_ID, F_DATA8)] if version == 4 else [(A_DWO, F_STRING)]
    body = b"\1" + name.encode() + b"\0" + (struct.pack("<Q", 77) if version == 4 else b"") + os.getcwd().encode() + b"\0" + whole_function(world)
    sections[".debug_abbrev"] = abbreviation(1, tag, 0, *attributes, (A_FOLDER, F_STRING), (A_LOW, F_ADDR), (A_HIGH, F_DATA8)) + b"\0"
    sections[".debug_info"] = unit(version, body, kind=4)
    return sections


def bomb_alt(world, link):
    abbrev = plain_unit_abbreviations() + abbreviation(3, INLINED, 0, (A_ORIGIN, F_ALT), (A_LOW, F_ADDR), (A_HIGH, F_DATA8)) + b"\0"
    body = plain_unit_begin(world)
    body += b"".join(b"\3" + struct.pack("<I", 11 + i) + whole_function(world) for i in range(100)) + b"\0\0"
    return {".debug_info": unit(4, body), ".debug_abbrev": abbrev, ".gnu_debugaltlink": link.encode() + b"\0" + bytes.fromhex(world.build_id)}


def bombs(world):
    yield "cycle of origins", bomb_cycle(world), {}
    yield "depth", bomb_depth(world), {}
    yield "long list of ranges, version 4", bomb_ranges(world, 4, 500000, 200000), {"inlined_only": True}
    yield "long list of ranges, version 5", bomb_ranges(world, 5, 500000, 200000), {"inlined_only": True}
    yield "long list of ranges that there are", bomb_full_ranges(world), {"inlined_only": True}
    yield "long list of ranges of many units", bomb_unit_ranges(world), {}
    yield "abbreviations of many units", bomb_unit_ranges(world, 300000), {}
    for name, sections in line_bombs(world):
        yield f"line table: {name}", sections, {"compress": name == "rows"}
    yield "names that end each other", bomb_names(world), {"names": True}
    yield "indirect forms", bomb_indirect(world), {}
    yield "a terabyte", bomb_depth(world), {"claim": 1 << 40}
    yield "more than there is", bomb_depth(world), {"claim": 1 << 28}
    os.mkfifo("fifo.dwo")
    os.mkdir("folder.dwo")
    os.symlink("loop.dwo", "loop.dwo")
    for version in (4, 5):
        for name in ("fifo.dwo", "folder.dwo", "loop.dwo", world.path, "bad", "/dev/zero", "../" * 2000 + "x"):
            yield f"dwo {name[:30]}, version {version}", bomb_dwo(world, name, version), {}
    for name in (world.path, "victim", "fifo.dwo", "/dev/zero"):
        yield f"alternate file {name}", bomb_alt(world, name), {}


def bombs_go_off(world):
    for name, sections, options in bombs(world):
        label = f"bomb: {name}"
        add_sections("good", "bad", sections, compress=bool(options.get("compress") or options.get("claim")))
        if "claim" in options:
            claim_size("bad", ".debug_info", options["claim"])
        if build_id("bad") != world.build_id:
            sys.exit("objcopy has changed the build id")
        world.put("bad")
        same_frames(label, world.right_chain, stacks(label, world.chain), inlined=None if "names" in options else {"<unnamed> (inlined)"})
        if ALL or not options.get("inlined_only"):
            source_files(label, world)


# --- files that are not what they say ---


def another_program(world):
    """What lies at the path, in the cache, or beside the program is of another build: it is not used."""
    compile_program("other", "-g", "-DOTHER")
    world.put("other")
    found = stacks("another build", world.chain)
    same_frames("another build", world.right_chain, found, may_be_unknown=True, inlined=set())
    if any(not is_honest(name) for names in found.values() for name in names):
        fail(f"another build at the path gave names: {found}")
    same_leaves("another build, stacks", world.right_stack, stacks("another build, stacks", world.stack), world.known, may_be_unknown=True)

    # perf's cache says it is the right one.
    folder = f"cache/.build-id/{world.build_id[:2]}/{world.build_id[2:]}"
    os.makedirs(folder)
    subprocess.run(["cp", "other", folder + "/elf"], check=True)
    found = stacks("a cache that lies", world.chain, "--buildid-dir", "cache")
    same_frames("a cache that lies", world.right_chain, found, may_be_unknown=True, inlined=set())
    # And with the program in its place, debug files of another build beside it, and by its build id.
    subprocess.run(["objcopy", "--strip-debug", "good", "nodebug"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", "other", f"{os.path.dirname(world.path)}/linked.debug"], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={os.path.dirname(world.path)}/linked.debug", "nodebug", "bad"], check=True)
    debug = f"debug/.build-id/{world.build_id[:2]}"
    os.makedirs(debug)
    for label in ("debug link to another build", "a wrong checksum", "debug file of another build"):
        if label == "a wrong checksum":  # of the right file
            subprocess.run(["objcopy", "--only-keep-debug", "good", f"{os.path.dirname(world.path)}/linked.debug"], check=True)
        if label == "debug file of another build":
            subprocess.run(["objcopy", "--only-keep-debug", "other", f"{debug}/{world.build_id[2:]}.debug"], check=True)
        world.put("bad")
        found = stacks(label, world.chain, "--debug-root", os.path.abspath("debug"))
        same_frames(label, world.right_chain, found, inlined=world.inlined)
        if label != "a wrong checksum" and any(is_inlined(name) for names in found.values() for name in names):
            fail(f"{label}: its inlined functions are shown")
    # Stripped: what is left without symbols and with the other's debug file.
    subprocess.run(["strip", "-o", "stripped", "bad"], check=True)
    world.put("stripped")
    found = stacks("stripped", world.chain, "--debug-root", os.path.abspath("debug"))
    same_frames("stripped", world.right_chain, found, may_be_unknown=True, inlined=set())
    for section in (".eh_frame", ".eh_frame_hdr"):
        for seed in range(min(SEEDS, max(6, SEEDS // 2))):
            damage("stripped", "bad", section, seed)
            world.put("bad")
            label = f"stripped, {section}, seed {seed}"
            same_frames(label, world.right_chain, stacks(label, world.chain, "--debug-root", os.path.abspath("debug")), may_be_unknown=True, inlined=set())
            same_leaves(label, world.right_stack, stacks(label, world.stack), world.known, may_be_unknown=True)


def hostile_sources(world):
    """Where the source was there is now something else. Nothing of it gets into the database."""
    source = os.path.abspath("code_hostile.c")
    kept = open(source).read()
    secret = "root:$6$not-for-you:19000"
    with open("secret", "w") as file:
        file.write(secret + "\n")
    world.put("good")
    server = socket.socket(socket.AF_UNIX)

    def sparse():
        with open(source, "w") as file:
            file.truncate(5 << 30)

    kinds = {
        "fifo": lambda: os.mkfifo(source),
        "folder": lambda: os.mkdir(source),
        "socket": lambda: server.bind(os.path.relpath(source)),
        "link to a secret": lambda: os.symlink(os.path.abspath("secret"), source),
        "link to /etc/shadow": lambda: os.symlink("/etc/shadow", source),
        "link to itself": lambda: os.symlink(source, source),
        "link to a device": lambda: os.symlink("/dev/zero", source),
        "5 GB": sparse,
    }
    text = run("source", world.chain, report="source=alpha")
    if text is None or "inlined(n) + room" not in text:
        fail(f"the source is not shown while it is there: {text}")
    for name, make in kinds.items():
        subprocess.run(["rm", "-rf", source], check=True)
        make()
        text = run(f"source is a {name}", world.chain, report="source=alpha")
        database = open("hostile.db", "rb").read()
        # Texts are compressed in the database, so the report is looked at, too, and the size.
        if secret in (text or "") or secret.encode() in database or "inlined(n) + room" in (text or ""):
            fail(f"source is a {name}: its text is shown: {text}")
        if "root:" in (text or ""):
            fail(f"source is a {name}: /etc/shadow is shown")
    subprocess.run(["rm", "-rf", source], check=True)
    with open(source, "w") as file:
        file.write(kept)


def main():
    subprocess.run(["cp", SOURCE + "/tests/flow/code_hostile.c", "."], check=True)
    world = World(os.path.abspath("world"))
    for part in (damaged_frames, damaged_debug_information, damaged_stacks, bombs_go_off, another_program, hostile_sources):
        began, before = time.monotonic(), runs
        part(world)
        print(f"{part.__name__}: {runs - before} runs, {time.monotonic() - began:.1f} s", flush=True)
    print(f"{runs} runs; slowest {slowest[0]:.1f} s ({slowest[1]}); largest {largest[0] >> 10} MiB ({largest[1]})")
    sys.exit(failures != 0)


main()
