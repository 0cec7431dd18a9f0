"""record_states.py HOW OUTPUT RECORDING [LEAST]: what the program `states` printed of itself against the states of its recording.

HOW says what was recorded: full (switches, wake-ups, faults), min (switches with stacks), user (switches alone), perf (perf.data with
sched:sched_switch and SWITCH records). LEAST phases must have run (10).
"""
import sys

from states_of import (MS, RUNNING, STATES, WAITING, Check, Recording, check_cpu_time, check_lives, check_wait_cpu, stolen_ns,
                       switches_ns, told, total)

# Of each phase: the state that it is about, its metric, and the function that waits or computes there.
PHASES = {
    "burn": ("USER", "user", "burn_cpu"),
    "nap": ("SLEEP", "other-wait", "nap"),
    "input": ("SLEEP", "other-wait", "wait_for_input"),
    "writer": ("SLEEP", "other-wait", "write_late"),
    "lock": ("USER_LOCK", "lock", "wait_for_lock"),
    "holder": ("SLEEP", "other-wait", "hold_lock"),
    "stop": ("STOPPED", "STOPPED", "be_stopped"),
    "data": ("DFAULT", "data-fault", "touch_late_pages"),
    "code": ("DFAULT", "data-fault", "run_late_code"),
    "text": ("TFAULT", "text-fault", "run_cold_code"),
    "kernel": ("KFAULT", "KFAULT", "read_into_late_pages"),
    "compete": ("WAIT_CPU", "wait-cpu", "compete_for_cpu"),
    "system": ("SYSTEM", "system", "call_kernel"),
    "trap": ("TRAP", "system", "touch_new_pages"),
}
COMPUTING = ("burn", "compete", "system", "trap")


def check_waits(check, how, phase, row):
    """Whatever is neither CPU time nor waiting for a CPU was a wait. Returns the least and the most that it can have been."""
    waited = phase["wall"] - phase["cpu"] - max(phase["wait_cpu"], 0)
    most = waited + (max(phase["life_wait_cpu"], 0) if how != "full" else 0)
    slack = max(waited * 0.05, 2 * MS) + switches_ns(phase, row) + stolen_ns(phase)
    check.between(f"{phase['thread']}: all waits", total(row, WAITING), waited - slack, most + slack)
    return waited - slack, most + slack


def check_state(check, how, phase, row, gap, calls):
    """The state that the phase is about."""
    name = phase["phase"]
    state = PHASES[name][0]
    least, most = check_waits(check, how, phase, row)
    if name == "stop":
        # After SIGCONT it waits for a CPU; and the last reading of the clock was a little earlier.
        check.between("stop: STOPPED", row["STOPPED"], gap * 0.95 - 2 * MS - row["WAIT_CPU"], gap)
    elif name == "text" and how == "perf":
        # Nothing tells which faults were for instructions.
        check.between("text: faults", row["TFAULT"] + row["DFAULT"], least / 2, calls)
    elif name == "text":
        # Calls of cold code fault, and forgetting the page may wait for something else.
        check.between("text: faults", row[state], least / 2, calls)
        check.that(row["spans"][state] >= 500, f"text: {row['spans'][state]} text faults of 1000")
    elif name not in COMPUTING:
        check.between(f"{name}: {state}", row[state], least, most)
    elif state in RUNNING:
        # By samples. What touches pages and gives them back is in user mode and in system calls too.
        check.that(row[state] >= (0.4 if state == "TRAP" else 0.8) * phase["cpu"], f"{name}: {state} is {row[state]} of {phase['cpu']} ns")
    if name in ("data", "code", "kernel"):
        check.that(row["spans"][state] >= 25, f"{name}: {row['spans'][state]} waits for 25 pages")


def check_function(check, recording, phase, row):
    state, metric, function = PHASES[phase["phase"]]
    if row[state] < 5 * MS:
        return
    names = {"other-wait": ["KFAULT", "SLEEP", "STOPPED"], "system": ["SYSTEM", "TRAP"]}.get(metric, [state])
    found = recording.inclusive(function, metric, "--thread", str(row["thread_id"]))
    whole = total(row, names)
    check.that(found >= 0.95 * whole - MS / 2,
               f"{phase['phase']}: {function} has {found / MS:.3f} of {whole / MS:.3f} ms of {metric}")


def check_phase(check, how, recording, phase, rows, extra):
    row = rows[recording.thread_id(phase["tid"], phase["thread"])]
    # A switch record that perf's file lacks makes a wait for the CPU look like running.
    check_cpu_time(check, phase, row, max(phase["life_wait_cpu"], 0) + 10 * MS if how == "perf" else 0)
    check_wait_cpu(check, phase, row, knows_wakeups=how == "full")
    if how == "user":
        check_waits(check, how, phase, row)
        check_division(check, phase, row)
        return
    check_state(check, how, phase, row, extra.get("gap"), extra.get("calls"))
    check_function(check, recording, phase, row)


