#include "collect/time_text.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define NS_MAX 1e15

bool ctx_time_text_parse(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double number = strtod(text, &end), ns;
	size_t unit = 0;

	while (unit < CTX_COUNT_OF(units) && strcmp(end, units[unit].name) != 0)
		unit++;
	if (end == text || unit == CTX_COUNT_OF(units))
		return false;
	ns = number * units[unit].ns;
	if (!(ns >= 1 && ns <= NS_MAX)) /* not a number is neither */
		return false;
	*ret_ns = (uint64_t)ns;
	return true;
}
