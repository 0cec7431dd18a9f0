"""Writes experiments in gprofng's format: small ones with all kinds of records, of either word size and byte order.

Stacks, functions and operations are written as by the collector: blocks of 64 KiB, one flow of threads in each;
stacks stored whole or up to a known suffix; a log that describes the position of each field of a record.
"""
import os
import struct

BLOCK = 65536
R = 801425552975190205
MASK = 2**64 - 1
RUN = 5_000_000_000_000
SECOND = 1_000_000_000
CLOCK, SYNC, HWC, HEAP, MHWC, IO, FRAME, STATES = 8, 2, 3, 5, 7, 19, 11, 1
STATE_FIELDS = ("UCPU", "SCPU", "TRAP", "TFLT", "DFLT", "KFLT", "ULCK", "TSLP", "WCPU", "TSTP")
FILES = {CLOCK: "profile", STATES: "profile", SYNC: "synctrace", HWC: "hwcounters", HEAP: "heaptrace", MHWC: "hwcounters", IO: "iotrace"}
CODE = 0x4000000000  # where functions lie that are made at run time; they fit into 64 bits only
CODE_32 = 0x40000000
MARK_TRUNCATED = MASK - 1
JNI = -3


def uid_of(frames, seed):
    for frame in reversed(frames):
        seed = (seed + frame) * R & MASK
    return seed


def extended(frames):
    """32-bit addresses as the collector hashes them: with their sign."""
    return [frame | MASK - 0xffffffff if frame >> 31 == 1 else frame for frame in frames]


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def stamp(ns):
    return f"{ns // SECOND}.{ns % SECOND:09d}"


