#!/usr/bin/env python3
"""Compares ctxan's filters and index objects with gprofng's: the same expression, every metric, every function.

    gprofng_filters.py EXPERIMENT.er

    gprofng -filters F -functions                 ==  ctxan --filter F -r functions   functions that are one function to both
    gprofng -filters 'TSTAMP>=a && TSTAMP<b'      ==  ctxan -i a:b
    gprofng -indxobj Samples, Datasize, Duration  ==  ctxan --by sample, datasize, duration
    gprofng -filters F -indxobj CPUs              ==  ctxan --filter F --by cpu

An event that does not have what a filter asks for passes in gprofng and does not in ctxan: such filters are compared on the metrics that have it.
"""
import os
import re
import sys
from collections import Counter, defaultdict

from gprofng_reports import Count
from gprofng_said import ask
from gprofng_same import Failures
from gprofng_tables import compare_index, our_index, single, their_index
from gprofng_text import (TOTAL, Names, Stacks, display, is_near, is_plt, our_json, spelled, sql, table, words_of)

HEAP = "heapallocbytes heapalloccnt heapleakbytes heapleakcnt".split()
SYNC = "sync syncn".split()
IO = ("ioreadtime ioreadbytes ioreadcnt iowritetime iowritebytes iowritecnt ioothertime ioothercnt ioerrortime "
      "ioerrorcnt").split()


def questions(recording, pairs):
    """(the filter, the metrics that have what it asks for)"""
    run = sql(recording, "SELECT max(time_ns) AS ns FROM samples")[0]["ns"] or 0
    everywhere = [f"TSTAMP>{run // 3}", f"TSTAMP<={run // 2} && CPUID>=0", "CPUID==0", "CPUID==1 || TSTAMP%7==3", f"!(TSTAMP>{run // 4})",
                  "(CPUID==0 ? TSTAMP : TSTAMP/2) > 50000000", "1", "0"]
    # Of the program itself: gprofng's FNAME also means functions of that name, and other names of functions, in all libraries.
    hot = [name for name, function in pairs.items() if name.isidentifier() and function[0] == name and "/lib" not in function[1]]
    for name in hot[:4] + hot[-4:]:
        everywhere += [f'LEAF IN FNAME("{name}")', f'STACK SOME IN FNAME("{name}")', f'FNAME("{name}") IN STACK',
                       f'!(STACK SOME IN FNAME("{name}")) && CPUID==0']
    found = [(question, None) for question in everywhere]
    found += [(question, HEAP) for question in ("HSIZE>1000", "HSIZE<=1000 && HTYPE==0", "HTYPE!=2", "HTYPE==3 || HSIZE%3==0", "HLEAKED>0",
                                                "HVADDR%32==16", "!(HSIZE>100)", "HTYPE==0 && CPUID==1")]
    found += [(question, IO) for question in ("IONBYTE==1000", "IOTYPE==0", "IOTYPE>=5", "IOTYPE==1 && IONBYTE>=400",
                                              "EVT_TIME>50000", "EVT_TIME<=1000")]
    # Of lseek and its like gprofng knows the descriptor, ctxan does not.
    found += [("IOFD==3", [word for word in IO if "other" not in word])]
    found += [(question, SYNC) for question in ("SOBJ>0", "EVT_TIME>3000000", "SOBJ%64==0")]
    return found


def their_functions(recording, words, *filters):
    # Without the names of objects: FNAME is what is shown.
    text = ask(recording, "-name", "long", *filters, "-metrics", spelled(words, "ei") + ":name", "-functions")[0]
    rows = table(text, 2 * len(words))
    found = defaultdict(list)
    for values, _, name in rows:
        found[name].append(values)
    return found


def our_functions(recording, words, *filters):
    found = defaultdict(lambda: [0] * (2 * len(words)))
    for row in our_json(recording, "-r", "functions", "--metric", ",".join(words), *filters):
        key = TOTAL if row["function"] == "<Total>" else (row["function"], row["object"])
        values = [row["exclusive"], row["inclusive"]]
        for more in row.get("metrics", []):
            values += [more["exclusive"], more["inclusive"]]
        found[key] = [a + b for a, b in zip(found[key], values)]
    return found


def one_to_one(names, stacks):
    """gprofng's name -> our function, where both mean the same addresses of all stacks."""
    theirs, ours, of_plt = defaultdict(set), defaultdict(set), set()
    for frames in stacks.frames.values():
        if len(frames) > 1 and names.name(frames[0]) is None and is_plt(frames[0]):
            of_plt.add((frames[1].function.name, frames[1].function.object))  # to gprofng its time is theirs
        for frame in frames[:1]:
            key = names.name(frame)
            if key is None:
                ours[frame.function.name, frame.function.object].add(None)
                continue
            ours[frame.function.name, frame.function.object].add(names.of[key])
            theirs[names.of[key]].add((frame.function.name, frame.function.object))
    short = {name: re.sub(r" \[<[^>]*>\]$", "", name) for name in theirs}
    once = Counter(short.values())
    found = {short[name]: next(iter(functions)) for name, functions in theirs.items()
             if len(functions) == 1 and len(ours[next(iter(functions))]) == 1 and not functions & of_plt and once[short[name]] == 1}
    return found | {"<Total>": TOTAL}


