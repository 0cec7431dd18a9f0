#include "base/manual.h"

#include <string.h>

#define ITEM_INDENT 8u

/* The end of the term that begins at `begin`: two spaces, or the end of the line. */
static size_t term_length(const char *begin, const char *end)
{
	for (const char *at = begin; at < end; at++) {
		if (at[0] == ' ' && at + 1 < end && at[1] == ' ')
			return (size_t)(at - begin);
	}
	return (size_t)(end - begin);
}

/* "functions" or "json, csv", followed by text: words without spaces in between. */
static bool is_item(const char *begin, size_t term_n, const char *end)
{
	if (begin + term_n == end)
		return false;
	for (size_t i = 1; i < term_n; i++) {
		if (begin[i] == ' ' && begin[i - 1] != ',')
			return false;
	}
	return true;
}

static void divide(struct ctx_manual_line *line, const char *begin, const char *end)
{
	line->term = begin;
	line->term_n = term_length(begin, end);
	line->text = begin + line->term_n;
	while (line->text < end && *line->text == ' ')
		line->text++;
	line->text_n = (size_t)(end - line->text);
}

bool ctx_manual_next(const char **at, struct ctx_manual_line *ret)
{
	const char *begin = *at, *end = strchrnul(begin, '\n');
	struct ctx_manual_line line = {.kind = CTX_MANUAL_TEXT};

	if (*begin == '\0')
		return false;
	*at = *end != '\0' ? end + 1 : end;
	line.indent = strspn(begin, " ");
	line.text = begin + line.indent;
	line.text_n = (size_t)(end - line.text);
	if (line.indent == 0 && *begin == '|') {
		line.kind = CTX_MANUAL_PAGE;
		line.text += 1 + (begin[1] == ' ');
		line.text_n = (size_t)(end - line.text);
	} else if (line.indent == 0 && end > begin && end[-1] == ':') {
		line.kind = CTX_MANUAL_HEADING;
		line.term = begin;
		line.term_n = (size_t)(end - begin) - 1;
	} else if (line.indent != 0 && line.indent < ITEM_INDENT && *line.text == '-') {
		line.kind = CTX_MANUAL_OPTION;
		divide(&line, line.text, end);
	} else if (line.indent == ITEM_INDENT && is_item(line.text, term_length(line.text, end), end)) {
		line.kind = CTX_MANUAL_ITEM;
		divide(&line, line.text, end);
	}
	*ret = line;
	return true;
}

const char *ctx_manual_long_name(const struct ctx_manual_line *line, size_t *ret_n)
{
	const char *name = memmem(line->term, line->term_n, "--", 2);
	const char *end = line->term + line->term_n;

	if (name == NULL)
		return NULL;
	name += 2;
	*ret_n = 0;
	while (name + *ret_n < end && name[*ret_n] != ' ' && name[*ret_n] != ',')
		++*ret_n;
	return name;
}

void ctx_manual_print_help(const char *manual, FILE *out)
{
	for (const char *end; *manual != '\0'; manual = end) {
		end = strchrnul(manual, '\n');
		end += *end != '\0';
		if (*manual != '|')
			fwrite(manual, 1, (size_t)(end - manual), out);
	}
}
