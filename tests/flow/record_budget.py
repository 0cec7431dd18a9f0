"""A recording of wait_places (testdata/targets), held against what the program says about each of its waits.

record_budget.py OUTPUT RECORDING
"""
import bisect, json, subprocess, sys

from states_of import WAITING, Check, Recording, check_lives

PLACES = {"shallow_place", "one_way", "other_way"}
WAITS = "'SLEEP', 'USER_LOCK', 'DFAULT', 'TFAULT', 'KFAULT'"


def sql(recording, statement):
    done = subprocess.run(["ctxan", "-q", "--no-inlines", "--db", recording + ".sql.db", recording, "--format", "json", "--sql", statement],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def names_of_stacks(recording):
    """By stack: the names of its functions."""
    names = {0: frozenset()}
    for row in sql(recording, "SELECT s.id, s.parent, f.name FROM stack AS s LEFT JOIN function AS f ON f.id = s.function ORDER BY s.id"):
        if row["parent"] is not None:
            names[row["id"]] = names[row["parent"]] | {row["name"]}
    return names


def check_counts(check, recording, phase):
    """As many waits and preemptions as the kernel counted, from the phase's begin on: what the thread did before it executed the program is not its own."""
    begin_ns, thread = recording.begin_ns(), recording.thread_id(phase["tid"])
    interval = f"{phase['begin'] - begin_ns}ns:{phase['end'] - begin_ns}ns"
    spans = recording.states("-i", interval, "--thread", str(thread))[thread]["spans"]
    waits = sum(spans[state] for state in WAITING)
    check.that(waits == phase["waits"], f"{waits} waits instead of {phase['waits']}: {spans}")
    # It may be preempted between the count and the clock, at either end; and every wait is followed by one for a CPU, of more than 0 ns or not.
    check.that(phase["preempted"] - 2 <= spans["WAIT_CPU"] <= phase["preempted"] + 2 + waits,
               f"{spans['WAIT_CPU']} waits for a CPU, {phase['preempted']} preemptions, {waits} waits")


def main():
    output, path = sys.argv[1:]
    lines = [json.loads(line) for line in open(output, encoding="utf-8")]
    phase, waits = lines[0], lines[1:]
    recording, check = Recording(path), Check(path)
    names, begin_ns = names_of_stacks(path), recording.begin_ns()
    thread = recording.thread_id(phase["tid"])
    begins = [wait["begin"] - begin_ns for wait in waits]
    n_right = n_unknown = 0
    for span in sql(path, f"SELECT begin_ns, end_ns, state, stack FROM thread_state WHERE thread = {thread} AND state IN ({WAITS})"):
        at = bisect.bisect_right(begins, span["begin_ns"]) - 1
        if at < 0 or span["end_ns"] > waits[at]["end"] - begin_ns:
            continue
        on_it, place = names[span["stack"] or 0], waits[at]["place"]
        check.that(not on_it & (PLACES - {place}), f"a wait at {place} has the stack {sorted(on_it)}")
        is_unknown = any(name.startswith("<Truncated-stack") for name in on_it)
        check.that(place in on_it or is_unknown or "read" not in on_it, f"a wait at {place} has the stack {sorted(on_it)}")
        n_right += place in on_it
        n_unknown += is_unknown
    print(f"{path}: {len(waits)} waits, {n_right} with their place, {n_unknown} with a stack that ends early")
    check_lives(check, recording)
    lost = sql(path, "SELECT value FROM experiment WHERE key = 'lost_samples'")[0]["value"]
    if path == "full.er" and int(lost) == 0:  # without tracepoints some reasons are guesses
        check_counts(check, recording, phase)
    # Whatever is known of stacks: all of them together are the spans.
    for metric, states in (("other-wait", "'SLEEP', 'KFAULT', 'STOPPED'"), ("lock", "'USER_LOCK'"), ("wait-cpu", "'WAIT_CPU'")):
        spans = sql(path, f"SELECT coalesce(sum(end_ns - begin_ns), 0) AS ns FROM thread_state WHERE state IN ({states})")[0]["ns"]
        by_stack = sql(path, "SELECT coalesce(sum(end_ns - begin_ns), 0) AS ns FROM thread_state JOIN stack ON stack.id = coalesce(thread_state.stack, 0) "
                             f"WHERE state IN ({states})")[0]["ns"]
        rows = recording.report("functions", "--no-inlines", "--metric", metric)["rows"]
        check.that(by_stack == spans, f"{metric}: {by_stack} ns by stack, {spans} ns of spans")
        check.that(sum(row["exclusive"] for row in rows if not row["function"].startswith("<Total>")) == spans, f"{metric}: functions are not the spans")
    return check.end()


sys.exit(main())
