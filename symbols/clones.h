/*
 * Clones and outlined parts: foo.isra.0, foo.part.0, foo.constprop.0, foo.cold are clones or
 * remaining parts of foo.
 *
 * The owner of a part is found by name alone, so only if it is unambiguous: the one function of
 * that name in the object (the kernel: in the module), or of several the one of the same source
 * file. A name that link-time optimisation made to keep two functions distinct (foo.lto_priv.0,
 * foo.llvm.1234) is not a clone of foo: there may be another foo.
 */
#ifndef CTX_SYMBOLS_CLONES_H
#define CTX_SYMBOLS_CLONES_H

#include "base/buf.h"
#include "symbols/symset.h"

struct ctx_clones { /* all zero is valid: nothing is indexed yet */
	struct ctx_clones_name *names;
	uint32_t *heads; /* by hash; index of a name + 1, 0 none */
	size_t head_n;	 /* a power of two, 0 not built yet */
};

void ctx_clones_deinit(struct ctx_clones *clones);

/*
 * The entry that an entry of a frozen set is a clone or a part of; itself if none, or if ambiguous.
 * The first call for the name of a clone indexes the names: O(symbols), then O(1). Fails with
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_clones_find(struct ctx_clones *clones, const struct ctx_symset *set,
					       uint32_t index, uint32_t *ret_whole, struct ctx_err *err);

/*
 * Appends the readable form of a clone's name, "foo(int) [isra.0.cold]", and returns true;
 * otherwise appends nothing and returns false. Errors stick in `out`.
 */
bool ctx_clones_readable(const char *name, struct ctx_buf *out);

#endif
