#include "query/filters.h"

#include "base/mem.h"
#include "base/near.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHOWN_MAX 160u /* bytes of an expression that is printed to point at */

/* Largest power of four, of ten. */
#define BYTES(n) "SIZE<=(1<<" #n ")?1<<" #n ":"
#define LONG(ns) "EVT_TIME<=" #ns "?" #ns ":"
#define DATASIZE                                                                                             \
	"SIZE<0?-1:SIZE==0?0:" BYTES(0) BYTES(2) BYTES(4) BYTES(6) BYTES(8) BYTES(10) BYTES(12) BYTES(14)    \
		BYTES(16) BYTES(18) BYTES(20) BYTES(22) BYTES(24) BYTES(26) BYTES(28) BYTES(30) BYTES(32)    \
			BYTES(34) BYTES(36) BYTES(38) BYTES(40) BYTES(42) BYTES(44) BYTES(46) BYTES(48)      \
				BYTES(50) "1<<62"
#define DURATION                                                                                             \
	"EVT_TIME<=0?0:" LONG(1000) LONG(10000) LONG(100000) LONG(1000000) LONG(10000000) LONG(100000000)    \
		LONG(1000000000) LONG(10000000000) LONG(100000000000) LONG(1000000000000)                    \
			LONG(10000000000000) "1<<62"

static const struct ctx_index_key objects[] = {
	{"thread", "THRID", true},    {"process", "PROCID", true},  {"cpu", "CPUID", true},
	{"second", "SECOND", true},   {"sample", "SAMPLE", true},   {"state", "STATE", true},
	{"metric", "METRIC", true},   {"lwp", "LWPID", true},	    {"file", "IOFNAME", true},
	{"descriptor", "IOFD", true}, {"datasize", DATASIZE, true}, {"duration", DURATION, true},
};

/* The names in gprofng; otherwise the plural. */
static const struct {
	const char *name, *object;
} other_names[] = {{"processes", "process"}, {"experiment_ids", "process"}};

static bool is_called(const char *text, const char *name)
{
	size_t n = strlen(name);

	return strncasecmp(text, name, n) == 0 &&
	       (text[n] == '\0' || (tolower((unsigned char)text[n]) == 's' && text[n + 1] == '\0'));
}

static const struct ctx_index_key *find_object(const char *text)
{
	for (size_t i = 0; i < CTX_COUNT_OF(other_names); i++) {
		if (strcasecmp(text, other_names[i].name) == 0)
			text = other_names[i].object;
	}
	for (size_t i = 0; i < CTX_COUNT_OF(objects); i++) {
		if (is_called(text, objects[i].name))
			return &objects[i];
	}
	return NULL;
}

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

/* Length of NAME in "NAME=EXPRESSION"; 0: the text does not have this form. */
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

static enum ctx_status check_definition(const struct ctx_selection_spec *spec, size_t i,
					struct ctx_wrong_place *place, struct ctx_err *err)
{
	const char *definition = spec->indexes[i];
	size_t n = name_length(definition);

