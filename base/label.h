/*
 * Labels of recordings: KEY=VALUE, by which many recordings are chosen from.
 */
#ifndef CTX_BASE_LABEL_H
#define CTX_BASE_LABEL_H

#include "base/err.h"

/*
 * CTX_E_ARG, with the option --label in the message: there is no "=", no key, or the key has a blank, or a sign that conditions on
 * labels compare with (!, <, >). The value may be empty.
 */
CTX_MUST_CHECK enum ctx_status ctx_label_check(const char *label, struct ctx_err *err);

#endif
