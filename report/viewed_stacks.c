#include "report/viewed_stacks.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdlib.h>

enum ctx_status ctx_viewed_make(struct ctx_viewed *viewed, const struct ctx_profile *profile,
				enum ctx_view view, struct ctx_err *err)
{
	enum ctx_status status;

	*viewed = (struct ctx_viewed){.profile = *profile};
	status = ctx_view_rules_make(&viewed->rules, profile, view, err);
	if (status != CTX_OK || !viewed->rules.changes)
		return status;
	status = ctx_view_map_make(&viewed->stacks, &profile->cct, viewed->rules.of_function, err);
	viewed->profile.functions = viewed->rules.functions;
	viewed->profile.n_functions = viewed->rules.n_functions;
	viewed->profile.cct = viewed->stacks.to;
	return status;
}

void ctx_viewed_deinit(struct ctx_viewed *viewed)
{
	ctx_view_rules_deinit(&viewed->rules);
	ctx_view_map_deinit(&viewed->stacks);
	ctx_view_map_deinit(&viewed->raw_stacks);
	free(viewed->locations);
	free(viewed->sites);
	free(viewed->raw_to_stack);
	*viewed = (struct ctx_viewed){0};
}

/* ---- raw stacks ---- */

/* The function that contains an address, whatever is inlined there. */
static uint32_t function_at(const struct ctx_code *code, const struct ctx_location *location)
{
	uint32_t function = location->function;

	for (uint32_t site = location->site; site != CTX_NONE; site = code->sites[site].caller)
		function = code->sites[site].function;
	return function;
}

struct code_making {
	const struct ctx_code *given;
	const struct ctx_view_rules *rules;
	struct ctx_view_rule *of_location; /* by location */
	struct ctx_map64 labels;	   /* function of a label -> its location */
	size_t locations_cap;
};

static void code_making_deinit(struct code_making *making)
{
	free(making->of_location);
	ctx_map64_deinit(&making->labels);
}

static uint32_t shown(const struct code_making *making, uint32_t function)
{
	return function < making->rules->n_given ? making->rules->of_function[function].key : function;
}

/* A location for what a label stands for, which has no address. */
static enum ctx_status add_label(struct ctx_viewed *viewed, struct code_making *making, uint32_t function,
				 uint32_t *ret, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&making->labels, function);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		status = ctx_grow(&viewed->locations, &making->locations_cap, viewed->code.n_locations + 1,
				  err);
		if (status != CTX_OK)
			return status;
		*place = (uint32_t)viewed->code.n_locations++;
		viewed->locations[*place] =
			(struct ctx_location){.object = CTX_NONE, .function = function, .site = CTX_NONE};
	}
	*ret = *place;
	return CTX_OK;
}

/* Locations and sites with the functions of the view, and the rule of each location. */
static enum ctx_status make_locations(struct ctx_viewed *viewed, struct code_making *making,
				      struct ctx_err *err)
{
	const struct ctx_code *given = making->given;
	enum ctx_status status =
		ctx_grow(&viewed->locations, &making->locations_cap, given->n_locations + 1, err);

	if (status != CTX_OK)
		return status;
	viewed->sites = ctx_calloc(given->n_sites + 1, sizeof(*viewed->sites));
	making->of_location = ctx_calloc(given->n_locations + 1, sizeof(*making->of_location));
	if (viewed->sites == NULL || making->of_location == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < given->n_sites; i++) {
		viewed->sites[i] = given->sites[i];
		viewed->sites[i].function = shown(making, given->sites[i].function);
	}
	for (uint32_t i = 0; i < given->n_locations && status == CTX_OK; i++) {
		const struct ctx_location *location = &given->locations[i];
		uint32_t function = function_at(given, location);

		viewed->locations[i] = *location;
		viewed->locations[i].function = shown(making, location->function);
		making->of_location[i].key = i;
		if (location->joins || function >= making->rules->n_given)
			continue;
		making->of_location[i] = making->rules->of_function[function];
		making->of_location[i].key = i;
		if (making->rules->of_function[function].action == CTX_VIEW_LEAF)
			status = add_label(viewed, making, making->rules->of_function[function].key,
					   &making->of_location[i].key, err);
	}
	return status;
}

static enum ctx_status map_to_stacks(struct ctx_viewed *viewed, const struct ctx_code *given,
				     struct ctx_err *err)
{
	viewed->raw_to_stack = ctx_calloc(viewed->raw_stacks.to.n, sizeof(*viewed->raw_to_stack));
	if (viewed->raw_to_stack == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < given->raw_stacks->n; i++)
		viewed->raw_to_stack[i] = given->raw_to_stack[i];
	for (uint32_t i = 0; i < given->raw_stacks->n; i++)
		viewed->raw_to_stack[viewed->raw_stacks.of[i]] = viewed->stacks.of[given->raw_to_stack[i]];
	return CTX_OK;
}

enum ctx_status ctx_viewed_code(struct ctx_viewed *viewed, const struct ctx_code *given, struct ctx_err *err)
{
	struct code_making making CTX_CLEANUP(code_making_deinit) = {.given = given, .rules = &viewed->rules};
	enum ctx_status status;

	viewed->code = *given;
	status = make_locations(viewed, &making, err);
	if (status == CTX_OK)
		status = ctx_view_map_make(&viewed->raw_stacks, given->raw_stacks, making.of_location, err);
	if (status == CTX_OK)
		status = map_to_stacks(viewed, given, err);
	viewed->code.raw_stacks = &viewed->raw_stacks.to;
	viewed->code.raw_to_stack = viewed->raw_to_stack;
	viewed->code.locations = viewed->locations;
	viewed->code.sites = viewed->sites;
	return status;
}
