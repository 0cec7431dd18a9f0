#include "report/function_names.h"

#include "base/near.h"

#include <string.h>

size_t ctx_function_plain_length(const struct ctx_function_info *function)
{
	static const char suffix[] = " (inlined)";
	size_t n = strlen(function->name);

	if (function->inlined && n >= sizeof(suffix) - 1 &&
	    strcmp(function->name + n - (sizeof(suffix) - 1), suffix) == 0)
		n -= sizeof(suffix) - 1;
	return n;
}

static bool begins_a_name(const char *name, size_t at)
{
	return at == 0 || strchr(" :.*&", name[at - 1]) != NULL;
}

/*
 * The short name is followed by template arguments, parameters, a part (" [cold]"), a source file
 * (" (a.c)"), or nothing.
 */
static bool ends_a_name(const char *name, size_t n, size_t at)
{
	return at == n || name[at] == '(' || name[at] == '<' || name[at] == '[' ||
	       (name[at] == ' ' && at + 1 < n && (name[at + 1] == '[' || name[at + 1] == '('));
}

/*
 * The name of a function is outside all brackets: those enclose parameters and template arguments.
 */
static bool is_short_name(const char *name, size_t n, const char *filter)
{
	size_t want = strlen(filter), depth = 0;

	for (size_t i = 0; want != 0 && i + want <= n; i++) {
		if (depth == 0 && begins_a_name(name, i) && strncmp(name + i, filter, want) == 0 &&
		    ends_a_name(name, n, i + want))
			return true;
		if (strchr("<({", name[i]) != NULL)
			depth++;
		else if (strchr(">)}", name[i]) != NULL && depth > 0)
			depth--;
	}
	return false;
}

/* One of several names with spaces in between. */
static bool is_among(const char *names, const char *filter)
{
	size_t want = strlen(filter);

	while (names != NULL && *names != '\0' && want != 0) {
		size_t n = strcspn(names, " ");

		if (n == want && strncmp(names, filter, n) == 0)
			return true;
		names += n + (names[n] == ' ');
	}
	return false;
}

bool ctx_function_matches(const struct ctx_profile *profile, uint32_t function, const char *filter)
{
	const struct ctx_function_info *info;

	if (filter == NULL)
		return true;
	if (function >= profile->n_functions)
		return strcmp(filter, "<Total>") == 0;
	info = &profile->functions[function];
	return strcmp(info->linkage_name, filter) == 0 || strcmp(info->name, filter) == 0 ||
	       is_short_name(info->name, ctx_function_plain_length(info), filter) ||
	       is_among(info->parts, filter);
}

bool ctx_stack_has_function(const struct ctx_profile *profile, uint32_t stack, const char *filter)
{
	if (filter == NULL)
		return true;
	if (stack >= profile->cct.n)
		return false;
	for (; stack != CTX_TRIE_ROOT; stack = profile->cct.parent[stack]) {
		if (ctx_function_matches(profile, profile->cct.key[stack], filter))
			return true;
	}
	return false;
}

static enum ctx_status refuse(const struct ctx_profile *profile, const char *filter, struct ctx_err *err)
{
	struct ctx_near near = {0};
	char names[CTX_ERR_MAX / 2];

	for (uint32_t i = 0; i < profile->n_functions; i++)
		ctx_near_consider(&near, profile->functions[i].name,
				  ctx_function_plain_length(&profile->functions[i]), filter, strlen(filter));
	ctx_near_list(&near, names, sizeof(names));
	return ctx_err_set(err, CTX_E_NOTFOUND, "no function '%.200s' in the experiment%s%s", filter,
			   near.n != 0 ? "; like it: " : "", names);
}

enum ctx_status ctx_function_check(const struct ctx_profile *profile, const char *filter, struct ctx_err *err)
{
	if (ctx_function_matches(profile, CTX_TRIE_ROOT_KEY, filter))
		return CTX_OK;
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (ctx_function_matches(profile, i, filter))
			return CTX_OK;
	}
	return refuse(profile, filter, err);
}
