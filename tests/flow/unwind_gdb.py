"""Run by gdb: writes what a stopped program looks like, and how gdb unwinds it, for bench/unwind_stops.c.

	gdb -batch -ex 'py OUT, CASE = "FILE", "step"' -x unwind_gdb.py PROGRAM		starts it
	gdb -batch -ex 'py OUT, CASE = "FILE", "attach:NAME"' -x unwind_gdb.py -p PID
"""
import gdb

REGISTERS = ("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip").split()
STACK_MAX = 131072
STEPS = 400  # instructions of a case that is stepped through
FRAMES_MAX = 20000


def mappings(pid):
    """The mappings as (begin, end, access, offset, path)."""
    found = []
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            parts = line.split(maxsplit=5)
            begin, end = (int(x, 16) for x in parts[0].split("-"))
            found.append((begin, end, parts[1], int(parts[2], 16), parts[5].strip() if len(parts) == 6 else "//anon"))
    return found


def start_stack():
    """Where the stack of the process began (proc_pid_stat(5), field 28)."""
    with open(f"/proc/{gdb.selected_inferior().pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[25])


def write_maps(out, maps):
    out.write("maps\n")
    for begin, end, access, offset, path in maps:
        if "x" in access and path[0] == "/" or path == "[vdso]":
            out.write(f"map {begin:x} {end:x} {offset:x} {path}\n")


def register(frame, name):
    return int(frame.read_register(name)) & 0xFFFFFFFFFFFFFFFF


def write_words(out, begin, end):
    memory = bytes(gdb.selected_inferior().read_memory(begin, end - begin))
    for at in range(0, len(memory) - 7, 256):
        words = (int.from_bytes(memory[i : i + 8], "little") for i in range(at, min(at + 256, len(memory) - 7), 8))
        out.write(f"stack {begin + at:x} " + " ".join(f"{word:x}" for word in words) + "\n")


def frames_of(frame):
    """gdb's frames: the address that is looked up for each, and its name. Besides, their stack pointers."""
    found, pointers, exact = [], [], True
    while frame is not None and len(found) < FRAMES_MAX:
        if frame.type() in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):  # not on the stack
            frame = frame.older()
            continue
        found.append((frame.pc() - (0 if exact else 1), frame.name() or "?"))
        pointers.append(register(frame, "rsp"))
        exact = frame.type() == gdb.SIGTRAMP_FRAME
        frame = frame.older()
    return found, pointers


def write_stop(out, name, maps, outermost=0):
    frame = gdb.newest_frame()
    sp = register(frame, "rsp")
    frames, pointers = frames_of(frame)
    out.write(f"stop {name}\n" + "regs " + " ".join(f"{register(frame, r):x}" for r in REGISTERS) + "\n")
    if outermost:
        # The outermost word is the return address into the last frame.
        write_words(out, pointers[-1] - outermost, pointers[-1])
        frames = frames[-outermost // 8 :]
        out.write("outermost\n")
    else:
        # Not the environment above the first frame of a program.
        end, start = next(m[1] for m in maps if m[0] <= sp < m[1]), start_stack()
        write_words(out, sp, min(end, sp + STACK_MAX, start if start >= sp else end))
    for address, function in frames:
        out.write(f"frame {address:x} {function.split('(')[0].replace(' ', '_')}\n")


def all_threads(out, name):
    maps = mappings(gdb.selected_inferior().pid)
    write_maps(out, maps)
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
        thread.switch()
        pc = gdb.newest_frame().pc()
        # Code of a JIT compiler is in no file that could be read later.
        if any(begin <= pc < end and path[0] in "/[" for begin, end, _, _, path in maps):
            write_stop(out, name, maps)


def run(out, case):
    gdb.execute("set follow-fork-mode child")
    gdb.execute(f"set args {case}")
    gdb.execute("break " + {"step": "one", "bare": "framed", "vfork": "in_child", "spawn": "*execve"}.get(case, "here"))
    gdb.execute("run")
    maps = mappings(gdb.selected_inferior().pid)
    write_maps(out, maps)
    if case == "deep":
        write_stop(out, case, maps, 4096)
    elif case in ("step", "bare", "vfork", "coroutine", "signal"):
        gdb.execute("delete")
        for i in range(STEPS):
            write_stop(out, case, maps)
            if gdb.newest_frame().name() in ("main", "execve", "_exit"):
                break
            gdb.execute("stepi", to_string=True)
            if not gdb.selected_inferior().pid:
                break
    else:
        all_threads(out, case)
    gdb.execute("kill")


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set debuginfod enabled off")
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("set backtrace limit unlimited")
with open(OUT, "a") as stops:
    if CASE.startswith("attach:"):
        all_threads(stops, CASE[len("attach:") :])
    else:
        run(stops, CASE)
