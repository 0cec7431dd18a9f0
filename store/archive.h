/*
 * Archives: several runs in one file, each a database of its own (store/store.h), compressed.
 *
 *	base.db --SQLite--> table run: name, fingerprint, ... payload --zstd--> a database --> struct ctx_store
 *
 * For baselines: small enough for a cache, openable alone. A run without samples has its time trees, with lists in
 * their leaves, and no sample blocks, waits, operations, addresses and code (query/pruned_copy.h makes it). An
 * archive is read and written whole: it replaces the old one when it is complete. At most CTX_ARCHIVE_BYTES_MAX.
 */
#ifndef CTX_STORE_ARCHIVE_H
#define CTX_STORE_ARCHIVE_H

#include "base/buf.h"
#include "store/store.h"

#define CTX_ARCHIVE_BYTES_MAX ((size_t)1000000000) /* of an archive, and of an unpacked run */
#define CTX_ARCHIVE_RUNS_MAX 1000u

struct ctx_archive;

struct ctx_archive_run {
	const char *name;	 /* as it was given: "A1.er" */
	const char *fingerprint; /* of the recording: no run is in an archive twice */
	bool has_samples;
	uint64_t wall_ns, samples;
	uint64_t raw_bytes, packed_bytes; /* of its database */
	uint64_t checksum;		  /* XXH3 of the unpacked database */
};

/* True if the file begins like an archive. Cheap; also false if it cannot be read. */
bool ctx_archive_is(const char *path);

/* CTX_E_NOTFOUND, CTX_E_FORMAT (not an archive, or damaged), CTX_E_VERSION, CTX_E_LIMIT, CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_archive_open(const char *path, struct ctx_archive **ret,
						struct ctx_err *err);

/* An empty one, in memory until ctx_archive_write. */
CTX_MUST_CHECK enum ctx_status ctx_archive_create(const char *path, struct ctx_archive **ret,
						  struct ctx_err *err);

size_t ctx_archive_n(const struct ctx_archive *archive);
const struct ctx_archive_run *ctx_archive_run(const struct ctx_archive *archive, size_t i);

/*
 * A run as a store of its own, in memory: it outlives the archive. Its name in messages is "base.db:2". CTX_E_VERSION: made
 * by another version of this program. Damage is CTX_E_FORMAT.
 */
CTX_MUST_CHECK enum ctx_status ctx_archive_open_run(struct ctx_archive *archive, size_t i,
						    struct ctx_store **ret, struct ctx_err *err);

/*
 * Adds a run behind the others: `image` is of ctx_store_image; sizes and checksum of `run` are set here. CTX_E_ARG:
 * a run of this fingerprint is in it already. CTX_E_LIMIT.
 */
CTX_MUST_CHECK enum ctx_status ctx_archive_add(struct ctx_archive *archive, const struct ctx_archive_run *run,
					       struct ctx_bytes image, struct ctx_err *err);

/* Replaces the file, or creates it: after a failure the old one is as it was. */
CTX_MUST_CHECK enum ctx_status ctx_archive_write(struct ctx_archive *archive, struct ctx_err *err);

/* NULL is fine. */
void ctx_archive_close(struct ctx_archive *archive);

/*
 * Waits until no other process changes archives in the directory of `path`; `*ret_fd` is closed to let others go on.
 * Where the file system has no locks it is not locked.
 */
CTX_MUST_CHECK enum ctx_status ctx_archive_lock(const char *path, int *ret_fd, struct ctx_err *err);

#endif
