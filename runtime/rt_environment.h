/*
 * The environment with which a program gets the runtime: LD_PRELOAD begins with libctxrt.so, the rest is
 * the user's; CTX_RT_VARIABLE says where the recorder is. Both are handed on where the target executes a
 * program with another environment, and taken out again for programs that cannot have the runtime.
 */
#ifndef CTX_RUNTIME_RT_ENVIRONMENT_H
#define CTX_RUNTIME_RT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct ctx_rt_words {	      /* "NAME=value" each; borrowed */
	const char *library;  /* path of libctxrt.so */
	const char *variable; /* "CTXREC_RUNTIME=..." */
};

/* Bytes of memory that ctx_rt_environment_make needs; 0: `from` is as it has to be. */
size_t ctx_rt_environment_bytes(const struct ctx_rt_words *words, char *const *from, bool with);

/*
 * Writes the environment made from `from` (which ends with NULL) with or without the runtime into
 * `room`, of that many bytes, aligned for pointers. All other variables stay, in order.
 */
char **ctx_rt_environment_make(const struct ctx_rt_words *words, char *const *from, bool with, void *room);

#endif
