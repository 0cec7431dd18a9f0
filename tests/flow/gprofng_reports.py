#!/usr/bin/env python3
"""Compares ctxan's functions, call tree, callers and callees, instructions and lines with gprofng's, every number of every metric.

    gprofng_reports.py EXPERIMENT.er

    gprofng -functions -calltree -callers-callees -pcs  ==  ctxan's stacks, named by address and added up by gprofng's rules
    ctxan -r functions, tree, callers-callees, pcs      ==  ctxan's stacks, added up by ctxan's rules
    gprofng -lines                                      ==  ctxan -r lines

So what differs between the two programs is their rules, and nothing else:
 - gprofng leaves out a slot of the procedure linkage table that is the leaf; its time is the caller's. To ctxan it is `@plt`.
 - Of a recursive function gprofng's callers are those of the innermost call, ctxan's those of the outermost. Callees are the innermost's to both.
"""
import os
import re
import sys
from collections import Counter, defaultdict

from gprofng_same import Failures
from gprofng_text import (TOP, TOTAL, Names, Stacks, as_theirs, display, is_near, our_json, spelled, table,
                          words_of)


class Sums:
    """Of stacks of anything, leaf first: exclusive, inclusive, by path, by caller and callee."""

    def __init__(self, callers_of_outermost):
        self.outermost = callers_of_outermost
        self.total = 0
        self.exclusive, self.inclusive, self.paths = Counter(), Counter(), Counter()
        self.callers, self.callees = Counter(), Counter()

    def add(self, stack, weight):
        self.total += weight
        self.exclusive[stack[0] if stack else TOP] += weight
        first, last = {}, {}
        for i, function in enumerate(stack):
            first.setdefault(function, i)
            last[function] = i
        for function, innermost in first.items():
            self.inclusive[function] += weight
            at = last[function] if self.outermost else innermost
            self.callers[function, stack[at + 1] if at + 1 < len(stack) else TOP] += weight
            if innermost != 0:
                self.callees[function, stack[innermost - 1]] += weight
        if stack:
            self.callees[TOP, stack[-1]] += weight
        for i in range(len(stack)):
            self.paths[stack[i:]] += weight
        self.paths[()] += weight


class Count:
    """Of the numbers that were compared."""

    def __init__(self):
        self.values = Counter()

    def __str__(self):
        return ", ".join(f"{n} of {what}" for what, n in self.values.items())


# ---- gprofng's reports

def sums_by_their_rules(names, stacks, words, failures):
    """word -> Sums of gprofng's names. Functions that gprofng made for one address have it in their name."""
    found, dropped = {}, []
    for word in words:
        found[word] = Sums(callers_of_outermost=False)
        for frames, weight in stacks.of(word):
            keys, plt = as_theirs(names, frames, failures)
            dropped += [frames[1].function.name] if plt else []
            if keys is not None:
                found[word].add(tuple(names.of[key] for key in keys), weight)
    return found, dropped


def one_place(names):
    """Printed names that are several functions of gprofng's: rows of one name cannot be distinguished."""
    starts = defaultdict(set)
    for key, name in names.of.items():
        starts[name].add((key[0], key[1] - names.offsets[key] if "no functions found" not in name else key[1]))
    return {name for name, places in starts.items() if len(places) == 1}


def compare_rows(what, words, rows, wanted, failures, count):
    """rows: (name, values by word); of one name together. wanted: name, word -> weight."""
    found, n = defaultdict(lambda: [0.0] * len(words)), Counter()
    for name, values in rows:
        found[name] = [a + b for a, b in zip(found[name], values)]
        n[name] += 1
    for name, values in found.items():
        for word, value in zip(words, values):
            count.values[what] += 1
            if not is_near(word, value, wanted(name, word), n[name]):
                failures.add(what, name, word, value, "and not", wanted(name, word))
    return set(found)


def compare_functions(recording, words, sums, unique, failures, count):
    rows = table(display(recording, "-metrics", spelled(words, "ei") + ":name", "-functions"), 2 * len(words))
    exclusive = [(name, values[0::2]) for values, _, name in rows]
    inclusive = [(name, values[1::2]) for values, _, name in rows if name in unique or name == TOTAL]
    total = lambda name, word: sums[word].total
    names = compare_rows("-functions exclusive", words, exclusive,
                         lambda name, word: total(name, word) if name == TOTAL else sums[word].exclusive[name], failures, count)
    compare_rows("-functions inclusive", words, inclusive,
                 lambda name, word: total(name, word) if name == TOTAL else sums[word].inclusive[name], failures, count)
    for word in words:
        for name in sums[word].inclusive:
            if name not in names:
                failures.add("-functions lacks", name, word)


