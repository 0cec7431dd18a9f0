#include "formats/pprof/pprof_profile.h"

#include "base/mem.h"

#include <stdlib.h>

void ctx_pprof_profile_deinit(struct ctx_pprof_profile *profile)
{
	free(profile->strings);
	free(profile->types);
	free(profile->mappings);
	free(profile->locations);
	free(profile->functions);
	ctx_map64_deinit(&profile->mapping_of);
	ctx_map64_deinit(&profile->location_of);
	ctx_map64_deinit(&profile->function_of);
	*profile = (struct ctx_pprof_profile){0};
}

static enum ctx_status cut(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "a message that is cut, or damaged");
}

/* The values of a message's fields by their numbers, 0 where there are none; the last of each counts. */
static bool take_values(struct ctx_protobuf message, uint64_t *values, size_t n)
{
	struct ctx_protobuf_field field;

	while (ctx_protobuf_next(&message, &field)) {
		if (field.number < n)
			values[field.number] = field.value;
	}
	return !message.failed;
}

/* Of several things with one id the first counts. */
static enum ctx_status number_id(struct ctx_map64 *map, uint64_t id, size_t index, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(map, id);

	if (place == NULL || index >= CTX_MAP64_NONE)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE)
		*place = (uint32_t)index;
	return CTX_OK;
}

static enum ctx_status take_type(struct ctx_pprof_profile *profile, struct ctx_protobuf message,
				 struct ctx_err *err)
{
	uint64_t values[3] = {0};
	enum ctx_status status = ctx_grow(&profile->types, &profile->types_cap, profile->n_types + 1, err);

	if (status == CTX_OK && !take_values(message, values, CTX_COUNT_OF(values)))
		status = cut(err);
	if (status == CTX_OK)
		profile->types[profile->n_types++] = (struct ctx_pprof_type){values[1], values[2]};
	return status;
}

static enum ctx_status take_mapping(struct ctx_pprof_profile *profile, struct ctx_protobuf message,
				    struct ctx_err *err)
{
	uint64_t values[7] = {0};
	enum ctx_status status =
		ctx_grow(&profile->mappings, &profile->mappings_cap, profile->n_mappings + 1, err);

	if (status == CTX_OK && !take_values(message, values, CTX_COUNT_OF(values)))
		status = cut(err);
	if (status != CTX_OK)
		return status;
	profile->mappings[profile->n_mappings++] =
		(struct ctx_pprof_mapping){values[1], values[2], values[3], values[4], values[5], values[6]};
	return number_id(&profile->mapping_of, values[1], profile->n_mappings - 1, err);
}

static enum ctx_status take_location(struct ctx_pprof_profile *profile, struct ctx_protobuf message,
				     struct ctx_err *err)
{
	struct ctx_pprof_location location = {0};
	struct ctx_protobuf rest = message;
	struct ctx_protobuf_field field;
	enum ctx_status status =
		ctx_grow(&profile->locations, &profile->locations_cap, profile->n_locations + 1, err);

	while (status == CTX_OK && ctx_protobuf_next(&rest, &field)) {
		if (field.number == 1)
			location.id = field.value;
		else if (field.number == 2)
			location.mapping = field.value;
		else if (field.number == 3)
			location.address = field.value;
		else if (field.number == 4)
			location.lines = message;
	}
	if (status == CTX_OK && rest.failed)
		status = cut(err);
	if (status != CTX_OK)
		return status;
	profile->locations[profile->n_locations++] = location;
	return number_id(&profile->location_of, location.id, profile->n_locations - 1, err);
}

static enum ctx_status take_function(struct ctx_pprof_profile *profile, struct ctx_protobuf message,
				     struct ctx_err *err)
{
	uint64_t values[6] = {0};
	enum ctx_status status =
		ctx_grow(&profile->functions, &profile->functions_cap, profile->n_functions + 1, err);

