"""record_states.py HOW OUTPUT RECORDING [--measured]: what the program `states` printed of itself against the states of its recording.

HOW says what was recorded: full (switches, wake-ups, faults), syscalls (these and system calls), min (switches with stacks), user (switches
alone), perf (perf.data with sched:sched_switch and SWITCH records).

What holds on any machine, however busy: lives are covered without gap, parts add up to the whole, reports agree with each other, each thread has as many
waits and preemptions as the kernel counted, in the functions that wait. --measured adds how long: against the clocks that the program read. For kept
recordings, and by hand: a neighbour or a hypervisor that takes the CPU moves these. Exit status 77: a phase was refused here, all else holds.
"""
import sys

from states_of import (MS, RUNNING, STATES, WAITING, Check, Recording, check_counts, check_cpu_time, check_lives, check_wait_cpu,
                       stolen_ns, switches_ns, reported, total)

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
LATE_PAGES = 25  # of data, code and kernel: each is waited for

# Who ends the wait of a phase, and in which function.
WAKERS = {"lock": ("holder", "hold_lock"), "input": ("writer", "write_late"), "data": ("page-server", "serve_pages"),
          "kernel": ("page-server", "serve_pages")}


def row_of(recording, rows, phase):
    return rows[recording.thread_id(phase["tid"], None if phase["phase"] == "main" else phase["thread"])]


# ---- what holds on any machine

def check_phase(check, how, recording, phase, row):
    """The thread's waits are in the state and in the function that the phase is about."""
    name = phase["phase"]
    state, metric, function = PHASES[name]
    spans = row["spans"]
    if how == "user":  # every wait is SLEEP, without a stack
        check.that(row["USER"] > 0 or row["SYSTEM"] > 0, f"{name}: no CPU time")
        return
    if name == "text":
        # Whether a wait is for instructions the kernel knows by major faults; perf's files do not have them.
        check.that(spans["TFAULT"] <= phase["major_faults"], f"text: {spans['TFAULT']} waits, {phase['major_faults']} major faults")
        if how == "perf" or spans["TFAULT"] + spans["DFAULT"] == 0:
            return
    elif name in ("data", "code", "kernel"):
        check.that(spans[state] >= LATE_PAGES, f"{name}: {spans[state]} waits for {LATE_PAGES} pages")
    else:
        check.that(row[state] > 0, f"{name}: no {state}: {spans}")
    found = recording.inclusive(function, metric, "--thread", str(row["thread_id"]))
    check.that(found > 0, f"{name}: nothing of {metric} in {function}")


def check_main(check, how, recording, row):
    """It waits in pthread_join."""
    if how == "user":
        return
    check.that(row["USER_LOCK"] > 0, f"main: no wait in join: {row['spans']}")
    found = recording.inclusive("main", "lock", "--thread", str(row["thread_id"]))
    check.that(found > 0, "main: its waits in join are not in main")


def check_phase_is_covered(check, recording, phase, row):
    """The states of a phase's interval add up to what its clock says, to the nanosecond, while the thread lives."""
    begin = phase["begin"] - recording.begin_ns()
    end = begin + phase["wall"]
    thread = row["thread_id"]
    inside = recording.states("-i", f"{begin}ns:{end}ns", "--thread", str(thread))[thread]
    check.that(total(inside, STATES) == phase["wall"],
               f"{phase['phase']}: states of {total(inside, STATES)} ns in an interval of {phase['wall']}")


def check_intervals(check, recording, rows):
    """Parts of the run are the run: an interval that cuts a state has the part inside."""
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
        for report in recording.reports(["functions", "tree"], "--metric", metric):
            check.that(report["weight"] == all_threads[metric],
                       f"{report['report']} of {metric}: {report['weight']} instead of {all_threads[metric]} ns")


def wakeups(recording, phase):
    """Rows of the report wakers for the phase's waits, and those of them that were ended by whom the program knows."""
    state = PHASES[phase["phase"]][0]
    thread = recording.thread_id(phase["tid"], phase["thread"])
    waits = [row for row in recording.report("wakers")["rows"] if row["thread_id"] == thread and row["state"] == state]
    name, function = WAKERS[phase["phase"]]
    return waits, [row for row in waits if row["waker_name"] == name and function in (row["waker_stack"] or [])]


def check_wakers(check, recording, phases):
    for phase in phases:
        if phase["phase"] in WAKERS:
            waits, ended = wakeups(recording, phase)
            check.that(ended, f"{phase['phase']}: no wait was ended by {WAKERS[phase['phase']]}: {waits}")


# ---- how long, as the program's clocks say it

def wait_limits(how, phase, row):
    """Whatever is neither CPU time nor waiting for a CPU was a wait: the least and the most that it can have been."""
    waited = phase["wall"] - phase["cpu"] - max(phase["wait_cpu"], 0)
    most = waited + (max(phase["life_wait_cpu"], 0) if how != "full" else 0)
    slack = max(waited * 0.05, 2 * MS) + switches_ns(phase, row) + stolen_ns(phase)
    return waited - slack, most + slack


