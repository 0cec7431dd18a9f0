/*
 * archives/: zstd copies of load objects, one file for each build id. Names are flat and made of hex digits, whatever a path holds.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_ARCHIVE_H
#define CTX_FORMATS_EXPERIMENT_EXP_ARCHIVE_H

#include "base/buildid.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXP_ARCHIVE_NAME_MAX 80u
#define CTX_EXP_ARCHIVE_KALLSYMS "kallsyms.zst"

/* "<build id>.zst", or "path-<XXH3 of the path>.zst" where the build id is unknown (or no plain hex). */
void ctx_exp_archive_name(const char *path, const char *build_id, char out[CTX_EXP_ARCHIVE_NAME_MAX]);

/* Opens a plain file to be copied; -1, and the reason in `err` (may be NULL): there is none. */
int ctx_exp_archive_open(const char *path, struct ctx_err *err);

/*
 * Copies the object at `path` (or the vdso of this process) to archives/ in the experiment whose directory is open as `dir`. `*ret_bytes` is its size before compression. CTX_E_NOTFOUND with the reason
 * when there is nothing to copy: no such file, no plain file, too large, another build id than the wanted one. CTX_E_IO: the copy could not be written; nothing is left of it. CTX_END: the copy exists already.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_object(int dir, const char *path, const char *build_id,
						      uint64_t *ret_bytes, struct ctx_err *err);

/* A load object that was opened before. */
struct ctx_exp_opened {
	int file;
	const char *path, *build_id;
};

/* The same for an object that is open, which may be gone from its path by now. The file stays the caller's. */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_opened(int dir, const struct ctx_exp_opened *object,
						      uint64_t *ret_bytes, struct ctx_err *err);

/*
 * The vdso that this process has, and its build id: every 64-bit process of this host has the same. `*ret_image` is borrowed from the process's own memory. False: none with a build id.
 */
bool ctx_exp_own_vdso(const uint8_t **ret_image, size_t *ret_n, char build_id[CTX_BUILDID_TEXT]);

bool ctx_exp_is_source_name(const char *name);

struct ctx_exp_image { /* a file's contents and permissions */
	const void *bytes;
	size_t n;
	unsigned mode;
};

/* Writes an image as archives/<name>. CTX_END: it exists already; CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_bytes(int dir, const char *name,
						     const struct ctx_exp_image *image, struct ctx_err *err);

/* Copies /proc/kallsyms to archives/kallsyms.zst. CTX_E_NOTFOUND when it shows no addresses. */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_kallsyms(int dir, uint64_t *ret_bytes, struct ctx_err *err);

#endif
