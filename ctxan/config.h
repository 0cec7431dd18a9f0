/*
 * The configuration file: defaults of options.
 *
 *	# $XDG_CONFIG_HOME/ctxan/config, or ~/.config/ctxan/config
 *	color = never
 *	width = 100
 *	no-pager
 */
#ifndef CTX_CTXAN_CONFIG_H
#define CTX_CTXAN_CONFIG_H

#include "base/option_table.h"

/* Whether the command line has --no-config. */
bool ctx_config_is_refused(int argc, char *const *argv);

/*
 * Sets the options of the file in `options`, whose values point into `*ret_text` (free()); NULL:
 * there is no such file. CTX_E_ARG with "FILE:LINE: ..."; CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_config_read(const struct ctx_option_table *table, void *options,
					       char **ret_text, struct ctx_err *err);

#endif
