#include "formats/calltrace/ct_dialect.h"

#include <string.h>

#define TIME_MAX (UINT64_C(1) << 62)

bool ctx_ct_is(struct ctx_ct_text text, const char *word)
{
	return text.n == strlen(word) && memcmp(text.at, word, text.n) == 0;
}

bool ctx_ct_begins(struct ctx_ct_text text, const char *word)
{
	size_t n = strlen(word);

	return text.n >= n && memcmp(text.at, word, n) == 0;
}

bool ctx_ct_take(struct ctx_ct_text *text, const char *word)
{
	if (!ctx_ct_begins(*text, word))
		return false;
	ctx_ct_skip(text, strlen(word));
	return true;
}

size_t ctx_ct_find(struct ctx_ct_text text, const char *word)
{
	const char *found = text.n != 0 ? memmem(text.at, text.n, word, strlen(word)) : NULL;

	return found != NULL ? (size_t)(found - text.at) : text.n;
}

bool ctx_ct_number(struct ctx_ct_text word, uint64_t *ret)
{
	uint64_t number = 0;

	if (word.n == 0 || word.n > 19)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		if (word.at[i] < '0' || word.at[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(word.at[i] - '0');
	}
	*ret = number;
	return true;
}

bool ctx_ct_time(struct ctx_ct_text word, uint64_t unit_ns, uint64_t *ret)
{
	uint64_t whole = 0, part = 0, scale = unit_ns;
	size_t i = 0;

	for (; i < word.n && word.at[i] >= '0' && word.at[i] <= '9'; i++) {
		if (whole > TIME_MAX / 10)
			return false;
		whole = whole * 10 + (uint64_t)(word.at[i] - '0');
	}
	if (i == 0 || whole > TIME_MAX / unit_ns)
		return false;
	if (i < word.n && word.at[i++] != '.')
		return false;
	for (; i < word.n; i++) {
		if (word.at[i] < '0' || word.at[i] > '9')
			return false;
		scale /= 10;
		part += scale * (uint64_t)(word.at[i] - '0');
	}
	*ret = whole * unit_ns + part;
	return *ret <= TIME_MAX;
}

bool ctx_ct_next_line(struct ctx_ct_text *text, struct ctx_ct_text *ret)
{
	if (text->n == 0)
		return false;
	*ret = (struct ctx_ct_text){text->at, ctx_ct_find(*text, "\n")};
	ctx_ct_skip(text, ret->n < text->n ? ret->n + 1 : ret->n);
	if (ret->n != 0 && ret->at[ret->n - 1] == '\r')
		ret->n--;
	return true;
}
