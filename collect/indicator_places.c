#include "collect/indicator_places.h"

#include "base/mem.h"
#include "collect/captured.h"
#include "collect/installation.h"
#include "model/place_protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER_SECONDS 90

static const char *const words[] = {
	[CTX_INDICATOR_AT_ENTRY] = CTX_PLACE_ENTRY,
	[CTX_INDICATOR_AT_INLINED] = CTX_PLACE_INLINED,
	[CTX_INDICATOR_INSIDE] = CTX_PLACE_INSIDE,
	[CTX_INDICATOR_AT_DATA] = CTX_PLACE_DATA,
};

static const char *const what_words[] = {
	[CTX_INDICATOR_FUNCTION] = "function", [CTX_INDICATOR_RETURN] = "return",
	[CTX_INDICATOR_LINE] = "line",	       [CTX_INDICATOR_RANGE] = "range",
	[CTX_INDICATOR_OBJECT] = "object",     [CTX_INDICATOR_DATA] = "data",
	[CTX_INDICATOR_ADDRESS] = "at",
};

void ctx_indicator_places_deinit(struct ctx_indicator_places *places)
{
	free(places->items);
	ctx_arena_deinit(&places->arena);
	*places = (struct ctx_indicator_places){0};
}

/* A hexadecimal number up to a tab, which *at is moved behind. */
static bool take_number(const char **at, uint64_t *ret)
{
	char *end;

	if (strspn(*at, "0123456789abcdef") == 0)
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, 16);
	if (errno != 0 || *end != '\t')
		return false;
	*at = end + 1;
	return true;
}

/* `n` bytes without the newline. */
static bool parse_line(const char *line, size_t n, struct ctx_indicator_place *ret, size_t *ret_name)
{
	size_t kind = CTX_INDICATOR_AT_ENTRY, n_kind = strcspn(line, "\t");
	const char *at = line + n_kind + 1;

	if (strncmp(line, CTX_PLACE_PATCHABLE "\t", strlen(CTX_PLACE_PATCHABLE) + 1) == 0)
		ret->has_room = true; /* an entry, but for that */
	while (!ret->has_room && kind < CTX_COUNT_OF(words) &&
	       (strlen(words[kind]) != n_kind || strncmp(words[kind], line, n_kind) != 0))
		kind++;
	if (kind == CTX_COUNT_OF(words) || n_kind >= n || !take_number(&at, &ret->offset) ||
	    !take_number(&at, &ret->address) || !take_number(&at, &ret->length_bytes) || at > line + n)
		return false;
	ret->at = (enum ctx_indicator_at)kind;
	*ret_name = (size_t)(at - line);
	return (ret->at == CTX_INDICATOR_AT_DATA) == (ret->length_bytes != 0);
}

enum ctx_status ctx_indicator_places_parse(struct ctx_indicator_places *places, const char *path,
					   const char *text, struct ctx_err *err)
{
	const char *kept_path = ctx_arena_strdup(&places->arena, path);

	if (kept_path == NULL)
		return ctx_err_nomem(err);
	while (*text != '\0') {
		size_t n = strcspn(text, "\n"), name = 0;
		struct ctx_indicator_place place = {.path = kept_path};
		enum ctx_status status;

		if (text[n] == '\0' || !parse_line(text, n, &place, &name))
			return ctx_err_set(err, CTX_E_FORMAT, "not a place: \"%.*s\"", n < 80 ? (int)n : 80,
					   text);
		place.name = ctx_arena_strndup(&places->arena, text + name, n - name);
		if (place.name == NULL)
			return ctx_err_nomem(err);
		status = ctx_grow(&places->items, &places->cap, places->n + 1, err);
		if (status != CTX_OK)
			return status;
		places->items[places->n++] = place;
		text += n + 1;
	}
	return CTX_OK;
}

enum ctx_status ctx_indicator_places_find(struct ctx_indicator_places *places,
					  const struct ctx_indicator_spec *spec, const char *path,
					  struct ctx_err *err)
{
	struct ctx_captured captured CTX_CLEANUP(ctx_captured_deinit) = {0};
	char program[PATH_MAX], more[CTX_INDICATOR_TEXT_MAX], length[32];
	char *argv[] = {program,
			(char *)(uintptr_t)path,
			spec->once ? (char[]){"once"} : (char *)(uintptr_t)what_words[spec->what],
			(char *)(uintptr_t)(spec->name[0] != '\0' && spec->what != CTX_INDICATOR_ADDRESS
						    ? spec->name
					    : spec->once ? "*"
							 : "-"),
			more,
			length,
			NULL};
	enum ctx_status status;

	if (!ctx_installation_find(CTX_PLACE_HELPER_NAME, X_OK, program))
		return ctx_err_set(err, CTX_E_IO,
				   "the program " CTX_PLACE_HELPER_NAME " of this installation is missing");
	if (spec->what == CTX_INDICATOR_RANGE)
		snprintf(more, sizeof(more), "%s", spec->last);
	else if (spec->what == CTX_INDICATOR_LINE)
		snprintf(more, sizeof(more), "%u", spec->line);
	else
		snprintf(more, sizeof(more), "%" PRIu64, spec->offset);
	snprintf(length, sizeof(length), "%" PRIu64, spec->length_bytes);
	status = ctx_captured_run(argv, HELPER_SECONDS, &captured, err);
	if (status != CTX_OK)
		return status;
	if (!WIFEXITED(captured.status))
		return ctx_err_set(err, CTX_E_LIMIT, "%s: symbols that could not be read", path);
	if (WEXITSTATUS(captured.status) != CTX_PLACE_HELPER_OK) {
		char *message = (char *)captured.errors.bytes;

		message[strcspn(message, "\n")] = '\0';
		return ctx_err_set(err,
				   WEXITSTATUS(captured.status) == CTX_PLACE_HELPER_NONE ? CTX_E_NOTFOUND
											 : CTX_E_ARG,
				   "%s", message);
	}
	return ctx_indicator_places_parse(places, path, (const char *)captured.out.bytes, err);
}

enum ctx_status ctx_indicator_places_take(struct ctx_indicator_places *places,
					  const struct ctx_indicator_spec *spec, const char *path,
					  struct ctx_err *err)
{
	struct ctx_indicator_place place = {.at = CTX_INDICATOR_AT_DATA,
					    .address = spec->offset,
					    .length_bytes = spec->length_bytes,
					    .path = ctx_arena_strdup(&places->arena, path),
					    .name = ctx_arena_strdup(&places->arena, spec->name)};
	enum ctx_status status = ctx_grow(&places->items, &places->cap, places->n + 1, err);

	if (status != CTX_OK || place.path == NULL || place.name == NULL)
		return ctx_err_nomem(err);
	places->items[places->n++] = place;
	return CTX_OK;
}