	if (status == CTX_OK && !take_values(message, values, CTX_COUNT_OF(values)))
		status = cut(err);
	if (status != CTX_OK)
		return status;
	profile->functions[profile->n_functions++] =
		(struct ctx_pprof_function){values[1], values[2], values[3], values[4], values[5]};
	return number_id(&profile->function_of, values[1], profile->n_functions - 1, err);
}

static enum ctx_status take_string(struct ctx_pprof_profile *profile, const struct ctx_protobuf_field *field,
				   struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&profile->strings, &profile->strings_cap, profile->n_strings + 1, err);

	if (status == CTX_OK)
		profile->strings[profile->n_strings++] =
			(struct ctx_pprof_text){(const char *)field->bytes, field->n};
	return status;
}

static enum ctx_status take_message(struct ctx_pprof_profile *profile, const struct ctx_protobuf_field *field,
				    struct ctx_err *err)
{
	struct ctx_protobuf message = ctx_protobuf_make(field->bytes, field->n);

	switch (field->number) {
	case CTX_PPROF_SAMPLE_TYPE:
		return take_type(profile, message, err);
	case CTX_PPROF_MAPPING:
		return take_mapping(profile, message, err);
	case CTX_PPROF_LOCATION:
		return take_location(profile, message, err);
	case CTX_PPROF_FUNCTION:
		return take_function(profile, message, err);
	case CTX_PPROF_STRING:
		return take_string(profile, field, err);
	default:
		return CTX_OK;
	}
}

static void take_value(struct ctx_pprof_profile *profile, const struct ctx_protobuf_field *field)
{
	switch (field->number) {
	case CTX_PPROF_TIME:
		profile->time_ns = (int64_t)field->value;
		break;
	case CTX_PPROF_DURATION:
		profile->duration_ns = (int64_t)field->value;
		break;
	case CTX_PPROF_COMMENT:
		profile->comment = field->value;
		break;
	case CTX_PPROF_DEFAULT_TYPE:
		profile->default_type = field->value;
		break;
	default:
		break;
	}
}

enum ctx_status ctx_pprof_profile_read(struct ctx_pprof_profile *profile, const void *bytes, size_t n,
				       struct ctx_err *err)
{
	struct ctx_protobuf rest = ctx_protobuf_make(bytes, n);
	struct ctx_protobuf_field field;
	enum ctx_status status = CTX_OK;

	profile->message = rest;
	while (status == CTX_OK && ctx_protobuf_next(&rest, &field)) {
		bool is_message = field.number >= CTX_PPROF_SAMPLE_TYPE && field.number <= CTX_PPROF_STRING;

		if (is_message && !field.is_bytes)
			status = cut(err);
		else if (is_message)
			status = take_message(profile, &field, err);
		else if (!field.is_bytes)
			take_value(profile, &field);
	}
	if (status == CTX_OK && rest.failed)
		status = cut(err);
	if (status == CTX_OK && profile->n_types == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no type of values");
	return status;
}

struct ctx_pprof_text ctx_pprof_string(const struct ctx_pprof_profile *profile, uint64_t number)
{
	return number < profile->n_strings ? profile->strings[number] : (struct ctx_pprof_text){"", 0};
}

const struct ctx_pprof_mapping *ctx_pprof_mapping(const struct ctx_pprof_profile *profile, uint64_t id)
{
	uint32_t index = ctx_map64_get(&profile->mapping_of, id);

	return index != CTX_MAP64_NONE ? &profile->mappings[index] : NULL;
}

const struct ctx_pprof_location *ctx_pprof_location(const struct ctx_pprof_profile *profile, uint64_t id)
{
	uint32_t index = ctx_map64_get(&profile->location_of, id);

	return index != CTX_MAP64_NONE ? &profile->locations[index] : NULL;
}

const struct ctx_pprof_function *ctx_pprof_function(const struct ctx_pprof_profile *profile, uint64_t id)
{
	uint32_t index = ctx_map64_get(&profile->function_of, id);

	return index != CTX_MAP64_NONE ? &profile->functions[index] : NULL;
}
