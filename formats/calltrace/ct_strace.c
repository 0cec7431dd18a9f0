/*
 * What strace prints with -r, -tt or -ttt, with -f or without, with -T or without:
 *
 *	[pid  1234]      0.000123 read(3, "x", 1) = 1 <0.000012>
 *	1234  12:34:56.123456 poll([...] <unfinished ...>
 *	1234  12:34:56.223456 <... poll resumed>) = 0 <0.100000>
 *
 * A call without -T that was not interrupted has no known end: it is counted, with no time.
 */
#include "formats/calltrace/ct_dialect.h"

#include <string.h>

#define EPOCH_NS (UINT64_C(100000000) * 1000000000) /* later times are -ttt, not -r */
#define DAY_NS (UINT64_C(86400) * 1000000000)

/* "[pid  1234] " or "1234  " before the time. */
static struct ctx_ct_text take_pid(struct ctx_ct_text *line)
{
	struct ctx_ct_text pid = {0}, rest = *line;
	uint64_t number;

	if (ctx_ct_take(&rest, "[pid")) {
		size_t end = ctx_ct_find(rest, "]");

		pid = (struct ctx_ct_text){rest.at, end};
		ctx_ct_trim(&pid);
		if (end == rest.n || !ctx_ct_number(pid, &number))
			return (struct ctx_ct_text){0};
		ctx_ct_skip(&rest, end + 1);
	} else {
		pid = ctx_ct_word(&rest);
		if (!ctx_ct_number(pid, &number))
			return (struct ctx_ct_text){0};
	}
	ctx_ct_blanks(&rest);
	*line = rest;
	return pid;
}

/* "12:34:56.789": of a day, which may end meanwhile. */
static bool parse_clock(struct ctx_ct_parser *parser, struct ctx_ct_text word, uint64_t *ret)
{
	uint64_t hours, minutes, part, time_ns;

	if (word.n < 8 || word.at[2] != ':' || word.at[5] != ':' ||
	    !ctx_ct_number((struct ctx_ct_text){word.at, 2}, &hours) ||
	    !ctx_ct_number((struct ctx_ct_text){word.at + 3, 2}, &minutes) ||
	    !ctx_ct_time((struct ctx_ct_text){word.at + 6, word.n - 6}, 1000000000, &part))
		return false;
	time_ns = (hours * 60 + minutes) * 60000000000 + part;
	while (time_ns + DAY_NS / 2 < parser->clock_ns)
		time_ns += DAY_NS;
	parser->clock_ns = *ret = time_ns;
	return true;
}

static bool parse_time(struct ctx_ct_parser *parser, struct ctx_ct_text word, uint64_t *ret)
{
	uint64_t time_ns;

	if (ctx_ct_find(word, ":") != word.n)
		return parse_clock(parser, word, ret);
	if (ctx_ct_find(word, ".") == word.n || !ctx_ct_time(word, 1000000000, &time_ns))
		return false;
	if (parser->clock == CTX_CT_CLOCK_UNKNOWN)
		parser->clock = time_ns < EPOCH_NS ? CTX_CT_CLOCK_RELATIVE : CTX_CT_CLOCK_ABSOLUTE;
	if (parser->clock == CTX_CT_CLOCK_RELATIVE) {
		if (time_ns > EPOCH_NS || parser->clock_ns > UINT64_MAX / 4)
			return false;
		time_ns = parser->clock_ns += time_ns;
	}
	*ret = time_ns;
	return true;
}

/* "<0.000012>" at the end. */
static bool parse_duration(struct ctx_ct_text line, uint64_t *ret)
{
	size_t begin = line.n;

	if (line.n == 0 || line.at[line.n - 1] != '>')
		return false;
	while (begin != 0 && line.at[begin - 1] != '<')
		begin--;
	return begin != 0 &&
	       ctx_ct_time((struct ctx_ct_text){line.at + begin, line.n - 1 - begin}, 1000000000, ret);
}

static size_t name_length(struct ctx_ct_text text)
{
	size_t n = 0;

	while (n < text.n &&
	       ((text.at[n] >= 'a' && text.at[n] <= 'z') || (text.at[n] >= '0' && text.at[n] <= '9') ||
		text.at[n] == '_' || (text.at[n] >= 'A' && text.at[n] <= 'Z')))
		n++;
	return n;
}

static const char *parse_call(struct ctx_ct_text line, struct ctx_ct_record *ret)
{
	ret->name = (struct ctx_ct_text){line.at, name_length(line)};
	if (ret->name.n == 0 || ret->name.n == line.n || line.at[ret->name.n] != '(')
		return "behind the time stands no system call";
	if (ctx_ct_find(line, " <unfinished ...>") != line.n) {
		ret->kind = CTX_CT_ENTER;
		return NULL;
	}
	ret->kind = CTX_CT_LEAF;
	parse_duration(line, &ret->duration_ns);
	return NULL;
}

static const char *parse(struct ctx_ct_parser *parser, struct ctx_ct_text line, struct ctx_ct_record *ret)
{
	static const char no_pid[] = "strace";
	struct ctx_ct_text time;

	*ret = (struct ctx_ct_record){.kind = CTX_CT_NOTHING};
	ctx_ct_trim(&line);
	if (line.n == 0 || ctx_ct_begins(line, "strace: "))
		return NULL;
	ret->thread = take_pid(&line);
	if (ret->thread.n == 0)
		ret->thread = (struct ctx_ct_text){no_pid, strlen(no_pid)};
	time = ctx_ct_word(&line);
	if (!parse_time(parser, time, &ret->time_ns))
		return "it has no time: strace needs -r, -tt or -ttt";
	if (ctx_ct_begins(line, "--- "))
		return NULL;
	if (ctx_ct_begins(line, "+++ ")) {
		ret->kind = CTX_CT_END;
		return NULL;
	}
	if (ctx_ct_take(&line, "<... ")) {
		ret->name = (struct ctx_ct_text){line.at, name_length(line)};
		ret->kind = CTX_CT_EXIT;
		return NULL;
	}
	return parse_call(line, ret);
}

/* A line of a call, or one that says which program is followed. */
static bool is(struct ctx_ct_text head)
{
	struct ctx_ct_parser parser = {0};
	struct ctx_ct_text line;

	while (ctx_ct_next_line(&head, &line)) {
		struct ctx_ct_record record;

		if (parse(&parser, line, &record) != NULL)
			return false;
		if (record.kind == CTX_CT_ENTER || record.kind == CTX_CT_EXIT)
			return true;
		if (record.kind == CTX_CT_LEAF)
			return ctx_ct_find(line, " = ") != line.n || ctx_ct_begins(record.name, "exit");
	}
	return false;
}

const struct ctx_ct_dialect ctx_ct_strace = {
	.format = "strace", .object = "<system calls>", .is = is, .parse = parse};
