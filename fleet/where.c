#include "fleet/where.h"

#include "base/digits.h"
#include "fleet/sql_quote.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct key {
	const char *name, *column;
};

static const struct key texts[] = {
	{"host", "host"},	  {"service", "service"},
	{"version", "version"},	  {"container", "container"},
	{"command", "command"},	  {"program", "program"},
	{"kernel", "kernel"},	  {"arch", "arch"},
	{"name", "name"},	  {"recording", "lower(hex(recording))"},
	{"day", "toString(day)"},
};

static const struct key numbers[] = {
	{"duration", "(end_ns - begin_ns)"},
	{"samples", "metric_samples[1]"},
	{"lost", "lost"},
};

struct term {
	const char *text;
	const char *key;
	size_t key_n;
	const char *operator; /* "=", "!=", "<", ... */
	const char *value;
};

static bool read_term(const char *text, struct term *ret)
{
	static const char *const operators[] = {"!=", "<=", ">=", "=", "<", ">"};
	size_t n = strcspn(text, "!<>=");

	for (size_t i = 0; i < CTX_COUNT_OF(operators) && n != 0; i++) {
		size_t length = strlen(operators[i]);

		if (strncmp(text + n, operators[i], length) != 0)
			continue;
		while (n != 0 && text[n - 1] == ' ')
			n--;
		*ret = (struct term){.text = text,
				     .key = text,
				     .key_n = n,
				     .operator= operators[i],
				     .value = text + strcspn(text, "!<>=") + length};
		ret->value += strspn(ret->value, " ");
		return n != 0;
	}
	return false;
}

static const struct key *find(const struct key *keys, size_t n, const struct term *term)
{
	for (size_t i = 0; i < n; i++) {
		if (strlen(keys[i].name) == term->key_n && strncmp(keys[i].name, term->key, term->key_n) == 0)
			return &keys[i];
	}
	return NULL;
}

static bool is_build_id(const struct term *term)
{
	return term->key_n == 8 && strncmp(term->key, "build-id", 8) == 0;
}

bool ctx_where_is_text(const char *key)
{
	const struct term term = {.key = key, .key_n = strlen(key)};

	return !is_build_id(&term) && find(numbers, CTX_COUNT_OF(numbers), &term) == NULL;
}

static void put_column(const struct term *term, struct ctx_buf *sql)
{
	const struct key *known = find(texts, CTX_COUNT_OF(texts), term);

	if (known != NULL) {
		ctx_buf_put_text(sql, known->column);
		return;
	}
	ctx_buf_put_text(sql, "label_values[indexOf(label_keys, ");
	ctx_sql_put_literal(sql, term->key, term->key_n);
	ctx_buf_put_text(sql, ")]");
}

void ctx_where_put_column(const char *key, struct ctx_buf *sql)
{
	put_column(&(struct term){.key = key, .key_n = strlen(key)}, sql);
}

/* "1.4.*" as the regular expression of all of it; ClickHouse's expressions are RE2's. */
static void put_pattern(const char *value, struct ctx_buf *sql)
{
	struct ctx_buf pattern CTX_AUTO_BUF = {0};

	ctx_buf_put_text(&pattern, "^(?s:");
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '*')
			ctx_buf_put_text(&pattern, ".*");
		else if (c == '?')
			ctx_buf_put_u8(&pattern, '.');
		else if (c < 0x80 && strchr("\\^$.[]|()+{}-", c) != NULL)
			ctx_buf_printf(&pattern, "\\%c", c);
		else
			ctx_buf_put_u8(&pattern, c);
	}
	ctx_buf_put_text(&pattern, ")$");
	sql->failed |= pattern.failed;
	ctx_sql_put_literal(sql, (const char *)pattern.bytes, pattern.n);
}

/* The text `column` fits the value. */
static void put_fits(const struct term *term, const char *column, struct ctx_buf *sql)
{
	if (strpbrk(term->value, "*?") == NULL) {
		ctx_buf_printf(sql, "%s = ", column);
		ctx_sql_put_text(sql, term->value);
		return;
	}
	ctx_buf_printf(sql, "match(%s, ", column);
	put_pattern(term->value, sql);
	ctx_buf_put_u8(sql, ')');
}

static enum ctx_status put_text(const struct term *term, struct ctx_buf *sql, struct ctx_err *err)
{
	struct ctx_buf column CTX_AUTO_BUF = {0};

