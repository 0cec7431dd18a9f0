/*
 * Whether a thread is at a place where functions of the loader may be called in it: it is not in the loader or in an
 * allocator itself, nor in a function of the C library that has one of their locks.
 *
 * The C library's file names only the functions that others call; those behind them are known by who called them. So of
 * consecutive frames in the C library the outermost one must be named, but at the root of the stack, where threads begin.
 */
#ifndef CTX_COLLECT_ATTACH_PLACE_H
#define CTX_COLLECT_ATTACH_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum ctx_attach_frame {
	CTX_ATTACH_ELSEWHERE, /* the program, its libraries, the vdso, code without a file */
	CTX_ATTACH_NAMED,     /* a function of the C library that others call, and that is harmless */
	CTX_ATTACH_INNER,     /* of the C library, without a name */
	CTX_ATTACH_BARRED,    /* of the C library, but not now; the loader; an allocator */
};

/* `frames` of a whole stack, leaf first. */
bool ctx_attach_is_safe(const enum ctx_attach_frame *frames, size_t n);

/* Whether a function of the C library, by its name, allocates, loads, or begins or ends threads and processes. */
bool ctx_attach_is_barred(const char *function);

#endif
