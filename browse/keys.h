/*
 * Keys: what each does, and the text of the help. Pure.
 */
#ifndef CTX_BROWSE_KEYS_H
#define CTX_BROWSE_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* A key is the character that it types, or one of these. */
enum ctx_key {
	CTX_KEY_ENTER = '\n',
	CTX_KEY_ESCAPE = 0x1b,
	CTX_KEY_UP = 0x110000,
	CTX_KEY_DOWN,
	CTX_KEY_LEFT,
	CTX_KEY_RIGHT,
	CTX_KEY_PAGE_UP,
	CTX_KEY_PAGE_DOWN,
	CTX_KEY_HOME,
	CTX_KEY_END,
	CTX_KEY_BACKSPACE,
	CTX_KEY_DELETE,
	CTX_KEY_BACK_TAB,
	CTX_KEY_SHIFT_LEFT,
	CTX_KEY_SHIFT_RIGHT,
	CTX_KEY_PRESS,	 /* mouse: the first button goes down, */
	CTX_KEY_RELEASE, /* and up */
	CTX_KEY_WHEEL_UP,
	CTX_KEY_WHEEL_DOWN,
	CTX_KEY_RESIZE,
};

enum ctx_action {
	CTX_ACTION_NONE,
	CTX_ACTION_QUIT,
	CTX_ACTION_HELP,
	CTX_ACTION_UP,
	CTX_ACTION_DOWN,
	CTX_ACTION_PAGE_UP,
	CTX_ACTION_PAGE_DOWN,
	CTX_ACTION_FIRST,
	CTX_ACTION_LAST,
	CTX_ACTION_OPEN,
	CTX_ACTION_EXPAND,
	CTX_ACTION_COLLAPSE,
	CTX_ACTION_EXPAND_ALL,
	CTX_ACTION_NEXT_PANE,
	CTX_ACTION_PREVIOUS_PANE,
	CTX_ACTION_PANE, /* 1 to 8 */
	CTX_ACTION_CALLERS,
	CTX_ACTION_SOURCE,
	CTX_ACTION_INSTRUCTIONS,
	CTX_ACTION_SEARCH,
	CTX_ACTION_SEARCH_NEXT,
	CTX_ACTION_SEARCH_PREVIOUS,
	CTX_ACTION_INTERVAL,
	CTX_ACTION_BRUSH,
	CTX_ACTION_EARLIER,
	CTX_ACTION_LATER,
	CTX_ACTION_NARROWER,
	CTX_ACTION_WIDER,
	CTX_ACTION_BEGIN_EARLIER,
	CTX_ACTION_BEGIN_LATER,
	CTX_ACTION_END_EARLIER,
	CTX_ACTION_END_LATER,
	CTX_ACTION_WHOLE,
	CTX_ACTION_UNDO,
	CTX_ACTION_ZOOM_IN,
	CTX_ACTION_ZOOM_OUT,
	CTX_ACTION_THREADS,
	CTX_ACTION_ALL_THREADS,
	CTX_ACTION_METRICS,
	CTX_ACTION_COMPARE,
	CTX_ACTION_EXPORT,
	CTX_ACTION_NOTES,
	CTX_ACTION_CANCEL,
	CTX_ACTION_REDRAW,
};

struct ctx_key_row {
	uint32_t keys[4]; /* all that do it; 0 ends them */
	enum ctx_action action;
	const char *shown; /* in the help, with the keys of the rows that follow it */
	const char *help;  /* NULL: in a row before */
};

extern const struct ctx_key_row ctx_key_rows[];
extern const size_t ctx_n_key_rows;

/* CTX_ACTION_NONE: the key does nothing. */
enum ctx_action ctx_key_action(uint32_t key);

#endif
