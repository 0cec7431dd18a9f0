/*
 * Functions of one object with the same name get the source file behind it:
 *
 *	dup, dup, dup		dup (a.c), dup (lib/b.c), dup (src/b.c)
 *
 * The file is that of the function's lines, else that of its symbol. Functions with the same file
 * (of a header that several units include) keep their name.
 */
#include "base/mem.h"
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_PARTS_MAX 8u /* components of a path that are tried */
#define COMPARED_MAX 64u  /* sources of a run with which each is compared */

struct named {
	const struct ctx_function_info *info;
	uint32_t function;
	const char *source; /* path or name of a source file; NULL unknown */
};

struct naming {
	struct ctx_resolver *resolver;
	struct named *items; /* equal names of an object are adjacent */
	size_t n;
	struct named **of_function; /* by function: its item, where the name is not unique */
};

static int compare(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order;

	if (a->info->object != b->info->object)
		return a->info->object < b->info->object ? -1 : 1;
	order = strcmp(a->info->name, b->info->name);
	if (order != 0)
		return order;
	return a->function < b->function ? -1 : a->function > b->function;
}

static bool is_same_name(const struct named *a, const struct named *b)
{
	return a->info->object == b->info->object && strcmp(a->info->name, b->info->name) == 0;
}

/* The end of the run of equal names that begins at `begin`. */
static size_t run_end(const struct naming *naming, size_t begin)
{
	size_t end = begin + 1;

	while (end < naming->n && is_same_name(&naming->items[begin], &naming->items[end]))
		end++;
	return end;
}

/* Whether there are names that are not unique. */
static bool mark_runs(struct naming *naming)
{
	bool any = false;
	size_t end;

	for (size_t begin = 0; begin < naming->n; begin = end) {
		end = run_end(naming, begin);
		for (size_t i = begin; i < end && end - begin > 1; i++)
			naming->of_function[naming->items[i].function] = &naming->items[i];
		any |= end - begin > 1;
	}
	return any;
}

static void take_sources_of_lines(struct naming *naming)
{
	const struct ctx_resolver *resolver = naming->resolver;

	for (size_t i = 0; i < resolver->n_sites; i++) {
		const struct ctx_site *site = &resolver->sites[i];
		struct named *item = naming->of_function[site->function];

		if (item != NULL && item->source == NULL && site->file != CTX_NONE)
			item->source = ctx_strtab_get(&resolver->files, site->file);
	}
}

static enum ctx_status take_sources_of_symbols(struct naming *naming,
					       const struct ctx_resolver_object *object, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; object->symtab != NULL && i < ctx_symtab_count(object->symtab); i++) {
		struct named *item;
		struct ctx_symbol symbol;

		if (object->by_symbol[i] == CTX_NONE)
			continue;
		item = naming->of_function[object->by_symbol[i]];
		if (item == NULL || item->source != NULL)
			continue;
		status = ctx_symtab_get(object->symtab, i, &symbol, err);
		if (status != CTX_OK)
			return status;
		if (symbol.whole == i && symbol.source[0] != '\0')
			item->source = symbol.source;
	}
	return status;
}

/* The last `parts` components of a path. */
static const char *path_tail(const char *path, unsigned parts)
{
	const char *at = path + strlen(path);

	for (; at > path; at--) {
		if (at[-1] == '/' && --parts == 0)
			break;
	}
	return at;
}

static bool is_same_source(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool has_several_sources(const struct named *items, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (!is_same_source(items[0].source, items[i].source))
			return true;
	}
	return false;
}

/* The shortest end of the item's source that no other source of the run has. */
static const char *distinct_tail(const struct named *items, size_t n, const char *source)
{
	unsigned parts = 1;

	for (size_t i = 0; i < n && i < COMPARED_MAX; i++) {
		const char *other = items[i].source;

		if (other == NULL || is_same_source(source, other))
			continue;
		while (parts < PATH_PARTS_MAX &&
		       strcmp(path_tail(source, parts), path_tail(other, parts)) == 0)
			parts++;
	}
	return path_tail(source, parts);
}

static enum ctx_status rename_run(struct naming *naming, const struct named *items, size_t n,
				  struct ctx_err *err)
{
	bool several = has_several_sources(items, n);

	for (size_t i = 0; several && i < n; i++) {
		struct ctx_function_info *info = &naming->resolver->functions[items[i].function];
		const char *source = items[i].source;
		char *name CTX_AUTO_FREE = NULL;

		if (source == NULL)
			continue;
		if (asprintf(&name, "%s (%s)", info->name, distinct_tail(items, n, source)) < 0) {
			name = NULL;
			return ctx_err_nomem(err);
		}
		info->name = ctx_arena_strdup(naming->resolver->arena, name);
		if (info->name == NULL)
			return ctx_err_nomem(err);
	}
	return CTX_OK;
}

static enum ctx_status rename_all(struct naming *naming, struct ctx_err *err)
{
	struct ctx_resolver *resolver = naming->resolver;
	enum ctx_status status = CTX_OK;
	size_t end;

	take_sources_of_lines(naming);
	for (size_t i = 0; status == CTX_OK && i < resolver->n_objects; i++)
		status = take_sources_of_symbols(naming, &resolver->objects[i], err);
	for (size_t begin = 0; status == CTX_OK && begin < naming->n; begin = end) {
		end = run_end(naming, begin);
		if (end - begin > 1)
			status = rename_run(naming, &naming->items[begin], end - begin, err);
	}
	return status;
}

enum ctx_status ctx_resolver_tell_apart(struct ctx_resolver *resolver, struct ctx_err *err)
{
	struct named *items CTX_AUTO_FREE = ctx_calloc(resolver->n_functions + 1, sizeof(*items));
	struct named **of_function CTX_AUTO_FREE =
		ctx_calloc(resolver->n_functions + 1, sizeof(struct named *));
	struct naming naming = {.resolver = resolver, .items = items, .of_function = of_function};

	if (items == NULL || of_function == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < resolver->n_functions; i++) {
		const struct ctx_function_info *info = &resolver->functions[i];

		if (info->kind == CTX_FUNCTION_ORDINARY && !info->inlined &&
		    !ctx_code_is_java(info->code_kind) && info->object != CTX_NONE)
			items[naming.n++] = (struct named){.info = info, .function = i};
	}
	qsort(items, naming.n, sizeof(*items), compare);
	return mark_runs(&naming) ? rename_all(&naming, err) : CTX_OK;
}
