#include "report/code_places.h"

#include "report/code_rows.h"

bool ctx_code_is_inside(const struct ctx_function_info *function, uint64_t address)
{
	return address >= function->offset &&
	       (function->size == 0 || address - function->offset < function->size);
}

const char *ctx_code_part_name(const struct ctx_profile *profile, uint32_t function, uint64_t address)
{
	const struct ctx_function_info *info = &profile->functions[function];

	if (info->parts == NULL || *info->parts == '\0' || ctx_code_is_inside(info, address))
		return NULL;
	return info->parts;
}

/* The start of the part that contains the address. */
static bool find_part(const struct ctx_code_view *view, uint32_t function, uint64_t address, uint64_t *ret)
{
	const struct ctx_function_code *parts;
	size_t n;

	if (view->reader == NULL ||
	    view->reader->code(view->reader->context, function, &parts, &n, NULL) != CTX_OK)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (address >= parts[i].address && address - parts[i].address < parts[i].n_bytes) {
			*ret = parts[i].address;
			return true;
		}
	}
	return false;
}

struct ctx_code_place ctx_code_place_of(const struct ctx_code_view *view, uint32_t location)
{
	uint64_t address = view->code->locations[location].address, start;
	struct ctx_code_place place = {.function = ctx_code_real_function(view->code, location)};
	const struct ctx_function_info *info;

	if (place.function == CTX_NONE)
		return place;
	info = &view->profile->functions[place.function];
	if (info->kind != CTX_FUNCTION_ORDINARY || info->inlined)
		return place;
	place.part = ctx_code_part_name(view->profile, place.function, address);
	start = info->offset;
	place.has_offset =
		ctx_code_is_inside(info, address) || find_part(view, place.function, address, &start);
	place.offset = place.has_offset ? address - start : 0;
	return place;
}
