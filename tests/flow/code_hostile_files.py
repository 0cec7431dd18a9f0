"""File formats for code_hostile.py: a perf.data made of what code_hostile.c wrote, ELF sections, and DWARF by hand."""
import random
import struct
import subprocess
import zlib

STACK = 8192
SAMPLE = 24 * 8 + STACK


class Dump:
    """What the program wrote: samples of (registers, stack), and its maps of code."""

    def __init__(self, path):
        data = open(path, "rb").read()
        n = data.index(b"r-xp") // SAMPLE
        # The text of the maps begins right behind the last sample, and is shorter than one up to the program's code.
        self.samples = [(list(struct.unpack_from("<24Q", data, i * SAMPLE)), data[i * SAMPLE + 192 : (i + 1) * SAMPLE]) for i in range(n)]
        self.maps = []
        for line in data[n * SAMPLE :].decode().splitlines():
            fields = line.split(None, 5)
            begin, end = (int(x, 16) for x in fields[0].split("-"))
            if "x" in fields[1] and end < 1 << 63:
                self.maps.append((begin, end, int(fields[2], 16), fields[5] if len(fields) > 5 else "//anon"))


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def write_perfdata(path, maps, build_ids, samples):
    """Samples: (registers, stack), or a list of addresses, leaf first. The period of number i is 2 to the power of i."""
    unwound = isinstance(samples[0], tuple)
    sample_type = 1 | 2 | 4 | 0x20 | 0x100 | (0x3000 if unwound else 0)
    mask = 0xFF0FFF
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000000, sample_type, 0, 1 << 8 | 1 << 23 | 1 << 9 | (1 << 22 if unwound else 0))
    attr += struct.pack("<IIQQQQIiQIHH", 0, 0, 0, 0, 0, mask if unwound else 0, STACK if unwound else 0, 0, 0, 0, 0, 0)
    data = record(3, 0, struct.pack("<II", 7, 7) + b"victim\0\0")
    for begin, end, offset, name in maps:
        identity = bytes(24)
        if name in build_ids:
            identity = bytes([20, 0, 0, 0]) + bytes.fromhex(build_ids[name])
        text = name.encode() + b"\0"
        data += record(10, 2 | (1 << 14 if name in build_ids else 0), struct.pack("<IIQQQ", 7, 7, begin, end - begin, offset) + identity + struct.pack("<II", 5, 2) + text)
    for i, sample in enumerate(samples):
        if unwound:
            registers, stack = sample
            body = struct.pack("<QIIQQQ", registers[8], 7, 7, 1000 + i, 1 << i, 0)
            body += struct.pack("<Q", 2) + b"".join(struct.pack("<Q", registers[r]) for r in range(24) if mask >> r & 1)
            body += struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack))
        else:
            body = struct.pack("<QIIQQQ", sample[0], 7, 7, 1000 + i, 1 << i, len(sample) + 1)
            body += struct.pack("<Q", 2**64 - 512) + b"".join(struct.pack("<Q", a) for a in sample)
        data += record(9, 2, body)
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, 104, 128, 232, len(data), 0, 0) + bytes(32)
    with open(path, "wb") as file:
        file.write(header + attr + bytes(16) + data)


class Elf:
    def __init__(self, path):
        self.data = bytearray(open(path, "rb").read())
        self.table, = struct.unpack_from("<Q", self.data, 40)
        n, names = struct.unpack_from("<HH", self.data, 60)
        strings = self.header(names)[4]
        self.sections = {}
        for i in range(n):
            header = self.header(i)
            at = strings + header[0]
            self.sections[self.data[at : self.data.index(0, at)].decode()] = i

    def header(self, i):
        """name, type, flags, address, offset, size, link, info, alignment, entry size"""
        return struct.unpack_from("<IIQQQQIIQQ", self.data, self.table + 64 * i)

    def place(self, name):
        header = self.header(self.sections[name])
        return header[4], header[5]

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.data)


