#include "report/order.h"

#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SORT_MAX 128u

static int compare(const void *left, const void *right)
{
	const struct ctx_order_item *a = left, *b = right;
	int order = a->text != NULL && b->text != NULL ? strcmp(a->text, b->text) : 0;

	if (order != 0)
		return order;
	if (a->number != b->number)
		return a->number > b->number ? -1 : 1;
	if (a->second != b->second)
		return a->second > b->second ? -1 : 1;
	for (uint32_t i = 0; i < a->n_more; i++) {
		if (a->more[i] != b->more[i])
			return a->more[i] > b->more[i] ? -1 : 1;
	}
	return a->index < b->index ? -1 : a->index > b->index;
}

void ctx_order_sort(struct ctx_order_item *items, size_t n)
{
	qsort(items, n, sizeof(*items), compare);
}

uint64_t ctx_order_signed(int64_t value)
{
	return (uint64_t)value ^ UINT64_C(1) << 63;
}

uint64_t ctx_order_ascending(uint64_t value)
{
	return ~value;
}

/* What a column is called, and the keys that it may have. */
static const struct {
	const char *word;
	const char *const keys[4]; /* ended by NULL */
} words[] = {
	{"self", {"exclusive", "base"}},
	{"total", {"inclusive", "cum"}},
	{"samples", {"exclusive_samples"}},
	{"name", {"function"}},
	{"line", {"file"}},
	{"instruction", {"address"}},
	{"no", {"thread_id", "process_id", "vm"}},
	{"exit", {"exit_status"}},
	{"ended by", {"waker"}},
	{"user cpu", {"user"}},
	{"system cpu", {"system"}},
	{"lock wait", {"lock"}},
	{"kernel fault", {"KFAULT"}},
	{"<unknown>", {"UNKNOWN"}},
	{"time", {"time_ns"}},
	{"delay", {"delay_ns"}},
	{"average", {"wait_mean_ns"}},
	{"allocs", {"allocations"}},
	{"leaked", {"leaked_bytes"}},
	{"at peak", {"held_bytes"}},
	{"bytes", {"leaked_bytes", "read_bytes"}},
	{"wait", {"wait_ns"}},
	{"mean", {"mean_ns"}},
	{"longest", {"max_ns", "wait_max_ns", "longest_ns"}},
	{"pid", {"process"}},
	{"tid", {"thread"}},
	{"key", {"index"}},
	{"index", {"cum"}}, /* of stanzas: their order */
};

/* Bytes of a column's title without its unit: "Begin ms". */
static size_t title_length(const char *sort, size_t n)
{
	bool has_unit =
		n > 3 && sort[n - 3] == ' ' && sort[n - 1] == 's' && strchr("mn", sort[n - 2]) != NULL;

	return has_unit ? n - 3 : n > 2 && strncmp(sort + n - 2, " s", 2) == 0 ? n - 2 : n;
}

/* "total.wall" is the key "inclusive.wall": the first `n` bytes are the column's word. */
static bool is_word(const char *sort, const char *word, size_t *ret_n)
{
	size_t n = strcspn(sort, ".");

	*ret_n = n;
	return strncasecmp(sort, word, n) == 0 && word[n] == '\0';
}

static bool is_key(const char *key, const char *begin, const char *rest)
{
	size_t n = strlen(begin);

	return strncmp(key, begin, n) == 0 && strcmp(key + n, rest) == 0;
}

/* The position of the key that the word of a column stands for. */
static bool find_word(const char *sort, const char *const *keys, size_t *ret_place)
{
	for (size_t i = 0; keys[i] != NULL; i++) {
		for (size_t word = 0; word < CTX_COUNT_OF(words); word++) {
			size_t n;

			if (!is_word(sort, words[word].word, &n))
				continue;
			for (size_t j = 0; words[word].keys[j] != NULL; j++) {
				if (!is_key(keys[i], words[word].keys[j], sort + n))
					continue;
				*ret_place = i;
				return true;
			}
		}
	}
	return false;
}

static bool is_mark(char c)
{
	return c == ' ' || c == '-' || c == '_';
}

/* In any letters, and with any of the marks between words: "Build id" is build_id. */
static bool is_title(const char *sort, const char *key)
{
	for (; *sort != '\0'; sort++, key++) {
		if (tolower((unsigned char)*sort) != tolower((unsigned char)*key) &&
		    !(is_mark(*sort) && is_mark(*key)))
			return false;
	}
	return *key == '\0';
}

/* A key in other letters: "Weight"; the states have USER and user, which are found as they are. */
static bool find_key(const char *sort, const char *const *keys, bool exactly, size_t *ret_place)
{
	for (size_t i = 0; keys[i] != NULL; i++) {
		if (exactly ? strcmp(keys[i], sort) == 0 : is_title(sort, keys[i])) {
			*ret_place = i;
			return true;
		}
	}
	return false;
}

/* As it is, as a title, or as a title of other words. */
static bool find(const char *sort, const char *const *keys, size_t *ret_place)
{
	char title[SORT_MAX];
	size_t n = title_length(sort, strlen(sort));

	if (find_key(sort, keys, true, ret_place) || find_key(sort, keys, false, ret_place) ||
	    find_word(sort, keys, ret_place))
		return true;
	if (sort[n] == '\0' || n >= sizeof(title))
		return false;
	memcpy(title, sort, n);
	title[n] = '\0';
	return find_key(title, keys, false, ret_place) || find_word(title, keys, ret_place);
}

enum ctx_status ctx_order_find(const char *report, const char *sort, const char *const *keys,
			       size_t *ret_place, struct ctx_err *err)
{
	char known[CTX_ERR_MAX / 2] = "";
	size_t used = 0;

	*ret_place = 0;
	if (sort == NULL || find(sort, keys, ret_place))
		return CTX_OK;
	for (size_t i = 0; keys[i] != NULL && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i != 0 ? ", " : "",
					 keys[i]);
	return ctx_err_set(err, CTX_E_ARG, "%s cannot be sorted by '%s': known are %s", report, sort, known);
}
