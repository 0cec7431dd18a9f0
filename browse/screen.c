#define NCURSES_WIDECHAR 1

#include "browse/screen.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "browse/keys.h"
#include "browse/rescue.h"
#include "report/names.h"

#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#define LEAVE_MAX 192u /* bytes that leave the screen */
#define MOUSE_EVENTS 16u
#define ESCAPE_MS 25 /* what follows an escape later is a key of its own */

struct ctx_screen {
	SCREEN *curses;
	attr_t looks[CTX_LOOK_N];
	struct ctx_screen_event mouse[MOUSE_EVENTS]; /* that came, the last one first */
	size_t n_mouse;
};

static void choose_looks(struct ctx_screen *screen, bool color)
{
	static const struct {
		enum ctx_look look;
		short pair;
		attr_t plain, colored;
		short foreground;
	} looks[] = {
		{CTX_LOOK_BAR, 0, A_REVERSE, A_REVERSE, 0},
		{CTX_LOOK_HEADING, 0, A_BOLD, A_BOLD, 0},
		{CTX_LOOK_SELECTED, 0, A_REVERSE, A_REVERSE, 0},
		{CTX_LOOK_HOT, 1, A_BOLD, A_BOLD, COLOR_RED},
		{CTX_LOOK_DIM, 0, A_NORMAL, A_DIM, 0},
		{CTX_LOOK_NOTE, 2, A_BOLD, 0, COLOR_YELLOW},
		{CTX_LOOK_BRUSHED, 3, A_BOLD, A_BOLD, COLOR_CYAN},
		{CTX_LOOK_BUSY, 4, A_NORMAL, 0, COLOR_GREEN},
		{CTX_LOOK_WAITS, 5, A_NORMAL, 0, COLOR_BLUE},
		{CTX_LOOK_LOCKS, 1, A_NORMAL, 0, COLOR_RED},
		{CTX_LOOK_MORE, 1, A_NORMAL, 0, COLOR_RED},
		{CTX_LOOK_LESS, 4, A_NORMAL, 0, COLOR_GREEN},
	};
	bool has_colors_now = color && start_color() == OK && use_default_colors() == OK;

	for (size_t i = 0; i < CTX_COUNT_OF(looks); i++) {
		attr_t *look = &screen->looks[looks[i].look];

		*look = has_colors_now ? looks[i].colored : looks[i].plain;
		if (!has_colors_now || looks[i].pair == 0)
			continue;
		init_pair(looks[i].pair, looks[i].foreground, -1);
		*look |= (attr_t)COLOR_PAIR(looks[i].pair);
	}
}

/* What leaves the screen: attributes off, the cursor, the keypad, the mouse, the screen before. */
static void leaving(char *ret, size_t size)
{
	static const char mouse_off[] = "\033[?1000l\033[?1002l\033[?1006l";
	const char *const parts[] = {mouse_off, exit_attribute_mode, cursor_normal, keypad_local,
				     exit_ca_mode};
	size_t n = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < CTX_COUNT_OF(parts); i++) {
		size_t more = parts[i] != NULL ? strlen(parts[i]) : 0;

		if (n + more + 1 > size)
			continue;
		memcpy(ret + n, parts[i] != NULL ? parts[i] : "", more);
		n += more;
		ret[n] = '\0';
	}
}

static void prepare(struct ctx_screen *screen, bool color)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	mouseinterval(0);
	mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	choose_looks(screen, color);
}

/* What the terminal can, before it is changed. */
static enum ctx_status check_terminal(const char *term, char *leave, size_t size, struct ctx_err *err)
{
	int known = 0;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return ctx_err_set(err, CTX_E_ARG,
				   "--browse requires a terminal on standard input and output");
	if (term == NULL || *term == '\0' || setupterm(term, STDOUT_FILENO, &known) != OK)
		return ctx_err_set(err, CTX_E_ARG, "--browse: the terminal '%s' (TERM) is unknown",
				   term != NULL ? term : "");
	if (cursor_address == NULL) {
		del_curterm(cur_term);
		return ctx_err_set(err, CTX_E_ARG,
				   "--browse: the terminal '%s' (TERM) cannot move its cursor", term);
	}
	leaving(leave, size);
	del_curterm(cur_term);
	return CTX_OK;
}

enum ctx_status ctx_screen_check(struct ctx_err *err)
{
	char leave[LEAVE_MAX];

	return check_terminal(getenv("TERM"), leave, sizeof(leave), err);
}

enum ctx_status ctx_screen_open(bool color, struct ctx_screen **ret, struct ctx_err *err)
{
	const char *term = getenv("TERM");
	char leave[LEAVE_MAX];
	struct ctx_screen *screen;
	enum ctx_status status = check_terminal(term, leave, sizeof(leave), err);

	if (status != CTX_OK)
		return status;
	screen = ctx_calloc(1, sizeof(*screen));
	if (screen == NULL)
		return ctx_err_nomem(err);
	status = ctx_rescue_begin(leave, err);
	if (status == CTX_OK) {
		/* The size is the terminal's, not that of COLUMNS and LINES, which a resize leaves behind. */
		unsetenv("COLUMNS");
		unsetenv("LINES");
		screen->curses = newterm(term, stdout, stdin);
		if (screen->curses == NULL)
			status = ctx_err_set(err, CTX_E_ARG,
					     "--browse: the terminal '%s' (TERM) cannot be used", term);
	}
	if (status != CTX_OK) {
		ctx_rescue_end();
		free(screen);
		return status;
	}
	prepare(screen, color);
	*ret = screen;
	return CTX_OK;
}

void ctx_screen_close(struct ctx_screen *screen)
{
	mousemask(0, NULL);
	endwin();
	ctx_rescue_end();
	delscreen(screen->curses);
	free(screen);
}