	if (term->operator[0] == '<' || term->operator[0] == '>')
		return ctx_err_set(
			err, CTX_E_ARG,
			"'%s': only duration, samples and lost are numbers; others are compared by = and !=",
			term->text);
	ctx_buf_put_text(sql, term->operator[0] == '!' ? "NOT (" : "(");
	if (is_build_id(term)) {
		ctx_buf_put_text(sql, "arrayExists(x -> ");
		put_fits(term, "x", sql);
		ctx_buf_put_text(sql, ", build_ids))");
		return CTX_OK;
	}
	put_column(term, &column);
	ctx_buf_put_u8(&column, '\0');
	if (ctx_buf_check(&column, err) != CTX_OK)
		return CTX_E_NOMEM;
	put_fits(term, (const char *)column.bytes, sql);
	ctx_buf_put_u8(sql, ')');
	return CTX_OK;
}

/* "10s", "5m", "1000": seconds for a duration where no unit is named. */
static bool read_number(const char *text, bool is_time, uint64_t *ret)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1},	 {"us", 1e3}, {"ms", 1e6},   {"", 1e9},
		     {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}, {"d", 86400e9}};
	char *end;
	double value = strtod(text, &end);

	if (end == text || strchr("0123456789", text[0]) == NULL || text[0] == '\0')
		return false;
	for (size_t i = 0; i < CTX_COUNT_OF(units); i++) {
		if (strcmp(end, is_time ? units[i].unit : "") != 0)
			continue;
		value *= is_time ? units[i].ns : 1;
		if (!(value >= 0 && value < 9e18))
			return false;
		*ret = (uint64_t)value;
		return true;
	}
	return false;
}

static enum ctx_status put_term(const char *text, struct ctx_buf *sql, struct ctx_err *err)
{
	const struct key *number;
	struct term term;
	uint64_t value;

	if (!read_term(text, &term))
		return ctx_err_set(err, CTX_E_ARG,
				   "'%s': expected KEY=VALUE, KEY!=VALUE or, of numbers, KEY>VALUE", text);
	number = find(numbers, CTX_COUNT_OF(numbers), &term);
	if (number == NULL)
		return put_text(&term, sql, err);
	if (!read_number(term.value, number == &numbers[0], &value))
		return ctx_err_set(err, CTX_E_ARG, "'%s': '%s' is not a number%s", text, term.value,
				   number == &numbers[0] ? " of seconds, or with ns, us, ms, s, m, h, d"
							 : "");
	ctx_buf_printf(sql, "(%s %s %" PRIu64 ")", number->column, term.operator, value);
	return CTX_OK;
}

/* Whether both ask the same key by =: one of them must be true. */
static bool are_choices(const char *a, const char *b)
{
	struct term first, second;

	return read_term(a, &first) && read_term(b, &second) && strcmp(first.operator, "=") == 0 &&
	       strcmp(second.operator, "=") == 0 && first.key_n == second.key_n &&
	       strncmp(first.key, second.key, first.key_n) == 0;
}

enum ctx_status ctx_where_put(const char *const *terms, size_t n, struct ctx_buf *sql, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	bool is_first = true;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		size_t earlier = 0;

		while (earlier < i && !are_choices(terms[earlier], terms[i]))
			earlier++;
		if (earlier < i)
			continue;
		ctx_buf_put_text(sql, is_first ? "(" : " AND (");
		is_first = false;
		status = put_term(terms[i], sql, err);
		for (size_t k = i + 1; k < n && status == CTX_OK; k++) {
			if (!are_choices(terms[i], terms[k]))
				continue;
			ctx_buf_put_text(sql, " OR ");
			status = put_term(terms[k], sql, err);
		}
		ctx_buf_put_u8(sql, ')');
	}
	if (is_first)
		ctx_buf_put_u8(sql, '1');
	return status == CTX_OK ? ctx_buf_check(sql, err) : status;
}

bool ctx_where_take_time(const char **at, uint64_t *ret_ns)
{
	static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};

	for (size_t i = 0; i < CTX_COUNT_OF(forms); i++) {
		struct tm parts = {0};
		const char *end = strptime(*at, forms[i], &parts);
		time_t seconds;

		/* The 20 of "10:00:2026-11-21" are no seconds. */
		if (end == NULL || (*end != '\0' && *end != ':'))
			continue;
		seconds = timegm(&parts);
		if (seconds < 0 || (uint64_t)seconds > UINT32_MAX)
			return false;
		*ret_ns = (uint64_t)seconds * UINT64_C(1000000000);
		*at = end;
		return true;
	}
	return false;
}