def compare_stanzas(recording, words, sums, unique, failures, count):
    """Callers, the function with *, callees."""
    text = display(recording, "-metrics", spelled(words, "e") + ":name", "-callers-callees")
    seen = 0
    for stanza in text.split("\n\n"):
        rows = table(stanza, len(words))
        own = [i for i, row in enumerate(rows) if row[2].startswith("*")]
        if len(own) != 1:
            continue
        name = rows[own[0]][2][1:]
        if name not in unique and name != TOTAL:
            continue
        seen += 1
        key = TOP if name == TOTAL else name
        other = lambda printed: TOP if printed == TOTAL else printed
        compare_rows("-callers-callees callers", words, [(n, values) for values, _, n in rows[:own[0]]],
                     lambda n, word: sums[word].callers[key, other(n)], failures, count)
        compare_rows("-callers-callees callees", words, [(n, values) for values, _, n in rows[own[0] + 1:]],
                     lambda n, word: sums[word].callees[key, other(n)], failures, count)
        # <Total>'s own line has its inclusive value.
        own_value = (lambda n, word: sums[word].total) if name == TOTAL else (lambda n, word: sums[word].exclusive[name])
        compare_rows("-callers-callees self", words, [(name, rows[own[0]][0])], own_value, failures, count)
        for word in words:
            printed = {n for _, _, n in rows[own[0] + 1:]}
            for (function, callee), weight in sums[word].callees.items():
                if function == key and weight != 0 and callee not in printed:
                    failures.add("-callers-callees:", name, "lacks the callee", callee)
    if seen == 0:
        failures.add("-callers-callees: nothing was read")


def tree_nodes(text):
    """(names from the root, printed value) of each node. What is drawn in front of a node is as wide as its parent's, and two or three
    characters more; so a node's parent is the last line above it that begins further left."""
    stack, found = [], []
    for line in text.splitlines():
        row = re.match(r"(\s*([\d.]+)\s+[| ]*)\+-(\S.*)$", line)
        if not row:
            continue
        column = len(row[1])
        while stack and stack[-1][0] >= column:
            stack.pop()
        stack.append((column, row[3]))
        found.append((tuple(name for _, name in stack), float(row[2])))
    return found


def compare_tree(recording, word, sums, failures, count):
    text = display(recording, "-metrics", spelled([word], "ei") + ":name", "-calltree")
    values, n = Counter(), Counter()
    for path, value in tree_nodes(text):
        values[path[1:]] += value
        n[path[1:]] += 1
    for path, value in values.items():
        weight = sums.paths[tuple(reversed(path))]
        count.values["-calltree"] += 1
        if not is_near(word, value, weight, n[path]):
            failures.add("-calltree:", word, " > ".join(path), value, "and not", weight)
    for path, weight in sums.paths.items():
        if weight != 0 and tuple(reversed(path)) not in values:
            failures.add("-calltree lacks", word, " > ".join(reversed(path)))


def compare_pcs(recording, words, names, stacks, failures, count):
    exclusive, inclusive = defaultdict(Counter), defaultdict(Counter)
    for word in words:
        for frames, weight in stacks.of(word):
            keys, _ = as_theirs(names, frames, failures)
            for key in set(keys or ()):
                inclusive[key][word] += weight
            if keys:
                exclusive[keys[0]][word] += weight
    for key, values in names.values.items():
        if names.of[key] == TOTAL:
            continue
        for k, word in enumerate(words):
            count.values["-pcs"] += 2
            for value, weight in ((values[2 * k], exclusive[key][word]), (values[2 * k + 1], inclusive[key][word])):
                if not is_near(word, value, weight):
                    failures.add("-pcs", key, names.of[key], word, value, "and not", weight)


LINE = re.compile(r"(.*?) \[<(.*)>\], line (\d+) in \"(.*)\"$")


def our_lines(recording, word, inlines):
    """(function, object, line, file) -> [exclusive, inclusive]"""
    found = defaultdict(lambda: [0, 0])
    for row in our_json(recording, "-r", "lines", "--metric", word, inlines=inlines):
        if row["line"] is None or row["object"] is None:
            continue
        key = row["function"].split("(")[0], os.path.basename(row["object"]), row["line"], os.path.basename(row["file"])
        found[key] = [found[key][0] + row["exclusive"], found[key][1] + row["inclusive"]]
    return found


