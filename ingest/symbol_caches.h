/*
 * The places where load objects are kept by build id, in the order in which they are looked at:
 * directories as perf keeps them (~/.debug), and tarballs of them (`perf archive`), which are
 * unpacked when they are needed.
 *
 *	struct ctx_symbol_caches caches = {0};
 *	ctx_symbol_caches_add(&caches, "--buildid-dir's", &err);
 *	ctx_symbol_caches_add_beside(&caches, "perf.data", &err);
 *	ctx_symbol_caches_add_perf(&caches, &err);
 *	ctx_symbol_caches_open(&caches, &left_out, &err);	caches.directories, caches.names: for ctx_ingest_options
 *	ctx_symbol_caches_deinit(&caches);			also removes what was unpacked
 */
#ifndef CTX_INGEST_SYMBOL_CACHES_H
#define CTX_INGEST_SYMBOL_CACHES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_symbol_cache;

/* {0} is an empty list. */
struct ctx_symbol_caches {
	struct ctx_symbol_cache *items;
	size_t n, cap;
	/* Set by ctx_symbol_caches_open, NULL at the end; borrowed. */
	const char **directories;
	const char **names; /* what a person knows the directory by: the tarball's path */
};

/* A directory or a tarball that the user named. CTX_E_ARG: there is no such thing; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_symbol_caches_add(struct ctx_symbol_caches *caches, const char *path,
						     struct ctx_err *err);

/*
 * `recording` with .tar.bz2, .tar.gz, .tar.xz, .tar.zst or .tar behind: the first that is there, if
 * any. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_symbol_caches_add_beside(struct ctx_symbol_caches *caches,
							    const char *recording, struct ctx_err *err);

/* perf's own cache (ctx_perf_settings_buildid_dir), if it is there. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_symbol_caches_add_perf(struct ctx_symbol_caches *caches,
							  struct ctx_err *err);

/*
 * A number that differs when other places are looked at: real paths of those that were named, size
 * and time of tarballs. What a directory has in it does not count, nor does perf's own cache. 0:
 * nothing of that kind. O(list).
 */
uint64_t ctx_symbol_caches_hash(const struct ctx_symbol_caches *caches);

/*
 * Unpacks the tarballs into private temporary directories, and sets `directories` and `names`. One
 * that was named and is no good fails as ctx_symbol_tarball_unpack does; of one beside the
 * recording, which perhaps is something else, what is good is used, and `left_out`, which must be
 * {0}, gets the reason. As long as unpacking takes.
 */
CTX_MUST_CHECK enum ctx_status ctx_symbol_caches_open(struct ctx_symbol_caches *caches,
						      struct ctx_err *left_out, struct ctx_err *err);

/* Removes what was unpacked, releases the list. */
void ctx_symbol_caches_deinit(struct ctx_symbol_caches *caches);

/*
 * `text` with each of `directories` replaced by its name, malloc'ed; NULL when memory is short.
 * Both lists end with NULL.
 */
char *ctx_symbol_caches_rename(const char *text, const char *const *directories, const char *const *names);

#endif
