"""What gprofng display text prints, as tables; and the call stacks of an experiment, named as gprofng names them.

gprofng knows fewer names than ctxan (no separate debug information), so functions are compared by address: its -pcs says for each
address of each load object which function it is to gprofng. Stacks of ctxan's database with those names, added up by gprofng's
rules, are what its reports must have.
"""
import functools
import json
import os
import re
from collections import Counter, defaultdict, namedtuple

from gprofng_said import ask
from perfdata_same import output_of

WORDS = ("totalcpu sync syncn heapallocbytes heapalloccnt heapleakbytes heapleakcnt ioreadtime ioreadbytes ioreadcnt iowritetime "
         "iowritebytes iowritecnt ioothertime ioothercnt ioerrortime ioerrorcnt").split()
TIMES = {"totalcpu", "sync", "ioreadtime", "iowritetime", "ioothertime", "ioerrortime"}
DIGITS = 0.00051  # seconds: three digits are printed, of the clock profile rounded
CUT = 0.001  # of what was traced they are cut
TOTAL = "<Total> [<Total>]"
TOP = ("<Total>",)
TRUNCATED = "<Truncated-stack>", 0
UNKNOWN = 1  # kind of a function in ctxan's database

Frame = namedtuple("Frame", "object address function kind")  # object: path; function: our row of `function`
Function = namedtuple("Function", "name object start size kind inlined")


def display(recording, *commands):
    return ask(recording, "-name", "long:soname", *commands)[0]


@functools.cache
def answer(*command):
    """What ctxan prints; each question is asked once of a recording, which does not change."""
    return output_of("ctxan", "-q", *command)


# Reports that are asked about a metric: all in one run.
TOGETHER = ("functions", "tree", "callers-callees", "pcs", "lines")


def our_json(recording, *options, inlines=False):
    inlined = ["--db", recording + ".inlines.db"] if inlines else ["--no-inlines"]  # so that neither is ingested again for the other
    reports = TOGETHER if not inlines and len(options) == 4 and options[1] in TOGETHER and options[2] == "--metric" else ()
    if reports:
        wanted = reports.index(options[1])
        options = ("-r", ",".join(reports), *options[2:])
    text = answer(*inlined, recording, "--format", "json", "--limit", "0", *options)
    if not reports:
        return json.loads(text)["rows"]
    for _ in range(wanted):
        text = text[json.JSONDecoder().raw_decode(text)[1]:].lstrip()
    return json.JSONDecoder().raw_decode(text)[0]["rows"]


def sql(recording, statement):
    return json.loads(answer("--no-inlines", recording, "--format", "json", "--sql", statement))


def words_of(recording):
    """The metrics that have something: what was asked for and never happened is none to ctxan."""
    text = display(recording, "-metric_list")
    words = [word for word in WORDS if re.search(rf"e[.+]%{word}$", text, re.M)]
    total = display(recording, "-metrics", spelled(words, "e") + ":name", "-limit", "1", "-functions")
    happened = {row["word"] for row in sql(recording, "select word from metric") if row["word"]} | {"totalcpu"}
    values = next(values for values, _, name in table(total, len(words)) if name == TOTAL)
    return [word for word, value in zip(words, values) if value != 0 or word in happened]


def spelled(words, letters):
    """e.totalcpu:i.totalcpu:e+syncn:..."""
    return ":".join(f"{letter}{'.' if word in TIMES else '+'}{word}" for word in words for letter in letters)


def unit(word):
    return 1e9 if word in TIMES else 1


def is_near(word, printed, weight, rows=1):
    """`rows`: so many printed numbers were added."""
    return abs(float(printed) - weight / unit(word)) <= rows * (DIGITS if word == "totalcpu" else CUT if word in TIMES else 0)


def table(text, n, more=""):
    """Rows of n numbers, what `more` matches, and a name: (values, more's groups, name)."""
    row = re.compile(r"\s*((?:-?[\d.]+\s+){%d})%s(\*?\S.*)$" % (n, more))
    found = []
    for line in text.splitlines():
        match = row.match(line)
        if match:
            groups = match.groups()
            found.append(([float(value) for value in groups[0].split()], groups[1:-1], groups[-1]))
    return found