	if (n == 0)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--index '%s': expected NAME=EXPRESSION, with a name of letters and digits",
			definition);
	for (size_t k = 0; k < CTX_COUNT_OF(objects); k++) {
		if (is_named(definition, objects[k].name))
			return ctx_err_set(err, CTX_E_ARG, "--index %s: an index object '%s' exists already",
					   definition, objects[k].name);
	}
	for (size_t k = 0; k < i; k++) {
		if (name_length(spec->indexes[k]) == n && strncmp(definition, spec->indexes[k], n) == 0)
			return ctx_err_set(err, CTX_E_ARG, "--index %s: duplicate name", definition);
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

/* "thread,cpu" */
static bool is_list(const char *text)
{
	char word[32];
	size_t n = strcspn(text, ",");

	if (text[n] == '\0' || n >= sizeof(word))
		return false;
	memcpy(word, text, n);
	word[n] = '\0';
	return find_object(word) != NULL;
}

/* "thread, process, ..., mine" */
static void list_objects(const struct ctx_selection_spec *spec, char *known, size_t size)
{
	size_t used = 0;

	known[0] = '\0';
	for (size_t i = 0; i < CTX_COUNT_OF(objects) + spec->n_indexes && used < size; i++) {
		const char *name = i < CTX_COUNT_OF(objects) ? objects[i].name
							     : spec->indexes[i - CTX_COUNT_OF(objects)];
		size_t n = i < CTX_COUNT_OF(objects) ? strlen(name) : name_length(name);

		used += (size_t)snprintf(known + used, size - used, "%s%.*s", i == 0 ? "" : ", ", (int)n,
					 name);
	}
}

static enum ctx_status refuse_object(const struct ctx_selection_spec *spec, const char *by,
				     struct ctx_err *err)
{
	char known[CTX_ERR_MAX / 2], nearest[CTX_ERR_MAX / 4];
	struct ctx_near near = {0};

	list_objects(spec, known, sizeof(known));
	for (size_t i = 0; i < CTX_COUNT_OF(objects); i++)
		ctx_near_consider(&near, objects[i].name, strlen(objects[i].name), by, strlen(by));
	for (unsigned i = 0; i < CTX_EXPRESSION_NAMES_N && near.n == 0; i++) {
		const char *name = ctx_expression_name((enum ctx_expression_name)i);

		ctx_near_consider(&near, name, strlen(name), by, strlen(by));
	}
	ctx_near_list(&near, nearest, sizeof(nearest));
	return ctx_err_set(err, CTX_E_ARG, "--by %s: no such index object%s%s (%s; or an expression)", by,
			   near.n != 0 ? ", perhaps " : "", nearest, known);
}

enum ctx_status ctx_index_key_find(const struct ctx_selection_spec *spec, const char *by,
				   struct ctx_index_key *ret, struct ctx_err *err)
{
	const struct ctx_index_key *object;

	if (by == NULL)
		by = spec->by != NULL ? spec->by : objects[0].name;
	object = find_object(by);
	for (size_t i = 0; i < spec->n_indexes; i++) {
		if (is_named(spec->indexes[i], by)) {
			*ret = (struct ctx_index_key){by, spec->indexes[i] + strlen(by) + 1, true};
			return CTX_OK;
		}
	}
	if (object != NULL) {
		*ret = *object;
		return CTX_OK;
	}
	if (is_list(by))
		return ctx_err_set(err, CTX_E_ARG, "--by %s: one key at a time (or an expression)", by);
	if (is_word(by) && ctx_expression_find_name(by, strlen(by)) == CTX_EXPRESSION_NAMES_N)
		return refuse_object(spec, by, err);
	*ret = (struct ctx_index_key){by, by, false};
	return CTX_OK;
}

/* ---- all expressions ---- */

enum ctx_status ctx_index_key_check(const struct ctx_selection_spec *spec, const char *by,
				    struct ctx_wrong_place *ret_place, struct ctx_err *err)
{
	struct ctx_index_key key;
	enum ctx_status status = ctx_index_key_find(spec, by, &key, err);

	return status == CTX_OK && key.text == by ? check("by", by, ret_place, err) : status;
}

enum ctx_status ctx_filters_check(const struct ctx_selection_spec *spec, struct ctx_wrong_place *ret_place,
				  struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret_place = (struct ctx_wrong_place){0};
	for (size_t i = 0; i < spec->n_filters && status == CTX_OK; i++)
		status = check("filter", spec->filters[i], ret_place, err);
	for (size_t i = 0; i < spec->n_tests && status == CTX_OK; i++)
		status = check(spec->tests[i].label, spec->tests[i].expression, ret_place, err);
	for (size_t i = 0; i < spec->n_indexes && status == CTX_OK; i++)
		status = check_definition(spec, i, ret_place, err);
	if (status == CTX_OK && spec->by != NULL)
		status = ctx_index_key_check(spec, spec->by, ret_place, err);
	return status;
}

void ctx_wrong_place_print(const struct ctx_wrong_place *place, FILE *out)
{
	size_t n = place->text != NULL ? strlen(place->text) : 0;

	if (n == 0 || n > SHOWN_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		/* Escaped or wide characters would misplace the caret. */
		if (place->text[i] < ' ' || place->text[i] > '~')
			return;
	}
	fprintf(out, "  %s\n  %*s\n", place->text, (int)place->column, "^");
}

enum ctx_status ctx_filters_bind(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				 struct ctx_expression ***ret, struct ctx_err *err)
{
	size_t n = spec->n_filters + spec->n_tests;
	struct ctx_expression **filters = ctx_calloc(n, sizeof(struct ctx_expression *));
	enum ctx_status status = filters != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		bool test = i >= spec->n_filters;

		status = ctx_expression_parse(test ? spec->tests[i - spec->n_filters].expression
						   : spec->filters[i],
					      &filters[i], NULL, err);
		if (status == CTX_OK)
			status = ctx_expression_bind(filters[i], profile, err);
		if (status != CTX_OK)
			ctx_err_prefix(err, status, "--filter");
	}
	if (status != CTX_OK) {
		for (size_t i = 0; filters != NULL && i < n; i++)
			ctx_expression_destroy(filters[i]);
		free(filters);
		return status;
	}
	*ret = filters;
	return CTX_OK;
}
