/*
 * ctxan --follow: prints the answer for the last seconds of a recording that goes on, again and again.
 *
 *	exp_follow.h --> live.h --(fork)--> answer.h --> the terminal, or one answer after the other
 */
#ifndef CTX_CTXAN_FOLLOWING_H
#define CTX_CTXAN_FOLLOWING_H

#include "ctxan/options.h"

/*
 * Returns when the recording has ended, or the user wants no more. Prints to standard output: on a
 * terminal a screen that is drawn again, elsewhere text with a form feed between answers, or JSON,
 * an answer a line. CTX_E_NOTFOUND: the experiment was removed. Fails otherwise as an ordinary answer.
 */
CTX_MUST_CHECK enum ctx_status ctx_following(const struct ctx_options *options, struct ctx_err *err);

#endif
