"""record_reused_tids.py OUTPUT RECORDING [--measured]: what the threads of `reuse_tids` counted and measured against what their lives in the recording
have. Counts and places hold on any machine; --measured adds how long, for kept recordings and by hand.
"""
import sys
from collections import Counter

from states_of import MS, RUNNING, STATES, WAITING, Check, Recording, check_lives, reported, total


def check_thread(check, recording, line, threads, rows, measured):
    """The life that this line is about is the one that it lies in. Its number."""
    begin = recording.begin_ns()
    lives = [thread for thread in threads if thread["thread"] == line["tid"] and
             thread["begin"] <= line["begin"] - begin and line["end"] - begin <= thread["end"]]
    check.that(len(lives) == 1, f"{line['thread']}: {len(lives)} threads {line['tid']} lived at its time")
    if len(lives) != 1:
        return None
    number = lives[0]["thread_id"]
    row = rows[number]
    check.that(lives[0]["name"] == line["thread"], f"{line['thread']}: named {lives[0]['name']}")
    # It may wait once more when it ends, for what it does there.
    waits = sum(row["spans"][state] for state in WAITING)
    check.that(line["life_waits"] <= waits <= line["life_waits"] + 1, f"{line['thread']}: {waits} waits instead of {line['life_waits']}")
    if measured:
        # Of its own: what a thread before it had would be milliseconds more.
        waited = line["wall"] - line["cpu"] - max(line["wait_cpu"], 0)
        for what, states, expected in (("CPU time", RUNNING, line["life_cpu"]), ("waits", WAITING, waited)):
            check.near(f"{line['thread']}: {what}", total(row, states), expected, 3, 0.5 * MS)
    return number


def main():
    output, path = sys.argv[1:3]
    measured = "--measured" in sys.argv
    check = Check("reused thread ids")
    recording = Recording(path)
    lines = reported(output)
    lives = [line for line in lines if line["phase"] == "life"]
    ids = next(line for line in lines if line["phase"] == "ids")
    check.that(ids["ids"] * 2 <= ids["threads"], f"the kernel did not use ids again: {ids}")
    threads = recording.threads()
    rows = recording.states()
    check_lives(check, recording)
    numbers = [check_thread(check, recording, line, threads, rows, measured) for line in lives]
    check.that(len(set(numbers)) == len(lives), "two threads of the program are one in the recording")
    most = Counter(thread["thread"] for thread in threads).most_common(1)[0]
    check.that(most[1] >= 3, f"no id was used three times: {most}")
    # No time is in nobody's life: the sums by thread are the sums of all, and of each function.
    for state in STATES:
        summed = sum(row[state] for number, row in rows.items() if number is not None)
        check.that(summed == rows[None][state], f"{state}: {summed} ns by thread, {rows[None][state]} in all")
    # Naps are where the program naps: once for each thread that does, and nowhere else.
    naps = [line for line in lives if int(line["thread"].split("-")[1]) % 5 > 0]
    napped = recording.spans("nap_its_share", "SLEEP")
    check.that(napped == len(naps), f"{napped} naps of {len(naps)} threads")
    computed = recording.inclusive("compute_its_share", "user") + recording.inclusive("compute_its_share", "system")
    check.that(computed > 0, "compute_its_share has no CPU time")
    if measured:
        expected = sum(total(rows[number], RUNNING) for number in numbers if number is not None)
        check.near("compute_its_share", computed, expected, 5, 2 * MS)
        slept = recording.inclusive("nap_its_share", "SLEEP")
        check.that(slept >= sum(int(line["thread"].split("-")[1]) % 5 for line in lives) * MS, f"nap_its_share: {slept} ns")
    return check.end()


sys.exit(main())
