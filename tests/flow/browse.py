"""ctxan --browse: screens, keys, the mouse, signals, crashes.	browse.py SOURCE_DIR [CASE...]	UPDATE_GOLDEN=1 rewrites the screens."""
import os, re, shutil, signal, subprocess, sys, termios
from browse_terminal import Failed, Terminal

GOLDEN = os.path.join(sys.argv[1], "testdata/golden/browse")
UPDATE = os.environ.get("UPDATE_GOLDEN")
PLAIN = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TZ": "UTC"}
UP, DOWN, RIGHT, LEFT, HOME, END = "\033OA", "\033OB", "\033OC", "\033OD", "\033OH", "\033OF"
ESC = "\033"
KEYS = "q quit ? help"
failures = []


def fail(text):
	failures.append(text)
	print(f"FAIL: {text}")


def browse(*arguments, rows=24, columns=80, **environment):
	return Terminal(["ctxan", "-q", "--browse", *arguments], rows, columns, {**PLAIN, **environment})


def golden(t, name):
	"""Waits until the screen is that of the file."""
	path = os.path.join(GOLDEN, name + ".txt")
	if UPDATE:
		os.makedirs(GOLDEN, exist_ok=True)
		while t.read(1):
			pass
		with open(path, "w") as f:
			f.write(t.text())
		return
	with open(path) as f:
		wanted = f.read()
	try:
		t.until(name, lambda: t.text() == wanted)
	except Failed:
		fail(f"{name}: the screen is another one:\n{t.text()}")


def quit(t):
	t.type("q")
	code = t.end()
	if code != 0 or not t.is_restored():
		fail(f"q: exit status {code}, terminal restored: {t.is_restored()}")


def check_restored(t, what):
	if not t.is_restored():
		fail(f"{what}: the terminal is not as it was")
	# The screen of before, the cursor, no mouse, no attributes.
	for sequence in rb"\033\[\?1049l", rb"\033\[\?(1006;)?1000l", rb"\033\[\?25h|\033\[34h":
		if not re.search(sequence, t.raw[-400:]):
			fail(f"{what}: {sequence} was not sent: {t.raw[-200:]}")


def panes():
	"""All panes, 80x24."""
	with browse("phases.er", "-i", "300:700") as t:
		t.expect("work_a [phases]", KEYS)
		golden(t, "functions")
		t.type("2")
		t.expect("Self % Name", "<Total>")
		golden(t, "tree")
		t.type(DOWN + LEFT)
		t.expect("+ start", "!work_a")
		golden(t, "tree_collapsed")
		t.type(RIGHT)
		t.expect("- start", "work_a")
		t.type("1/work_b\nc")
		t.expect("(callers of work_b)")
		golden(t, "callers")
		t.type("4")
		t.expect("Kind", "Ended by")
		golden(t, "waits")
		t.type("5")
		t.expect("Begin ms")
		golden(t, "threads")
		t.type("x")
		t.expect("mulsd")
		golden(t, "instructions")
		t.type("?")
		t.expect("this help; quits")
		golden(t, "help")
		t.type(ESC)
		t.expect("!this help; quits", "mulsd")
		t.type("m")
		t.expect("Metric (Enter selects")
		t.type("/wall\n\n")
		t.expect("threads at a time", "  Wall  ")
		golden(t, "metric_wall")
		t.type("w")
		t.expect("Warnings (Esc leaves)")
		golden(t, "warnings")
		quit(t)


def source():
	"""Annotated source, 120x40."""
	with browse("tight.er", rows=40, columns=120) as t:
		t.expect(KEYS, "long_one")
		golden(t, "wide_functions")
		t.type("\n")
		t.expect("Line Source", "##")
		golden(t, "wide_source")
		t.type("x")
		t.expect("Instruction", "##")
		quit(t)


