# Runs a command on a terminal of its own and checks what a screen has to leave behind.
#   record_top.py KEY STATUS COMMAND...
# KEY is pressed once a screen was drawn: "none", "interrupt", "q". STATUS is the command's exit status.
import os
import pty
import select
import sys
import termios
import time

key, wanted, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
KEYS = {"interrupt": b"\x03", "q": b"q"}
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
failures = 0


def check(what, is_so):
    global failures
    if not is_so:
        failures += 1
        print(f"{what}: {' '.join(command)}")


# The terminal stays open here, so that its modes can be read afterwards.
master, slave = pty.openpty()
termios.tcsetwinsize(slave, (30, 100))
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.close(master)
    os.login_tty(slave)
    os.environ["TERM"] = "xterm"
    os.environ.pop("COLUMNS", None)
    os.execvp(command[0], command)
output = b""
ended = None
deadline = time.monotonic() + 60
while ended is None or select.select([master], [], [], 0)[0]:
    if select.select([master], [], [], 0.05)[0]:
        output += os.read(master, 65536)
    # "q quits" stands below a screen; "waiting" below none.
    if key in KEYS and b"q quits" in output:
        os.write(master, KEYS[key])
        key = "pressed"
    if ended is None:
        done, status = os.waitpid(pid, os.WNOHANG)
        ended = status if done else None
    if time.monotonic() > deadline:
        os.kill(pid, 9)
        check("did not end", False)
        break
check("the key was not pressed", key not in KEYS)
check(f"exit status {os.waitstatus_to_exitcode(ended or 0)}", os.waitstatus_to_exitcode(ended or 0) == wanted)
check("the second screen was not entered and left once", output.count(ENTER) == 1 and output.count(LEAVE) == 1)
check("the cursor is hidden", output.rfind(b"\x1b[?25h") > output.rfind(b"\x1b[?25l"))
check("lines are not wrapped any more", output.rfind(b"\x1b[?7h") > output.rfind(b"\x1b[?7l"))
check("the terminal's modes are others", termios.tcgetattr(slave) == before)
after = output[output.rfind(LEAVE) :]
check("the last screen does not stay", b"CPUs busy" in after)
sys.stdout.write(after.decode(errors="replace"))
sys.exit(1 if failures else 0)
