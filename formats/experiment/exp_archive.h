/*
 * archives/: zstd copies of load objects, one file per build id. File names are flat and consist of
 * hex digits, whatever the path of the object.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_ARCHIVE_H
#define CTX_FORMATS_EXPERIMENT_EXP_ARCHIVE_H

#include "base/buildid.h"
#include "base/err.h"
#include "formats/experiment/exp_store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXP_ARCHIVE_NAME_MAX 80u
#define CTX_EXP_ARCHIVE_KALLSYMS "kallsyms.zst"

/*
 * "<build id>.zst", or "path-<XXH3 of the path>.zst" if the build id is unknown or not plain hex.
 */
void ctx_exp_archive_name(const char *path, const char *build_id, char out[CTX_EXP_ARCHIVE_NAME_MAX]);

/* Where copies go. */
struct ctx_exp_copies_to {
	int dir;		     /* of the experiment */
	struct ctx_exp_store *store; /* copies that were made before, and will be used again; NULL: none */
};

/* Opens a regular file for copying. -1 on failure, with the reason in `err` (may be NULL). */
int ctx_exp_archive_open(const char *path, struct ctx_err *err);

/*
 * Copies the object at `path` (or the vdso of this process) to archives/. `*ret_bytes` is its size before compression. Fails with
 * CTX_E_NOTFOUND and the reason when there is nothing to copy: no such file, not a regular file,
 * too large, or a different build id; with CTX_E_IO when the copy could not be written, and then
 * removes it. CTX_END: the copy exists already.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_object(const struct ctx_exp_copies_to *to, const char *path,
						      const char *build_id, uint64_t *ret_bytes,
						      struct ctx_err *err);

/* A load object that is already open. */
struct ctx_exp_opened {
	int file;
	const char *path, *build_id;
};

/* The same for an open object, whose path may no longer exist. The caller keeps the file. */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_opened(const struct ctx_exp_copies_to *to,
						      const struct ctx_exp_opened *object,
						      uint64_t *ret_bytes, struct ctx_err *err);

/*
 * The vdso of this process and its build id: all 64-bit processes of a host share it. `*ret_image`
 * is borrowed from the process's memory. False: no vdso with a build id.
 */
bool ctx_exp_own_vdso(const uint8_t **ret_image, size_t *ret_n, char build_id[CTX_BUILDID_TEXT]);

/* Is it the name of an archived source file ("source-3.zst")? */
bool ctx_exp_is_source_name(const char *name);

struct ctx_exp_image { /* a file's contents and permissions */
	const void *bytes;
	size_t n;
	unsigned mode;
};

/* Writes an image as archives/<name>. CTX_END: it exists already; CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_bytes(int dir, const char *name,
						     const struct ctx_exp_image *image, struct ctx_err *err);

/*
 * Copies /proc/kallsyms to archives/kallsyms.zst. `key`: of the store, where the kernel's functions
 * that matter are the same as whenever it is the same; "" none. CTX_E_NOTFOUND when it shows no
 * addresses.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_archive_kallsyms(const struct ctx_exp_copies_to *to, const char *key,
							uint64_t *ret_bytes, struct ctx_err *err);

#endif
