#include "model/interval.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double ns;
} units[] = {
	{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9},
};

/* One end of an interval; `n` bytes of text. */
static enum ctx_status parse_time(const char *text, size_t n, uint64_t run_ns, uint64_t *ret_ns,
				  struct ctx_err *err)
{
	char copy[64];
	char *unit;
	double value, scale = 0;

	if (n == 0 || n >= sizeof(copy))
		return ctx_err_set(err, CTX_E_ARG, "'%.*s' is not a time", (int)(n < 60 ? n : 60), text);
	memcpy(copy, text, n);
	copy[n] = '\0';
	if (!isdigit((unsigned char)copy[0]) && copy[0] != '.')
		return ctx_err_set(err, CTX_E_ARG, "'%s' is not a time: a number from 0 up is wanted", copy);
	if (copy[0] == '0' && (copy[1] == 'x' || copy[1] == 'X'))
		return ctx_err_set(err, CTX_E_ARG, "'%s' is not a time: write it as a decimal number", copy);
	value = strtod(copy, &unit);
	if (*unit == '\0')
		scale = 1e6;
	else if (strcmp(unit, "%") == 0)
		scale = (double)run_ns / 100;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) == 0)
			scale = units[i].ns;
	}
	if (unit == copy || scale == 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "'%s' has an unknown unit: ns, us, ms, s, m, h and %% are known", copy);
	if (!isfinite(value) || value * scale >= 9.2e18)
		return ctx_err_set(err, CTX_E_ARG, "'%s' is too large", copy);
	/* Plain digits of ns keep every digit; a double has only 53 bits. */
	if (scale == 1 && strspn(copy, "0123456789") == (size_t)(unit - copy))
		*ret_ns = strtoull(copy, NULL, 10);
	else
		*ret_ns = (uint64_t)llround(value * scale);
	return CTX_OK;
}

enum ctx_status ctx_interval_parse(const char *text, struct ctx_interval run, struct ctx_interval *ret,
				   struct ctx_err *err)
{
	struct ctx_interval found = run;
	const char *colon = strchr(text, ':');
	enum ctx_status status = CTX_OK;
	char end_text[32];

	if (colon == NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "interval '%s' has no ':' (BEGIN:END, for example 300:700)", text);
	if (colon != text)
		status = parse_time(text, (size_t)(colon - text), run.end_ns, &found.begin_ns, err);
	if (status == CTX_OK && colon[1] == '+') {
		status = parse_time(colon + 2, strlen(colon + 2), run.end_ns, &found.end_ns, err);
		found.end_ns += status == CTX_OK ? found.begin_ns : 0;
	} else if (status == CTX_OK && colon[1] != '\0') {
		status = parse_time(colon + 1, strlen(colon + 1), run.end_ns, &found.end_ns, err);
	}
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "interval '%s'", text);
	if (found.end_ns < found.begin_ns && colon[1] != '\0')
		return ctx_err_set(err, CTX_E_ARG, "interval '%s' ends before it begins", text);
	ctx_time_format(run.end_ns, end_text, sizeof(end_text));
	if (run.end_ns <= 1 && (found.begin_ns >= run.end_ns || found.end_ns == found.begin_ns))
		return ctx_err_set(err, CTX_E_ARG, "interval '%s': the recording has no times", text);
	if (found.begin_ns >= run.end_ns)
		return ctx_err_set(err, CTX_E_ARG, "interval '%s' lies behind the end of the run (%s)", text,
				   end_text);
	if (found.end_ns == found.begin_ns)
		return ctx_err_set(err, CTX_E_ARG, "interval '%s' is empty", text);
	if (found.end_ns > run.end_ns)
		found.end_ns = run.end_ns;
	*ret = found;
	return CTX_OK;
}

void ctx_time_format(uint64_t time_ns, char *out, size_t size)
{
	if (time_ns < 1000)
		snprintf(out, size, "%" PRIu64 " ns", time_ns);
	else if (time_ns < 1000 * 1000)
		snprintf(out, size, "%.2f us", (double)time_ns / 1e3);
	else if (time_ns < UINT64_C(1000) * 1000 * 1000)
		snprintf(out, size, "%.3f ms", (double)time_ns / 1e6);
	else
		snprintf(out, size, "%.3f s", (double)time_ns / 1e9);
}
