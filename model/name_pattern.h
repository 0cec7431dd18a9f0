/*
 * Patterns of names: POSIX extended regular expressions, without those that would take too long: at most 1000
 * bytes, repetitions that expand to little, no references to groups.
 */
#ifndef CTX_MODEL_NAME_PATTERN_H
#define CTX_MODEL_NAME_PATTERN_H

#include "base/err.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

/* `*ret` is released by regfree. CTX_E_ARG, CTX_E_LIMIT: what is wrong with it; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_name_pattern_compile(const char *pattern, regex_t *ret,
							struct ctx_err *err);

/* Whether the pattern's first and longest match is the whole name. */
bool ctx_name_pattern_fits(const regex_t *pattern, const char *name);

#endif
