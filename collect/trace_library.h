/*
 * The runtime's library as targets are to load it: the word for LD_PRELOAD.
 *
 *	libexec/ctxrec/libctxrt.so                                 for 64 bits
 *	               runtime/i386/libctxrt.so                    for 32 bits, where it was built
 *	               runtime/nothing/libctxrt.so                 an empty one of 32 bits, where it was not
 *	               runtime/{lib64,lib32,..}/libctxrt.so        the same two, by what $LIB is to the loader of each class
 *
 * The word is DIR/runtime/$LIB/libctxrt.so: glibc's loader puts the name of its own folder of libraries there, so programs
 * of both classes may start each other with one environment, and no loader reports a library of the wrong class. Musl's loader
 * knows no tokens, finds no such file, and goes on without a word. Where this machine's $LIB is none of those names, the
 * word is the path of the library of 64 bits alone.
 */
#ifndef CTX_COLLECT_TRACE_LIBRARY_H
#define CTX_COLLECT_TRACE_LIBRARY_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>

struct ctx_trace_library {
	char word[PATH_MAX];
	char path[PATH_MAX]; /* of the library of 64 bits */
	bool has_32;	     /* programs of 32 bits can have it, too */
};

/* Fails with CTX_E_NOTFOUND: it is not installed, or its path cannot be in LD_PRELOAD. */
CTX_MUST_CHECK enum ctx_status ctx_trace_library_find(struct ctx_trace_library *ret, struct ctx_err *err);

#endif
