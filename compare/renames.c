#include "compare/renames.h"

#include "base/mem.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 10u

struct rename {
	regex_t expression;
	char *text; /* owned */
};

struct ctx_renames {
	struct rename *items;
	size_t n;
};

void ctx_renames_destroy(struct ctx_renames *renames)
{
	if (renames == NULL)
		return;
	for (size_t i = 0; i < renames->n; i++) {
		regfree(&renames->items[i].expression);
		free(renames->items[i].text);
	}
	free(renames->items);
	free(renames);
}

/* The expression of a text, with "\=" as "="; the place of what follows the '='; NULL: there is none. */
static const char *split(const char *text, struct ctx_buf *expression)
{
	for (; *text != '\0' && *text != '='; text++) {
		if (text[0] == '\\' && text[1] == '=')
			text++;
		else if (text[0] == '\\' && text[1] != '\0')
			ctx_buf_put_u8(expression, (uint8_t)*text++);
		ctx_buf_put_u8(expression, (uint8_t)*text);
	}
	ctx_buf_put_u8(expression, '\0');
	return *text == '=' ? text + 1 : NULL;
}

/* The largest group that the replacement names. */
static size_t last_group(const char *text)
{
	size_t last = 0;

	for (; *text != '\0'; text++) {
		if (*text != '\\' || text[1] == '\0')
			continue;
		text++;
		if (*text >= '1' && *text <= '9' && (size_t)(*text - '0') > last)
			last = (size_t)(*text - '0');
	}
	return last;
}

static enum ctx_status add(struct ctx_renames *renames, const char *text, struct ctx_err *err)
{
	struct rename *rename = &renames->items[renames->n];
	struct ctx_buf expression CTX_AUTO_BUF = {0};
	const char *to = split(text, &expression);
	enum ctx_status status = ctx_buf_check(&expression, err);
	int code;

	if (status != CTX_OK)
		return status;
	if (to == NULL || expression.n == 1)
		return ctx_err_set(err, CTX_E_ARG, "--rename '%s': expected RE=TEXT", text);
	code = regcomp(&rename->expression, (const char *)expression.bytes, REG_EXTENDED);
	if (code != 0) {
		char why[128];

		regerror(code, &rename->expression, why, sizeof(why));
		return ctx_err_set(err, CTX_E_ARG, "--rename '%s': %s", text, why);
	}
	renames->n++;
	if (last_group(to) > rename->expression.re_nsub)
		return ctx_err_set(err, CTX_E_ARG, "--rename '%s': \\%zu, but the expression has %zu groups",
				   text, last_group(to), rename->expression.re_nsub);
	rename->text = strdup(to);
	return rename->text != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_renames_make(const char *const *texts, size_t n, struct ctx_renames **ret,
				 struct ctx_err *err)
{
	struct ctx_renames *renames;
	enum ctx_status status = CTX_OK;

	*ret = NULL;
	if (n == 0)
		return CTX_OK;
	renames = ctx_calloc(1, sizeof(*renames));
	if (renames != NULL)
		renames->items = ctx_calloc(n, sizeof(*renames->items));
	if (renames == NULL || renames->items == NULL)
		status = ctx_err_nomem(err);
	for (size_t i = 0; i < n && status == CTX_OK; i++)
		status = add(renames, texts[i], err);
	if (status != CTX_OK) {
		ctx_renames_destroy(renames);
		return status;
	}
	*ret = renames;
	return CTX_OK;
}

static void put_group(const char *name, const regmatch_t *group, struct ctx_buf *out)
{
	if (group->rm_so >= 0)
		ctx_buf_put(out, name + group->rm_so, (size_t)(group->rm_eo - group->rm_so));
}

static void put_replacement(const char *text, const char *name, const regmatch_t groups[GROUPS],
			    struct ctx_buf *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '&')
			put_group(name, &groups[0], out);
		else if (text[0] == '\\' && text[1] >= '0' && text[1] <= '9')
			put_group(name, &groups[*++text - '0'], out);
		else if (text[0] == '\\' && text[1] != '\0')
			ctx_buf_put_u8(out, (uint8_t) * ++text);
		else
			ctx_buf_put_u8(out, (uint8_t)*text);
	}
}

/* Replaces all matches of one expression; an empty match is passed by one character. */
static void apply(const struct rename *rename, const char *name, struct ctx_buf *out)
{
	regmatch_t groups[GROUPS];
	int flags = 0;

	while (regexec(&rename->expression, name, GROUPS, groups, flags) == 0) {
		ctx_buf_put(out, name, (size_t)groups[0].rm_so);
		put_replacement(rename->text, name, groups, out);
		name += groups[0].rm_eo;
		flags = REG_NOTBOL;
		if (groups[0].rm_eo != groups[0].rm_so)
			continue;
		if (*name == '\0')
			return;
		ctx_buf_put_u8(out, (uint8_t)*name++);
	}
	ctx_buf_put_text(out, name);
}

void ctx_renames_put(const struct ctx_renames *renames, const char *name, size_t n, struct ctx_buf *out)
{
	struct ctx_buf now CTX_AUTO_BUF = {0}, next CTX_AUTO_BUF = {0};

	if (renames == NULL) {
		ctx_buf_put(out, name, n);
		return;
	}
	ctx_buf_put(&now, name, n);
	for (size_t i = 0; i < renames->n; i++) {
		struct ctx_buf swap;

		ctx_buf_put_u8(&now, '\0');
		ctx_buf_clear(&next);
		if (!now.failed)
			apply(&renames->items[i], (const char *)now.bytes, &next);
		next.failed |= now.failed;
		swap = now;
		now = next;
		next = swap;
	}
	ctx_buf_put(out, now.bytes, now.n);
	out->failed |= now.failed;
}
