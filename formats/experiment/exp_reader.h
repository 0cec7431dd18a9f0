/*
 * Reads an experiment directory (docs/experiment-format.md) as an event source: root process and
 * descendants, merged by time.
 *
 * Works while the experiment is being written and after the recorder was killed. A torn or damaged
 * block or line is skipped and reported as a CTX_EV_DAMAGE event with file and offset; everything
 * else is used. Nothing in the directory is trusted: no XML entities, no network, no paths that
 * lead out of the experiment, sizes are checked before allocation.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_READER_H
#define CTX_FORMATS_EXPERIMENT_EXP_READER_H

#include "base/err.h"
#include "model/event_source.h"

/* Is `path` a directory with a log.xml of an experiment (by content, not by name)? Cheap. */
bool ctx_exp_is_experiment(const char *path);

/* Whether it is the name of a descendant's directory: "_f1_x2.er". */
bool ctx_exp_is_lineage(const char *name);

/* Its log, plain or packed, open for reading, or -1; links are not followed. The caller closes it. */
int ctx_exp_open_log(const char *path);

/* The path of this file, malloc'ed (free()); of the plain one if there is none. NULL: out of memory. */
char *ctx_exp_log_path(const char *path);

/*
 * Is it being recorded now? The recorder keeps a lock (flock) on log.xml. False too where there is no
 * experiment, or it cannot be read.
 */
bool ctx_exp_is_recorded(const char *path);

/*
 * Opens an experiment. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT (no usable log.xml, no run event),
 * CTX_E_VERSION (a newer version). The source is closed by source->close(source).
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_open(const char *path, struct ctx_event_source **ret,
					    struct ctx_err *err);

/*
 * Fingerprint of an experiment, 16 hex digits and a zero byte: a hash over names, sizes and
 * modification times of all files except its database. When it changes, the database must be
 * rebuilt.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_fingerprint(const char *path, char ret_hex[17], struct ctx_err *err);

/*
 * For an experiment without archives (the run ended abnormally, E4): copies the load objects mapped
 * by sampled processes from this host to archives/, if build ids match. Does nothing when the
 * archives are complete, the directory is not writable, or the recording is from another host.
 * *ret_copied is the number of copies.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_late(const char *path, uint32_t *ret_copied,
						    struct ctx_err *err);

#endif
