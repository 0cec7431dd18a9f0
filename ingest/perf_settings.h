/*
 * Settings of perf (perf-config(1)) for its directories.
 */
#ifndef CTX_INGEST_PERF_SETTINGS_H
#define CTX_INGEST_PERF_SETTINGS_H

#include "base/err.h"

#include <stdbool.h>

/*
 * The value of `section`.`name` in a text of settings ("[section]", "name = value"; the last one
 * counts), written to `*ret`, malloc'ed, NULL: not set. Lines that are not settings are skipped.
 * Fails with CTX_E_NOMEM only.
 */
CTX_MUST_CHECK enum ctx_status ctx_perf_settings_find(const char *text, const char *section, const char *name,
						      char **ret, struct ctx_err *err);

/*
 * Where perf keeps its build-id cache: buildid.dir of the settings ($PERF_CONFIG, or ~/.perfconfig
 * before /etc/perfconfig), unchanged; else ~/.debug. It need not exist. perf sets the
 * variable PERF_BUILDID_DIR for its scripts and does not read it; nor do we. Malloc'ed. Fails with
 * CTX_E_NOMEM only.
 */
CTX_MUST_CHECK enum ctx_status ctx_perf_settings_buildid_dir(char **ret, struct ctx_err *err);

#endif
