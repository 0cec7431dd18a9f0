/*
 * Where the chunks are: of one file, in which they follow each other, or of all files *.jfr of a directory, as the
 * recorder's repository is one. In order of their begin.
 */
#ifndef CTX_FORMATS_JFR_JFR_FILES_H
#define CTX_FORMATS_JFR_JFR_FILES_H

#include "formats/jfr/jfr_chunk.h"

struct ctx_jfr_place {
	uint32_t file;
	uint64_t offset; /* in the file */
	uint64_t n;	 /* bytes of it that are there */
	struct ctx_jfr_header header;
};

struct ctx_jfr_files {
	char **paths; /* owned, and its items */
	size_t n_paths, paths_cap;
	struct ctx_jfr_place *places; /* owned */
	size_t n_places, places_cap;
	uint64_t bytes; /* of all chunks */
	struct ctx_buf
		notes; /* lines about what is no chunk, each with its file and offset; zero-terminated, empty: none */
};

/* Whether the file begins with a chunk, or the directory has such a file *.jfr. */
bool ctx_jfr_files_is(const char *path);

/*
 * Finds the chunks. CTX_E_FORMAT: there is none that can be read; CTX_E_IO, CTX_E_NOTFOUND, CTX_E_NOMEM. To be
 * deinitialised in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_jfr_files_find(struct ctx_jfr_files *files, const char *path,
						  struct ctx_err *err);
void ctx_jfr_files_deinit(struct ctx_jfr_files *files);

/* The bytes of a chunk, in *buf, which is cleared before. CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_files_read(const struct ctx_jfr_files *files, size_t place,
						  struct ctx_buf *buf, struct ctx_err *err);

/* A hash of the contents, of the names and contents of a directory's files. */
CTX_MUST_CHECK enum ctx_status ctx_jfr_files_fingerprint(const char *path, char ret[17], struct ctx_err *err);

#endif
