/*
 * ctxan fleet, ctxan push: recordings of many machines in ClickHouse (docs/fleet.md).
 */
#ifndef CTX_CTXAN_FLEET_COMMAND_H
#define CTX_CTXAN_FLEET_COMMAND_H

#include "ctxan/options.h"

/*
 * What the command line asks of a fleet (options->fleet): makes its tables, pushes recordings, checks, or prints reports to
 * options->report.out.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_command(struct ctx_options *options, struct ctx_err *err);

#endif
