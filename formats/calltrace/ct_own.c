/*
 * Our own form (docs/text-traces.md):
 *
 *	# unit ms
 *	0 main enter parse
 *	1.5 main exit parse
 */
#include "formats/calltrace/ct_dialect.h"

static const struct {
	const char *word;
	uint64_t ns;
} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

static const struct verb {
	const char *word;
	enum ctx_ct_kind kind;
	bool needs_name;
} verbs[] = {
	{"enter", CTX_CT_ENTER, true}, {"exit", CTX_CT_EXIT, false},	{"stack", CTX_CT_STACK, false},
	{"on", CTX_CT_ON, false},      {"off", CTX_CT_OFF, false},	{"end", CTX_CT_END, false},
	{"count", CTX_CT_COUNT, true}, {"sample", CTX_CT_SAMPLE, true},
};

#define N_VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const char *parse_comment(struct ctx_ct_parser *parser, struct ctx_ct_text line)
{
	ctx_ct_skip(&line, 1);
	ctx_ct_blanks(&line);
	if (!ctx_ct_take(&line, "unit "))
		return NULL;
	ctx_ct_trim(&line);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!ctx_ct_is(line, units[i].word))
			continue;
		if (parser->clock != CTX_CT_CLOCK_UNKNOWN)
			return "the unit comes after a time";
		parser->unit_ns = units[i].ns;
		return NULL;
	}
	return "the unit is not ns, us, ms or s";
}

static const struct verb *find_verb(struct ctx_ct_text word)
{
	for (size_t i = 0; i < N_VERBS; i++) {
		if (ctx_ct_is(word, verbs[i].word))
			return &verbs[i];
	}
	return NULL;
}

/* "page-faults 5" */
static bool parse_count(struct ctx_ct_record *record)
{
	struct ctx_ct_text rest = record->name;

	record->name = ctx_ct_word(&rest);
	return ctx_ct_number(rest, &record->number);
}

static const char *parse(struct ctx_ct_parser *parser, struct ctx_ct_text line, struct ctx_ct_record *ret)
{
	const struct verb *verb;
	struct ctx_ct_text time;

	*ret = (struct ctx_ct_record){.kind = CTX_CT_NOTHING};
	ctx_ct_trim(&line);
	if (line.n == 0)
		return NULL;
	if (line.at[0] == '#')
		return parse_comment(parser, line);
	time = ctx_ct_word(&line);
	if (!ctx_ct_time(time, parser->unit_ns != 0 ? parser->unit_ns : 1, &ret->time_ns))
		return "it does not begin with a time";
	parser->clock = CTX_CT_CLOCK_ABSOLUTE;
	ret->thread = ctx_ct_word(&line);
	verb = find_verb(ctx_ct_word(&line));
	if (verb == NULL)
		return "behind time and thread stands none of enter, exit, stack, on, off, end, count, "
		       "sample";
	if (verb->needs_name && line.n == 0)
		return "the name is missing";
	ret->name = line;
	if (verb->kind == CTX_CT_COUNT && !parse_count(ret))
		return "a count is a word and a number";
	ret->kind = verb->kind;
	return NULL;
}

/* The first line that is no comment is one of ours. */
static bool is(struct ctx_ct_text head)
{
	struct ctx_ct_parser parser = {0};
	struct ctx_ct_text line;

	while (ctx_ct_next_line(&head, &line)) {
		struct ctx_ct_record record;

		if (parse(&parser, line, &record) != NULL)
			return false;
		if (record.kind != CTX_CT_NOTHING)
			return true;
	}
	return false;
}

const struct ctx_ct_dialect ctx_ct_own = {.format = "text trace", .is = is, .parse = parse};
