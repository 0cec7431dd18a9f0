#include "collect/indicator_spec.h"

#include "collect/time_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DATA_BYTES_MAX 4096u
#define THRESHOLD_MAX ((uint64_t)INT64_MAX)

static enum ctx_status refuse(const struct ctx_indicator_spec *spec, const char *why, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_ARG, "indicator \"%s\": %s", spec->text, why);
}

/* Decimal, or hexadecimal with 0x. False: it is no number, or too large. */
static bool parse_number(const char *text, uint64_t *ret)
{
	char *end;
	unsigned long long value;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
	*ret = value;
	return errno == 0 && *end == '\0' && end != text;
}

/* "2ms"; begins with a digit, as the other numbers do. */
static bool parse_time(const char *text, uint64_t *ret_ns)
{
	return *text >= '0' && *text <= '9' && ctx_time_text_parse(text, ret_ns);
}

/* The last colon that stands alone: "::" is part of a name. NULL: none. */
static char *last_colon(char *text)
{
	for (size_t i = strlen(text); i-- > 0;) {
		if (text[i] != ':')
			continue;
		if (i > 0 && text[i - 1] == ':')
			i--;
		else
			return text + i;
	}
	return NULL;
}

static char *first_colon(char *text)
{
	for (char *at = text; *at != '\0'; at++) {
		if (at[0] == ':' && at[1] == ':')
			at++;
		else if (*at == ':')
			return at;
	}
	return NULL;
}

/* What follows a colon, if it is an option. *ret_is: it is one. */
static enum ctx_status take_option(struct ctx_indicator_spec *spec, const char *word, bool *ret_is,
				   struct ctx_err *err)
{
	*ret_is = true;
	if (strcmp(word, "w") == 0 || strcmp(word, "rw") == 0 || strcmp(word, "wr") == 0) {
		if (spec->what == CTX_INDICATOR_DATA)
			return refuse(spec, "two kinds of access", err);
		spec->what = CTX_INDICATOR_DATA;
		spec->reads = word[1] != '\0';
	} else if (strcmp(word, "r") == 0) {
		return refuse(spec, "reads alone cannot be watched: rw counts reads and writes", err);
	} else if (strncmp(word, "threshold=", 10) == 0) {
		if (!parse_number(word + 10, &spec->threshold) || spec->threshold == 0 ||
		    spec->threshold > THRESHOLD_MAX)
			return refuse(spec, "the threshold is not a number above 0", err);
	} else if (strcmp(word, "start") == 0 || strncmp(word, "start=", 6) == 0) {
		spec->window = CTX_INDICATOR_START;
		spec->from = 1;
		if (word[5] == '=' && (!parse_number(word + 6, &spec->from) || spec->from == 0))
			return refuse(spec, "start= is followed by a number above 0", err);
	} else if (strcmp(word, "stop") == 0) {
		spec->window = CTX_INDICATOR_STOP;
	} else if (strcmp(word, "callers") == 0) {
		spec->callers = true;
	} else if (strcmp(word, "once") == 0) {
		spec->once = true;
	} else if (strcmp(word, "process") == 0) {
		spec->of_process = true;
	} else if (strncmp(word, "slower-than=", 12) == 0) {
		if (!parse_time(word + 12, &spec->slower_than_ns))
			return refuse(spec, "slower-than= is followed by a time with a unit (2ms)", err);
	} else {
		*ret_is = false;
	}
	return CTX_OK;
}

/* Options are taken off the end of `rest`. */
static enum ctx_status take_options(struct ctx_indicator_spec *spec, char *rest, struct ctx_err *err)
{
	char *colon;

	while ((colon = last_colon(rest)) != NULL) {
		bool is = false;
		enum ctx_status status = take_option(spec, colon + 1, &is, err);

		if (status != CTX_OK)
			return status;
		if (!is)
			return CTX_OK;
		*colon = '\0';
	}
	return CTX_OK;
}

/* NAME[+OFFSET][,len=BYTES][%return] */
static enum ctx_status take_name(struct ctx_indicator_spec *spec, char *name, struct ctx_err *err)
{
	char *comma = strchr(name, ','), *plus, *percent = strrchr(name, '%');

	if (spec->what == CTX_INDICATOR_DATA && comma != NULL) {
		*comma = '\0';
		if (strncmp(comma + 1, "len=", 4) != 0 || !parse_number(comma + 5, &spec->length_bytes) ||
		    spec->length_bytes == 0 || spec->length_bytes > DATA_BYTES_MAX)
			return refuse(spec, "behind the comma is no len=BYTES of 1 to 4096", err);
	}
	if (percent != NULL && strcmp(percent, "%return") == 0) {
		if (spec->what == CTX_INDICATOR_DATA)
			return refuse(spec, "data has no returns", err);
		spec->what = CTX_INDICATOR_RETURN;
		*percent = '\0';
	}
	plus = strrchr(name, '+');
	if (plus != NULL && parse_number(plus + 1, &spec->offset)) {
		*plus = '\0';
		if (spec->what == CTX_INDICATOR_RETURN)
			return refuse(spec, "a return has no offset", err);
	}
	if (*name == '\0')
		return refuse(spec, "no name", err);
	if (strchr(name, '%') != NULL)
		return refuse(spec, "behind % comes return, and nothing more", err);
	if (spec->offset != 0 && strpbrk(name, "*?[") != NULL)
		return refuse(spec, "a pattern has no offset", err);
	strcpy(spec->name, name);
	return CTX_OK;
}

