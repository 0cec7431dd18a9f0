/*
 * Tarballs of build-id caches (`perf archive` makes perf.data.tar.bz2), unpacked to be looked up like a cache.
 *
 * A tarball comes from elsewhere and is believed in nothing: names serve only to tell a build id and which of its
 * files it is; what is written is named by us. Links are not followed, they say nothing that names do not.
 */
#ifndef CTX_INGEST_SYMBOL_TARBALL_H
#define CTX_INGEST_SYMBOL_TARBALL_H

#include "base/err.h"

#include <stdint.h>

/* What one tarball may unpack to. */
#define CTX_SYMBOL_TARBALL_BYTES_MAX ((uint64_t)16 << 30)

/*
 * Unpacks the tarball `path` (tar, plain or compressed with gzip, bzip2, xz, zstd) into the empty directory
 * `into`, as DIRECTORY/.build-id/xx/rest/{elf,debug,vdso} and DIRECTORY/[kernel.kallsyms]/id/kallsyms, the first of
 * each. Whatever else is in it is passed over. Fails with CTX_E_FORMAT (no tarball, damaged), CTX_E_LIMIT (more than
 * `bytes_max` in it), CTX_E_IO, CTX_E_NOMEM; what was whole until then is in the directory.
 */
CTX_MUST_CHECK enum ctx_status ctx_symbol_tarball_unpack(const char *path, const char *into,
							 uint64_t bytes_max, struct ctx_err *err);

#endif
