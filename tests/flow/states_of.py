"""The output of a program about itself, and ctxan's reports of its recording: for the flow tests of thread states."""
import json
import re
import subprocess

STATES = ["USER", "SYSTEM", "TRAP", "TFAULT", "DFAULT", "KFAULT", "USER_LOCK", "SLEEP", "STOPPED", "WAIT_CPU"]
RUNNING = ["USER", "SYSTEM", "TRAP"]
WAITING = ["TFAULT", "DFAULT", "KFAULT", "USER_LOCK", "SLEEP", "STOPPED"]
MS = 1000000


class Check:
    """Counts failures, and prints them at once."""

    def __init__(self, name):
        self.name = name
        self.failures = 0
        self.checks = 0

    def that(self, holds, text):
        self.checks += 1
        if not holds:
            self.failures += 1
            print(f"FAIL: {self.name}: {text}")

    def near(self, what, value, expected, percent, at_least_ns):
        """Within so many percent, or so many ns."""
        allowed = max(expected * percent / 100, at_least_ns)
        self.that(abs(value - expected) <= allowed,
                  f"{what}: {value / MS:.3f} ms instead of {expected / MS:.3f} ms")

    def between(self, what, value, least, most):
        self.that(least <= value <= most,
                  f"{what}: {value / MS:.3f} ms is not from {least / MS:.3f} to {most / MS:.3f} ms")

    def end(self):
        print(f"{self.name}: {self.checks} checks, {self.failures} failures")
        return 1 if self.failures else 0


def reported(path):
    """The lines that a program of testdata/targets printed."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.startswith("{")]


class Recording:
    def __init__(self, path):
        self.path = path
        self.answers = {}

    def reports(self, names, *options):
        """Several at once: one object each. Each question is asked once."""
        missing = [name for name in names if (name, *options) not in self.answers]
        if missing and not options:  # of the whole recording all are asked in the end
            missing = list(dict.fromkeys([*missing, "states", "threads", "header"]))
        if missing:
            for name, answer in zip(missing, self.ask(missing, options)):
                self.answers[(name, *options)] = answer
        return [self.answers[(name, *options)] for name in names]

    def ask(self, names, options):
        command = ["ctxan", "-q", self.path, "-r", ",".join(names), "--format", "json", "--limit", "0", *options]
        if "--no-inlines" in options:  # a database of its own: the one with inlined calls would be made anew each time
            command += ["--db", self.path + ".no-inlines.db"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}")
        objects, text = [], done.stdout.lstrip()
        while text:
            one, end = json.JSONDecoder().raw_decode(text)
            objects.append(one)
            text = text[end:].lstrip()
        return objects

    def report(self, name, *options):
        return self.reports([name], *options)[0]

    def states(self, *options):
        """Rows of the report by thread id; None: all together."""
        return {row["thread_id"]: row for row in self.report("states", *options)["rows"]}

    def threads(self):
        return self.report("threads")["rows"]

    def thread_id(self, tid, name=None):
        """Of the only thread that had this tid (and name)."""
        ids = [row["thread_id"] for row in self.threads() if row["thread"] == tid and name in (None, row["name"])]
        if len(ids) != 1:
            raise SystemExit(f"{self.path}: {len(ids)} threads with tid {tid}")
        return ids[0]

    def inclusive(self, function, metric, *options):
        rows = self.report("functions", "--no-inlines", "--metric", metric, *options)["rows"]
        return sum(row["inclusive"] for row in rows if row["function"] == function)

    def spans(self, function, metric, *options):
        """How many spans of the metric are in a function or below it."""
        rows = self.report("functions", "--no-inlines", "--metric", metric, *options)["rows"]
        return sum(row["inclusive_samples"] for row in rows if row["function"] == function)

    def begin_ns(self):
        """CLOCK_MONOTONIC of the experiment's time 0. Of an experiment of ctxrec only."""
        with open(self.path + "/log.xml", encoding="utf-8", errors="replace") as log:
            seconds, fraction = re.search(r'<event kind="run"[^>]* tstamp="([0-9]+)\.([0-9]{9})"', log.read()).groups()
        return int(seconds) * 1000 * MS + int(fraction)


def total(row, names):
    return sum(row[name] for name in names)


def check_lives(check, recording):
    """Every thread's states fill its life: no gap, no overlap."""
    states = recording.states()
    for thread in recording.threads():
        row = states.get(thread["thread_id"])
        life = thread["end"] - thread["begin"]
        if row is None:
            check.that(life == 0, f"thread {thread['thread']} ({thread['name']}) has a life and no states")
            continue
        check.that(total(row, STATES) == life,
                   f"thread {thread['thread']} ({thread['name']}): states {total(row, STATES)} ns, life {life} ns")
        check.that(row["wall"] == total(row, STATES), f"thread {thread['thread']}: wall is not the sum")
    check.that(len(states) > 1, "no thread has states")


def check_counts(check, recording, line, how):
    """Spans are as many as the thread's waits and preemptions, which the kernel counts exactly: up to the moment that `line` was measured."""
    thread = recording.thread_id(line["tid"], line["thread"])
    row = recording.states("-i", f"0ns:{line['end'] - recording.begin_ns()}ns", "--thread", str(thread))[thread]
    spans = row["spans"]
    waits = sum(spans[state] for state in WAITING)
    check.that(waits == line["life_waits"],
               f"{line['phase']} of {line['thread']}: {waits} waits instead of {line['life_waits']}: {spans}")
    # A new thread waits for a CPU, and it may be preempted between the count and the clock. Where wake-ups are recorded
    # every wait is followed by one for a CPU, of more than 0 ns or not.
    least = line["life_preempted"]
    most = least + 2 + (waits if how in ("full", "syscalls") else 0)
    check.that(least <= spans["WAIT_CPU"] <= most,
               f"{line['phase']} of {line['thread']}: {spans['WAIT_CPU']} waits for a CPU, not {least} to {most}")
    return row


# At a switch the kernel counts the time that recording takes as CPU time of the thread that comes; to us it has not got the CPU yet.
SWITCH_NS = 20000


def switches_ns(phase, row):
    return SWITCH_NS * (phase["waits"] + row["spans"]["WAIT_CPU"])


def stolen_ns(phase):
    """What the hypervisor took while the phase lasted: no CPU time for the kernel, but it looks as if the thread ran. Counted in steps of 10 ms."""
    return phase["stolen"] + 10 * MS if phase["stolen"] > 0 else 0


def check_cpu_time(check, phase, row, after_ns=0):
    """User CPU + System CPU against getrusage. What the thread did after it looked is some 0.1 ms, of a process more."""
    used = total(row, RUNNING)
    slack = max(phase["life_cpu"] * 0.03, 1 * MS)
    check.between(f"{phase['thread']}: CPU time", used, phase["life_cpu"] - slack - switches_ns(phase, row),
                  phase["life_cpu"] + slack + after_ns + stolen_ns(phase))


def check_wait_cpu(check, phase, row, knows_wakeups=True):
    """The scheduler's own count; if the end of a wait is not recorded, the time from then on counts as wait."""
    waited = phase["life_wait_cpu"]
    if waited < 0:
        return
    # A fifth, for on a loaded machine the scheduler's figure is not the same as that between its own events.
    slack = max(waited * 0.2, 2 * MS) + switches_ns(phase, row) + stolen_ns(phase)
    check.between(f"{phase['thread']}: WAIT_CPU", row["WAIT_CPU"], waited - slack if knows_wakeups else 0, waited + slack)
