"""record_lock_stories.py STORY OUTPUT RECORDING [--measured]: checks the reports states and wakers against the known behaviour of the program.

What holds on any machine: counts of waits, where they are and who ended them. --measured adds how long they took, against the program's own clocks:
for kept recordings, and by hand.
"""
import sys

from states_of import (MS, RUNNING, Check, Recording, check_counts, check_cpu_time, check_lives, check_wait_cpu, reported, stolen_ns,
                       total)


class Story:
    def __init__(self, name, output, path):
        self.check = Check(name)
        self.recording = Recording(path)
        self.lines = reported(output)
        self.rows = {row["name"]: row for row in self.recording.states().values() if row["thread_id"] is not None}
        self.wakers = self.recording.report("wakers")["rows"]

    def phase(self, thread, name):
        return next(line for line in self.lines if line.get("thread") == thread and line["phase"] == name)

    def check_threads(self, measured):
        """Waits and preemptions are as many as the kernel counted. Measured: CPU time and waiting for a CPU are as the threads measured them."""
        check_lives(self.check, self.recording)
        for line in self.lines:
            if line["phase"] == "life":
                check_counts(self.check, self.recording, line, "full")
            if line["phase"] == "life" and measured:
                check_cpu_time(self.check, line, self.rows[line["thread"]])
                check_wait_cpu(self.check, line, self.rows[line["thread"]])

    def spans(self, thread, function, state):
        """How many spans of the state a thread has in the function."""
        return self.recording.spans(function, state, "--thread", str(self.rows[thread]["thread_id"]))

    def waits(self, thread, function, state="USER_LOCK"):
        """Groups of waits of a thread in a function."""
        return [row for row in self.wakers if row["thread_name"] == thread and row["state"] == state and function in row["stack"]]

    def ended_by(self, rows, waker, function):
        return [row for row in rows if row["waker_name"] == waker and function in (row["waker_stack"] or [])]


def wait_ns(rows):
    return sum(row["wait_ns"] for row in rows)


def count(rows):
    return sum(row["waits"] for row in rows)


def check_convoy(story):
    """The reporter sleeps once for each report, with the lock; who waits for the lock does so in add_to_total or write_report, and one of them ends it."""
    check = story.check
    report = story.phase("reporter", "report")
    slept = story.spans("reporter", "write_report", "SLEEP")
    check.that(slept == report["times"], f"reporter: {slept} sleeps in {report['times']} reports")
    takers = {"add_to_total", "write_report"}
    for waiter, function in (("worker-1", "add_to_total"), ("worker-2", "add_to_total"), ("worker-3", "add_to_total"),
                             ("reporter", "write_report")):
        spans = story.rows[waiter]["spans"]["USER_LOCK"]
        inside = story.spans(waiter, function, "USER_LOCK")
        check.that(inside == spans, f"{waiter}: {inside} of {spans} waits for a lock in {function}")
        for row in story.waits(waiter, function):
            by = set(row["waker_stack"] or [])
            check.that(row["waker_name"] is None or takers & by or row["waker_name"] not in story.rows,
                       f"{waiter}: a wait that {row['waker_name']} ended in {by}")


def measure_convoy(story):
    """The workers wait behind the reporter: it ends the first wait of each queue, and each worker the next one's."""
    check = story.check
    workers = ["worker-1", "worker-2", "worker-3"]
    report = story.phase("reporter", "report")
    first, times = 0, 0
    for worker in workers:
        waits = story.waits(worker, "add_to_total")
        measured = story.phase(worker, "wait")
        check.that(measured["times"] > 0, f"{worker} did not have to wait")
        # What is longer than 5 ms is the program's figure; short waits for each other come on top.
        check.between(f"{worker}: waits in add_to_total", wait_ns(waits), measured["wall"] * 0.95 - story.rows[worker]["WAIT_CPU"],
                      story.rows[worker]["USER_LOCK"])
        by_reporter = story.ended_by(waits, "reporter", "write_report")
        by_workers = [row for other in workers for row in story.ended_by(waits, other, "add_to_total")]
        check.that(wait_ns(by_reporter) + wait_ns(by_workers) >= 0.95 * wait_ns(waits),
                   f"{worker}: {wait_ns(by_reporter)} + {wait_ns(by_workers)} of {wait_ns(waits)} ns ended by the reporter or a worker")
        first += wait_ns(by_reporter)
        times += count(by_reporter)
    check.that(0.7 * report["times"] <= times <= report["times"], f"{report['times']} reports ended {times} waits")
    check.that(first >= 0.7 * times * 20 * MS, f"{times} waits that the reporter ended took {first} ns")
    # Why it kept the lock: it slept in write_report.
    slept = story.recording.inclusive("write_report", "SLEEP", "--thread", str(story.rows["reporter"]["thread_id"]))
    check.between("reporter: sleep in write_report", slept, report["times"] * 20 * MS - 1, report["wall"])


