/*
 * The caches of load objects by build id, in the order of search:
 * directories as perf keeps them (~/.debug), and tarballs of them (`perf archive`), which are
 * unpacked on demand.
 *
 *	struct ctx_symbol_caches caches = {0};
 *	ctx_symbol_caches_add(&caches, "--buildid-dir's", &err);
 *	ctx_symbol_caches_add_beside(&caches, "perf.data", &err);
 *	ctx_symbol_caches_add_perf(&caches, &err);
 *	ctx_symbol_caches_open(&caches, &left_out, &err);	caches.directories, caches.names: for ctx_ingest_options
 *	ctx_symbol_caches_deinit(&caches);			also removes unpacked files
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
	const char **names; /* the name of the directory for users: the tarball's path */
};

/* Adds a directory or a tarball named by the user. CTX_E_ARG: it does not exist; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_symbol_caches_add(struct ctx_symbol_caches *caches, const char *path,
						     struct ctx_err *err);

/*
 * `recording` with .tar.bz2, .tar.gz, .tar.xz, .tar.zst or .tar appended: adds the first that
 * exists, if any. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_symbol_caches_add_beside(struct ctx_symbol_caches *caches,
							    const char *recording, struct ctx_err *err);

/* Adds perf's own cache (ctx_perf_settings_buildid_dir), if it exists. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_symbol_caches_add_perf(struct ctx_symbol_caches *caches,
							  struct ctx_err *err);

/*
 * A number that differs for other lists: covers the real paths of named places, and size and time
 * of tarballs, but neither the contents of directories nor perf's own cache. 0: an empty list.
 * O(list).
 */
uint64_t ctx_symbol_caches_hash(const struct ctx_symbol_caches *caches);

/*
 * Unpacks the tarballs into private temporary directories, and sets `directories` and `names`. A
 * damaged one named by the user fails as ctx_symbol_tarball_unpack does; of one beside the
 * recording, which can be unrelated, the valid part is used, and `left_out`, which must be {0},
 * gets the reason. Takes as long as unpacking.
 */
CTX_MUST_CHECK enum ctx_status ctx_symbol_caches_open(struct ctx_symbol_caches *caches,
						      struct ctx_err *left_out, struct ctx_err *err);

/* Removes unpacked files, releases the list. */
void ctx_symbol_caches_deinit(struct ctx_symbol_caches *caches);

/*
 * `text` with each of `directories` replaced by its name, malloc'ed; NULL: out of memory. Both
 * lists end with NULL.
 */
char *ctx_symbol_caches_rename(const char *text, const char *const *directories, const char *const *names);

#endif
