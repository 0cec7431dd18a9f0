#include "report/code_parts.h"

#include "base/mem.h"

#include <string.h>

void ctx_code_parts_deinit(struct ctx_code_parts *parts)
{
	for (size_t i = 0; i < parts->n; i++)
		ctx_instructions_deinit(&parts->parts[i].instructions);
	free(parts->parts);
	free(parts->strays);
	free(parts->sums);
	ctx_disassembler_close(parts->disassembler);
	*parts = (struct ctx_code_parts){0};
}

/* Disassembles the parts; first_stray is the number of slots on return. */
static enum ctx_status decode(const struct ctx_code_view *view, uint32_t function,
			      struct ctx_code_parts *parts, struct ctx_err *err)
{
	const struct ctx_function_code *code = NULL;
	size_t n = 0;
	enum ctx_status status = CTX_OK;

	if (view->reader != NULL)
		status = view->reader->code(view->reader->context, function, &code, &n, err);
	if (status != CTX_OK || n == 0)
		return status;
	status = ctx_disassembler_open(code[0].machine, &parts->disassembler, err);
	if (status != CTX_OK)
		return status == CTX_E_NOTFOUND ? CTX_OK : status;
	parts->parts = ctx_calloc(n, sizeof(*parts->parts));
	if (parts->parts == NULL)
		return ctx_err_nomem(err);
	for (; parts->n < n; parts->n++) {
		struct ctx_code_part *part = &parts->parts[parts->n];

		*part = (struct ctx_code_part){.code = code[parts->n],
					       .disassembler = parts->disassembler,
					       .first_slot = parts->first_stray};
		status = ctx_instructions_decode(parts->disassembler, &part->code, &part->instructions, err);
		if (status != CTX_OK)
			return status;
		parts->first_stray += part->instructions.n;
	}
	return CTX_OK;
}

/* The slot of the instruction that contains the address. */
static uint32_t find_slot(const struct ctx_code_parts *parts, uint64_t address)
{
	for (size_t i = 0; i < parts->n; i++) {
		size_t found = ctx_instructions_find(&parts->parts[i].instructions, address);

		if (found != SIZE_MAX)
			return (uint32_t)(parts->parts[i].first_slot + found);
	}
	return CTX_NONE;
}

static int compare_addresses(const void *left, const void *right, void *context)
{
	const struct ctx_location *locations = context;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	uint64_t a = locations[i].address, b = locations[j].address;

	if (a != b)
		return a < b ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Assigns every location of the function its slot. */
static enum ctx_status assign(const struct ctx_code *code, uint32_t function, struct ctx_code_parts *parts,
			      uint32_t *slots, struct ctx_err *err)
{
	size_t cap = 0, distinct = 0;
	struct ctx_location *locations = NULL;

	for (uint32_t i = 0; i < code->n_locations; i++) {
		enum ctx_status status;

		slots[i] = CTX_NONE;
		if (code->locations[i].joins || ctx_code_real_function(code, i) != function)
			continue;
		slots[i] = find_slot(parts, code->locations[i].address);
		if (slots[i] != CTX_NONE)
			continue;
		status = ctx_grow(&parts->strays, &cap, parts->n_strays + 1, err);
		if (status != CTX_OK)
			return status;
		parts->strays[parts->n_strays++] = i;
	}
	if (parts->n_strays == 0)
		return CTX_OK;
	memcpy(&locations, &code->locations, sizeof(locations)); /* qsort_r's context is not const */
	qsort_r(parts->strays, parts->n_strays, sizeof(*parts->strays), compare_addresses, locations);
	for (size_t i = 0; i < parts->n_strays; i++) {
		uint32_t stray = parts->strays[i];

		if (distinct == 0 ||
		    locations[parts->strays[distinct - 1]].address != locations[stray].address)
			parts->strays[distinct++] = stray;
		slots[stray] = (uint32_t)(parts->first_stray + distinct - 1);
	}
	parts->n_strays = distinct;
	return CTX_OK;
}

static enum ctx_status add_up(const struct ctx_code_view *view, uint32_t function,
			      struct ctx_code_parts *parts, struct ctx_err *err)
{
	size_t n_locations = view->code->n_locations, n;
	uint32_t *slots CTX_AUTO_FREE = ctx_calloc(n_locations + 1, sizeof(*slots));
	enum ctx_status status;

	if (slots == NULL)
		return ctx_err_nomem(err);
	status = assign(view->code, function, parts, slots, err);
	if (status != CTX_OK)
		return status;
	n = parts->first_stray + parts->n_strays;
	parts->sums = ctx_calloc(n + 1, sizeof(*parts->sums));
	if (parts->sums == NULL)
		return ctx_err_nomem(err);
	status = ctx_code_add_up(view, &(struct ctx_code_adding){NULL, slots, parts->sums, n}, err);
	for (size_t i = 0; i < n; i++) {
		const struct ctx_code_sum *sum = &parts->sums[i];

		if (sum->exclusive > parts->largest_exclusive)
			parts->largest_exclusive = sum->exclusive;
		if (sum->inclusive > parts->largest_inclusive)
			parts->largest_inclusive = sum->inclusive;
	}
	return status;
}

enum ctx_status ctx_code_parts_build(const struct ctx_code_view *view, uint32_t function,
				     struct ctx_code_parts *ret, struct ctx_err *err)
{
	struct ctx_code_parts made = {0};
	enum ctx_status status = decode(view, function, &made, err);

	if (status == CTX_OK)
		status = add_up(view, function, &made, err);
	if (status != CTX_OK) {
		ctx_code_parts_deinit(&made);
		return status;
	}
	*ret = made;
	return CTX_OK;
}
