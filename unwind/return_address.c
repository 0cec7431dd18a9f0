#include "unwind/return_address.h"

#include "unwind/cfi_lookup.h"
#include "unwind/code_cache.h"
#include "unwind/x86_insn.h"

static struct ctx_code_place place_of(const struct ctx_unwind_object *object, uint64_t pc,
				      enum ctx_code_depth depth)
{
	return (struct ctx_code_place){object->code, pc - object->code_bias, depth};
}

struct ctx_code_frame ctx_return_code(const struct ctx_unwind_space *space,
				      const struct ctx_unwind_object *object, uint64_t pc,
				      enum ctx_code_depth depth)
{
	const struct ctx_insn_reader reader = {.read = space->read_code, .context = space->context};

	return ctx_code_cache_find(space->cache, &reader, pc, place_of(object, pc, depth));
}

/* Behind a call, in code that will not be left as it says: following it is of no use. */
static bool has_rule_and_call(const struct ctx_unwind_space *space, const struct ctx_unwind_object *object,
			      uint64_t pc)
{
	return object->table != NULL &&
	       ctx_cfi_table_summary(object->table, pc - 1 - object->bias)->kind != CTX_CFI_NONE &&
	       ctx_return_code(space, object, pc, CTX_CODE_CALL).is_returned_to;
}

enum ctx_return ctx_return_check(const struct ctx_unwind_space *space, const struct ctx_unwind_object *object,
				 uint64_t pc, struct ctx_code_frame *ret)
{
	enum ctx_code_depth depth = ctx_code_depth_of(object);

	if (!ctx_code_cache_has(space->cache, place_of(object, pc, depth), ret)) {
		*ret = (struct ctx_code_frame){0};
		if (has_rule_and_call(space, object, pc))
			return CTX_RETURN_SURE;
		*ret = ctx_return_code(space, object, pc, depth);
	}
	if (!ret->is_known)
		return CTX_RETURN_MAYBE;
	if (ret->is_returned_to || ret->is_bottom)
		return CTX_RETURN_SURE;
	return object->table != NULL && ctx_cfi_table_summary(object->table, pc - object->bias)->signal
		       ? CTX_RETURN_SURE
		       : CTX_RETURN_NO;
}

/* Following the code, which says more, costs a hundred times as much: only where there is no table. */
bool ctx_unwind_follows_call(const struct ctx_unwind_space *space, uint64_t pc)
{
	struct ctx_unwind_object object;
	uint8_t code[CTX_X86_CALL_MAX];
	size_t n;

	if (pc <= 1 || space->read_code == NULL || !space->find(space->context, pc - 1, &object))
		return false;
	n = pc - object.begin < sizeof(code) ? (size_t)(pc - object.begin) : sizeof(code);
	if (space->read_code(space->context, pc - n, code, n) == n && ctx_x86_ends_with_call(code, n))
		return true;
	return object.table == NULL && ctx_return_code(space, &object, pc, CTX_CODE_WHOLE).is_returned_to;
}
