/*
 * Names in archives/: copies of load objects and sources, "libc.so.6_dnWuQRcLhw9".
 */
#ifndef CTX_FORMATS_GPROFNG_GP_ARCHIVE_H
#define CTX_FORMATS_GPROFNG_GP_ARCHIVE_H

#define CTX_GP_ARCHIVE_NAME 300u

/*
 * The name under which the file at `path` is archived: its last part, and a hash of its directory.
 */
void ctx_gp_archive_name(const char *path, char ret[CTX_GP_ARCHIVE_NAME]);

#endif