void ctx_screen_size(unsigned *ret_rows, unsigned *ret_columns)
{
	*ret_rows = LINES > 0 ? (unsigned)LINES : 1;
	*ret_columns = COLS > 0 ? (unsigned)COLS : 1;
}

/*
 * Character by character: what this locale cannot print, or has with another width, is a '?' of the
 * width that was reckoned with, so that no line runs into the next one.
 */
static void put(const char *text, size_t n)
{
	for (size_t at = 0; at < n;) {
		uint32_t code;
		size_t length = ctx_utf8_decode(text + at, n - at, &code);
		wchar_t wide[2] = {(wchar_t)code, L'\0'};
		unsigned width = code != UINT32_MAX ? ctx_char_width(code) : 1;

		if (code == UINT32_MAX || wcwidth(wide[0]) != (int)width) {
			for (unsigned i = 0; i < width; i++)
				addch('?');
		} else if (code < 0x80) {
			addch(code);
		} else {
			addwstr(wide);
		}
		at += length;
	}
}

void ctx_screen_draw(struct ctx_screen *screen, const struct ctx_canvas *canvas, bool whole)
{
	erase();
	for (size_t i = 0; i < canvas->n; i++) {
		const struct ctx_canvas_piece *piece = &canvas->pieces[i];

		if (move((int)piece->row, (int)piece->column) != OK)
			continue;
		attrset((int)screen->looks[piece->look]);
		put((const char *)canvas->text.bytes + piece->at, piece->n);
	}
	attrset(A_NORMAL);
	if (canvas->has_cursor)
		move((int)canvas->cursor_row, (int)canvas->cursor_column);
	curs_set(canvas->has_cursor ? 1 : 0);
	if (whole)
		clearok(stdscr, TRUE);
	refresh();
}

static struct ctx_screen_event mouse_event(const MEVENT *said)
{
	struct ctx_screen_event event = {.row = said->y > 0 ? (unsigned)said->y : 0,
					 .column = said->x > 0 ? (unsigned)said->x : 0};

	if ((said->bstate & BUTTON4_PRESSED) != 0)
		event.key = CTX_KEY_WHEEL_UP;
	else if ((said->bstate & BUTTON5_PRESSED) != 0)
		event.key = CTX_KEY_WHEEL_DOWN;
	else if ((said->bstate & BUTTON1_RELEASED) != 0)
		event.key = CTX_KEY_RELEASE;
	else if ((said->bstate & BUTTON1_PRESSED) != 0)
		event.key = CTX_KEY_PRESS;
	return event;
}

/* Events that came together are one key of curses, which gives the last one first. */
static void take_mouse(struct ctx_screen *screen)
{
	MEVENT said;

	while (screen->n_mouse < MOUSE_EVENTS && getmouse(&said) == OK) {
		screen->mouse[screen->n_mouse] = mouse_event(&said);
		screen->n_mouse += screen->mouse[screen->n_mouse].key != 0;
	}
}

static uint32_t key_of(wint_t code)
{
	static const struct {
		wint_t code;
		uint32_t key;
	} keys[] = {
		{KEY_UP, CTX_KEY_UP},
		{KEY_DOWN, CTX_KEY_DOWN},
		{KEY_LEFT, CTX_KEY_LEFT},
		{KEY_RIGHT, CTX_KEY_RIGHT},
		{KEY_PPAGE, CTX_KEY_PAGE_UP},
		{KEY_NPAGE, CTX_KEY_PAGE_DOWN},
		{KEY_HOME, CTX_KEY_HOME},
		{KEY_END, CTX_KEY_END},
		{KEY_BACKSPACE, CTX_KEY_BACKSPACE},
		{KEY_DC, CTX_KEY_DELETE},
		{KEY_BTAB, CTX_KEY_BACK_TAB},
		{KEY_SLEFT, CTX_KEY_SHIFT_LEFT},
		{KEY_SRIGHT, CTX_KEY_SHIFT_RIGHT},
		{KEY_ENTER, CTX_KEY_ENTER},
		{KEY_RESIZE, CTX_KEY_RESIZE},
	};

	for (size_t i = 0; i < CTX_COUNT_OF(keys); i++) {
		if (keys[i].code == code)
			return keys[i].key;
	}
	return 0;
}

/* What has come; waits for nothing but the rest of an escape sequence. */
static struct ctx_screen_event read_now(struct ctx_screen *screen)
{
	wint_t code = 0;
	int kind;

	if (screen->n_mouse != 0)
		return screen->mouse[--screen->n_mouse];
	kind = get_wch(&code);
	if (kind == KEY_CODE_YES && code == KEY_MOUSE) {
		take_mouse(screen);
		return screen->n_mouse != 0 ? screen->mouse[--screen->n_mouse] : (struct ctx_screen_event){0};
	}
	if (kind == KEY_CODE_YES)
		return (struct ctx_screen_event){.key = key_of(code)};
	if (kind == ERR)
		return (struct ctx_screen_event){0};
	return (struct ctx_screen_event){.key = code == '\r' ? CTX_KEY_ENTER : (uint32_t)code};
}

/* A signal that comes before the wait ends it too: they are blocked in between. */
struct ctx_screen_event ctx_screen_read(struct ctx_screen *screen, bool wait)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	struct ctx_screen_event event;
	sigset_t signals, before;

	if (!wait)
		return read_now(screen);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGWINCH);
	sigprocmask(SIG_BLOCK, &signals, &before);
	event = read_now(screen);
	if (event.key == 0 && ctx_rescue_signal() == 0 && ppoll(&input, 1, NULL, &before) > 0)
		event.is_gone = (input.revents & POLLIN) == 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return event.key == 0 && !event.is_gone ? read_now(screen) : event;
}
