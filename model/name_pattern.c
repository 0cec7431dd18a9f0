/*
 * Patterns of names: POSIX extended regular expressions, without those that would take too long.
 */
#include "model/name_pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX 1000u
#define PATTERN_SIZE_MAX 2000u /* with repetitions expanded, see unrolled_size */

/* The bytes of "[^]a-z]", or of one byte that is not a bracket. */
static size_t atom_length(const char *pattern)
{
	size_t n = 1;

	if (pattern[0] == '\\' && pattern[1] != '\0')
		return 2;
	if (pattern[0] != '[')
		return 1;
	n += pattern[n] == '^';
	n += pattern[n] == ']';
	return n + strcspn(pattern + n, "]");
}

/* "{2,5}": its bytes, and one more than the larger number. 0: not a count. */
static size_t repeat_length(const char *pattern, uint64_t *ret_count)
{
	size_t first = strspn(pattern + 1, "0123456789");
	size_t comma = pattern[1 + first] == ',';
	size_t second = comma != 0 ? strspn(pattern + 2 + first, "0123456789") : 0;
	uint64_t low = strtoul(pattern + 1, NULL, 10);
	uint64_t high = second != 0 ? strtoul(pattern + 2 + first, NULL, 10) : low;

	high = low > high ? low : high;
	*ret_count = high < PATTERN_SIZE_MAX ? high + 1 : PATTERN_SIZE_MAX;
	return pattern[0] == '{' && pattern[1 + first + comma + second] == '}' ? 2 + first + comma + second
									       : 0;
}

/*
 * The approximate size of a compiled pattern: "{9}" and "+" copy what they repeat, and nested
 * repetitions cost time. At most a few times PATTERN_SIZE_MAX, squared.
 */
static uint64_t unrolled_size(const char *pattern)
{
	uint64_t sums[PATTERN_MAX + 1] = {0}; /* of the open groups */
	uint64_t last = 0;		      /* the last atom, which a count would repeat */
	size_t depth = 0;

	for (const char *at = pattern; *at != '\0' && last <= PATTERN_SIZE_MAX;) {
		uint64_t count;
		size_t length = repeat_length(at, &count);
		bool repeats = length != 0;

		length = repeats ? length : atom_length(at);
		if (*at == '(') {
			sums[depth++] += last;
			sums[depth] = last = 0;
		} else if (*at == ')' && depth != 0) {
			last += sums[depth--];
		} else if (repeats || *at == '+' || *at == '*' || *at == '?') {
			/* What has no size, as "()", is copied, too. */
			last = (last != 0 ? last : 1) * (repeats ? count : *at == '+' ? 3 : 2);
		} else {
			sums[depth] += last;
			last = 1;
		}
		at += length <= strlen(at) ? length : strlen(at);
	}
	for (size_t i = 0; i <= depth; i++)
		last += sums[i];
	return last;
}

static bool has_back_reference(const char *pattern)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern != '\\')
			continue;
		if (isdigit((unsigned char)pattern[1]))
			return true;
		if (pattern[1] != '\0')
			pattern++;
	}
	return false;
}

enum ctx_status ctx_name_pattern_compile(const char *pattern, regex_t *ret, struct ctx_err *err)
{
	char why[128];
	int error;

	if (strlen(pattern) > PATTERN_MAX || unrolled_size(pattern) > PATTERN_SIZE_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "this pattern is too large");
	if (has_back_reference(pattern))
		return ctx_err_set(err, CTX_E_ARG, "patterns have no references to groups (\\1)");
	error = regcomp(ret, pattern, REG_EXTENDED);
	if (error == 0)
		return CTX_OK;
	if (error == REG_ESPACE)
		return ctx_err_nomem(err);
	regerror(error, ret, why, sizeof(why));
	return ctx_err_set(err, CTX_E_ARG, "this is not a valid pattern: %s", why);
}

bool ctx_name_pattern_fits(const regex_t *pattern, const char *name)
{
	regmatch_t match;

	return regexec(pattern, name, 1, &match, 0) == 0 && match.rm_so == 0 && name[match.rm_eo] == '\0';
}
