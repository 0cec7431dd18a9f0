/*
 * File search: visits the ELF files of one load object, nearest first, until the visitor has all it
 * wants.
 *
 *	images       archived copy, CACHE/.build-id/xx/yyyy/{elf,vdso} (or yyyy itself), the object's own path
 *	debug files  CACHE/.build-id/xx/yyyy/debug, ROOT/.build-id/xx/yyyy.debug, .gnu_debuglink
 *	debuginfod   the image if there is none yet, the debug file
 *
 * Files of another build are not visited. Used by elf_symtab.c and debug_files.c.
 */
#ifndef CTX_ELF_FILE_SEARCH_H
#define CTX_ELF_FILE_SEARCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "elf/debuglink.h"
#include "elf/elf_file.h"
#include "elf/file_request.h"

/*
 * What a visitor wants: images are visited while it wants either, debug files while it wants
 * CTX_WANT_DEBUG.
 */
enum { CTX_WANT_IMAGE = 1, CTX_WANT_DEBUG = 2 };

struct ctx_file_search;

struct ctx_file_candidate {
	struct ctx_elf_file obj; /* may be moved out; then set it to {.fd = -1} */
	const char *origin;	 /* "archive", "memory" or the path; lives as long as the search */
	bool is_image;
	bool is_linked; /* found by a debug link and its checksum: needs no build id */
};

/* Clears the bits of search->wanted that it has got. */
typedef enum ctx_status (*ctx_file_visit_fn)(struct ctx_file_search *search,
					     struct ctx_file_candidate *candidate, struct ctx_err *err);

struct ctx_file_search {
	const struct ctx_file_request *request;
	unsigned wanted;
	ctx_file_visit_fn visit;
	void *context; /* of the visitor */

	struct ctx_buf reasons; /* why files were rejected, separated by "; ", for ctx_symtab_set_reasons */
	/* State; initially all zero. */
	char build_id[CTX_BUILDID_TEXT]; /* wanted: of the request, or of the first image if it has none */
	bool have_image;
	struct ctx_debuglink link; /* of the images */
	struct ctx_arena paths;
};

/*
 * Searches all places. Finding nothing is not a failure. Fails with CTX_E_NOMEM, and as the visitor
 * fails.
 */
CTX_MUST_CHECK enum ctx_status ctx_file_search_run(struct ctx_file_search *search, struct ctx_err *err);

/* Visits only one file in memory (copied). As above. */
CTX_MUST_CHECK enum ctx_status ctx_file_search_run_bytes(struct ctx_file_search *search, const void *bytes,
							 size_t n, struct ctx_err *err);

void ctx_file_search_deinit(struct ctx_file_search *search);

#endif
