/*
 * Code cache: what the instructions at a pc say about its frame (unwind/code_frame.h), so that they
 * are read once. It forgets: two pcs that share a place displace each other. Thread-safe.
 */
#ifndef CTX_UNWIND_CODE_CACHE_H
#define CTX_UNWIND_CODE_CACHE_H

#include "base/err.h"
#include "unwind/code_frame.h"

struct ctx_code_cache;

/* Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_code_cache_create(struct ctx_code_cache **ret, struct ctx_err *err);
void ctx_code_cache_destroy(struct ctx_code_cache *cache);

/* A pc in code that can be mapped at several addresses. */
struct ctx_code_place {
	uint64_t code; /* identifies the bytes around it (struct ctx_unwind_object) */
	uint64_t at;   /* pc - code_bias */
	enum ctx_code_depth depth;
};

/* What is kept of a place; false: nothing. */
bool ctx_code_cache_has(struct ctx_code_cache *cache, struct ctx_code_place place,
			struct ctx_code_frame *ret);

/*
 * ctx_code_frame_find, or what it returned before for the same place. A place with code 0 is not kept,
 * nor anything without a cache.
 */
struct ctx_code_frame ctx_code_cache_find(struct ctx_code_cache *cache, const struct ctx_insn_reader *reader,
					  uint64_t pc, struct ctx_code_place place);

#endif
