#include "query/metric_names.h"

#include <stdio.h>
#include <string.h>

static bool is_column(const char *item, size_t n)
{
	static const char *const columns[] = {"name", "size", "address"};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (n == strlen(columns[i]) && strncmp(item, columns[i], n) == 0)
			return true;
	}
	return false;
}

/* Offset of the word of an item; 0: it is not an item. */
static size_t word_of(const char *item, size_t n)
{
	size_t which = strspn(item, "eiad"), show;

	if (which == 0 || which >= n)
		return 0;
	show = strspn(item + which, ".+%!");
	return show != 0 && which + show < n ? which + show : 0;
}

bool ctx_metric_notation_is(const char *list)
{
	for (;;) {
		size_t n = strcspn(list, ":");

		if (!is_column(list, n) && word_of(list, n) == 0)
			return false;
		if (list[n] == '\0')
			return true;
		list += n + 1;
	}
}

bool ctx_metric_notation_next(const char **at, char *word, size_t size)
{
	while (**at != '\0') {
		const char *item = *at;
		size_t n = strcspn(item, ":"), begin = word_of(item, n);

		*at += n + (item[n] == ':');
		if (begin == 0)
			continue;
		snprintf(word, size, "%.*s", (int)(n - begin), item + begin);
		return true;
	}
	return false;
}

const char *ctx_metric_other_name(const char *word, size_t i)
{
	static const struct {
		const char *word, *names[4];
	} others[] = {
		{"totalcpu", {"total-cpu", "cpu-clock", "task-clock"}},
		{"cpu", {"total-cpu", "cpu-clock", "task-clock"}},
		{"total", {"wall"}},
		{"trap", {"TRAP"}},
		{"kfault", {"KFAULT"}},
		{"stop", {"STOPPED"}},
		{"sleep", {"SLEEP"}},
	};

	for (size_t at = 0; at < sizeof(others) / sizeof(others[0]); at++) {
		if (strcmp(others[at].word, word) == 0)
			return i < 4 ? others[at].names[i] : NULL;
	}
	return NULL;
}
