/*
 * The whole terminal as a screen that is drawn again and again: for answers that change.
 *
 * The screen is the terminal's second one, so that what was there before comes back. It is left at
 * ctx_live_screen_close, when the program is interrupted, stopped or terminated, and when it crashes. One
 * screen in a process, of standard output; keys come from the terminal too.
 */
#ifndef CTX_CTXAN_LIVE_SCREEN_H
#define CTX_CTXAN_LIVE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Begins. Signals that are ignored stay so. */
void ctx_live_screen_open(void);

/* Ends; does nothing without a beginning. */
void ctx_live_screen_close(void);

/* In a forked process: the screen is the parent's, whatever happens here. */
void ctx_live_screen_disown(void);

/*
 * Draws the lines of `text`, as many as fit, and `status` in the last one. Lines are cut at the right
 * edge.
 */
void ctx_live_screen_draw(const char *text, size_t n, const char *status);

enum ctx_live_screen_event {
	CTX_SCREEN_NOTHING, /* the time is over */
	CTX_SCREEN_QUIT,    /* the key q */
	CTX_SCREEN_RESIZED, /* or it was covered: to be drawn again */
};

/* Waits for one of these. Without a screen it waits for the time. */
enum ctx_live_screen_event ctx_live_screen_wait(unsigned milliseconds);

#endif
