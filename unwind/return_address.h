/*
 * Return addresses: whether a pc can be one, as the code around it says.
 *
 * Private to unwind/, but for ctx_unwind_follows_call.
 */
#ifndef CTX_UNWIND_RETURN_ADDRESS_H
#define CTX_UNWIND_RETURN_ADDRESS_H

#include "unwind/code_frame.h"
#include "unwind/unwind_space.h"

enum ctx_return {
	CTX_RETURN_NO,
	CTX_RETURN_MAYBE, /* its code cannot be read */
	CTX_RETURN_SURE,  /* behind a call, a signal trampoline, or the bottom of a coroutine */
};

/* What is read of an object's code at first: compiled methods of HotSpot are known by how they begin. */
static inline enum ctx_code_depth ctx_code_depth_of(const struct ctx_unwind_object *object)
{
	return object->table != NULL ? CTX_CODE_END : CTX_CODE_WHOLE;
}

/* What the code at a pc of an object says; `space` reads code. The second time it is in the cache. */
struct ctx_code_frame ctx_return_code(const struct ctx_unwind_space *space,
				      const struct ctx_unwind_object *object, uint64_t pc,
				      enum ctx_code_depth depth);

/*
 * Can a pc of an object be a return address? `*ret` is what its code says, as far as ctx_code_depth_of asks
 * for; not known where this was not needed.
 */
enum ctx_return ctx_return_check(const struct ctx_unwind_space *space, const struct ctx_unwind_object *object,
				 uint64_t pc, struct ctx_code_frame *ret);

/* Whether a call stands in front of an address, as far as the code can be read. */
bool ctx_unwind_follows_call(const struct ctx_unwind_space *space, uint64_t pc);

#endif
