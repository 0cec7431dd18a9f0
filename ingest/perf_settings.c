#include "ingest/perf_settings.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTINGS_BYTES_MAX ((size_t)1 << 20)

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

static const char *next_line(const char *at)
{
	at += strcspn(at, "\n");
	return *at == '\n' ? at + 1 : at;
}

/* Whether the `n` bytes at `at` are this word, ignoring case. */
static bool is_word(const char *at, size_t n, const char *word)
{
	return n == strlen(word) && strncasecmp(at, word, n) == 0;
}

static size_t word_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '-' || at[n] == '_')
		n++;
	return n;
}

/*
 * The value from `at` to the end of its line into `out`, which is as long as the rest of the text.
 * Quotes keep blanks and comment signs, a backslash keeps the next character, or joins the next
 * line; blanks outside quotes become one.
 */
static const char *read_value(const char *at, char *out)
{
	bool quoted = false, blank = false;
	size_t n = 0;

	for (at = skip_blanks(at); *at != '\0' && *at != '\n'; at++) {
		if (!quoted && (*at == ';' || *at == '#'))
			break;
		if (!quoted && isspace((unsigned char)*at)) {
			blank = true;
			continue;
		}
		if (blank && n != 0)
			out[n++] = ' ';
		blank = false;
		if (*at == '"') {
			quoted = !quoted;
			continue;
		}
		if (*at == '\\' && at[1] != '\0') {
			at++;
			if (*at == '\n')
				continue;
		}
		out[n++] = *at;
	}
	out[n] = '\0';
	return at;
}

enum ctx_status ctx_perf_settings_find(const char *text, const char *section, const char *name, char **ret,
				       struct ctx_err *err)
{
	/* A value is not longer than the text. */
	char *value CTX_AUTO_FREE = malloc(strlen(text) + 1);
	bool inside = false, found = false;

	if (value == NULL)
		return ctx_err_nomem(err);
	for (const char *at = skip_blanks(text); *at != '\0'; at = skip_blanks(next_line(at))) {
		size_t n;

		if (*at == '[') {
			n = strcspn(at + 1, "]\n");
			inside = is_word(at + 1, n, section);
			at = at[n + 1] == ']' ? skip_blanks(at + n + 2) : at + n + 1;
		}
		n = word_length(at);
		if (!inside || !is_word(at, n, name) || *skip_blanks(at + n) != '=')
			continue;
		at = read_value(skip_blanks(at + n) + 1, value);
		found = true;
	}
	*ret = NULL;
	if (found) {
		*ret = value;
		value = NULL;
	}
	return CTX_OK;
}

/*
 * buildid.dir of one file replaces `*dir` when it is set there. A file that cannot be used sets
 * nothing.
 */
static enum ctx_status read_file(const char *path, char **dir, struct ctx_err *err)
{
	struct ctx_buf text __attribute__((cleanup(ctx_buf_deinit))) = {0};
	struct stat info;
	enum ctx_status status;
	char *found;

	/* As perf does: files of other users are ignored. */
	if (stat(path, &info) != 0 || (info.st_uid != 0 && info.st_uid != geteuid()))
		return CTX_OK;
	status = ctx_file_read(path, SETTINGS_BYTES_MAX, &text, NULL);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		return CTX_OK;
	ctx_buf_put_u8(&text, 0);
	status = ctx_buf_check(&text, err);
	if (status == CTX_OK)
		status = ctx_perf_settings_find((const char *)text.bytes, "buildid", "dir", &found, err);
	if (status == CTX_OK && found != NULL) {
		free(*dir);
		*dir = found;
	}
	return status;
}

enum ctx_status ctx_perf_settings_buildid_dir(char **ret, struct ctx_err *err)
{
	const char *only = getenv("PERF_CONFIG");
	const char *home = getenv("HOME");
	char *own CTX_AUTO_FREE = NULL;
	char *dir CTX_AUTO_FREE = NULL;
	enum ctx_status status;

	if (home == NULL)
		home = ".";
	if (only != NULL) {
		status = read_file(only, &dir, err);
	} else {
		own = ctx_path_join(home, ".perfconfig");
		if (own == NULL)
			return ctx_err_nomem(err);
		status = read_file("/etc/perfconfig", &dir, err);
		if (status == CTX_OK)
			status = read_file(own, &dir, err);
	}
	if (status != CTX_OK)
		return status;
	if (dir == NULL || dir[0] == '\0') {
		*ret = ctx_path_join(home, ".debug");
		return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	*ret = dir;
	dir = NULL;
	return CTX_OK;
}
