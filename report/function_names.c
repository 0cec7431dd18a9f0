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

static bool is_same_plain(const struct ctx_function_info *a, const struct ctx_function_info *b)
{
	size_t n = ctx_function_plain_length(a);

	return n == ctx_function_plain_length(b) && strncmp(a->name, b->name, n) == 0;
}

/* Whether it passes, and besides it only functions of its whole name. */
static bool means_only(const struct ctx_profile *profile, uint32_t function, const char *filter)
{
	if (!ctx_function_matches(profile, function, filter))
		return false;
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (ctx_function_matches(profile, i, filter) &&
		    !is_same_plain(&profile->functions[i], &profile->functions[function]))
			return false;
	}
	return true;
}

/* Where a short name ends that begins at `at`: before its parameters, or before template arguments too. */
static size_t end_of_name(const char *name, size_t n, size_t at, bool template)
{
	size_t depth = 0;

	for (; at < n; at++) {
		if (depth == 0 &&
		    (name[at] == '(' || name[at] == '[' || (name[at] == '<' && !template) || name[at] == ' '))
			return at;
		depth += name[at] == '<';
		depth -= name[at] == '>' && depth != 0;
	}
	return n;
}

/* Where the text in brackets that begins at `at` ends. */
static size_t end_of_brackets(const char *name, size_t n, size_t at)
{
	size_t depth = 0;

	for (; at < n; at++) {
		depth += strchr("<({", name[at]) != NULL;
		if (strchr(">)}", name[at]) != NULL && --depth == 0)
			return at + 1;
	}
	return n;
}

/* The length of a name without parameters and what is behind them; "(anonymous namespace)::" is a scope. */
static size_t length_of_scopes(const char *name, size_t n)
{
	for (size_t at = 0; at < n; at++) {
		size_t end;

		if (name[at] == '[')
			return at;
		if (strchr("<({", name[at]) == NULL)
			continue;
		end = end_of_brackets(name, n, at);
		if (name[at] == '(' && (end + 1 >= n || name[end] != ':'))
			return at;
		at = end - 1;
	}
	return n;
}

/* Tries the parts of a name that begin at its scopes, the shortest first. */
static bool put_component(const struct ctx_profile *profile, uint32_t function, bool template,
			  struct ctx_buf *buf)
{
	const struct ctx_function_info *info = &profile->functions[function];
	size_t n = ctx_function_plain_length(info), begin = buf->n;

	for (size_t at = length_of_scopes(info->name, n); at-- > 0;) {
		if (!begins_a_name(info->name, at))
			continue;
		ctx_buf_put(buf, info->name + at, end_of_name(info->name, n, at, template) - at);
		ctx_buf_put_u8(buf, '\0');
		if (buf->failed)
			return true;
		if (buf->bytes[begin] != '\0' &&
		    means_only(profile, function, (const char *)buf->bytes + begin)) {
			buf->n--;
			return true;
		}
		buf->n = begin;
	}
	return false;
}

void ctx_function_put_short(const struct ctx_profile *profile, uint32_t function, struct ctx_buf *buf)
{
	const struct ctx_function_info *info = &profile->functions[function];
	size_t n = ctx_function_plain_length(info);

	if (put_component(profile, function, false, buf) || put_component(profile, function, true, buf))
		return;
	if (strlen(info->linkage_name) < n && means_only(profile, function, info->linkage_name))
		ctx_buf_put_text(buf, info->linkage_name);
	else
		ctx_buf_put(buf, info->name, n);
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
