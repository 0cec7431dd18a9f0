/*
 *	NAME; kind=execute; mechanism=uprobe; places=2; inlined=1; metric=1; raised=2; threshold=1000; offset=0x1139; function=NAME; object=PATH
 */
#include "model/indicator.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[CTX_INDICATOR_KIND_N] = {
	[CTX_INDICATOR_KIND_EXECUTE] = "execute", [CTX_INDICATOR_KIND_RETURN] = "return",
	[CTX_INDICATOR_KIND_RANGE] = "range",	  [CTX_INDICATOR_KIND_WRITE] = "write",
	[CTX_INDICATOR_KIND_ACCESS] = "access",
};

/* As reports say it; what is written stays as it was. */
static const char *const words[CTX_INDICATOR_KIND_N] = {
	[CTX_INDICATOR_KIND_EXECUTE] = "execute", [CTX_INDICATOR_KIND_RETURN] = "return",
	[CTX_INDICATOR_KIND_RANGE] = "range",	  [CTX_INDICATOR_KIND_WRITE] = "write",
	[CTX_INDICATOR_KIND_ACCESS] = "read",
};

void ctx_indicator_list_deinit(struct ctx_indicator_list *list)
{
	free(list->items);
	ctx_arena_deinit(&list->arena);
	*list = (struct ctx_indicator_list){0};
}

const char *ctx_indicator_kind_word(enum ctx_indicator_kind kind)
{
	return words[kind];
}

void ctx_indicator_put(const struct ctx_indicator_info *info, struct ctx_buf *out)
{
	ctx_buf_printf(out, "%s; kind=%s; mechanism=%s; places=%" PRIu32, info->name, kinds[info->kind],
		       info->mechanism, info->places);
	if (info->inlined != 0)
		ctx_buf_printf(out, "; inlined=%" PRIu32, info->inlined);
	ctx_buf_printf(out, "; metric=%" PRIu32, info->metric);
	if (info->raised != CTX_NONE)
		ctx_buf_printf(out, "; raised=%" PRIu32, info->raised);
	if (info->threshold != 0)
		ctx_buf_printf(out, "; threshold=%" PRIu64, info->threshold);
	if (info->slower != CTX_NONE)
		ctx_buf_printf(out, "; slower_than_ns=%" PRIu64 "; slower=%" PRIu32, info->slower_than_ns,
			       info->slower);
	if (info->sites != CTX_NONE)
		ctx_buf_printf(out, "; sites=%" PRIu32, info->sites);
	ctx_buf_printf(out, "; offset=0x%" PRIx64 "; function=%s; object=%s", info->offset, info->function,
		       info->object);
}

/* The text behind "; KEY=", *ret_n bytes up to the next semicolon; of the last key up to the end. NULL: none. */
static const char *find(const char *text, const char *key, bool is_last, size_t *ret_n)
{
	size_t n_key = strlen(key);

	for (const char *at = strstr(text, "; "); at != NULL; at = strstr(at + 2, "; ")) {
		if (strncmp(at + 2, key, n_key) != 0 || at[2 + n_key] != '=')
			continue;
		at += 3 + n_key;
		*ret_n = is_last ? strlen(at) : strcspn(at, ";");
		return at;
	}
	return NULL;
}

/* `otherwise`: there is no such key. False: it is no number. */
static bool number(const char *text, const char *key, uint64_t otherwise, uint64_t *ret)
{
	size_t n;
	const char *at = find(text, key, false, &n);
	char *end;

	*ret = otherwise;
	if (at == NULL)
		return true;
	errno = 0;
	*ret = strtoull(at, &end, 0);
	return errno == 0 && n != 0 && *at >= '0' && *at <= '9' && end == at + n;
}

static const char *keep(struct ctx_arena *arena, const char *text, size_t n)
{
	return text != NULL ? ctx_arena_strndup(arena, text, n) : "";
}

