/*
 * Whether the runtime can be loaded into a program, by its file: for the recorder, before it starts a
 * command, and for the runtime, before the target executes something.
 *
 * Allocates nothing and takes no locks, so it may be called between fork and exec. Some system calls:
 * 10 us.
 */
#ifndef CTX_RUNTIME_PROGRAM_CHECK_H
#define CTX_RUNTIME_PROGRAM_CHECK_H

#include <stddef.h>

enum ctx_program {
	CTX_PROGRAM_FITS,
	CTX_PROGRAM_UNKNOWN,	   /* cannot be read, or is no program */
	CTX_PROGRAM_STATIC,	   /* loads no libraries */
	CTX_PROGRAM_PRIVILEGED,	   /* setuid, setgid: the loader ignores what the user wants to have loaded */
	CTX_PROGRAM_OTHER_LIBC,	   /* with another loader than glibc's */
	CTX_PROGRAM_OTHER_MACHINE, /* 32 bits, or another processor */
	CTX_PROGRAM_SANITIZED,	   /* its sanitizer must be the first library */
};

/* A script's interpreter is looked at. errno is changed. */
enum ctx_program ctx_program_check(const char *path);

/*
 * Finds a file as execvp does: `name` itself if it has a slash, else in PATH. NULL: not found, or the path
 * does not fit. `room` of `size` bytes is used where a directory is put in front.
 */
const char *ctx_program_find(const char *name, char *room, size_t size);

/* "statically linked"; "" for those that fit. */
const char *ctx_program_reason(enum ctx_program program);

#endif
