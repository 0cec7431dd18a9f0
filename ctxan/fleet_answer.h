/*
 * Reports on a fleet: the same as on a recording, from another source.
 */
#ifndef CTX_CTXAN_FLEET_ANSWER_H
#define CTX_CTXAN_FLEET_ANSWER_H

#include "ctxan/options.h"

/* The first input is the URL, the others are the terms that choose recordings. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_answer(struct ctx_options *options, struct ctx_err *err);

#endif
