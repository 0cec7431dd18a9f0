/*
 * Sequences are those of ECMA-48 and xterm, which every terminal emulator knows:
 *
 *	ESC [ ? 1049 h/l	second screen, and back
 *	ESC [ ? 25 l/h		without cursor
 *	ESC [ ? 7 l/h		lines are cut, not wrapped
 *	ESC [ H, ESC [ K, ESC [ J	to the first line; clear to the end of the line, of the screen
 */
#include "ctxan/live_screen.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_ROWS 24u

static const char enter_text[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[J";
static const char leave_text[] = "\033[?7h\033[?25h\033[?1049l";

/* Of signals that end the program. */
static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
				     SIGBUS, SIGABRT, SIGFPE, SIGILL};

static struct {
	volatile sig_atomic_t is_open, is_covered;
	int keys; /* the terminal to read from; -1: none */
	bool has_modes;
	struct termios modes; /* from before */
} screen = {.keys = -1};

/* The functions up to on_ending are called in signal handlers. */

static void put(const char *text, size_t n)
{
	while (n != 0) {
		ssize_t done = write(STDOUT_FILENO, text, n);

		if (done <= 0)
			return;
		text += done;
		n -= (size_t)done;
	}
}

static void enter(void)
{
	struct termios modes = screen.modes;

	modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	modes.c_cc[VMIN] = 0;
	modes.c_cc[VTIME] = 0;
	if (screen.has_modes)
		(void)tcsetattr(screen.keys, TCSANOW, &modes);
	put(enter_text, sizeof(enter_text) - 1);
	screen.is_open = 1;
}

static void leave(void)
{
	if (!screen.is_open)
		return;
	screen.is_open = 0;
	put(leave_text, sizeof(leave_text) - 1);
	if (screen.has_modes)
		(void)tcsetattr(screen.keys, TCSANOW, &screen.modes);
}

static void on_ending(int number)
{
	leave();
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static void set_handler(int number, void (*handler)(int))
{
	struct sigaction old, action = {.sa_handler = handler, .sa_flags = SA_NODEFER};

	if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		(void)sigaction(number, &action, NULL);
}

/* Stopped (^Z), the terminal is the shell's; continued, it is drawn again. */
static void on_stop(int number)
{
	leave();
	(void)signal(number, SIG_DFL);
	(void)raise(number);
	set_handler(number, on_stop);
	enter();
	screen.is_covered = 1;
}

static void on_resize(int number)
{
	(void)number;
	screen.is_covered = 1;
}

void ctx_live_screen_open(void)
{
	screen.keys = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	screen.has_modes = screen.keys >= 0 && tcgetattr(screen.keys, &screen.modes) == 0;
	for (size_t i = 0; i < CTX_COUNT_OF(ending_signals); i++)
		set_handler(ending_signals[i], on_ending);
	set_handler(SIGTSTP, on_stop);
	set_handler(SIGWINCH, on_resize);
	enter();
}

void ctx_live_screen_close(void)
{
	leave();
	ctx_live_screen_disown();
	if (screen.keys >= 0)
		close(screen.keys);
	screen.keys = -1;
}

void ctx_live_screen_disown(void)
{
	screen.is_open = 0;
	for (size_t i = 0; i < CTX_COUNT_OF(ending_signals); i++)
		set_handler(ending_signals[i], SIG_DFL);
	set_handler(SIGTSTP, SIG_DFL);
	set_handler(SIGWINCH, SIG_DFL);
}

static unsigned rows(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 ? size.ws_row : DEFAULT_ROWS;
}

void ctx_live_screen_draw(const char *text, size_t n, const char *status)
{
	struct ctx_buf out = {0};
	const char *end = text + n;

	if (!screen.is_open)
		return;
	ctx_buf_put_text(&out, "\033[H");
	for (unsigned left = rows() - 1; left > 0 && text < end; left--) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline != NULL ? newline : end) - text);

		ctx_buf_put(&out, text, length);
		ctx_buf_put_text(&out, "\033[K\n");
		text += length + (newline != NULL);
	}
	ctx_buf_printf(&out, "\033[J\033[%u;1H%s\033[K", rows(), status);
	if (!out.failed)
		put((const char *)out.bytes, out.n);
	ctx_buf_deinit(&out);
}

enum ctx_live_screen_event ctx_live_screen_wait(unsigned milliseconds)
{
	struct pollfd keys = {.fd = screen.is_open ? screen.keys : -1, .events = POLLIN};
	char key = '\0';

	if (!screen.is_covered && poll(&keys, 1, (int)milliseconds) > 0) {
		/* A terminal that is gone answers at once and for ever. */
		if (read(screen.keys, &key, 1) <= 0)
			(void)nanosleep(&(struct timespec){0, 50000000}, NULL);
	}
	if (screen.is_covered) {
		screen.is_covered = 0;
		return CTX_SCREEN_RESIZED;
	}
	return key == 'q' || key == 'Q' ? CTX_SCREEN_QUIT : CTX_SCREEN_NOTHING;
}