def uleb(n):
    out = bytearray()
    while True:
        out.append(n & 127 | (128 if n > 127 else 0))
        n >>= 7
        if not n:
            return bytes(out)


# Names of DWARF that are used here.
CU, SUBPROGRAM, INLINED, SKELETON = 0x11, 0x2E, 0x1D, 0x4A
A_NAME, A_LOW, A_HIGH, A_LINES, A_FOLDER, A_ORIGIN, A_RANGES, A_INLINE, A_DWO, A_SPECIFICATION, A_DECLARATION = 3, 0x11, 0x12, 0x10, 0x1B, 0x31, 0x55, 0x20, 0x76, 0x47, 0x3C
A_LINKAGE, F_STRP = 0x6E, 0xE
A_GNU_DWO_NAME, A_GNU_DWO_ID = 0x2130, 0x2131
F_ADDR, F_DATA4, F_DATA8, F_STRING, F_REF4, F_OFFSET, F_DATA1, F_INDIRECT, F_FLAG, F_ALT = 1, 6, 7, 8, 0x13, 0x17, 0xB, 0x16, 0x19, 0x1F20


def abbreviation(code, tag, children, *attributes):
    out = uleb(code) + uleb(tag) + bytes([children])
    for name, form in attributes:
        out += uleb(name) + uleb(form)
    return out + b"\0\0"


def unit(version, body, table=0, kind=1):
    if version >= 5:
        head = struct.pack("<HBBI", version, kind, 8, table) + (struct.pack("<Q", 77) if kind == 4 else b"")
    else:
        head = struct.pack("<HIB", version, table, 8)
    return struct.pack("<I", len(head) + len(body)) + head + body


def head_bytes(version, kind=1):
    return len(unit(version, b"", kind=kind))


def add_sections(base, path, sections, compress=False):
    """A copy of a program with these sections instead of what debug information it has."""
    command = ["objcopy", "--strip-debug"]
    for i, (name, data) in enumerate(sections.items()):
        with open(f"section-{i}", "wb") as file:
            file.write(data)
        command += ["--add-section", f"{name}=section-{i}"]
    if compress:
        command.append("--compress-debug-sections=zlib")
    subprocess.run(command + [base, path], check=True)


def claim_size(path, section, size):
    """A compressed section that says it is so large when it is unpacked."""
    elf = Elf(path)
    offset, _ = elf.place(section)
    struct.pack_into("<Q", elf.data, offset + 8, size)
    elf.write(path)


def damage(path, to, section, seed):
    """A copy with random damage of one of several kinds in a section; says which."""
    random.seed(seed)
    elf = Elf(path)
    offset, size = elf.place(section)
    at = offset + random.randrange(size - 8)
    kind = ("bits", "ones", "zeros", "copy", "lengths", "flood")[seed % 6]
    if kind == "bits":
        for _ in range(1 + seed % 20):
            elf.data[offset + random.randrange(size)] ^= 1 << random.randrange(8)
    elif kind in ("ones", "zeros"):
        n = min(random.choice((1, 4, 8, 64)), offset + size - at)
        elf.data[at : at + n] = (b"\xff" if kind == "ones" else b"\0") * n
    elif kind == "copy":
        n = random.randrange(1, size // 2)
        source = offset + random.randrange(size - n)
        to_ = offset + random.randrange(size - n)
        elf.data[to_ : to_ + n] = elf.data[source : source + n]
    elif kind == "lengths":
        # of entries and units, where they are allowed
        for _ in range(3):
            place = offset + random.randrange(0, size - 4) // 4 * 4
            struct.pack_into("<I", elf.data, place, random.choice((0, 1, 4, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFF0, 0x80000000, size)))
    else:
        for i in range(size):
            if random.random() < 0.05:
                elf.data[offset + i] = random.randrange(256)
    elf.write(to)
    return kind


def crc(path):
    return zlib.crc32(open(path, "rb").read())
