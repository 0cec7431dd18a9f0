/*
 * The terminal as it was, whatever ends the program.
 */
#ifndef CTX_BROWSE_RESCUE_H
#define CTX_BROWSE_RESCUE_H

#include "base/err.h"

#include <signal.h>

/*
 * From now on a signal that ends the program restores the terminal of standard input and output before:
 * crashes (SIGSEGV, SIGABRT, ...) at once; INT, TERM, HUP and QUIT are taken by ctx_rescue_signal, a
 * second one ends at once. `leave`: what the terminal must be sent, copied. One at a time.
 */
CTX_MUST_CHECK enum ctx_status ctx_rescue_begin(const char *leave, struct ctx_err *err);

/* The handlers of before. */
void ctx_rescue_end(void);

/* The signal that asks the program to end; 0 none. */
int ctx_rescue_signal(void);

#endif