static bool find_kind(const char *text, enum ctx_indicator_kind *ret)
{
	size_t n = 0;
	const char *at = find(text, "kind", false, &n);

	for (size_t i = 0; at != NULL && i < CTX_COUNT_OF(kinds); i++) {
		*ret = (enum ctx_indicator_kind)i;
		if (strlen(kinds[i]) == n && strncmp(kinds[i], at, n) == 0)
			return true;
	}
	return false;
}

/* CTX_END: the text is not understood. */
static enum ctx_status parse(struct ctx_arena *arena, const char *text, uint32_t n_metrics,
			     struct ctx_indicator_info *ret)
{
	uint64_t places, inlined, metric, raised, slower, sites;
	size_t n;
	const char *at;

	*ret = (struct ctx_indicator_info){0};
	if (!find_kind(text, &ret->kind) || !number(text, "places", 0, &places) ||
	    !number(text, "inlined", 0, &inlined) || !number(text, "metric", UINT64_MAX, &metric) ||
	    !number(text, "raised", CTX_NONE, &raised) || !number(text, "threshold", 0, &ret->threshold) ||
	    !number(text, "slower", CTX_NONE, &slower) || !number(text, "sites", CTX_NONE, &sites) ||
	    (sites != CTX_NONE && sites >= n_metrics) ||
	    !number(text, "slower_than_ns", 0, &ret->slower_than_ns) ||
	    (slower != CTX_NONE && slower >= n_metrics) || !number(text, "offset", 0, &ret->offset) ||
	    metric >= n_metrics || (raised != CTX_NONE && raised >= n_metrics) || places > UINT32_MAX ||
	    inlined > places)
		return CTX_END;
	ret->places = (uint32_t)places;
	ret->inlined = (uint32_t)inlined;
	ret->metric = (uint32_t)metric;
	ret->raised = (uint32_t)raised;
	ret->slower = (uint32_t)slower;
	ret->sites = (uint32_t)sites;
	ret->name = keep(arena, text, strcspn(text, ";"));
	at = find(text, "mechanism", false, &n);
	ret->mechanism = keep(arena, at, n);
	at = find(text, "function", false, &n);
	ret->function = keep(arena, at, n);
	at = find(text, "object", true, &n);
	ret->object = keep(arena, at, n);
	return ret->name != NULL && ret->mechanism != NULL && ret->function != NULL && ret->object != NULL
		       ? CTX_OK
		       : CTX_E_NOMEM;
}

/* "indicator 12 count" with "3456": the count of the 12th. */
static void read_count(struct ctx_indicator_list *list, unsigned long of, const char *value)
{
	char *end;
	unsigned long long count;

	errno = 0;
	count = strtoull(value, &end, 10);
	if (of == 0 || of > list->n || errno != 0 || *value < '0' || *value > '9' || *end != '\0')
		return;
	list->items[of - 1].count = count;
	list->items[of - 1].has_count = true;
}

enum ctx_status ctx_indicator_list_read(struct ctx_indicator_list *list,
					const struct ctx_property *properties, size_t n, uint32_t n_metrics,
					struct ctx_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const char *key = properties[i].key;
		struct ctx_indicator_info info;
		enum ctx_status status;
		unsigned long of;
		char *end;

		if (strncmp(key, "indicator ", 10) != 0 || key[10] < '0' || key[10] > '9')
			continue;
		of = strtoul(key + 10, &end, 10);
		if (strcmp(end, " count") == 0) {
			read_count(list, of, properties[i].value);
			continue;
		}
		if (*end != '\0' || of != list->n + 1)
			continue;
		status = parse(&list->arena, properties[i].value, n_metrics, &info);
		if (status == CTX_END)
			continue;
		if (status == CTX_OK)
			status = ctx_grow(&list->items, &list->cap, list->n + 1, err);
		if (status != CTX_OK)
			return ctx_err_nomem(err);
		list->items[list->n++] = info;
	}
	return CTX_OK;
}