def compare_lines(recording, words, of_plt, failures, count):
    """Of functions that have lines of nothing else: gprofng prints those of inlined code as another context, or, where it is of the same
    file, as any line; ctxan without inlined functions counts the line of the call. Of what has no lines gprofng says the
    function, as -functions does."""
    rows = table(display(recording, "-metrics", spelled(words, "ei") + ":name", "-lines"), 2 * len(words))
    printed = defaultdict(list)
    inlining = {re.split(r" \[<| \+ 0x", name)[0] for _, _, name in rows if "alternate source context" in name or "<--" in name}
    for values, _, name in rows:
        line = LINE.match(name)
        if line and line[1] not in inlining:
            printed[line[1], line[2], int(line[3]), os.path.basename(line[4])].append(values)
    for k, word in enumerate(words):
        ours, divided = our_lines(recording, word, inlines=False), our_lines(recording, word, inlines=True)
        inlining = {key[:2] for key, sums in ours.items() if divided[key] != sums}
        for key, values in printed.items():
            short = (key[0].split("(")[0],) + key[1:]
            if short[:2] in inlining:
                continue
            for i in range(short[0] in of_plt, 2):
                count.values["-lines"] += 1
                if not is_near(word, sum(v[2 * k + i] for v in values), ours[short][i], len(values)):
                    failures.add("-lines", key, word, [v[2 * k + i] for v in values], "and not", ours[short][i])


# ---- ctxan's reports

def sums_by_our_rules(stacks, words):
    found = {}
    for word in words:
        found[word] = Sums(callers_of_outermost=True)
        for frames, weight in stacks.of(word):
            found[word].add(tuple((f.function.name, f.function.object) for f in frames), weight)
    return found


def name_of(row):
    return TOP if row["function"] == "<Total>" else (row["function"], row["object"])


def same(what, word, got, wanted, failures, count):
    """Two Counters."""
    for key in set(got) | set(wanted):
        count.values[what] += 1
        if got[key] != wanted[key]:
            failures.add(what, word, key, got[key], "and not", wanted[key])


def compare_ours(recording, word, sums, failures, count):
    rows = our_json(recording, "-r", "functions", "--metric", word)
    exclusive, inclusive = Counter(), Counter()
    for row in rows:
        if row["function"] != "<Total>":
            exclusive[name_of(row)] += row["exclusive"]
            inclusive[name_of(row)] += row["inclusive"]
        elif row["inclusive"] != sums.total:
            failures.add("ctxan functions <Total>", word, row["inclusive"], "and not", sums.total)
    sums.exclusive.pop(TOP, None)
    same("ctxan functions", word, exclusive, sums.exclusive, failures, count)
    same("ctxan functions", word, inclusive, sums.inclusive, failures, count)
    path, got = [], Counter()
    for row in our_json(recording, "-r", "tree", "--metric", word):
        path = path[:row["level"]] + [name_of(row)]
        got[tuple(reversed(path[1:]))] += row["cum"]
    same("ctxan tree", word, got, sums.paths, failures, count)
    callers, callees = Counter(), Counter()
    for row in our_json(recording, "-r", "callers-callees", "--metric", word):
        for other in row["parents"]:
            callers[name_of(row), name_of(other)] += other["cum"]
        for other in row["children"]:
            callees[name_of(row), name_of(other)] += other["cum"]
    same("ctxan callers-callees", word, callers, sums.callers, failures, count)
    same("ctxan callers-callees", word, callees, sums.callees, failures, count)


def compare_our_pcs(recording, word, stacks, failures, count):
    exclusive, inclusive = Counter(), Counter()
    for frames, weight in stacks.of(word):
        places = [(frame.object, frame.address) for frame in frames if frame.kind != 2]  # a mark is no instruction
        for place in set(places):
            inclusive[place] += weight
        if places:
            exclusive[places[0]] += weight
    got = Counter(), Counter()
    for row in our_json(recording, "-r", "pcs", "--metric", word):
        got[0][row["object"], row["address"]] += row["exclusive"]
        got[1][row["object"], row["address"]] += row["inclusive"]
    same("ctxan pcs", word, got[0], exclusive, failures, count)
    same("ctxan pcs", word, got[1], inclusive, failures, count)


def main():
    recording = sys.argv[1].rstrip("/")
    failures, count = Failures(), Count()
    words = words_of(recording)
    names, stacks = Names(recording, words), Stacks(recording)
    theirs, dropped = sums_by_their_rules(names, stacks, words, failures)
    unique = one_place(names)
    compare_functions(recording, words, theirs, unique, failures, count)
    compare_stanzas(recording, words, theirs, unique, failures, count)
    compare_pcs(recording, words, names, stacks, failures, count)
    compare_lines(recording, words, {name.split("(")[0] for name in dropped}, failures, count)
    ours = sums_by_our_rules(stacks, words)
    for word in words:
        compare_tree(recording, word, theirs[word], failures, count)
        compare_ours(recording, word, ours[word], failures, count)
        compare_our_pcs(recording, word, stacks, failures, count)
    print(f"    {sum(count.values.values())} values: {count}")
    if dropped:
        print(f"    {len(dropped)} stacks whose leaf is a slot of the procedure linkage table")
    return 1 if failures.n or not count.values["-functions exclusive"] else 0


if __name__ == "__main__":
    sys.exit(main())
