/*
 * Tarballs of build-id caches (`perf archive` makes perf.data.tar.bz2), unpacked to be looked up
 * like a cache.
 *
 * Tarballs are untrusted: names are used only to find a build id and the kind of file; paths of
 * written files are built here. Links are not followed; they have no information beyond names.
 */
#ifndef CTX_INGEST_SYMBOL_TARBALL_H
#define CTX_INGEST_SYMBOL_TARBALL_H

#include "base/err.h"

#include <stdint.h>

/* Maximal unpacked size of one tarball. */
#define CTX_SYMBOL_TARBALL_BYTES_MAX ((uint64_t)16 << 30)

/*
 * Unpacks the tarball `path` (tar, plain or compressed with gzip, bzip2, xz, zstd) into the empty
 * directory `into`, as DIRECTORY/.build-id/xx/rest/{elf,debug,vdso} and
 * DIRECTORY/[kernel.kallsyms]/id/kallsyms, the first of each. Other members are skipped. Fails with
 * CTX_E_FORMAT (not a tarball, damaged), CTX_E_LIMIT (more than `bytes_max` in it), CTX_E_IO,
 * CTX_E_NOMEM; files completed until then are in the directory.
 */
CTX_MUST_CHECK enum ctx_status ctx_symbol_tarball_unpack(const char *path, const char *into,
							 uint64_t bytes_max, struct ctx_err *err);

#endif