def interval():
	"""Every way to the interval."""
	with browse("phases.er") as t:
		t.expect("whole run", KEYS)
		golden(t, "first")
		t.type("i")
		t.expect("interval (300:700")
		t.type("300:700\n")
		t.expect("300.000-700.000 of 1572.894 ms")
		t.type(">")
		t.expect("700.000-1100.000 of")
		t.type("<<")
		t.expect(" 0.000-400.000 of")
		t.type("uuu>")
		t.expect("700.000-1100.000 of")
		t.type("u")
		t.expect("300.000-700.000 of")
		t.type("+")
		t.expect("400.000-600.000 of")
		t.type("-")
		t.expect("300.000-700.000 of")
		t.type("z")
		t.expect("zoomed")
		golden(t, "zoomed")
		t.type("]{")
		t.expect("305.6", "694.3")
		t.type("[}")
		t.expect("300.000-700.000 of")
		t.type("aZ")
		t.expect("whole run", "!zoomed")
		t.type("b")
		t.expect("Space begins the interval")
		t.type(RIGHT * 10 + " " + RIGHT * 5)
		t.expect("221.5")
		golden(t, "brushing")
		t.type("\n")
		t.expect(KEYS)
		t.type("b" + LEFT + " " + END + ESC)
		t.expect(KEYS, "221.5")
		t.type("u")
		t.expect("whole run")
		# The mouse: press and release, in SGR notation (columns and rows from 1).
		t.type("\033[<0;20;4M\033[<0;29;4m")
		t.expect("221.5")
		t.type("i300:200\n")
		t.expect("300:200")
		if "300:200" not in t.line(23):
			fail(f"a reversed interval is not refused: {t.line(23)}")
		t.type("i99s:\n")
		t.expect("99s:")
		t.expect("221.5")
		quit(t)


def compare():
	with browse("phases.er", "-i", "300:700") as t:
		t.expect("work_a", KEYS)
		t.type("d>")
		t.expect("compared with base 300.000-700.000 of 1572.894 ms", "700.000-1100.000", "+24.37")
		golden(t, "compare")
		t.type("d")
		t.expect("the base is forgotten", "!compared with base")
		quit(t)


def sides():
	"""Two sides: tables of what changed."""
	def side(name):
		return ",".join(f"{name}.{i}.er" for i in (1, 2, 3))
	with browse("--diff", side("before"), side("after")) as t:
		t.expect("solve [regression]", "slower", KEYS)
		golden(t, "sides_functions")
		t.type("/render\n")
		t.until("the row of render", lambda: "render" in selected(t, 3))
		t.type("/nowhere\n")
		t.expect("no row has 'nowhere'")
		t.type("2")
		t.expect("Call tree", "- <Truncated", "render")
		golden(t, "sides_tree")
		t.type(LEFT)
		t.expect("+ <Truncated", "!  render")
		golden(t, "sides_tree_collapsed")
		t.type("\n" + DOWN + LEFT)
		t.until("the row above", lambda: "- <Truncated" in selected(t, 3))
		t.type("w")
		t.expect("Remarks (Esc leaves)", "Explained by:")
		golden(t, "sides_remarks")
		t.type("?")
		t.expect("Keys (Esc leaves)", "!Explained by:")
		golden(t, "sides_help")
		t.type(ESC + "7")
		t.expect("has no waits in the selection")
		t.type("\t\033[Z\033[Z")
		t.expect("waiting for a CPU")
		t.type("i")
		t.expect("options of the command line select")
		# The mouse: the third tab, a row.
		t.type("\033[<0;25;2M\033[<0;25;2m")
		t.expect("main › solve")
		t.type("\033[<0;5;6M\033[<0;5;6m")
		t.until("the third row", lambda: selected(t, 3) == t.line(5))
		t.resize(20, 60)
		t.expect("60x20 is too small: 80x24 at least")
		t.resize(30, 120)
		t.until("30 lines", lambda: KEYS in t.line(29))
		golden(t, "sides_wide")
		quit(t)
	with browse("--diff", "phases.er", "-i", "300:700", "-i", "700:1100", "-r", "objects,lines", LC_ALL="C") as t:
		t.expect("1 objects 2 lines", "[vdso]")
		t.type("2")
		t.expect("Line")
		golden(t, "sides_intervals")
		quit(t)


def threads():
	with browse("phases.er") as t:
		t.expect("all 3 threads", KEYS)
		t.type("t" + DOWN + "\n")
		t.expect("thread ", "!all 3 threads")
		t.type("1")
		t.expect("Total ms", "!Begin ms")
		golden(t, "one_thread")
		t.type("T")
		t.expect("all 3 threads")
		quit(t)


def chart():
	"""What threads are in over time: exact calls, sampled ones, ASCII; keys go from call to call, Enter selects a call's interval."""
	with browse("worked-example-in-b.txt", LC_ALL="C") as t:
		t.expect(KEYS)
		t.type("8")
		t.expect("exact calls", "|C---")
		golden(t, "chart")
		# Depth 4 has B, A and B, the last from 10 to 13 ms.
		t.type(DOWN * 4 + RIGHT * 3)
		t.expect("depth 4: B", ">B==")
		golden(t, "chart_call")
		t.type("\n")
		t.expect("B: begin 10.000000 ms, took 3.000 ms, self 2.000 ms, depth 4", "10.000-13.000 of 15.000 ms")
		t.type("u" + UP + LEFT)
		t.expect("depth 3: B", "whole run")
		quit(t)
	with browse("lock_convoy.er", rows=30, columns=100) as t:
		t.expect(KEYS)
		t.type("8")
		t.expect("8 Chart", "sampled")
		golden(t, "chart_sampled")
		t.type("\n")
		t.expect("no call is chosen")
		quit(t)