def measure_state(check, how, phase, row, extra):
    """The state that the phase is about."""
    name = phase["phase"]
    state = PHASES[name][0]
    least, most = wait_limits(how, phase, row)
    if name == "stop":
        # After SIGCONT it waits for a CPU; and the last reading of the clock was a little earlier.
        check.between("stop: STOPPED", row["STOPPED"], extra["gap"] * 0.95 - 2 * MS - row["WAIT_CPU"], extra["gap"])
    elif name == "text":
        # Calls of cold code fault, and forgetting the page may wait for something else. perf's file does not say which faults were for instructions.
        value = row["TFAULT"] + row["DFAULT"] if how == "perf" else row["TFAULT"]
        check.between("text: faults", value, least / 2, extra["calls"])
    elif name not in COMPUTING:
        check.between(f"{name}: {state}", row[state], least, most)
    elif state in RUNNING:
        # By samples. What touches pages and gives them back is in user mode and in system calls too.
        check.that(row[state] >= (0.4 if state == "TRAP" else 0.9) * phase["cpu"], f"{name}: {state} is {row[state]} of {phase['cpu']} ns")


def measure_function(check, recording, phase, row):
    state, metric, function = PHASES[phase["phase"]]
    if row[state] < 5 * MS:
        return
    names = {"other-wait": ["KFAULT", "SLEEP", "STOPPED"], "system": ["SYSTEM", "TRAP"]}.get(metric, [state])
    found = recording.inclusive(function, metric, "--thread", str(row["thread_id"]))
    whole = total(row, names)
    check.that(found >= 0.95 * whole - MS / 2,
               f"{phase['phase']}: {function} has {found / MS:.3f} of {whole / MS:.3f} ms of {metric}")


def measure_phase(check, how, recording, phase, row, extra):
    # A switch record that perf's file lacks makes a wait for the CPU look like running.
    check_cpu_time(check, phase, row, max(phase["life_wait_cpu"], 0) + 10 * MS if how == "perf" else 0)
    check_wait_cpu(check, phase, row, knows_wakeups=how in ("full", "syscalls"))
    check.between(f"{phase['phase']}: all waits", total(row, WAITING), *wait_limits(how, phase, row))
    if how == "user":
        # Without samples of the kernel too: what of the CPU time was in it.
        state = {"burn": "USER", "system": "SYSTEM"}.get(phase["phase"])
        if state is not None:
            check.that(row[state] >= 0.9 * phase["cpu"], f"{phase['phase']}: {row[state]} ns of {state} of {phase['cpu']} on a CPU")
        return
    measure_state(check, how, phase, row, extra)
    measure_function(check, recording, phase, row)


def measure_main(check, how, recording, phase, row):
    """It waits in pthread_join nearly all the time, and is stopped with the thread that is."""
    # From exec on only, where perf records.
    if how != "perf":
        check_cpu_time(check, phase, row, 20 * MS)
    least, most = wait_limits(how, phase, row)
    check.between("main: all waits", total(row, WAITING), least, most)
    if how == "user":
        return
    check.that(row["USER_LOCK"] + row["STOPPED"] >= 0.9 * least,
               f"main: only {row['USER_LOCK'] + row['STOPPED']} of {least} ns in join")
    found = recording.inclusive("main", "lock", "--thread", str(row["thread_id"]))
    check.that(found >= 0.95 * row["USER_LOCK"], f"main: has {found} of {row['USER_LOCK']} ns of the waits in join")


def measure_nap(check, recording, phases):
    """The middle of a wait is that wait."""
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


def measure_wakers(check, recording, phases):
    for phase in phases:
        if phase["phase"] in WAKERS:
            waits, ended = wakeups(recording, phase)
            whole = sum(row["wait_ns"] for row in waits)
            check.that(sum(row["wait_ns"] for row in ended) >= 0.95 * whole > 0,
                       f"{phase['phase']}: not ended by {WAKERS[phase['phase']]}: {waits}")


def main():
    how, output, path = sys.argv[1:4]
    measured = "--measured" in sys.argv
    check = Check(f"states, {how}")
    recording = Recording(path)
    lines = reported(output)
    rows = recording.states()
    extra = {line["phase"]: line["wall"] for line in lines if line["phase"] in ("gap", "calls")}
    refused = [line for line in lines if "refused" in line]
    for line in refused:
        print(f"{'left out' if how == 'user' else 'SKIP'}: {line['phase']}: {line['refused']}")
    phases = [line for line in lines if line["phase"] in PHASES and "cpu" in line]
    main_line = next(line for line in lines if line["phase"] == "main")
    asked = {line["phase"] for line in lines} & PHASES.keys()
    check.that(phases and asked, "no phases ran")
    check_lives(check, recording)
    check_trees(check, recording, rows)
    check_intervals(check, recording, rows)
    for phase in [*phases, main_line]:
        row = row_of(recording, rows, phase)
        # perf's times are from its first sample on, and its files lack switches; the main thread lived before the recording.
        if how != "perf" and phase is not main_line:
            check_counts(check, recording, phase, how)
            check_phase_is_covered(check, recording, phase, row)
        if phase is main_line:
            check_main(check, how, recording, row)
        else:
            check_phase(check, how, recording, phase, row)
        if measured and phase is main_line:
            measure_main(check, how, recording, phase, row)
        elif measured:
            measure_phase(check, how, recording, phase, row, extra)
    if how in ("full", "syscalls"):
        check_wakers(check, recording, phases)
        if measured:
            measure_wakers(check, recording, phases)
    if measured and how in ("full", "min") and "nap" in asked:
        measure_nap(check, recording, phases)
    status = check.end()
    # What an ordinary user may not do is no part of the test; elsewhere it is missing here.
    return 77 if status == 0 and refused and how != "user" else status


sys.exit(main())
