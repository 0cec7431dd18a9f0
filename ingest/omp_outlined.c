#include "ingest/omp_outlined.h"

#include "base/mem.h"

#include <string.h>

/* Without what compilers append. */
static size_t plain_length(const char *function)
{
	static const char *const parts[] = {" (inlined)", " [clone ", "._omp_fn.", ".omp_outlined",
					    ".omp_task_entry"};
	size_t n = strlen(function);

	for (size_t i = 0; i < CTX_COUNT_OF(parts); i++) {
		const char *part = strstr(function, parts[i]);

		if (part != NULL && (size_t)(part - function) < n)
			n = (size_t)(part - function);
	}
	/* " [constprop.0]" at the end */
	if (n != 0 && function[n - 1] == ']') {
		size_t at = n;

		while (at != 0 && function[at - 1] != '[')
			at--;
		n = at >= 3 && function[at - 2] == ' ' ? at - 2 : n;
	}
	return n;
}

const char *ctx_omp_container(const char *function, size_t *ret_n)
{
	static const char offloaded[] = "__omp_offloading_", debug[] = "_debug__";
	const char *name = function, *end = function + plain_length(function);

	*ret_n = (size_t)(end - function);
	if (strncmp(function, offloaded, sizeof(offloaded) - 1) != 0)
		return function;
	name += sizeof(offloaded) - 1;
	for (unsigned i = 0; i < 2; i++) {
		name += strspn(name, "0123456789abcdef");
		if (*name++ != '_')
			return function;
	}
	if (end - name >= (ptrdiff_t)sizeof(debug) - 1 &&
	    memcmp(end - (sizeof(debug) - 1), debug, sizeof(debug) - 1) == 0)
		end -= sizeof(debug) - 1;
	while (end > name && end[-1] >= '0' && end[-1] <= '9')
		end--;
	if (end - name < 3 || memcmp(end - 2, "_l", 2) != 0)
		return function;
	*ret_n = (size_t)(end - 2 - name);
	return name;
}
