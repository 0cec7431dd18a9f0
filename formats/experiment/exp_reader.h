/*
 * Reads an experiment directory (docs/experiment-format.md) as an event source: the root process and all descendants, merged by time.
 *
 * Works while the experiment is being written and after the recorder was killed. A torn or damaged block or line is reported as a CTX_EV_DAMAGE event that names file and offset, skipped, and everything
 * else is used. Nothing in the directory is trusted: no XML entities, no network, no path out of the experiment is ever written or followed, sizes are checked before memory is asked for.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_READER_H
#define CTX_FORMATS_EXPERIMENT_EXP_READER_H

#include "base/err.h"
#include "model/event_source.h"

/* True if `path` is a directory that holds a log.xml of ours (told by content, not by name). Cheap. */
bool ctx_exp_is_experiment(const char *path);

/*
 * CTX_E_NOTFOUND (nothing there), CTX_E_FORMAT (no usable log.xml, no run event), CTX_E_VERSION (a newer version). The source is closed by source->close(source).
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_open(const char *path, struct ctx_event_source **ret,
					    struct ctx_err *err);

/*
 * What the database must be rebuilt for: names, sizes and modification times of all files of the experiment but its database; 16 hex digits and a zero. For "a changed experiment is noticed".
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_fingerprint(const char *path, char ret_hex[17], struct ctx_err *err);

/*
 * For an experiment without archives (the run ended abnormally, E4): copies the load objects that its samples' processes mapped from this host into archives/, when build ids agree. Does nothing when archives are complete,
 * the directory cannot be written, or the host is another one. Returns how many were copied.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_late(const char *path, uint32_t *ret_copied,
						    struct ctx_err *err);

#endif