def check_queue(story):
    """The producer sleeps once for each item; the consumers wait for a lock or for an item in take_item, and who ends that puts or takes one."""
    check = story.check
    make = story.phase("producer", "make")
    slept = story.spans("producer", "make_item", "SLEEP")
    check.that(slept == make["times"], f"producer: {slept} sleeps for {make['times']} items")
    for consumer in ("consumer-1", "consumer-2"):
        spans = story.rows[consumer]["spans"]["USER_LOCK"]
        inside = story.spans(consumer, "take_item", "USER_LOCK")
        check.that(inside == spans, f"{consumer}: {inside} of {spans} waits in take_item")
        for row in story.waits(consumer, "take_item"):
            by = set(row["waker_stack"] or [])
            check.that({"put_item", "close_queue", "take_item"} & by or row["waker_name"] not in story.rows,
                       f"{consumer}: a wait that {row['waker_name']} ended in {by}")


def measure_queue(story):
    """The consumers wait for items; the producer ends that, and it spends its time in make_item."""
    check = story.check
    for consumer in ("consumer-1", "consumer-2"):
        waits = story.waits(consumer, "take_item")
        measured = story.phase(consumer, "wait")
        row = story.rows[consumer]
        slack = max(measured["wall"] * 0.05, 2 * MS)
        check.between(f"{consumer}: waits in take_item", wait_ns(waits), measured["wall"] - row["WAIT_CPU"] - slack, measured["wall"] + slack)
        ended = story.ended_by(waits, "producer", "put_item") + story.ended_by(waits, "producer", "close_queue")
        check.that(wait_ns(ended) >= 0.95 * wait_ns(waits), f"{consumer}: the producer ended {wait_ns(ended)} of {wait_ns(waits)} ns")
        check.that(row["USER_LOCK"] >= 0.95 * wait_ns(waits), f"{consumer}: lock is {row['USER_LOCK']} ns")
    make = story.phase("producer", "make")
    thread = str(story.rows["producer"]["thread_id"])
    slept = story.recording.inclusive("make_item", "SLEEP", "--thread", thread)
    check.between("producer: sleep in make_item", slept, make["times"] * 8 * MS - 1, make["wall"] - make["times"] * 2 * MS)
    used = sum(story.recording.inclusive("make_item", metric, "--thread", thread) for metric in ("user", "system"))
    check.near("producer: CPU time in make_item", used, make["times"] * 2 * MS, 10,
               2 * MS + stolen_ns(story.phase("producer", "life")))


def check_inversion(story):
    """high waits for the resource at most once, and for nobody but low."""
    check = story.check
    waits = story.waits("high", "need_resource")
    check.that(count(waits) <= 1, f"high waited {count(waits)} times")
    check.that(len(story.ended_by(waits, "low", "hold_resource")) == len(waits), f"low did not end it: {waits}")
    for thread, function in (("low", "hold_resource"), ("middle", "compute_on")):
        used = sum(story.recording.inclusive(function, metric, "--thread", str(story.rows[thread]["thread_id"]))
                   for metric in ("user", "system"))
        check.that(used > 0, f"{thread}: no CPU time in {function}")


def measure_inversion(story):
    """high waits for the lock that low has, and low for the CPU that middle has."""
    check = story.check
    measured = story.phase("high", "need")
    waits = story.waits("high", "need_resource")
    check.near("high: wait in need_resource", wait_ns(waits), measured["wall"], 5, 2 * MS)
    ended = story.ended_by(waits, "low", "hold_resource")
    check.that(wait_ns(ended) >= 0.95 * wait_ns(waits) > 0, f"low did not end it: {waits}")
    inversion = next(line for line in story.lines if line["phase"] == "inversion")
    begin = story.recording.begin_ns()
    interval = ["-i", f"{inversion['begin'] - begin}ns:{inversion['end'] - begin}ns"]
    during = {row["name"]: row for row in story.recording.states(*interval).values()}
    length = inversion["end"] - inversion["begin"]
    check.that(during["high"]["USER_LOCK"] >= 0.9 * length, f"high waited {during['high']['USER_LOCK']} of {length} ns")
    computing = story.phase("middle", "life")["cpu"]
    check.that(during["low"]["WAIT_CPU"] >= 0.8 * computing, f"low waited for a CPU {during['low']['WAIT_CPU']} of {length} ns")
    check.that(total(during["middle"], RUNNING) >= 0.9 * computing, f"middle ran {total(during['middle'], RUNNING)} of {length} ns")
    check.that(total(during["low"], RUNNING) <= 40 * MS, f"low ran {total(during['low'], RUNNING)} ns")


STORIES = {
    "lock_convoy": (check_convoy, measure_convoy),
    "producer_consumer": (check_queue, measure_queue),
    "priority_inversion": (check_inversion, measure_inversion),
}


def main():
    name, output, path = sys.argv[1:4]
    measured = "--measured" in sys.argv
    story = Story(name, output, path)
    story.check_threads(measured)
    structure, measure = STORIES[name]
    structure(story)
    if measured:
        measure(story)
    return story.check.end()


sys.exit(main())
