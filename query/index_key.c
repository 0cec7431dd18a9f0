#include "query/index_key.h"

#include "base/mem.h"
#include "base/near.h"
#include "model/expression.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* Begins of tenths of seconds, as perf's sort key `time` has them. */
#define TIME "TSTAMP/100000000*100000000"

/* Stands for the expression that the phases of the recording give: query/store_source.c puts that here. */
#define PHASE "TSTAMP+0"

static const struct {
	const char *name, *text; /* text NULL: no expression */
	enum ctx_index_entity entity;
} words[] = {
	{"thread", "THRID", CTX_INDEX_THREAD},
	{"process", "PROCID", CTX_INDEX_PROCESS},
	{"command", NULL, CTX_INDEX_COMMAND},
	{"thread-name", NULL, CTX_INDEX_THREAD_NAME},
	{"thread-pattern", NULL, CTX_INDEX_THREAD_PATTERN},
	{"cgroup", NULL, CTX_INDEX_CGROUP},
	{"container", NULL, CTX_INDEX_CONTAINER},
	{"omp-region", NULL, CTX_INDEX_OMP_REGION},
	{"omp-task", NULL, CTX_INDEX_OMP_TASK},
	{"function", NULL, CTX_INDEX_FUNCTION},
	{"object", NULL, CTX_INDEX_OBJECT},
	{"line", NULL, CTX_INDEX_LINE},
	{"cpu", "CPUID", CTX_INDEX_CPU},
	{"core", NULL, CTX_INDEX_CORE},
	{"socket", NULL, CTX_INDEX_SOCKET},
	{"node", NULL, CTX_INDEX_NODE},
	{"pmu", NULL, CTX_INDEX_PMU},
	{"state", "STATE", CTX_INDEX_STATE},
	{"wait", NULL, CTX_INDEX_WAIT},
	{"second", "SECOND", CTX_INDEX_NUMBER},
	{"time", TIME, CTX_INDEX_TIME},
	{"phase", PHASE, CTX_INDEX_PHASE},
	{"sample", "SAMPLE", CTX_INDEX_NUMBER},
	{"metric", "METRIC", CTX_INDEX_METRIC},
	{"lwp", "LWPID", CTX_INDEX_NUMBER},
	{"file", "IOFNAME", CTX_INDEX_FILE},
	{"descriptor", "IOFD", CTX_INDEX_NUMBER},
	{"datasize", DATASIZE, CTX_INDEX_NUMBER},
	{"duration", DURATION, CTX_INDEX_NUMBER},
	{"cacheline", "VADDR>>6<<6", CTX_INDEX_ADDRESS},
	{"page4k", "VADDR>>12<<12", CTX_INDEX_ADDRESS},
	{"page8k", "VADDR>>13<<13", CTX_INDEX_ADDRESS},
	{"page64k", "VADDR>>16<<16", CTX_INDEX_ADDRESS},
	{"page512k", "VADDR>>19<<19", CTX_INDEX_ADDRESS},
	{"page2m", "VADDR>>21<<21", CTX_INDEX_ADDRESS},
	{"page4m", "VADDR>>22<<22", CTX_INDEX_ADDRESS},
	{"mapping", "MOBJECT", CTX_INDEX_FILE},
	{"access", "MTYPE", CTX_INDEX_MEMORY_OPERATION},
	{"level", "MLEVEL", CTX_INDEX_DATA_LEVEL},
};

/* Plurals that are more than an s, and the names in gprofng and in perf. */
static const struct {
	const char *name, *word;
} other_names[] = {
	{"processes", "process"}, {"experiment_ids", "process"}, {"comm", "thread-name"},
	{"dso", "object"},	  {"sym", "function"},		 {"symbol", "function"},
	{"srcline", "line"},	  {"omp_preg", "omp-region"},	 {"omp_task", "omp-task"},
};

/* Whether the first `n` bytes are the name, or its plural. */
static bool is_called(const char *text, size_t n, const char *name)
{
	size_t length = strlen(name);

	return n >= length && strncasecmp(text, name, length) == 0 &&
	       (n == length || (n == length + 1 && tolower((unsigned char)text[length]) == 's'));
}

