/*
 * kallsyms has no sizes: a function reaches to the next symbol of any type, so that the data after
 * the kernel's text ends its last function. After the last function of a module the memory is
 * unknown: it reaches REACH_BYTES at most.
 */
#include "symbols/kallsyms.h"

#include "base/digits.h"
#include "base/mem.h"

#include <string.h>

#define REACH_BYTES ((uint64_t)64 * 1024)

struct line {
	uint64_t address;
	const char *name;
	const char *module;
	bool text;
};

struct lines {
	struct line *items;
	size_t n, cap;
};

static void lines_cleanup(struct lines *lines)
{
	free(lines->items);
}

/* Hexadecimal digits up to a blank; false if there are none, or too many. */
static bool take_address(char **at, uint64_t *ret_address)
{
	char *end = *at;
	uint64_t address = 0;
	int digit;

	for (; (digit = ctx_digit(*end)) >= 0 && end - *at < 16; end++)
		address = address << 4 | (uint64_t)digit;
	if (end == *at || (*end != ' ' && *end != '\t'))
		return false;
	*at = end;
	*ret_address = address;
	return true;
}

static char *skip_blanks(char *at)
{
	return at + strspn(at, " \t");
}

/* The next word, terminated with a zero byte; "" at the end of the line. */
static char *take_word(char **at)
{
	char *word = skip_blanks(*at);
	char *end = word + strcspn(word, " \t\r");

	*at = end;
	if (*end != '\0') {
		*end = '\0';
		*at = end + 1;
	}
	return word;
}

static bool parse_line(char *at, struct line *ret)
{
	const char *type;

	if (!take_address(&at, &ret->address) || ret->address == 0)
		return false;
	type = take_word(&at);
	ret->name = take_word(&at);
	ret->module = take_word(&at);
	if (type[0] == '\0' || type[1] != '\0' || ret->name[0] == '\0' || ret->name[0] == '$')
		return false;
	if (ret->module[0] != '[')
		ret->module = "";
	ret->text = strchr("tTwW", type[0]) != NULL;
	return true;
}

static enum ctx_status parse_lines(char *text, size_t n, struct lines *lines, struct ctx_err *err)
{
	enum ctx_status status;
	char *next;

	for (char *at = text; at < text + n; at = next) {
		struct line line;
		char *end = memchr(at, '\n', (size_t)(text + n - at));

		next = end != NULL ? end + 1 : text + n;
		if (end != NULL)
			*end = '\0';
		if (!parse_line(at, &line))
			continue;
		status = ctx_grow(&lines->items, &lines->cap, lines->n + 1, err);
		if (status != CTX_OK)
			return status;
		lines->items[lines->n++] = line;
	}
	return CTX_OK;
}

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left;
	const struct line *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* `next` is the first line after `line` with a larger address, or NULL. */
static uint64_t line_size(const struct line *line, const struct line *next)
{
	uint64_t most = UINT64_MAX - line->address;
	uint64_t reach = REACH_BYTES < most ? REACH_BYTES : most;

	if (next == NULL)
		return reach;
	if (strcmp(next->module, line->module) == 0 || next->address - line->address < reach)
		return next->address - line->address;
	return reach;
}

static const struct line *find_symbol(const struct lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->n; i++) {
		if (lines->items[i].module[0] == '\0' && strcmp(lines->items[i].name, name) == 0)
			return &lines->items[i];
	}
	return NULL;
}

/* Moves all lines so that the reference symbol is at its recorded address. */
static enum ctx_status move_lines(struct lines *lines, const struct ctx_kallsyms_reference *reference,
				  struct ctx_err *err)
{
	const struct line *now = find_symbol(lines, reference->symbol);
	uint64_t shift;
	size_t kept = 0;

	if (now == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "kallsyms: no symbol %s", reference->symbol);
	shift = reference->address - now->address;
	if (shift == 0)
		return CTX_OK;
	if (reference->exact)
		return ctx_err_set(err, CTX_E_NOTFOUND, "kallsyms: %s is at %llx and was at %llx",
				   reference->symbol, (unsigned long long)now->address,
				   (unsigned long long)reference->address);
	for (size_t i = 0; i < lines->n; i++) {
		if (lines->items[i].module[0] != '\0')
			continue;
		lines->items[kept] = lines->items[i];
		lines->items[kept++].address += shift;
	}
	lines->n = kept;
	return CTX_OK;
}

static enum ctx_status add_lines(const struct lines *lines, struct ctx_symset *set, struct ctx_err *err)
{
	const struct line *next = NULL;
	enum ctx_status status = CTX_OK;

	for (size_t i = lines->n; i-- > 0 && status == CTX_OK;) {
		const struct line *line = &lines->items[i];
		struct ctx_symset_raw raw = {.start = line->address,
					     .limit = UINT64_MAX,
					     .name = line->name,
					     .module = line->module};

		if (i + 1 < lines->n && lines->items[i + 1].address > line->address)
			next = &lines->items[i + 1];
		raw.size = line_size(line, next);
		if (line->text)
			status = ctx_symset_add(set, &raw, err);
	}
	return status;
}

enum ctx_status ctx_kallsyms_add(char *text, size_t n, const struct ctx_kallsyms_reference *reference,
				 struct ctx_symset *set, struct ctx_err *err)
{
	struct lines lines CTX_CLEANUP(lines_cleanup) = {0};
	enum ctx_status status = parse_lines(text, n, &lines, err);
	size_t before = set->raw_n;

	if (status == CTX_OK && reference != NULL && lines.n != 0)
		status = move_lines(&lines, reference, err);
	if (status != CTX_OK)
		return status;
	if (lines.n > 1)
		qsort(lines.items, lines.n, sizeof(*lines.items), compare_lines);
	status = add_lines(&lines, set, err);
	if (status == CTX_OK && set->raw_n == before)
		return ctx_err_set(err, CTX_E_FORMAT,
				   "kallsyms: no function with an address (all are zero for a reader without "
				   "permission, see kernel.kptr_restrict)");
	return status;
}