def check_division(check, phase, row):
    """Without samples of the kernel too: what of the CPU time was in it."""
    state = {"burn": "USER", "system": "SYSTEM"}.get(phase["phase"])
    if state is not None:
        check.that(row[state] >= 0.9 * phase["cpu"], f"{phase['phase']}: {row[state]} ns of {state} of {phase['cpu']} on a CPU")


def check_main(check, how, recording, phase, rows):
    """It waits in pthread_join nearly all the time, and is stopped with the thread that is."""
    row = rows[recording.thread_id(phase["tid"])]
    # From exec on only, where perf records.
    if how != "perf":
        check_cpu_time(check, phase, row, 20 * MS)
    least, _ = check_waits(check, how, phase, row)
    if how == "user":
        return
    check.that(row["USER_LOCK"] + row["STOPPED"] >= 0.9 * least,
               f"main: only {row['USER_LOCK'] + row['STOPPED']} of {least} ns in join")
    found = recording.inclusive("main", "lock", "--thread", str(row["thread_id"]))
    check.that(found >= 0.95 * row["USER_LOCK"], f"main: has {found} of {row['USER_LOCK']} ns of the waits in join")


def check_intervals(check, recording, phases, rows):
    """An interval that cuts a state has the part inside, to the nanosecond."""
    nap = next(phase for phase in phases if phase["phase"] == "nap")
    thread = recording.thread_id(nap["tid"], "nap")
    middle = nap["begin"] - recording.begin_ns() + 100 * MS
    inside = ["-i", f"{middle}ns:{middle + 100 * MS}ns"]
    row = recording.states(*inside, "--thread", str(thread))[thread]
    check.that(row["SLEEP"] == 100 * MS and total(row, STATES) == 100 * MS, f"middle of the nap: {row}")
    found = recording.inclusive("nap", "SLEEP", *inside, "--thread", str(thread))
    check.that(found == 100 * MS, f"middle of the nap: nap has {found} ns of SLEEP")
    tree = recording.report("tree", "--metric", "other-wait", *inside, "--thread", str(thread))
    check.that(tree["weight"] == 100 * MS and tree["rows"][0]["cum"] == 100 * MS, f"middle of the nap: tree of {tree['weight']} ns")
    # Parts of the run are the run.
    end = recording.report("header")["intervals_ns"][0][1]
    cuts = [end * i // 7 for i in range(8)]
    parts = [recording.states("-i", f"{a}ns:{b}ns") for a, b in zip(cuts, cuts[1:])]
    for thread, row in rows.items():
        for state in STATES:
            inside = sum(part[thread][state] for part in parts if thread in part)
            check.that(inside == row[state], f"{row['name']}: {state} is {inside} ns in seven parts, {row[state]} in one")


def check_trees(check, recording, rows):
    """Each metric's functions and tree have what the states have."""
    all_threads = rows[None]
    for metric in ["user", "system", "wait-cpu", "lock", "text-fault", "data-fault", "other-wait", "wall", *STATES]:
        for report in ("functions", "tree"):
            weight = recording.report(report, "--metric", metric)["weight"]
            check.that(weight == all_threads[metric], f"{report} of {metric}: {weight} instead of {all_threads[metric]} ns")


def check_wakers(check, recording, phases):
    """Who ended the wait of a phase, and in which function."""
    expected = {"lock": ("holder", "hold_lock"), "input": ("writer", "write_late"), "data": ("page-server", "serve_pages"),
                "kernel": ("page-server", "serve_pages")}
    wakers = recording.report("wakers")["rows"]
    for phase in phases:
        if phase["phase"] not in expected:
            continue
        state = PHASES[phase["phase"]][0]
        thread = recording.thread_id(phase["tid"], phase["thread"])
        waits = [row for row in wakers if row["thread_id"] == thread and row["state"] == state]
        name, function = expected[phase["phase"]]
        ended = [row for row in waits if row["waker_name"] == name and
                 function in (row["waker_stack"] or [])]
        whole = sum(row["wait_ns"] for row in waits)
        check.that(sum(row["wait_ns"] for row in ended) >= 0.95 * whole > 0,
                   f"{phase['phase']}: not ended by {name} in {function}: {waits}")


def main():
    how, output, path = sys.argv[1:4]
    least = int(sys.argv[4]) if len(sys.argv) > 4 else 10
    check = Check(f"states, {how}")
    recording = Recording(path)
    lines = told(output)
    rows = recording.states()
    extra = {line["phase"]: line["wall"] for line in lines if line["phase"] in ("gap", "calls")}
    for line in lines:
        if "refused" in line:
            print(f"left out: {line['phase']}: {line['refused']}")
    phases = [line for line in lines if line["phase"] in PHASES and "cpu" in line]
    check.that(len(phases) >= least, f"only {len(phases)} phases ran")
    check_lives(check, recording)
    for phase in phases:
        check_phase(check, how, recording, phase, rows, extra)
    for phase in lines:
        if phase["phase"] == "main":
            check_main(check, how, recording, phase, rows)
    check_trees(check, recording, rows)
    if how in ("full", "min"):
        check_intervals(check, recording, phases, rows)
    if how == "full":
        check_wakers(check, recording, phases)
    return check.end()


sys.exit(main())