/* The number of a word; CTX_COUNT_OF(words): none. */
static size_t find_word(const char *text, size_t n)
{
	size_t i = 0;

	for (size_t k = 0; k < CTX_COUNT_OF(other_names); k++) {
		if (n == strlen(other_names[k].name) && strncasecmp(text, other_names[k].name, n) == 0)
			return find_word(other_names[k].word, strlen(other_names[k].word));
	}
	while (i < CTX_COUNT_OF(words) && !is_called(text, n, words[i].name))
		i++;
	return i;
}

/* Keys that are ids have names. */
static enum ctx_index_entity entity_of(const char *text)
{
	for (size_t i = 0; i < CTX_COUNT_OF(words); i++) {
		if (words[i].text != NULL && strcasecmp(text, words[i].text) == 0)
			return words[i].entity;
	}
	switch (ctx_expression_find_name(text, strlen(text))) {
	case CTX_NAME_IOFNAME:
	case CTX_NAME_MOBJECT:
		return CTX_INDEX_FILE;
	case CTX_NAME_VADDR:
	case CTX_NAME_PADDR:
		return CTX_INDEX_ADDRESS;
	case CTX_NAME_MTYPE:
		return CTX_INDEX_MEMORY_OPERATION;
	case CTX_NAME_MLEVEL:
		return CTX_INDEX_DATA_LEVEL;
	case CTX_NAME_HTYPE:
		return CTX_INDEX_HEAP_OPERATION;
	case CTX_NAME_IOTYPE:
		return CTX_INDEX_IO_OPERATION;
	default:
		return CTX_INDEX_NUMBER;
	}
}

/* ---- --index ---- */

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

enum ctx_status ctx_index_definition_check(const struct ctx_selection_spec *spec, size_t i,
					   struct ctx_wrong_place *ret_place, struct ctx_err *err)
{
	const char *definition = spec->indexes[i];
	size_t n = name_length(definition);

	if (n == 0)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--index '%s': expected NAME=EXPRESSION, with a name of letters and digits",
			definition);
	for (size_t k = 0; k < CTX_COUNT_OF(words); k++) {
		if (is_named(definition, words[k].name))
			return ctx_err_set(err, CTX_E_ARG, "--index %s: an index object '%s' exists already",
					   definition, words[k].name);
	}
	for (size_t k = 0; k < i; k++) {
		if (name_length(spec->indexes[k]) == n && strncmp(definition, spec->indexes[k], n) == 0)
			return ctx_err_set(err, CTX_E_ARG, "--index %s: duplicate name", definition);
	}
	return ctx_wrong_place_check("index", definition + n + 1, ret_place, err);
}

/* ---- one key ---- */

static bool is_word(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '-')
		n++;
	return isalpha((unsigned char)text[0]) && text[n] == '\0';
}

/* "thread, process, ..., mine" */
static void list_words(const struct ctx_selection_spec *spec, char *known, size_t size)
{
	size_t used = 0;

	known[0] = '\0';
	for (size_t i = 0; i < CTX_COUNT_OF(words) + spec->n_indexes && used < size; i++) {
		const char *name =
			i < CTX_COUNT_OF(words) ? words[i].name : spec->indexes[i - CTX_COUNT_OF(words)];
		size_t n = i < CTX_COUNT_OF(words) ? strlen(name) : name_length(name);

		used += (size_t)snprintf(known + used, size - used, "%s%.*s", i == 0 ? "" : ", ", (int)n,
					 name);
	}
}

static enum ctx_status refuse(const struct ctx_selection_spec *spec, const char *word, struct ctx_err *err)
{
	char known[CTX_ERR_MAX / 2], nearest[CTX_ERR_MAX / 4];
	struct ctx_near near = {0};

	list_words(spec, known, sizeof(known));
	for (size_t i = 0; i < CTX_COUNT_OF(words); i++)
		ctx_near_consider(&near, words[i].name, strlen(words[i].name), word, strlen(word));
	for (unsigned i = 0; i < CTX_EXPRESSION_NAMES_N && near.n == 0; i++) {
		const char *name = ctx_expression_name((enum ctx_expression_name)i);

		ctx_near_consider(&near, name, strlen(name), word, strlen(word));
	}
	ctx_near_list(&near, nearest, sizeof(nearest));
	return ctx_err_set(err, CTX_E_ARG, "--by %s: no such index object%s%s (%s; or an expression)", word,
			   near.n != 0 ? ", perhaps " : "", nearest, known);
}

