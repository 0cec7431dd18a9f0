/*
 * ctxan fleet URL TERM... --diff TERMS_A TERMS_B: recordings of a fleet against others of it.
 *
 *	common terms, terms of a side --> a source of each side --blocks: hosts, or recordings--> compare/diff.h --> report
 *
 * The last two words are the sides, each one or several terms separated by commas.
 */
#ifndef CTX_CTXAN_FLEET_DIFFERENCE_H
#define CTX_CTXAN_FLEET_DIFFERENCE_H

#include "ctxan/options.h"
#include "fleet/fleet_source.h"

/* `spec` is that of a source, with the terms of both sides at the end. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_difference(const struct ctx_fleet_source_spec *spec,
						    const struct ctx_options *options, struct ctx_err *err);

#endif