# ---- names by address

def object_paths(recording):
    """gprofng's number of a load object -> the last part of its path."""
    found = {}
    for number, path in re.findall(r"^\S+\s+<.*>\s+(\d+)\s+(\S.*?)\s*$", display(recording, "-object_list"), re.M):
        found[int(number)] = os.path.basename(path)
    return found


class Names:
    """(object, address) -> the name that gprofng prints, with the offset."""

    def __init__(self, recording, words):
        paths = object_paths(recording)
        self.of, self.offsets, self.values = {}, {}, {}
        text = display(recording, "-metrics", spelled(words, "ei") + ":address:name", "-pcs")
        for values, (number, address), name in table(text, 2 * len(words), r"(\d+):0x([0-9a-f]+)\s+"):
            place = re.match(r"(.*?) \+ 0x([0-9A-F]+)(?:, line .*)?$", name)
            if name.startswith("<Truncated-stack>"):
                key = TRUNCATED
            elif int(number) in paths:
                key = paths[int(number)], int(address, 16)
            else:  # made at run time: the lower half of the address; the upper one is mixed with the object's number
                key = None, int(address, 16)
            self.of[key] = place[1] if place else name
            self.offsets[key] = int(place[2], 16) if place else 0
            self.values[key] = values

    def name(self, frame):
        if frame.function.kind == 2:
            return TRUNCATED
        for key in ((os.path.basename(frame.object or ""), frame.address), (None, frame.address % 2**32)):
            if key in self.of:
                return key
        return None


# ---- stacks

class Stacks:
    """The samples of each metric by address: Counter of stacks, and how many samples each has."""

    def __init__(self, recording):
        self.objects = {row["id"]: row["path"] for row in sql(recording, "select id, path from load_object")}
        self.functions = {row["id"]: Function(row["name"], self.objects.get(row["object"]), row["offset"], row["size"],
                                              row["kind"], row["inlined"])
                          for row in sql(recording, "select id, name, object, offset, size, kind, inlined from function")}
        places = {}
        for row in sql(recording, "select id, object, function, address from location"):
            function = self.functions[row["function"]]
            places[row["id"]] = Frame(self.objects.get(row["object"]), row["address"], function, function.kind)
        self.frames = {}
        for row in sql(recording, "select id, parent, location from raw_stack order by id"):
            self.frames[row["id"]] = (() if row["parent"] is None
                                      else (places[row["location"]],) + self.frames[row["parent"]])
        self.weights, self.samples = defaultdict(Counter), defaultdict(Counter)
        self.metrics = sql(recording, "select id, name, word, parts from metric")
        for row in sql(recording, "select metric, raw_stack, sum(weight) as weight, count(*) as n from samples group by 1, 2"):
            self.weights[row["metric"]][row["raw_stack"]] += row["weight"]
            self.samples[row["metric"]][row["raw_stack"]] += row["n"]

    def of(self, word):
        """(frames leaf first, weight) of a metric by gprofng's word."""
        known = {metric["word"] or metric["name"].lower().replace(" ", ""): metric for metric in self.metrics}
        metric = known[word]
        counts = metric["parts"] is not None
        source = int(metric["parts"]) if counts else metric["id"]
        sums = (self.samples if counts else self.weights)[source]
        return [(self.frames[stack], weight) for stack, weight in sums.items() if weight != 0]


def is_plt(frame):
    return frame.function.name.rstrip(">").endswith("@plt")


def as_theirs(names, frames, failures):
    """The frames' keys in `names`, as gprofng sees them; (keys, whether it leaves out the leaf)."""
    keys = [names.name(frame) for frame in frames]
    # A library that is not at hand has no names: what gprofng's -pcs lacks there was a slot.
    dropped = bool(keys) and keys[0] is None and (is_plt(frames[0]) or frames[0].kind == UNKNOWN)
    if dropped:
        keys = keys[1:]
    for key, frame in zip(keys, frames[dropped:]):
        if key is None:
            failures.add("gprofng -pcs lacks", frame.function.name, frame.object, hex(frame.address))
            return None, dropped
    return keys, dropped
