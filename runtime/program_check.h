/*
 * Whether the runtime can be loaded into a program, by its file: for the recorder, before it starts a
 * command, and for the runtime, before the target executes something.
 *
 * Allocates nothing and takes no locks, so it may be called between fork and exec. Some system calls:
 * 15 us.
 */
#ifndef CTX_RUNTIME_PROGRAM_CHECK_H
#define CTX_RUNTIME_PROGRAM_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum ctx_program {
	CTX_PROGRAM_FITS,
	CTX_PROGRAM_FITS_32,	   /* i386: with the runtime of 32 bits, if there is one */
	CTX_PROGRAM_UNKNOWN,	   /* cannot be read, or is no program */
	CTX_PROGRAM_STATIC,	   /* loads no libraries */
	CTX_PROGRAM_PRIVILEGED,	   /* setuid, setgid: the loader ignores what the user wants to have loaded */
	CTX_PROGRAM_MUSL,	   /* with musl's loader */
	CTX_PROGRAM_OTHER_LIBC,	   /* with another loader than glibc's */
	CTX_PROGRAM_OLD_LIBC,	   /* glibc before 2.35, which would refuse the runtime and end the program */
	CTX_PROGRAM_OTHER_MACHINE, /* another processor, or another ABI of this one (x32) */
	CTX_PROGRAM_SANITIZED,	   /* its sanitizer must be the first library */
	CTX_PROGRAM_NOT_THERE, /* what the caller of ctx_program_check sees: in its root the runtime is missing */
	CTX_PROGRAM_N,
};

/*
 * Whether a program that is without the runtime hands its environment on unharmed: LD_PRELOAD means
 * nothing to it, or, with a token in the name (rt_environment.h), names a file that is not there.
 */
static inline bool ctx_program_hands_on(enum ctx_program program)
{
	return program == CTX_PROGRAM_STATIC || program == CTX_PROGRAM_MUSL;
}

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
