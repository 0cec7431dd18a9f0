/*
 * The pager: on a terminal, text goes through $CTXAN_PAGER, $PAGER or less, as git does it.
 */
#ifndef CTX_CTXAN_PAGER_H
#define CTX_CTXAN_PAGER_H

#include "ctxan/options.h"

/*
 * The command to use for this output; NULL: none, because it is no text on a terminal, or because
 * of --no-pager, an empty variable, or "cat". Borrowed from the environment.
 */
const char *ctx_pager_command(const struct ctx_options *options);

/*
 * Prints through the command, with LESS=FRX unless LESS is set (leave at once if it fits, colours,
 * no clearing), and waits for it. A pager that is left early is no error. Without a pager that can
 * be started the text goes to standard output.
 */
CTX_MUST_CHECK enum ctx_status ctx_pager_print(const char *command, const char *text, size_t n,
					       struct ctx_err *err);

#endif
