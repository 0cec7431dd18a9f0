#include "collect/indicator_list.h"

#include "base/mem.h"
#include "collect/captured.h"
#include "collect/installation.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_SECONDS 30
#define FIELDS 7u

enum { PATH, ACCESS, OFFSET, LENGTH, THRESHOLD, FLAGS, NAME };

void ctx_indicator_listing_deinit(struct ctx_indicator_listing *listing)
{
	free(listing->items);
	ctx_arena_deinit(&listing->arena);
	*listing = (struct ctx_indicator_listing){0};
}

static bool parse_number(const char *text, int base, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, base);
	return errno == 0 && *end == '\0' && strspn(text, "0123456789abcdef") == strlen(text) &&
	       *text != '\0';
}

static bool has_word(const char *words, const char *word)
{
	const char *at = strstr(words, word);
	size_t n = strlen(word);

	return at != NULL && (at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0');
}

/* What the user would have written; control characters and what ends fields of the header are replaced. */
static void set_text(struct ctx_indicator_spec *spec, const char *name)
{
	const char *ends[] = {spec->window == CTX_INDICATOR_START  ? ":start"
			      : spec->window == CTX_INDICATOR_STOP ? ":stop"
								   : "",
			      spec->what == CTX_INDICATOR_DATA ? (spec->reads ? ":rw" : ":w") : ""};
	char shown[CTX_INDICATOR_TEXT_MAX - 64], threshold[48] = "";

	if (name[0] != '\0')
		snprintf(shown, sizeof(shown), "%s", name);
	else
		snprintf(shown, sizeof(shown), "0x%" PRIx64, spec->offset);
	if (spec->threshold != 0)
		snprintf(threshold, sizeof(threshold), ":threshold=%" PRIu64, spec->threshold);
	snprintf(spec->text, sizeof(spec->text), "%s%s%s%s", shown, ends[1], threshold, ends[0]);
	for (char *at = spec->text; *at != '\0'; at++)
		*at = (unsigned char)*at < ' ' || *at == ';' || *at == '"' ? '_' : *at;
}

static bool set_spec(char *const fields[FIELDS], struct ctx_indicator_spec *spec)
{
	bool by_name = strcmp(fields[OFFSET], "-") == 0, is_data = strcmp(fields[ACCESS], "execute") != 0;
	const char *flags = fields[FLAGS];

	if ((!by_name && !parse_number(fields[OFFSET], 16, &spec->offset)) ||
	    !parse_number(fields[LENGTH], 10, &spec->length_bytes) ||
	    !parse_number(fields[THRESHOLD], 10, &spec->threshold) ||
	    strlen(fields[NAME]) >= sizeof(spec->name) ||
	    (is_data && strcmp(fields[ACCESS], "write") != 0 && strcmp(fields[ACCESS], "access") != 0) ||
	    (by_name && fields[NAME][0] == '\0'))
		return false;
	strcpy(spec->name, fields[NAME]);
	spec->what = is_data ? CTX_INDICATOR_DATA : by_name ? CTX_INDICATOR_FUNCTION : CTX_INDICATOR_ADDRESS;
	spec->reads = strcmp(fields[ACCESS], "access") == 0;
	spec->has_address = is_data && !by_name;
	spec->from = 1;
	spec->window = has_word(flags, "start")	 ? CTX_INDICATOR_START
		       : has_word(flags, "stop") ? CTX_INDICATOR_STOP
						 : CTX_INDICATOR_NO_WINDOW;
	if (by_name && !is_data)
		spec->length_bytes = 0;
	set_text(spec, fields[NAME]);
	return true;
}

enum ctx_status ctx_indicator_listing_parse(struct ctx_indicator_listing *listing, const char *text,
					    struct ctx_err *err)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n"), n_fields = 0;
		char *line = ctx_arena_strndup(&listing->arena, text, n), *rest = line, *fields[FIELDS];
		struct ctx_indicator_listed listed = {{0}, NULL};
		enum ctx_status status;

		if (line == NULL)
			return ctx_err_nomem(err);
		while (rest != NULL && n_fields < FIELDS)
			fields[n_fields++] = strsep(&rest, "\t");
		if (n_fields != FIELDS || rest != NULL || fields[PATH][0] != '/' ||
		    !set_spec(fields, &listed.spec))
			return ctx_err_set(err, CTX_E_FORMAT, "not an indicator: \"%.*s\"",
					   n < 80 ? (int)n : 80, text);
		listed.path = fields[PATH];
		status = ctx_grow(&listing->items, &listing->cap, listing->n + 1, err);
		if (status != CTX_OK)
			return status;
		listing->items[listing->n++] = listed;
		text += n + (text[n] == '\n');
	}
	return CTX_OK;
}

enum ctx_status ctx_indicator_listing_read(struct ctx_indicator_listing *listing, const char *file,
					   bool match_symbols, struct ctx_err *err)
{
	struct ctx_captured captured CTX_CLEANUP(ctx_captured_deinit) = {0};
	char program[PATH_MAX];
	char *argv[] = {program,
			(char[]){"--no-config"},
			(char[]){"--check-indicators"},
			(char *)(uintptr_t)file,
			match_symbols ? (char[]){"--match-symbols"} : NULL,
			NULL};
	enum ctx_status status;

	if (!ctx_installation_find("ctxan", X_OK, program))
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: ctxan, which reads it, is not beside ctxrec",
				   file);
	status = ctx_captured_run(argv, CHECK_SECONDS, &captured, err);
	if (status != CTX_OK)
		return status;
	if (!WIFEXITED(captured.status) || WEXITSTATUS(captured.status) != 0) {
		char *message = (char *)captured.errors.bytes;

		message[strcspn(message, "\n")] = '\0';
		return ctx_err_set(err, CTX_E_ARG, "%s",
				   strncmp(message, "ctxan: ", 7) == 0 ? message + 7 : message);
	}
	return ctx_indicator_listing_parse(listing, (const char *)captured.out.bytes, err);
}
