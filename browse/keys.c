#include "browse/keys.h"

/* In the order of the help. */
// clang-format off
const struct ctx_key_row ctx_key_rows[] = {
	{{CTX_KEY_UP, 'k'}, CTX_ACTION_UP, "Up Down PgUp PgDn", "move, as do j k Space g G Home End, the mouse and its wheel"},
	{{CTX_KEY_DOWN, 'j'}, CTX_ACTION_DOWN, "", NULL},
	{{CTX_KEY_PAGE_UP}, CTX_ACTION_PAGE_UP, "", NULL},
	{{CTX_KEY_PAGE_DOWN, ' '}, CTX_ACTION_PAGE_DOWN, "", NULL},
	{{CTX_KEY_HOME, 'g'}, CTX_ACTION_FIRST, "", NULL},
	{{CTX_KEY_END, 'G'}, CTX_ACTION_LAST, "", NULL},
	{{'1', '2', '3', '4'}, CTX_ACTION_PANE, "1 ... 8, Tab", "panes; Shift-Tab goes back"},
	{{'5', '6', '7', '8'}, CTX_ACTION_PANE, "", NULL},
	{{'\t'}, CTX_ACTION_NEXT_PANE, "", NULL},
	{{CTX_KEY_BACK_TAB}, CTX_ACTION_PREVIOUS_PANE, "", NULL},
	{{CTX_KEY_ENTER, '\r'}, CTX_ACTION_OPEN, "Enter", "opens the row: source, thread, subtree, a call's interval"},
	{{CTX_KEY_RIGHT, 'l'}, CTX_ACTION_EXPAND, "", NULL},
	{{CTX_KEY_LEFT, 'h'}, CTX_ACTION_COLLAPSE, "Left Right *", "trees: collapse, expand, all below; chart: from call to call"},
	{{'*'}, CTX_ACTION_EXPAND_ALL, "", NULL},
	{{'c'}, CTX_ACTION_CALLERS, "c s x", "callers, source, instructions of the row's function"},
	{{'s'}, CTX_ACTION_SOURCE, "", NULL},
	{{'x'}, CTX_ACTION_INSTRUCTIONS, "", NULL},
	{{'/'}, CTX_ACTION_SEARCH, "/ n N", "finds a row; the next one, the one before"},
	{{'n'}, CTX_ACTION_SEARCH_NEXT, "", NULL},
	{{'N'}, CTX_ACTION_SEARCH_PREVIOUS, "", NULL},
	{{'i'}, CTX_ACTION_INTERVAL, "i", "types an interval: 300:700, 1.5s:2s, 10%:20%, 1s:+200ms"},
	{{'b'}, CTX_ACTION_BRUSH, "b", "brushes it: arrows, Space, arrows, Enter; or drag the mouse"},
	{{'<', ',', CTX_KEY_SHIFT_LEFT}, CTX_ACTION_EARLIER, "< >", "the interval before, after it (, . Shift-Left Shift-Right)"},
	{{'>', '.', CTX_KEY_SHIFT_RIGHT}, CTX_ACTION_LATER, "", NULL},
	{{'+', '='}, CTX_ACTION_NARROWER, "+ - [ ] { }", "half, twice of it; moves its begin, its end by a column"},
	{{'-'}, CTX_ACTION_WIDER, "", NULL},
	{{'['}, CTX_ACTION_BEGIN_EARLIER, "", NULL},
	{{']'}, CTX_ACTION_BEGIN_LATER, "", NULL},
	{{'{'}, CTX_ACTION_END_EARLIER, "", NULL},
	{{'}'}, CTX_ACTION_END_LATER, "", NULL},
	{{'a'}, CTX_ACTION_WHOLE, "a u z Z", "whole run; undo; the time line shows the interval, the run"},
	{{'u'}, CTX_ACTION_UNDO, "", NULL},
	{{'z'}, CTX_ACTION_ZOOM_IN, "", NULL},
	{{'Z'}, CTX_ACTION_ZOOM_OUT, "", NULL},
	{{'t'}, CTX_ACTION_THREADS, "t T m", "selects a thread; all threads; the metric"},
	{{'T'}, CTX_ACTION_ALL_THREADS, "", NULL},
	{{'m'}, CTX_ACTION_METRICS, "", NULL},
	{{'d'}, CTX_ACTION_COMPARE, "d", "compares: it is the base of the next ones; d forgets it"},
	{{'e'}, CTX_ACTION_EXPORT, "e", "exports the selection to a file"},
	{{'w'}, CTX_ACTION_NOTES, "w", "warnings about the recording and the selection"},
	{{CTX_KEY_ESCAPE}, CTX_ACTION_CANCEL, "", NULL},
	{{0x0c}, CTX_ACTION_REDRAW, "", NULL},
	{{'?'}, CTX_ACTION_HELP, "? q", "this help; quits"},
	{{'q'}, CTX_ACTION_QUIT, "", NULL},
};
// clang-format on

const size_t ctx_n_key_rows = sizeof(ctx_key_rows) / sizeof(ctx_key_rows[0]);

enum ctx_action ctx_key_action(uint32_t key)
{
	for (size_t i = 0; i < ctx_n_key_rows; i++) {
		for (size_t k = 0; k < 4 && ctx_key_rows[i].keys[k] != 0; k++) {
			if (ctx_key_rows[i].keys[k] == key)
				return ctx_key_rows[i].action;
		}
	}
	return CTX_ACTION_NONE;
}
