#include "ingest/omp_source.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <string.h>
#include <strings.h>

#define SOURCE_MAX ((size_t)16 << 20)

/* The text of a file, ended by a zero byte, from the line on; NULL: it is not there. `text` is deinitialized by the caller. */
static char *read_from(const char *path, uint32_t line, struct ctx_buf *text)
{
	char *at;

	if (path == NULL || line == 0 || ctx_file_read(path, SOURCE_MAX, text, NULL) != CTX_OK)
		return NULL;
	ctx_buf_put_u8(text, 0);
	if (text->failed)
		return NULL;
	at = (char *)text->bytes;
	for (uint32_t i = 1; i < line && at != NULL; i++) {
		at = strchr(at, '\n');
		at = at != NULL ? at + 1 : NULL;
	}
	return at;
}

bool ctx_omp_source_names_barrier(const char *path, uint32_t line)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	char *at = read_from(path, line, &text);

	if (at == NULL)
		return true;
	at[strcspn(at, "\n")] = '\0';
	return strcasestr(at, "barrier") != NULL;
}

static bool begins(const char *text, const char *with)
{
	return strncasecmp(text, with, strlen(with)) == 0;
}

/* What follows "#pragma omp" or "!$omp"; NULL: the line is no directive. */
static const char *directive_of(const char *line)
{
	const char *at = line + strspn(line, " \t");

	if (begins(at, "!$omp") || begins(at, "c$omp") || begins(at, "*$omp"))
		return at + 5;
	if (*at != '#')
		return NULL;
	at += 1 + strspn(at + 1, " \t");
	if (strncmp(at, "pragma", 6) != 0)
		return NULL;
	at += 6 + strspn(at + 6, " \t");
	return strncmp(at, "omp", 3) == 0 ? at + 3 : NULL;
}

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static bool is_word_of(const char *word, size_t n, const char *words)
{
	while (*words != '\0') {
		size_t length = strcspn(words, " ");

		if (length == n && strncasecmp(word, words, n) == 0)
			return true;
		words += length;
		words += *words == ' ';
	}
	return false;
}

/* Words in front of the first clause with parameters: "parallel for ordered schedule(". */
static bool has_word(const char *directive, const char *words)
{
	const char *at = directive + strspn(directive, " \t");

	if (begins(at, "end"))
		return false;
	for (size_t n = strspn(at, WORD); n != 0; n = strspn(at, WORD)) {
		if (is_word_of(at, n, words))
			return true;
		at += n;
		at += strspn(at, " \t");
	}
	return false;
}

static bool ends_function(const char *line)
{
	static const char *const ends[] = {"subroutine", "function", "program", "module", "procedure"};
	const char *at = line + strspn(line, " \t");

	if (*line == '}')
		return true;
	if (!begins(at, "end"))
		return false;
	at += 3;
	at += strspn(at, " \t");
	for (size_t i = 0; i < CTX_COUNT_OF(ends); i++) {
		if (begins(at, ends[i]))
			return true;
	}
	return *at == '\0';
}

uint32_t ctx_omp_source_find(const char *path, uint32_t line, const char *words)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	char *at = read_from(path, line, &text);

	for (; at != NULL; line++) {
		char *end = strchr(at, '\n');
		const char *directive;

		if (end != NULL)
			*end = '\0';
		directive = directive_of(at);
		if (directive != NULL && has_word(directive, words))
			return line;
		if (ends_function(at))
			return 0;
		at = end != NULL ? end + 1 : NULL;
	}
	return 0;
}
