/*
 * Request for files of a load object: identity, and where to search (order: elf/debug_files.h).
 */
#ifndef CTX_ELF_FILE_REQUEST_H
#define CTX_ELF_FILE_REQUEST_H

struct ctx_file_request {
	const char *path;	   /* as mapped by the target; opened only if nothing better is found */
	const char *build_id;	   /* lower-case hex; "" unknown: then only `archive` and `path` are tried */
	const char *archive;	   /* zstd copy of the file, "" none */
	const char *debug_root;	   /* "" for /usr/lib/debug; tests point elsewhere */
	const char *symfs;	   /* prefix of path and debug_root, "" none */
	const char *const *caches; /* build-id cache directories, NULL-terminated; NULL: none */
};

#endif