class Experiment:
    """
    One directory. Records are added in any order of time; close() writes the files. `compress`: stacks are stored in part; "anywhere": a link
    may lead into the middle of another stack, where gprofng itself does not find it.
    """

    def __init__(self, path, pid=100, ppid=1, bits=64, big=False, start=RUN, command="prog", arch=None, compress="wholes"):
        self.path, self.pid, self.ppid, self.bits, self.start = path, pid, ppid, bits, start
        self.order = ">" if big else "<"
        self.arch = arch or ("sun4v" if big else "x86_64")
        self.command, self.compress = command, compress
        self.flows = {}  # file: flow: records
        self.known, self.whole, self.suffixes = set(), set(), set()
        self.functions, self.segments, self.events, self.java_events = [], [], [], []
        self.classes, self.usage_records, self.counters, self.asked = [], [], [], set()
        self.ticks_us, self.states_reported, self.cpu = 10000, 1, 2499
        self.host, self.wall = "h", 1795229715 + (start - RUN) // SECOND
        self.base = CODE if bits == 64 else CODE_32
        self.end = 0
        os.makedirs(path, exist_ok=True)

    def pack(self, layout, *values):
        return struct.pack(self.order + layout, *values)

    # ---- records

    def add(self, file, flow, body, kind):
        record = self.pack("HH", len(body) + 4, kind) + body
        assert len(record) % 4 == 0
        self.flows.setdefault(file, {}).setdefault(flow % 16, []).append(record)

    def info(self, kind, frames, seed=1):
        """An info: whole, or up to a root side that is stored already."""
        word = "Q" if self.bits == 64 else "I"
        hashed = extended(frames) if word == "I" else frames
        own = uid_of(hashed, seed)
        stored, link = frames, 0
        if self.compress and kind == 1:
            if own in self.known:
                return self.pack("IIQ", 16, kind | 0x80000000, own)
            for k in range(1, len(frames)):
                rest = uid_of(hashed[k:], 1)
                if rest in (self.suffixes if self.compress == "anywhere" else self.whole):
                    stored, link = frames[:k], rest
                    break
            self.known.add(own)
            if not link:
                self.whole.add(own)
                self.suffixes.update(uid_of(hashed[k:], 1) for k in range(len(frames)))
        mask = 2**64 - 1 if word == "Q" else 2**32 - 1
        body = b"".join(self.pack(word, frame & mask) for frame in stored)
        if link:
            body += struct.pack("<Q", link)
        return self.pack("IIQ", 16 + len(body), kind | (0x80000000 if link else 0), own) + body

    def stack(self, frames, java=()):
        """The number of a stack. `java`: pairs (method, index of the bytecode), leaf first."""
        frames = list(frames)
        flat = [value & MASK for method, bci in java for value in (self.index(bci), method)]
        record = uid_of(frames, uid_of(flat, R) if flat else R)
        if ("record", record) in self.known:
            return record
        self.known.add(("record", record))
        infos = (self.info(2, flat) if flat else b"") + self.info(1, frames)
        self.add("data.frameinfo", 0, self.pack("IQ", 16, record) + infos, FRAME)
        return record

    def index(self, bci):
        """The index of a bytecode takes the first 32 bits of 64; the rest is what was there before."""
        if self.bits == 32:
            return bci
        low = bci & 0xffffffff
        return low << 32 | 0xdead if self.order == ">" else low | 0xdead << 32

    def event(self, kind, ns, tid, stack, more):
        self.asked.add(kind)
        self.end = max(self.end, ns)
        ids = self.pack("4xQQ" if self.bits == 64 else "II", tid, tid)
        # Of 32-bit targets a time lies at a multiple of 4, as compilers for i386 have it.
        if kind == CLOCK:
            common = ids + self.pack("Iq", tid % 4, self.start + ns) + self.pack("Q", stack)
        else:
            common = ids + self.pack("I4xqQ" if self.bits == 64 else "IqQ", tid % 4, self.start + ns, stack)
        body = common + more
        body += b"\0" * (-(len(body) + 4) % 8)
        self.add(FILES[kind], tid, body, kind)

    def clock(self, ns, tid, stack, state=10, ticks=1):
        self.event(CLOCK, ns, tid, stack, self.pack("II", state, ticks))

    def states(self, ns, tid, stack, ticks):
        """As old collectors of Solaris wrote it: ticks in each of ten states."""
        self.event(STATES, ns, tid, stack, self.pack("10I", *ticks))

    def heap(self, ns, tid, stack, kind, size, address, old=0):
        self.event(HEAP, ns, tid, stack, self.pack("I4xQQQ" if self.bits == 64 else "IIII", kind, size, address, old))

    def wait(self, ns, tid, stack, since, lock):
        self.event(SYNC, ns, tid, stack, self.pack("qQ" if self.bits == 64 else "qI", self.start + since, lock))

    def io(self, ns, tid, stack, kind, fd, size, since, name="", old=0):
        text = name.encode() + b"\0" if name else b""
        text += b"\0" * (-len(text) % 8)
        self.event(IO, ns, tid, stack, self.pack("IiqqiI", kind, fd, size, self.start + since, old, 23) + text)

    def count(self, ns, tid, stack, tag, value, address=None):
        if address is None:
            self.event(HWC, ns, tid, stack, self.pack("I4xQ" if self.bits == 64 else "IQ", tag, value))
        else:
            pad = "4x" if self.bits == 64 else ""
            self.event(MHWC, ns, tid, stack, self.pack("I" + pad + "QQQQQQQIIIIQQ", tag, value, address, 0, 0, 0, 0, 0, 0, 0,
                                                       0, 0, 0, 0))

    # ---- contents of the log and the map

    def counter(self, name, interval, internal=None, memop=0):
        self.counters.append((name, interval, internal or name, memop))
        self.asked.update((HWC, MHWC) if memop else (HWC,))

    def function(self, name, size=0x1000, at=0):
        """A function that is made at run time; its address."""
        address = self.base + 0x1000 * len(self.functions)
        self.functions.append((name, address, size, at, None))
        return address

    def compiled(self, method, size=0x1000, at=0):
        address = self.base + 0x1000 * len(self.functions)
        self.functions.append((None, address, size, at, method))
        return address

    def segment(self, name, address, size, offset=0, modes=5, at=0):
        self.segments.append((name, address, size, offset, modes, at))

    def java_class(self, number, name, file, methods, at=0):
        """`methods`: triples (number, name, signature)."""
        self.classes.append((number, name, file, at, methods))

    def java_thread(self, tid, name, at=0, group="main"):
        self.java_events.append(f'<event kind="jthread_start" tstamp="{stamp(self.start + at)}" name="{escaped(name)}" '
                                f'grpname="{group}" prntname="system" tid="{tid}" jthr="0x{tid}00" jenv="0x{tid}80"/>')

    def usage(self, ns, user_ns, label):
        number = len(self.usage_records)
        self.usage_records.append((ns, user_ns))
        self.events.append(f'<event kind="sample" tstamp="{stamp(ns)}" id="{number}" label="{escaped(label)}"/>')
        self.end = max(self.end, ns)

    # ---- files

    def fields(self, kind):
        wide = self.bits == 64
        word, size = ("INT64", 8) if wide else ("INT32", 4)
        unsigned = "U" + word
        at = 8 if wide else 4
        rows = [("LWPID", at, word), ("THRID", at + size, word)]
        cpu = at + 2 * size
        rows.append(("CPUID", cpu, "INT32"))
        time = cpu + (8 if wide and kind != CLOCK else 4)
        rows += [("TSTAMP", time, "INT64"), ("FRINFO", time + 8, "INT64")]
        at = time + 16
        next_word = at + (8 if wide else 4)
        if kind == CLOCK:
            rows += [("MSTATE", at, "INT32"), ("NTICK", at + 4, "INT32")]
        elif kind == STATES:
            rows += [(name, at + 4 * i, "INT32") for i, name in enumerate(STATE_FIELDS)]
        elif kind == SYNC:
            rows += [("SRQST", at, "INT64"), ("SOBJ", at + 8, unsigned)]
        elif kind == HEAP:
            rows += [("HTYPE", at, "INT32"), ("HSIZE", next_word, unsigned), ("HVADDR", next_word + size, unsigned),
                     ("HOVADDR", next_word + 2 * size, unsigned)]
        elif kind == IO:
            rows += [("IOTYPE", at, "INT32"), ("IOFD", at + 4, "INT32"), ("IONBYTE", at + 8, "INT64"),
                     ("IORQST", at + 16, "INT64"), ("IOOFD", at + 24, "INT32"), ("IOFSTYPE", at + 28, "INT32"),
                     ("IOFNAME", at + 32, "STRING")]
        else:
            rows += [("HWCTAG", at, "INT32"), ("HWCINT", next_word, "INT64")]
            if kind == MHWC:
                names = ("VADDR", "VIRTPC", "PADDR", "PHYSPC", "EA_PAGESIZE", "PC_PAGESIZE")
                rows += [(name, next_word + 8 + 8 * i, "UINT64") for i, name in enumerate(names)]
        return rows

    def packet(self, kind):
        rows = "\n".join(f'    <field name="{name}" uname="{name}" offset="{offset}" type="{type_}"/>'
                         for name, offset, type_ in self.fields(kind))
        return f'  <profpckt kind="{kind}" uname="data">\n{rows}\n  </profpckt>\n'

    def profiles(self):
        attributes = {CLOCK: f'name="profile" ptimer="{self.ticks_us}" numstates="{self.states_reported}"',
                      STATES: f'name="profile" ptimer="{self.ticks_us}" numstates="{self.states_reported}"', HEAP: 'name="heaptrace"',
                      SYNC: 'name="synctrace" threshold="0" scope="1"', IO: 'name="iotrace"'}
        text = ""
        for kind, words in attributes.items():
            if kind in self.asked:
                text += f'<profile {words}>\n  <profdata fname="{FILES[kind]}"/>\n{self.packet(kind)}</profile>\n'
        for tag, (name, interval, internal, memop) in enumerate(self.counters):
            text += (f'<profile name="hwcounter" cpuver="{self.cpu}" hwcname="{name}" int_name="{internal}" interval="{interval}" '
                     f'tag="{tag}" memop="{memop}">\n</profile>\n')
        if self.counters:
            kinds = [kind for kind in (HWC, MHWC) if kind in self.asked]
            text += '<profdata fname="hwcounters"/>\n' + "".join(self.packet(kind) for kind in kinds)
        return text

    def log(self, closed=True):
        text = (f'<experiment version="12.4">\n<collector>2.40.00</collector>\n</experiment>\n'
                f'<system hostname="{self.host}" arch="{self.arch}" os="Linux 6" pagesz="4096" npages="1000">\n'
                f'  <cpu id="0" clk="2000"/>\n</system>\n<process pid="{self.pid}"></process>\n'
                f'<process ppid="{self.ppid}"></process>\n<process cwd="/tmp"></process>\n'
                f'<process wsize="{self.bits}"></process>\n<process>{escaped(self.command)}</process>\n{self.profiles()}'
                f'<dataptr name="frameinfo" format="binary"/>\n<setting sample_period="1"/>\n'
                f'<event kind="run" tstamp="{stamp(self.start)}" time="{self.wall}" tm_zone="0"/>\n')
        if self.classes:
            text += '<profile name="jprofile" jversion="17" api="JVMTI 1.0"/>\n'
        text += "".join(event + "\n" for event in self.events + self.java_events)
        if closed:
            text += f'<event kind="exit" tstamp="{stamp(self.end + 1000)}"/>\n'
        return text

    def map(self):
        text = ""
        for name, address, size, offset, modes, at in self.segments:
            text += (f'<event kind="map" object="segment" tstamp="{stamp(at)}" vaddr="0x{address:016X}" size="{size}" pagesz="4096" '
                     f'foffset="+0x{offset:08X}" modes="0x{modes:03X}" chksum="0x0" name="{escaped(name)}"/>\n')
        for name, address, size, at, method in self.functions:
            if method is None:
                text += (f'<event kind="map" object="function" tstamp="{stamp(at)}" vaddr="0x{address:016X}" size="{size}" '
                         f'name="{escaped(name)}" />\n')
            else:
                text += (f'<event kind="map" object="jcm" tstamp="{stamp(at)}" vaddr="0x{address:016X}" size="{size}" '
                         f'methodId="0x{method:016X}" />\n')
        return text

    def java(self):
        def padded(text):
            raw = text.encode() + b"\0"
            return raw + b"\0" * ((len(text.encode()) + 4 & ~3) - len(raw))

        records = []
        for number, name, file, at, methods in self.classes:
            records.append((0x0A03, self.pack("4xQq", number, at) + padded(name) + padded(file)))
            records += [(0x0B03, self.pack("4xQQ", number, m) + padded(n) + padded(s)) for m, n, s in methods]
        for kind, body in records:
            self.add("jclasses", 0, body + b"\0" * (-(len(body) + 4) % 8), kind)

    def blocks(self, flows):
        """Each flow's records in blocks of their own; a record that does not fit closes its block."""
        out = b""
        for records in flows.values():
            block = b""
            for record in records:
                if len(block) + len(record) > BLOCK:
                    left = BLOCK - len(block)
                    out += block + (self.pack("HH", left, 65535).ljust(left, b"\0") if left else b"")
                    block = b""
                block += record
            left = BLOCK - len(block)
            out += block + (self.pack("HH", left & 0xffff, 0).ljust(left, b"\0") if left else b"")
        return out

    def overview(self):
        out = b""
        for ns, user in self.usage_records:
            if self.bits == 64:
                record = bytearray(504)
                struct.pack_into(self.order + "II", record, 0, self.pid, 1)
                for offset, value in ((8, self.start + ns), (24, self.start), (56, ns), (72, user)):
                    struct.pack_into(self.order + "qq", record, offset, value // SECOND, value % SECOND)
            else:
                record = bytearray(256)
                struct.pack_into(self.order + "II", record, 0, self.pid, 1)
                for offset, value in ((8, self.start + ns), (16, self.start), (32, ns), (40, user)):
                    struct.pack_into(self.order + "ii", record, offset, value // SECOND, value % SECOND)
            out += bytes(record)
        return out

    def text_file(self, name, text):
        raw = text.encode()
        self.file(name, raw + b"\0" * (-len(raw) % BLOCK))

    def file(self, name, raw):
        with open(os.path.join(self.path, name), "wb") as out:
            out.write(raw)

    def close(self, closed=True):
        if self.classes:
            self.java()
        self.text_file("log.xml", self.log(closed))
        self.text_file("map.xml", self.map())
        self.file("overview", self.overview())
        for kind in self.asked:
            self.flows.setdefault(FILES[kind], {})
        for file in set(self.flows) | {"data.frameinfo"}:
            self.file(file, self.blocks(self.flows.get(file, {})))
        os.makedirs(os.path.join(self.path, "archives"), exist_ok=True)
