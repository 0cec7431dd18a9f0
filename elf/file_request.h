/*
 * Which files of a load object are wanted, and where to look for them (elf/debug_files.h says in
 * which order).
 */
#ifndef CTX_ELF_FILE_REQUEST_H
#define CTX_ELF_FILE_REQUEST_H

struct ctx_file_request {
	const char *path;	   /* as the target mapped it; opened only when nothing better is found */
	const char *build_id;	   /* lower-case hex; "" unknown: then only `archive` and `path` are tried */
	const char *archive;	   /* zstd copy of the file, "" none */
	const char *debug_root;	   /* "" for /usr/lib/debug; tests point elsewhere */
	const char *symfs;	   /* put in front of path and debug_root, "" none */
	const char *const *caches; /* build-id cache directories, NULL at the end; NULL: none */
};

#endif
