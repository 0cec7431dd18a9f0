#include "report/disasm_subject.h"

#include "base/mem.h"
#include "report/order.h"

#include <stdio.h>

/* "'walk' has no instructions of its own: it is inlined into 'main', 'solve'" */
static enum ctx_status refuse_inlined(const struct ctx_code_view *view, const struct ctx_subject *subject,
				      struct ctx_err *err)
{
	uint32_t found[5], n = 0;
	char names[512] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < view->code->n_locations && n < CTX_COUNT_OF(found); i++) {
		uint32_t site = view->code->locations[i].site, real;
		bool inside = false, known = false;

		if (site == CTX_NONE)
			continue;
		for (; site != CTX_NONE; site = view->code->sites[site].caller)
			inside |= subject->owner_of[view->code->sites[site].function] != CTX_NONE;
		real = ctx_code_real_function(view->code, i);
		for (uint32_t j = 0; j < n; j++)
			known |= found[j] == real;
		if (inside && !known)
			found[n++] = real;
	}
	for (uint32_t i = 0; i < n && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%.90s'", i == 0 ? "" : ", ",
					 view->profile->functions[found[i]].name);
	return ctx_err_set(err, CTX_E_NOTFOUND,
			   "'%.200s' has no instructions of its own: it is inlined into %s",
			   view->profile->functions[subject->owners[0]].name, names);
}

/*
 * The function with the largest exclusive weight that has code; if none has, the hottest. CTX_NONE:
 * no samples.
 */
static enum ctx_status find_hottest(const struct ctx_code_view *view, uint32_t *ret, struct ctx_err *err)
{
	const struct ctx_profile *profile = view->profile;
	struct ctx_order_item *items CTX_AUTO_FREE =
		ctx_calloc((size_t)profile->n_functions + 1, sizeof(*items));
	const struct ctx_function_code *code;
	size_t n;

	if (items == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_functions; i++)
		items[i].index = i;
	for (size_t i = 0; i < view->raw->n; i++) {
		uint32_t stack = view->raw->entries[i].stack, function = CTX_NONE;

		if (stack != CTX_TRIE_ROOT)
			function = ctx_code_real_function(view->code, view->code->raw_stacks->key[stack]);
		if (function != CTX_NONE && profile->functions[function].kind == CTX_FUNCTION_ORDINARY)
			items[function].number += view->raw->entries[i].weight;
	}
	ctx_order_sort(items, profile->n_functions);
	*ret = profile->n_functions != 0 && items[0].number != 0 ? items[0].index : CTX_NONE;
	for (uint32_t i = 0; view->reader != NULL && i < profile->n_functions && items[i].number != 0; i++) {
		if (view->reader->code(view->reader->context, items[i].index, &code, &n, NULL) == CTX_OK &&
		    n != 0) {
			*ret = items[i].index;
			break;
		}
	}
	return CTX_OK;
}

enum ctx_status ctx_disasm_subject(const struct ctx_code_view *view, const char *text,
				   struct ctx_subject *ret, struct ctx_err *err)
{
	bool any = false;
	uint32_t hottest = CTX_NONE;
	enum ctx_status status;

	if (text == NULL) {
		status = find_hottest(view, &hottest, err);
		return status == CTX_OK && hottest != CTX_NONE ? ctx_subject_function(view, hottest, ret, err)
							       : status;
	}
	status = ctx_subject_find(view, text, false, ret, err);
	for (uint32_t i = 0; status == CTX_OK && i < ret->n; i++)
		any |= !view->profile->functions[ret->owners[i]].inlined;
	return status == CTX_OK && !any ? refuse_inlined(view, ret, err) : status;
}
