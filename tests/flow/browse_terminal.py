"""A program on a pseudo-terminal, and what its screen shows (pyte). Waits for what is expected; never for luck.

	with Terminal(["ctxan", "--browse", "run.er"], rows=24, columns=80) as t:
		t.expect("Functions")
		t.type("2")
		t.expect("<Total>")
		print(t.text())
"""
import errno, fcntl, os, pty, select, signal, struct, sys, termios, time
import pyte

LIMIT_S = float(os.environ.get("BROWSE_LIMIT_S", 120))  # of a wait: only a program that hangs reaches it


class Failed(Exception):
	pass


class Screen(pyte.Screen):
	"""With what pyte 0.8 lacks of xterm: repeating a character, scrolling."""
	last = " "

	def draw(self, data):
		self.last = data[-1:] or self.last
		super().draw(data)

	def repeat(self, count=1, **_):
		self.draw(self.last * count)

	def scroll_up(self, count=1, **_):
		y = self.cursor.y
		self.cursor.y = (self.margins or (0, self.lines - 1))[0]
		self.delete_lines(count)
		self.cursor.y = y

	def scroll_down(self, count=1, **_):
		y = self.cursor.y
		self.cursor.y = (self.margins or (0, self.lines - 1))[0]
		self.insert_lines(count)
		self.cursor.y = y


class Stream(pyte.ByteStream):
	csi = {**pyte.ByteStream.csi, "b": "repeat", "S": "scroll_up", "T": "scroll_down"}
	events = pyte.ByteStream.events | {"repeat", "scroll_up", "scroll_down"}


class Terminal:
	def __init__(self, command, rows=24, columns=80, environment=None):
		self.screen = Screen(columns, rows)
		self.stream = Stream(self.screen)
		self.raw = b""
		self.status = None
		self.before = None
		master, slave = pty.openpty()
		fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
		self.before = termios.tcgetattr(slave)
		self.news, told = os.pipe()
		self.stopped = False
		self.leader = os.fork()
		if self.leader == 0:
			self.lead(slave, told, command, {**os.environ, **(environment or {})})
		os.close(told)
		# The slave stays open here: its settings are read when the program is gone.
		self.master, self.slave = master, slave
		self.pid = self.told()

	@staticmethod
	def lead(slave, told, command, environment):
		"""The leader of the session, as a shell is: without one a program cannot be stopped by Ctrl-Z."""
		os.setsid()
		fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
		signal.signal(signal.SIGTTOU, signal.SIG_IGN)
		pid = os.fork()
		if pid == 0:
			os.setpgid(0, 0)
			os.tcsetpgrp(slave, os.getpid())
			signal.signal(signal.SIGTTOU, signal.SIG_DFL)
			for fd in 0, 1, 2:
				os.dup2(slave, fd)
			os.closerange(3, 256)
			try:
				os.execvpe(command[0], command, environment)
			finally:
				os._exit(127)
		os.write(told, struct.pack("i", pid))
		status = 0x7F
		while os.WIFSTOPPED(status):
			_, status = os.waitpid(pid, os.WUNTRACED)
			os.write(told, struct.pack("i", status))
		os._exit(0)

	def told(self):
		said = os.read(self.news, 4)
		if len(said) < 4:
			raise Failed("the leader of the session is gone")
		return struct.unpack("i", said)[0]

	def __enter__(self):
		return self

	def __exit__(self, *_):
		if self.status is None:
			try:
				os.kill(self.pid, signal.SIGKILL)
			except ProcessLookupError:
				pass
		os.waitpid(self.leader, 0)
		os.close(self.news)
		os.close(self.master)
		os.close(self.slave)

	def read(self, seconds):
		"""Takes what the program writes; False: nothing came."""
		ready, _, _ = select.select([self.master], [], [], seconds)
		if not ready:
			return False
		try:
			data = os.read(self.master, 65536)
		except OSError as e:
			if e.errno == errno.EIO:
				return False
			raise
		self.raw += data
		self.stream.feed(data)
		return True

	def type(self, text):
		os.write(self.master, text.encode())

	def signal(self, number):
		os.kill(self.pid, number)

	def resize(self, rows, columns):
		self.screen.resize(rows, columns)
		fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
		self.signal(signal.SIGWINCH)

	def text(self):
		return "\n".join(line.rstrip() for line in self.screen.display) + "\n"

	def line(self, number):
		return self.screen.display[number].rstrip()

	def until(self, what, condition):
		end = time.monotonic() + LIMIT_S
		while not condition():
			if time.monotonic() > end:
				raise Failed(f"{what} did not come; the screen:\n{self.text()}")
			if not self.read(0.2) and self.ended() and not self.read(0) and not condition():
				raise Failed(f"{what} did not come before the end ({self.status}); the screen:\n{self.text()}")

	def expect(self, *texts):
		"""Until the screen has all of them; a text that begins with ! is not there."""
		def there():
			shown = self.text()
			return all(t[1:] not in shown if t[:1] == "!" else t in shown for t in texts)
		self.until(repr(texts), there)

	def ended(self):
		while self.status is None and select.select([self.news], [], [], 0)[0]:
			status = self.told()
			self.stopped = os.WIFSTOPPED(status)
			self.status = None if self.stopped else status
		return self.status is not None

	def stop(self):
		"""Waits until the program is stopped."""
		self.until("the stop", lambda: self.ended() or self.stopped)
		while self.read(0):
			pass

	def go_on(self):
		self.stopped = False
		self.signal(signal.SIGCONT)

	def end(self):
		"""Waits for the end, reading on; the exit status, or minus the signal."""
		self.until("the end", self.ended)
		while self.read(0):
			pass
		return os.waitstatus_to_exitcode(self.status)

	def is_restored(self):
		return termios.tcgetattr(self.slave) == self.before