/* "NAME=EXPRESSION", which ends at the name then. */
static enum ctx_status read_definition(char *text, struct ctx_report_index_key *ret, const char **ret_text,
				       struct ctx_err *err)
{
	size_t n = name_length(text);

	text[n] = '\0';
	for (size_t k = 0; k < CTX_COUNT_OF(words); k++) {
		if (strcasecmp(text, words[k].name) == 0)
			return ctx_err_set(err, CTX_E_ARG, "--by %s=%s: an index object '%s' exists already",
					   text, text + n + 1, words[k].name);
	}
	*ret_text = text + n + 1;
	*ret = (struct ctx_report_index_key){text, true, entity_of(*ret_text)};
	return CTX_OK;
}

static enum ctx_status read_key(const struct ctx_selection_spec *spec, char *text,
				struct ctx_report_index_key *ret, const char **ret_text, struct ctx_err *err)
{
	size_t word = find_word(text, strlen(text));

	if (name_length(text) != 0)
		return read_definition(text, ret, ret_text, err);

	for (size_t i = 0; i < spec->n_indexes; i++) {
		if (!is_named(spec->indexes[i], text))
			continue;
		*ret_text = spec->indexes[i] + strlen(text) + 1;
		*ret = (struct ctx_report_index_key){text, true, entity_of(*ret_text)};
		return CTX_OK;
	}
	if (word < CTX_COUNT_OF(words)) {
		*ret_text = words[word].text;
		*ret = (struct ctx_report_index_key){words[word].name, true, words[word].entity};
		return CTX_OK;
	}
	if (is_word(text) && ctx_expression_find_name(text, strlen(text)) == CTX_EXPRESSION_NAMES_N)
		return refuse(spec, text, err);
	*ret_text = text;
	*ret = (struct ctx_report_index_key){text, false, entity_of(text)};
	return CTX_OK;
}

/* ---- lists ---- */

/* Length up to the comma that ends a key. */
static size_t key_length(const char *list)
{
	unsigned depth = 0;
	size_t n = 0;

	for (; list[n] != '\0' && (depth != 0 || list[n] != ','); n++) {
		if (list[n] == '(') {
			depth++;
		} else if (list[n] == ')') {
			depth -= depth != 0;
		} else if (list[n] == '"') {
			for (n++; list[n] != '\0' && list[n] != '"'; n++)
				n += list[n] == '\\' && list[n + 1] == '"';
			if (list[n] == '\0')
				break;
		}
	}
	return n;
}