def waits():
	"""An ASCII terminal, 132 columns."""
	with browse("lock_convoy.er", rows=30, columns=132, LC_ALL="C") as t:
		t.expect("all 5 threads", KEYS)
		t.type("4")
		t.expect("mutex", "reporter")
		golden(t, "ascii_waits")
		if any(ord(c) > 126 for c in t.text()):
			fail("the locale C has other characters than ASCII")
		t.type(DOWN + "c")
		t.expect("(callers of add_to_total)")
		golden(t, "ascii_callers")
		quit(t)


def searching():
	with browse("phases.er") as t:
		t.expect(KEYS)
		t.type("/PHASE_\n")
		t.expect("no row has 'PHASE_'")
		t.type("/phase_\n")
		t.expect("!no row has", "/")
		row = selected(t)
		if "phase_" not in row:
			fail(f"/phase_: {row}")
		t.type("n")
		t.until("the next row", lambda: "phase_" in selected(t) and selected(t) != row)
		t.type("N")
		t.until("the row before", lambda: selected(t) == row)
		quit(t)


def selected(t, first=7):
	"""The row of the table that is reverse."""
	for y in range(first, t.screen.lines - 1):
		if t.screen.buffer[y][0].reverse:
			return t.line(y)
	return ""


def exports():
	for name in "out.folded", "taken.folded":
		if os.path.exists(name):
			os.remove(name)
	shutil.rmtree("out.er", ignore_errors=True)
	with open("taken.folded", "w") as f:
		f.write("mine\n")
	with browse("phases.er", "-i", "300:700") as t:
		t.expect(KEYS)
		t.type("e")
		t.expect("export as (html", "folded")
		t.type("\x15nothing\n")
		t.expect("no format 'nothing'")
		t.type("e\x15fold\n")
		t.expect("file for folded:")
		t.type("out.folded\n")
		t.expect("written: out.folded")
		t.type("e\x15folded\ntaken.folded\n")
		t.expect("taken.folded exists. Replace it? (y/n)")
		t.type("n")
		t.expect("not exported")
		t.type("e\x15folded\nphases.er/ctxan.db\ny")
		t.expect("that is a database of ctxan: not overwritten")
		t.type("e\x15gprofng\nout.er\n")
		t.expect("written: out.er")
		quit(t)
	wanted = subprocess.run(["ctxan", "-q", "phases.er", "-i", "300:700", "--export", "folded"], capture_output=True).stdout
	with open("out.folded", "rb") as f:
		if f.read() != wanted:
			fail("the export of the browser is not that of --export")
	with open("taken.folded") as f:
		if f.read() != "mine\n":
			fail("a file was replaced without a yes")
	if not os.path.isdir("out.er"):
		fail("no out.er")


def sizes():
	with browse("phases.er") as t:
		t.expect(KEYS)
		t.resize(30, 100)
		t.until("30 lines", lambda: KEYS in t.line(29))
		golden(t, "resized")
		t.resize(20, 60)
		t.expect("60x20 is too small: 80x24 at least")
		t.resize(24, 80)
		t.until("24 lines", lambda: KEYS in t.line(23))
		golden(t, "first")
		quit(t)
	with browse("phases.er", rows=10, columns=40) as t:
		t.expect("40x10 is too small")
		quit(t)


def signals():
	for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
		with browse("phases.er") as t:
			t.expect(KEYS)
			t.signal(number)
			if t.end() != -number:
				fail(f"{number.name}: ended with {t.end()}")
			check_restored(t, number.name)
	with browse("phases.er") as t:
		t.expect(KEYS)
		t.type("\x03")
		if t.end() != -signal.SIGINT:
			fail(f"Ctrl-C: ended with {t.end()}")
		check_restored(t, "Ctrl-C")
	with browse("phases.er") as t:
		t.expect(KEYS)
		t.type("\x1a")
		t.stop()
		check_restored(t, "Ctrl-Z")
		t.screen.reset()
		t.go_on()
		t.expect(KEYS, "work_a")
		golden(t, "first")
		quit(t)


