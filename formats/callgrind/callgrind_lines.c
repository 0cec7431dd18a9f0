#include "formats/callgrind/callgrind_lines.h"

#include "base/digits.h"

#include <ctype.h>
#include <string.h>

static const char *skip_spaces(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

const char *ctx_cg_value(const char *line, const char *key)
{
	size_t n = strlen(key);

	return strncmp(line, key, n) == 0 ? skip_spaces(line + n) : NULL;
}

/* A number without a sign, decimal or 0x..., with its end. */
static bool number(const char *text, const char **ret_end, uint64_t *ret)
{
	bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	*ret_end = text + (is_hex ? 2 : 0);
	return ctx_digits_take(ret_end, is_hex ? 16 : 10, ret);
}

bool ctx_cg_name_parse(const char *value, struct ctx_cg_name *ret)
{
	const char *end;

	*ret = (struct ctx_cg_name){.text = value};
	if (value[0] != '(' || !isdigit((unsigned char)value[1]))
		return true;
	if (!number(value + 1, &end, &ret->number) || *end != ')')
		return false;
	ret->has_number = true;
	ret->text = skip_spaces(end + 1);
	return true;
}

static bool position(const char *text, const char **ret_end, uint64_t *ret)
{
	uint64_t by;

	if (*text == '*') {
		*ret_end = text + 1;
		return true;
	}
	if (*text != '+' && *text != '-')
		return number(text, ret_end, ret);
	if (!number(text + 1, ret_end, &by))
		return false;
	*ret = *text == '+' ? *ret + by : *ret - by; /* modulo 2^64: a damaged one is some other place */
	return true;
}

bool ctx_cg_costs_parse(const char *line, size_t n_positions, struct ctx_cg_costs *ret)
{
	const char *at = skip_spaces(line);

	for (size_t i = 0; i < n_positions; i++) {
		if (!position(at, &at, &ret->positions[i]) || (*at != '\0' && *at != ' ' && *at != '\t'))
			return false;
		at = skip_spaces(at);
	}
	for (ret->n = 0; *at != '\0'; at = skip_spaces(at)) {
		if (ret->n == CTX_CG_EVENTS_MAX || !number(at, &at, &ret->costs[ret->n]) ||
		    (*at != '\0' && *at != ' ' && *at != '\t'))
			return false;
		ret->n++;
	}
	return true;
}
