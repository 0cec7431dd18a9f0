#!/usr/bin/env python3
"""Compares the frames that symbolize prints with addr2line's and llvm-symbolizer's: function, file and line of every
frame of every address.

    symbols_same.py LABEL OURS THEIRS

Each file is what addr2line -a -i -f -C prints. Differences of a known kind are counted by kind and printed; an address
that differs in any other way is a failure.
"""
import os.path
import re
import sys
from collections import Counter

EXPLAINED = {
    "no debug information": "neither knows more than a symbol, or that there is none",
    "line 0": "one says the file of code without a line, the other ? or line 0",
    "scope": "we put namespaces and classes in front of a name that has no linkage name",
    "outer name": "the outermost function is named by its symbol: with parameters, a clone's suffix or another alias",
    "symbol": "addr2line puts the symbol in the place of an innermost inlined function without a linkage name",
    "file": "of version 5 addr2line takes the unit's own file for another one (with a line that is not in it)",
    "spelling": "the same name, written differently by two demanglers, or by one that cannot read it",
}


UNIT_FILES = ("symbols_same.cc", "<artificial>")
MAIN_LINES = 104


def read(path):
    """address -> [(function, file, line), ...], innermost first"""
    addresses, name, frames = {}, None, None
    with open(path, errors="surrogateescape") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if re.fullmatch(r"0x[0-9a-f]+", line):
                frames = addresses.setdefault(int(line, 16), [])
                frames.clear()
                name = None
            elif line == "":
                continue
            elif name is None:
                name = line
            else:
                place = re.sub(r" \(discriminator \d+\)$", "", line)
                file, _, number = place.partition(":") if place.count(":") < 2 else place.split(":")[0:1] + ["", place.split(":")[1]]
                file = "" if file == "??" else os.path.normpath(file)
                frames.append((name, file, int(number) if number.isdigit() else 0))
                name = None
    return addresses


def bare(name):
    """A name without what demanglers differ in: parameters, template arguments, return types, blanks, clones."""
    name = re.sub(r"\(anonymous namespace\)", "{anon}", name)
    name = re.sub(r" ?\[clone [^]]*\]|\[abi:[^]]*\]", "", name)
    name = re.sub(r"operator(<=>|<<=?|>>=?|<=?|>=?|->\*?|\(\))", lambda m: "operator" + "".join(f"{{{ord(c)}}}" for c in m.group(1)), name)
    name = re.sub(r"<lambda[^>]*>|\{lambda[^}]*\}(#\d+\})?|<lambda>|'lambda\d*'", "{lambda}", name)
    while True:
        shorter = re.sub(r"\([^()]*\)( const)?|<[^<>]*>", "", name)
        if shorter == name:
            break
        name = shorter
    name = re.sub(r"(\.(part|cold|isra|constprop|lto_priv|localalias)(\.\d+)*)+$", "", name).strip()
    return name.split(" ")[-1] if "operator" not in name else re.sub(r"^.* (?=\S*operator)", "", name)


def has_parameters(name):
    """As the demangled form of a linkage name has, but for one of C."""
    return re.search(r"\)( const)?( \[clone [^]]*\])*$", name) is not None and not name.endswith("operator()")


def name_difference(ours, theirs, innermost, outermost):
    if ours.replace(" ", "") == theirs.replace(" ", ""):
        return None
    a, b = bare(ours), bare(theirs)
    if a == b:
        return "outer name" if outermost else "spelling"
    if a.endswith("::" + b):
        return "outer name" if outermost else "scope"
    if theirs.startswith("_Z"):
        return "spelling"
    if outermost and theirs != "??":
        return "outer name"
    if innermost and not has_parameters(ours):
        return "symbol"
    return f"name {theirs!r}, ours {ours!r}"


def differences(ours, theirs):
    if [frame[1:] for frame in ours] == [frame[1:] for frame in theirs] == [("", 0)]:
        if ours != theirs:
            yield "no debug information"
        return
    if len(ours) != len(theirs):
        yield f"{len(theirs)} frames, ours {len(ours)}"
        return
    for i, (a, b) in enumerate(zip(ours, theirs)):
        name = name_difference(a[0], b[0], i == 0, i == len(ours) - 1)
        if name is not None:
            yield name
        if a[1:] != b[1:]:
            if a[2] == b[2] > MAIN_LINES and b[1].endswith(UNIT_FILES):
                yield "file"
            else:
                yield "line 0" if 0 == a[2] == b[2] else f"place {b[1]}:{b[2]}, ours {a[1]}:{a[2]}"


def main():
    label, ours, theirs = sys.argv[1], read(sys.argv[2]), read(sys.argv[3])
    kinds, frames, wrong = Counter(), 0, 0
    if not ours or ours.keys() != theirs.keys():
        sys.exit(f"FAIL: {label}: {len(ours)} addresses of ours, {len(theirs)} of theirs")
    for address, mine in ours.items():
        frames += len(mine)
        found = list(differences(mine, theirs[address]))
        kinds.update(kind for kind in found if kind in EXPLAINED)
        unknown = [text for text in found if text not in EXPLAINED]
        if unknown:
            wrong += 1
            if wrong <= 3:
                print(f"{label}: {address:#x}: {'; '.join(unknown)}"[:2000])
    print(f"{label}: {len(ours)} addresses, {frames} frames, {wrong} addresses differ"
          + "".join(f", {n} {kind}" for kind, n in sorted(kinds.items())))
    if wrong:
        sys.exit(f"FAIL: {label}: {wrong} of {len(ours)} addresses differ")


main()
