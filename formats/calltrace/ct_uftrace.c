/*
 * What `uftrace dump` prints, task after task:
 *
 *	reading 73755.dat
 *	105430.415350255  73755: [entry] main(4004d0) depth: 0
 *	105430.415353034  73755: [exit ] main(4004d0) depth: 0
 */
#include "formats/calltrace/ct_dialect.h"

static const char *parse(struct ctx_ct_parser *parser, struct ctx_ct_text line, struct ctx_ct_record *ret)
{
	struct ctx_ct_text time, what;
	size_t depth;

	(void)parser;
	*ret = (struct ctx_ct_record){.kind = CTX_CT_NOTHING};
	ctx_ct_blanks(&line);
	if (ctx_ct_take(&line, "reading ")) {
		ret->kind = CTX_CT_PART;
		return NULL;
	}
	if (line.n == 0 || line.at[0] < '0' || line.at[0] > '9')
		return NULL;
	time = ctx_ct_word(&line);
	ret->thread = ctx_ct_word(&line);
	if (ret->thread.n < 2 || ret->thread.at[ret->thread.n - 1] != ':')
		return NULL;
	ret->thread.n--;
	what = line;
	if (!ctx_ct_take(&line, "[entry] ") && !ctx_ct_take(&line, "[exit ] "))
		return NULL;
	if (!ctx_ct_time(time, 1000000000, &ret->time_ns))
		return "the time is no number of seconds";
	depth = ctx_ct_find(line, " depth: ");
	if (depth == line.n)
		return "the depth is missing";
	line.n = depth;
	/* The last "(address)". */
	while (line.n != 0 && line.at[line.n - 1] != '(')
		line.n--;
	if (line.n < 2)
		return "the function is missing";
	line.n--;
	ret->name = line;
	ret->kind = ctx_ct_begins(what, "[entry]") ? CTX_CT_ENTER : CTX_CT_EXIT;
	return NULL;
}

static bool is(struct ctx_ct_text head)
{
	struct ctx_ct_text line;

	return ctx_ct_begins(head, "uftrace file header:") ||
	       (ctx_ct_next_line(&head, &line) && ctx_ct_begins(line, "reading ") &&
		ctx_ct_find(line, ".dat") != line.n);
}

const struct ctx_ct_dialect ctx_ct_uftrace = {
	.format = "uftrace dump", .is = is, .parse = parse, .has_parts = true};