/* Cuts spaces off both ends of text[0] to text[n - 1], which ends there then. */
static char *trim(char *text, size_t n)
{
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	text[n] = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static bool is_same(const struct ctx_index_keys *keys, size_t a, size_t b)
{
	const char *left = keys->texts[a], *right = keys->texts[b];

	if (left == NULL || right == NULL)
		return left == right && keys->keys[a].entity == keys->keys[b].entity;
	return strcasecmp(left, right) == 0 && strchr(left, '"') == NULL;
}

static enum ctx_status check_last(const struct ctx_index_keys *keys, const char *by, const char *written,
				  struct ctx_err *err)
{
	size_t last = keys->n - 1;

	for (size_t i = 0; i < last; i++) {
		const char *name = keys->keys[i].name;

		if (!is_same(keys, i, last) && strcmp(name, keys->keys[last].name) != 0)
			continue;
		if (strcmp(name, written) == 0)
			return ctx_err_set(err, CTX_E_ARG, "--by %s: '%s' is there twice", by, name);
		return ctx_err_set(err, CTX_E_ARG, "--by %s: '%s' is '%s', which is there already", by,
				   written, name);
	}
	return CTX_OK;
}

static enum ctx_status read_list(const struct ctx_selection_spec *spec, const char *by,
				 struct ctx_index_keys *keys, struct ctx_err *err)
{
	char *at = keys->owned;
	enum ctx_status status = CTX_OK;

	for (bool more = true; more && status == CTX_OK;) {
		size_t n = key_length(at);
		char *text;

		more = at[n] != '\0';
		text = trim(at, n);
		if (*text == '\0') {
			char known[CTX_ERR_MAX / 2];

			list_words(spec, known, sizeof(known));
			return ctx_err_set(err, CTX_E_ARG,
					   "--by '%s': column %zu: a key is missing (%s; or an expression)",
					   by, (size_t)(at - keys->owned) + n + 1, known);
		}
		if (keys->n == CTX_INDEX_KEYS_MAX)
			return ctx_err_set(err, CTX_E_LIMIT, "--by: more than %u keys", CTX_INDEX_KEYS_MAX);
		status = read_key(spec, text, &keys->keys[keys->n], &keys->texts[keys->n], err);
		keys->n += status == CTX_OK;
		if (status == CTX_OK)
			status = check_last(keys, by, text, err);
		at += n + 1;
	}
	return status;
}

enum ctx_status ctx_index_keys_read(const struct ctx_selection_spec *spec, const char *by,
				    struct ctx_index_keys *ret, struct ctx_err *err)
{
	struct ctx_index_keys keys = {0};
	enum ctx_status status;

	if (by == NULL)
		by = spec->by != NULL ? spec->by : words[0].name;
	keys.owned = strdup(by);
	if (keys.owned == NULL)
		return ctx_err_nomem(err);
	status = read_list(spec, by, &keys, err);
	if (status != CTX_OK) {
		ctx_index_keys_deinit(&keys);
		return status;
	}
	*ret = keys;
	return CTX_OK;
}

void ctx_index_keys_deinit(struct ctx_index_keys *keys)
{
	free(keys->owned);
	*keys = (struct ctx_index_keys){0};
}

/* The key with a space for each character before it: columns are then those of `by`. */
static enum ctx_status check_expression(const struct ctx_index_keys *keys, size_t i, const char *by,
					struct ctx_wrong_place *place, struct ctx_err *err)
{
	size_t before = (size_t)(keys->texts[i] - keys->owned), n = 0;
	char *text CTX_AUTO_FREE = malloc(before + strlen(keys->texts[i]) + 1);
	enum ctx_status status;

	if (text == NULL)
		return ctx_err_nomem(err);
	for (size_t at = 0; at < before; at++) {
		if (((unsigned char)by[at] & 0xc0) != 0x80)
			text[n++] = ' ';
	}
	strcpy(text + n, keys->texts[i]);
	status = ctx_wrong_place_check("by", text, place, err);
	if (place->text == text)
		place->text = by;
	return status;
}

/* Whether a key's expression is in the list of keys itself. */
static bool is_own(const struct ctx_index_keys *keys, size_t i, size_t n)
{
	uintptr_t text = (uintptr_t)keys->texts[i], begin = (uintptr_t)keys->owned;

	return text >= begin && text - begin <= n;
}

enum ctx_status ctx_index_keys_check(const struct ctx_selection_spec *spec, const char *by,
				     struct ctx_wrong_place *ret_place, struct ctx_err *err)
{
	struct ctx_index_keys keys;
	enum ctx_status status = ctx_index_keys_read(spec, by, &keys, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < keys.n && status == CTX_OK; i++) {
		/* Those of tables are right, those of --index are checked there. */
		if (!keys.keys[i].is_word || is_own(&keys, i, strlen(by != NULL ? by : "")))
			status = check_expression(&keys, i, by, ret_place, err);
	}
	ctx_index_keys_deinit(&keys);
	return status;
}

bool ctx_index_keys_ask_states(const struct ctx_selection_spec *spec)
{
	struct ctx_index_keys keys;
	bool found = false;

	if (spec->by == NULL || ctx_index_keys_read(spec, NULL, &keys, NULL) != CTX_OK)
		return false;
	for (size_t i = 0; i < keys.n; i++)
		found |= keys.keys[i].entity == CTX_INDEX_STATE || keys.keys[i].entity == CTX_INDEX_WAIT;
	ctx_index_keys_deinit(&keys);
	return found;
}

bool ctx_index_keys_ask_accesses(const struct ctx_selection_spec *spec)
{
	struct ctx_index_keys keys;
	bool found = false;

	if (spec->by == NULL || ctx_index_keys_read(spec, NULL, &keys, NULL) != CTX_OK)
		return false;
	for (size_t i = 0; i < keys.n; i++) {
		enum ctx_index_entity entity = keys.keys[i].entity;

		found |= entity == CTX_INDEX_ADDRESS || entity == CTX_INDEX_MEMORY_OPERATION ||
			 entity == CTX_INDEX_DATA_LEVEL;
	}
	ctx_index_keys_deinit(&keys);
	return found;
}