/* FIRST..LAST */
static enum ctx_status take_range(struct ctx_indicator_spec *spec, char *ends, struct ctx_err *err)
{
	char *dots = strstr(ends, "..");

	if (spec->what == CTX_INDICATOR_DATA)
		return refuse(spec, "a range of functions has no accesses: name the variable and its length",
			      err);
	spec->what = CTX_INDICATOR_RANGE;
	if (dots == NULL || dots == ends || dots[2] == '\0')
		return refuse(spec, "a range is FIRST..LAST, two functions", err);
	*dots = '\0';
	strcpy(spec->name, ends);
	strcpy(spec->last, dots + 2);
	return CTX_OK;
}

static enum ctx_status take_place(struct ctx_indicator_spec *spec, char *rest, struct ctx_err *err)
{
	char *colon = first_colon(rest);
	uint64_t line;

	if (colon == NULL)
		return take_name(spec, rest, err);
	*colon = '\0';
	if (strcmp(rest, "range") == 0) {
		char *second = first_colon(colon + 1);

		if (second != NULL) {
			*second = '\0';
			strcpy(spec->object, colon + 1);
		}
		return take_range(spec, second != NULL ? second + 1 : colon + 1, err);
	}
	if (strcmp(rest, "object") == 0) {
		if (colon[1] == '\0' || spec->what == CTX_INDICATOR_DATA)
			return refuse(spec, "object: is followed by the file name of a load object", err);
		spec->what = CTX_INDICATOR_OBJECT;
		strcpy(spec->object, colon + 1);
		return CTX_OK;
	}
	if (*rest == '\0')
		return refuse(spec, "nothing before the colon", err);
	if (first_colon(colon + 1) != NULL)
		return refuse(
			spec,
			"not understood: NAME, OBJECT:NAME, FILE:LINE, range:FIRST..LAST, object:OBJECT, and "
			":w, :rw, :once, :callers, :threshold=N, :start, :stop, :slower-than=TIME behind it",
			err);
	if (spec->what != CTX_INDICATOR_DATA && parse_number(colon + 1, &line)) {
		if (line == 0 || line > INT32_MAX)
			return refuse(spec, "lines begin with 1", err);
		spec->what = CTX_INDICATOR_LINE;
		spec->line = (uint32_t)line;
		strcpy(spec->name, rest);
		return CTX_OK;
	}
	strcpy(spec->object, rest);
	return take_name(spec, colon + 1, err);
}

static enum ctx_status check_together(const struct ctx_indicator_spec *spec, struct ctx_err *err)
{
	bool has_window = spec->window != CTX_INDICATOR_NO_WINDOW;

	if (spec->once && ((spec->what != CTX_INDICATOR_FUNCTION && spec->what != CTX_INDICATOR_OBJECT) ||
			   spec->offset != 0))
		return refuse(spec, "once is for functions, a pattern of them, or object:OBJECT", err);
	if (spec->once && (spec->threshold != 0 || has_window || spec->slower_than_ns != 0))
		return refuse(spec, "once goes with nothing else", err);
	if (spec->callers && (spec->once || spec->what != CTX_INDICATOR_FUNCTION || spec->offset != 0))
		return refuse(spec, "callers is for functions, or a pattern of them", err);
	if (spec->of_process && !has_window)
		return refuse(spec, "process belongs to start or stop", err);
	if (spec->slower_than_ns != 0 && (spec->what != CTX_INDICATOR_FUNCTION || spec->offset != 0))
		return refuse(spec, "slower-than is for a function", err);
	if (spec->slower_than_ns != 0 && (spec->threshold != 0 || has_window))
		return refuse(spec, "slower-than goes with no threshold, start or stop", err);
	return CTX_OK;
}

enum ctx_status ctx_indicator_spec_parse(const char *text, struct ctx_indicator_spec *ret,
					 struct ctx_err *err)
{
	struct ctx_indicator_spec spec = {.what = CTX_INDICATOR_FUNCTION};
	char rest[CTX_INDICATOR_TEXT_MAX];
	enum ctx_status status;

	if (strlen(text) >= sizeof(rest))
		return ctx_err_set(err, CTX_E_ARG, "indicator \"%.40s...\": more than %u bytes", text,
				   CTX_INDICATOR_TEXT_MAX - 1);
	for (const char *at = text; *at != '\0'; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f || *at == '"' || *at == ';')
			return ctx_err_set(err, CTX_E_ARG,
					   "an indicator has control characters, quotes or semicolons");
	}
	strcpy(spec.text, text);
	strcpy(rest, text);
	status = take_options(&spec, rest, err);
	if (status == CTX_OK)
		status = take_place(&spec, rest, err);
	if (status != CTX_OK)
		return status;
	status = check_together(&spec, err);
	if (status != CTX_OK)
		return status;
	*ret = spec;
	return CTX_OK;
}