def crashes():
	# A sanitizer's report is written behind the screen, and its exit status is its own.
	for number in signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS:
		with browse("phases.er", ASAN_OPTIONS="handle_segv=0:handle_abort=0:handle_sigbus=0:detect_leaks=0") as t:
			t.expect(KEYS)
			t.signal(number)
			if t.end() != -number:
				fail(f"{number.name}: ended with {t.end()}")
			check_restored(t, number.name)


def hostile():
	"""Names that would clear the screen, move the cursor, reverse text; wide, combining, no UTF-8."""
	names = {b"work_a": b"\033[2Ja", b"work_b": "\u4e2d\u6587".encode(), b"phase_report": b"\xff\xfe\x80e\xcc\x81\xe2\x80\xaecba"[:12],
	         b"phase_solve": b"\a\b\t\r\n\x7f\xc2\x9b1mb"}
	shutil.rmtree("hostile.er", ignore_errors=True)
	shutil.copytree("phases.er", "hostile.er")
	os.remove("hostile.er/ctxan.db")
	changed = 0
	for archive in sorted(os.listdir("hostile.er/archives")):
		path = "hostile.er/archives/" + archive
		program = subprocess.run(["zstd", "-qdc", path], stdout=subprocess.PIPE, check=True).stdout
		if b"\0work_a\0" not in program:
			continue
		for name, other in names.items():
			other = b"\0" + other.ljust(len(name), b"_")[: len(name)] + b"\0"
			changed += program.count(b"\0" + name + b"\0")
			program = program.replace(b"\0" + name + b"\0", other)
		os.chmod(path, 0o644)
		with open(path, "wb") as f:
			subprocess.run(["zstd", "-qc"], input=program, stdout=f, check=True)
	if changed < len(names):
		raise Failed("the program has not the names that are replaced")
	with browse("hostile.er") as t:
		t.expect(KEYS, "\\x1b[2Ja")
		golden(t, "hostile_functions")
		t.type("2")
		t.expect("Self % Name")
		golden(t, "hostile_tree")
		t.type("1sxt")
		t.expect("Begin ms")
		sent = re.sub(rb"\033(\[[0-9;?<]*[A-Za-z]|\([0B]|[=>78M]|\][^\a]*\a)", b"", t.raw)
		for byte in b"\a", b"\x7f", b"\xc2\x9b", b"\xe2\x80\xae", b"\xff", b"\033":
			if byte in sent:
				fail(f"{byte} of a name was sent to the terminal")
		quit(t)


def refusals():
	def refused(pattern, command, **environment):
		with Terminal(command, environment={**PLAIN, **environment}) as t:
			code = t.end()
			if code != 1 or not re.search(pattern, t.text().replace("\n", "")):
				fail(f"{command}: exit status {code}: {t.text()}")
			if not t.is_restored():
				fail(f"{command}: the terminal is not as it was")
	ctxan = ["ctxan", "-q", "--browse", "phases.er"]
	refused("terminal 'unheard-of' .TERM. is unknown", ctxan, TERM="unheard-of")
	refused("cannot move its cursor", ctxan, TERM="dumb")
	refused("--browse requires a terminal", ["sh", "-c", "ctxan --browse phases.er </dev/null"])
	refused("--browse requires a terminal", ["sh", "-c", "ctxan --browse phases.er | cat; exit 1"])
	refused("--browse excludes --report", ctxan + ["-r", "tree"])
	refused("--browse excludes --export", ctxan + ["--export", "html"])
	refused("--browse requires a single recording, --diff or --merge", ctxan + ["tight.er"])
	refused("--browse excludes --export", ctxan + ["tight.er", "--diff", "--export", "html"])
	refused("--browse excludes '-'", ["ctxan", "--browse", "-"])


def colours():
	"""NO_COLOR, --color."""
	for environment, arguments, wanted in ({}, [], False), ({"NO_COLOR": ""}, [], True), ({"NO_COLOR": ""}, ["--color=never"], False), ({}, ["--color=always"], True):
		with browse("phases.er", *arguments, **environment) as t:
			t.expect(KEYS)
			quit(t)
			if bool(re.search(rb"\033\[[0-9;]*3[1-6]m", t.raw)) != wanted:
				fail(f"{environment} {arguments}: colours are {'missing' if wanted else 'sent'}")


CASES = [panes, source, interval, compare, sides, threads, chart, waits, searching, exports, sizes, signals, crashes, hostile, refusals, colours]
for case in CASES:
	if len(sys.argv) > 2 and case.__name__ not in sys.argv[2:]:
		continue
	try:
		case()
	except Failed as e:
		fail(f"{case.__name__}: {e}")
sys.exit(1 if failures else 0)