def intervals(recording):
    """What gprofng needs a filter for is an interval to ctxan, answered by the time trees."""
    run = sql(recording, "SELECT max(time_ns) AS ns FROM samples")[0]["ns"] or 0
    return [(f"TSTAMP>={a} && TSTAMP<{b}", ("-i", f"{a}ns:{b}ns"))
            for a, b in ((0, run // 3 + 1), (run // 3, run // 2 + 1), (run // 7, run - run // 9), (run // 2, run + 1))]


def compare_filters(recording, words, pairs, failures, count):
    asked = 0
    filters = [(question, ("--filter", question), having) for question, having in questions(recording, pairs)]
    for question, selection, having in filters + [(question, selection, None) for question, selection in intervals(recording)]:
        some = [word for word in words if having is None or word in having]
        if not some:
            continue
        asked += 1
        theirs = their_functions(recording, some, "-filters", question)
        ours = our_functions(recording, some, *selection)
        for name, key in pairs.items():
            printed = theirs.get(name, [])
            if len(printed) > 1:
                continue  # two of one name
            values = printed[0] if printed else [0] * (2 * len(some))
            for i, value in enumerate(values):
                count.values["filters"] += 1
                if not is_near(some[i // 2], value, ours[key][i]):
                    failures.add("-filters", question, name, some[i // 2], value, "ctxan:", ours[key][i])
    return asked


SIZES = {"Bytes": 1, "Byte": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}
TIMES = {"s": 10**9, "ms": 10**6, "us": 10**3}


def upper_end(name, units):
    """"64 < n <= 256 Bytes", "10us < n <= 100us", "0 Bytes"; None: no such row."""
    words = name.replace("<=", " ").split()
    number = words[-1] if words[-1] not in units else words[-2] + words[-1]
    for text, factor in sorted(units.items(), key=lambda unit: -len(unit[0])):
        if number.endswith(text) and number[:-len(text)].isdigit():
            return int(number[:-len(text)]) * factor
    return None


def by_upper_end(recording, words, command, units):
    found = {}
    for values, _, name in table(display(recording, "-metrics", spelled(words, "e") + ":name", "-indxobj", command), len(words)):
        end = upper_end(name, units) if not name.startswith("<") else None
        if end is not None:
            found[end,] = values
    return found


def compare_indexes(recording, words, failures, count):
    for word, having, command, by, units in (("heapallocbytes", HEAP + IO, "Datasize", "datasize", SIZES),
                                             ("ioreadtime", IO, "Duration", "duration", TIMES), ("sync", SYNC, "Duration", "duration", TIMES)):
        some = [w for w in words if w in having]
        if word not in some:
            continue
        theirs = by_upper_end(recording, some, command, units)
        if not theirs:
            failures.add("-indxobj", command, "has no rows")
        ours = {key: values for key, values in single(our_index(recording, some, by)).items() if key != (-1,)}
        compare_index(recording, some, f"-indxobj {command}", theirs, ours, failures, count)
    theirs = their_index(recording, words, ("-indxobj", "Samples"), r"Sample (\d+)$")
    ours = single(our_index(recording, words, "sample"))
    if sql(recording, "SELECT count(*) AS n FROM process")[0]["n"] == 1:  # gprofng adds those of one number up, of all processes
        ours.pop((-1,), None)
        theirs.pop((-1,), None)
    compare_index(recording, words, "-indxobj Samples", theirs, ours, failures, count)
    for question in ("TSTAMP%2==0", "CPUID==1"):
        theirs = their_index(recording, words, ("-indxobj", "CPUs"), r"CPU (\d+)$", "-filters", question)
        ours = single(our_index(recording, words, "cpu", "--filter", question))
        compare_index(recording, words, "-filters -indxobj", theirs, ours, failures, count)


def main():
    recording = sys.argv[1].rstrip("/")
    failures, count = Failures(), Count()
    words = words_of(recording)
    pairs = one_to_one(Names(recording, words), Stacks(recording))
    asked = compare_filters(recording, words, pairs, failures, count)
    compare_indexes(recording, words, failures, count)
    print(f"    {asked} filters on {len(pairs)} functions, {os.path.basename(recording)}: {sum(count.values.values())} values: {count}")
    return 1 if failures.n or not count.values["filters"] else 0


if __name__ == "__main__":
    sys.exit(main())
