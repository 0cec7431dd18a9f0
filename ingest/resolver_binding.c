/*
 * Calls through a procedure linkage table. The first one of each is bound by the dynamic linker,
 * which the stub enters by a jump and is therefore no frame of the stack:
 *
 *	caller: call NAME@plt --> NAME@plt: jmp PLT0 --> PLT0: jmp --> _dl_runtime_resolve --> _dl_fixup
 *
 * The caller's instruction has the address of the stub.
 */
#include "base/mem.h"
#include "elf/debug_files.h"
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define X86_CALL 0xe8u /* with the distance to the target behind it, 32 bits */
#define X86_CALL_BYTES 5u
#define ARM_CALL_BYTES 4u

static bool has_suffix(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n > m && strcmp(text + n - m, suffix) == 0;
}

bool ctx_resolver_is_first_stub(const struct ctx_resolver *resolver, uint32_t function)
{
	return function != CTX_NONE && strcmp(resolver->functions[function].name, "@plt") == 0;
}

/* Whether a stub jumps to the function, or to what the function is called by. */
static bool is_entered_by_stub(const struct ctx_resolver *resolver, uint32_t function)
{
	static const char *const prefixes[] = {"_dl_runtime_resolve", "_dl_runtime_profile", "_dl_fixup",
					       "_dl_profile_fixup"};
	const char *name = resolver->functions[function].name;

	for (size_t i = 0; i < CTX_COUNT_OF(prefixes) && name[0] == '_'; i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return ctx_resolver_is_first_stub(resolver, function);
}

/* NULL: there is no image, or it is not found. */
static const struct ctx_elf_file *image_of(struct ctx_resolver *resolver, struct ctx_resolver_object *object)
{
	struct ctx_file_request request = ctx_resolver_request(resolver, object);

	if (!object->image_opened) {
		object->image_opened = true;
		object->image = ctx_calloc(1, sizeof(*object->image));
		if (object->image != NULL &&
		    ctx_debug_files_open_image(&request, object->image, NULL) != CTX_OK) {
			free(object->image);
			object->image = NULL;
		}
	}
	return object->image;
}

/* The target of the direct call that returns to `address`; 0: another instruction. */
static uint64_t target_of_call(const struct ctx_elf_file *image, uint64_t address)
{
	struct ctx_buf code = {0};
	uint64_t size = image->machine == EM_X86_64 ? X86_CALL_BYTES : ARM_CALL_BYTES, target = 0;
	enum ctx_status status = CTX_E_NOTFOUND;

	if (address > size && (image->machine == EM_X86_64 || image->machine == EM_AARCH64))
		status = ctx_elf_read_code(image, address - size, size, &code, NULL);
	if (status == CTX_OK && code.n == size && image->machine == EM_X86_64 && code.bytes[0] == X86_CALL) {
		uint32_t distance = (uint32_t)code.bytes[1] | (uint32_t)code.bytes[2] << 8 |
				    (uint32_t)code.bytes[3] << 16 | (uint32_t)code.bytes[4] << 24;

		target = address + (uint64_t)(int64_t)(int32_t)distance;
	}
	/* bl: 26 bits of words. */
	if (status == CTX_OK && code.n == size && image->machine == EM_AARCH64 &&
	    code.bytes[3] >> 2 == 0x94u >> 2) {
		uint32_t words = (uint32_t)code.bytes[0] | (uint32_t)code.bytes[1] << 8 |
				 (uint32_t)code.bytes[2] << 16 | (uint32_t)(code.bytes[3] & 3u) << 24;

		target = address - ARM_CALL_BYTES + (uint64_t)((int64_t)(int32_t)(words << 6) >> 4);
	}
	ctx_buf_deinit(&code);
	return target;
}

static enum ctx_status stub_of_call(struct ctx_resolver *resolver, const struct ctx_location *caller,
				    uint32_t *ret, struct ctx_err *err)
{
	struct ctx_resolver_object *object = &resolver->objects[caller->object];
	const struct ctx_elf_file *image;
	struct ctx_symbol symbol;
	enum ctx_status status;
	uint64_t target;
	uint32_t at;

	if (object->kernel || object->is_dynamic || object->symtab == NULL ||
	    !ctx_resolver_has_file(resolver, object))
		return CTX_OK;
	image = image_of(resolver, object);
	/* A caller's address is its return address less one. */
	target = image != NULL ? target_of_call(image, caller->address + 1) : 0;
	if (target == 0 || !ctx_symtab_find(object->symtab, target, &at))
		return CTX_OK;
	status = ctx_symtab_get(object->symtab, at, &symbol, err);
	if (status != CTX_OK || symbol.start != target || !has_suffix(symbol.linkage_name, "@plt"))
		return status;
	return ctx_resolver_of_symbol(
		resolver, &(struct ctx_resolver_symbols){object->symtab, object->by_symbol, caller->object},
		at, ret, err);
}

enum ctx_status ctx_resolver_stub_between(struct ctx_resolver *resolver, uint32_t caller, uint32_t callee,
					  uint32_t *ret, struct ctx_err *err)
{
	uint32_t function = ctx_resolver_location_function(resolver, callee);
	const struct ctx_location *from =
		caller < resolver->n_locations ? &resolver->locations[caller] : NULL;
	uint32_t *place, known;
	enum ctx_status status;

	*ret = CTX_NONE;
	if (from == NULL || function == CTX_NONE || from->object >= resolver->n_objects ||
	    !is_entered_by_stub(resolver, function))
		return CTX_OK;
	known = ctx_map64_get(&resolver->stub_of_call, caller);
	if (known != CTX_MAP64_NONE) {
		*ret = known - 1;
		return CTX_OK;
	}
	status = stub_of_call(resolver, from, ret, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&resolver->stub_of_call, caller);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret + 1; /* CTX_NONE becomes 0 */
	return CTX_OK;
}
