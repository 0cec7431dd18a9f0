#include "ctxan/filters.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHOWN_MAX 160u /* bytes of an expression that is printed to point at */

static const struct ctx_index_key objects[] = {
	{"thread", "THRID", true},  {"process", "PROCID", true}, {"cpu", "CPUID", true},
	{"second", "SECOND", true}, {"state", "STATE", true},	 {"metric", "METRIC", true},
};

static enum ctx_status check(const char *option, const char *text, struct ctx_wrong_place *place,
			     struct ctx_err *err)
{
	struct ctx_expression *expression;
	size_t column = 0;
	enum ctx_status status = ctx_expression_parse(text, &expression, &column, err);

	if (status == CTX_OK) {
		ctx_expression_destroy(expression);
		return CTX_OK;
	}
	if (status != CTX_E_NOMEM)
		*place = (struct ctx_wrong_place){text, column};
	return ctx_err_prefix(err, status, "--%s", option);
}

/* ---- index objects ---- */

/* The bytes of NAME in "NAME=EXPRESSION"; 0: it is no such thing. */
static size_t name_length(const char *definition)
{
	size_t n = 0;

	while (isalnum((unsigned char)definition[n]) || definition[n] == '_' || definition[n] == '-')
		n++;
	return definition[n] == '=' && definition[n + 1] != '=' ? n : 0;
}

static bool is_named(const char *definition, const char *name)
{
	return name_length(definition) == strlen(name) && strncmp(definition, name, strlen(name)) == 0;
}

static enum ctx_status check_definition(const struct ctx_options *options, size_t i,
					struct ctx_wrong_place *place, struct ctx_err *err)
{
	const char *definition = options->indexes[i];
	size_t n = name_length(definition);

	if (n == 0)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--index '%s': NAME=EXPRESSION is wanted, with a name of letters and digits",
			definition);
	for (size_t k = 0; k < CTX_COUNT_OF(objects); k++) {
		if (is_named(definition, objects[k].name))
			return ctx_err_set(err, CTX_E_ARG, "--index %s: there is an index object '%s'",
					   definition, objects[k].name);
	}
	for (size_t k = 0; k < i; k++) {
		if (name_length(options->indexes[k]) == n && strncmp(definition, options->indexes[k], n) == 0)
			return ctx_err_set(err, CTX_E_ARG, "--index %s: this name is there twice",
					   definition);
	}
	return check("index", definition + n + 1, place, err);
}

static bool is_word(const char *text)
{
	size_t n = 0;

	while (isalpha((unsigned char)text[n]) || text[n] == '_' || text[n] == '-')
		n++;
	return isalpha((unsigned char)text[0]) && text[n] == '\0';
}

/* "thread, process, ..., mine" */
static void list_objects(const struct ctx_options *options, char *known, size_t size)
{
	size_t used = 0;

	known[0] = '\0';
	for (size_t i = 0; i < CTX_COUNT_OF(objects) + options->n_indexes && used < size; i++) {
		const char *name = i < CTX_COUNT_OF(objects) ? objects[i].name
							     : options->indexes[i - CTX_COUNT_OF(objects)];
		size_t n = i < CTX_COUNT_OF(objects) ? strlen(name) : name_length(name);

		used += (size_t)snprintf(known + used, size - used, "%s%.*s", i == 0 ? "" : ", ", (int)n,
					 name);
	}
}

static bool is_name_of_samples(const char *text)
{
	for (int i = 0; i < CTX_EXPRESSION_NAMES_N; i++) {
		if (strcasecmp(text, ctx_expression_name((enum ctx_expression_name)i)) == 0)
			return true;
	}
	return false;
}

enum ctx_status ctx_index_key_find(const struct ctx_options *options, struct ctx_index_key *ret,
				   struct ctx_err *err)
{
	const char *by = options->by != NULL ? options->by : objects[0].name;
	char known[CTX_ERR_MAX / 2];

	for (size_t i = 0; i < CTX_COUNT_OF(objects); i++) {
		if (strcmp(by, objects[i].name) == 0) {
			*ret = objects[i];
			return CTX_OK;
		}
	}
	for (size_t i = 0; i < options->n_indexes; i++) {
		if (is_named(options->indexes[i], by)) {
			*ret = (struct ctx_index_key){by, options->indexes[i] + strlen(by) + 1, true};
			return CTX_OK;
		}
	}
	list_objects(options, known, sizeof(known));
	if (is_word(by) && !is_name_of_samples(by))
		return ctx_err_set(err, CTX_E_ARG, "--by %s: no such index object (%s; or an expression)", by,
				   known);
	*ret = (struct ctx_index_key){by, by, false};
	return CTX_OK;
}

/* ---- all of them ---- */

enum ctx_status ctx_filters_check(const struct ctx_options *options, struct ctx_wrong_place *ret_place,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	struct ctx_index_key key;

	*ret_place = (struct ctx_wrong_place){0};
	for (size_t i = 0; i < options->n_filters && status == CTX_OK; i++)
		status = check("filter", options->filters[i], ret_place, err);
	for (size_t i = 0; i < options->n_indexes && status == CTX_OK; i++)
		status = check_definition(options, i, ret_place, err);
	if (status == CTX_OK && options->by != NULL)
		status = ctx_index_key_find(options, &key, err);
	if (status == CTX_OK && options->by != NULL && key.text == options->by)
		status = check("by", key.text, ret_place, err);
	return status;
}

void ctx_wrong_place_print(const struct ctx_wrong_place *place, FILE *out)
{
	size_t n = place->text != NULL ? strlen(place->text) : 0;

	if (n == 0 || n > SHOWN_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		/* What is escaped, or has another width, would move the caret. */
		if (place->text[i] < ' ' || place->text[i] > '~')
			return;
	}
	fprintf(out, "  %s\n  %*s\n", place->text, (int)place->column, "^");
}

enum ctx_status ctx_filters_bind(const struct ctx_options *options, const struct ctx_profile *profile,
				 struct ctx_expression ***ret, struct ctx_err *err)
{
	struct ctx_expression **filters = ctx_calloc(options->n_filters, sizeof(struct ctx_expression *));
	enum ctx_status status = filters != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < options->n_filters && status == CTX_OK; i++) {
		status = ctx_expression_parse(options->filters[i], &filters[i], NULL, err);
		if (status == CTX_OK)
			status = ctx_expression_bind(filters[i], profile, err);
		if (status != CTX_OK)
			ctx_err_prefix(err, status, "--filter");
	}
	if (status != CTX_OK) {
		for (size_t i = 0; filters != NULL && i < options->n_filters; i++)
			ctx_expression_destroy(filters[i]);
		free(filters);
		return status;
	}
	*ret = filters;
	return CTX_OK;
}
