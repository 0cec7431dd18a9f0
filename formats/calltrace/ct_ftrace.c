/*
 * The function_graph tracer, as `trace-cmd report` prints it and as the kernel's own text has it:
 *
 *	  sshd-1234  [001] 1234.567890: funcgraph_entry:                   |  do_sys_open() {
 *	  sshd-1234  [001] 1234.567891: funcgraph_entry:        0.123 us   |    getname();
 *	  sshd-1234  [001] 1234.567900: funcgraph_exit:         9.123 us   |  }
 *
 *	# tracer: function_graph
 *	     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
 *	  1234.567891 |   0)    sshd-1234    |   0.123 us    |    getname();
 *
 * Without the option funcgraph-abstime the kernel's text has no times. Then each processor is a part of its own,
 * and calls lie end to end: the durations are true, the time between calls is not known.
 */
#include "formats/calltrace/ct_dialect.h"

#include <string.h>

/* "+ 15.2 us", "15 us |", "": of ret->kind a call that is a leaf, or ends. */
static bool parse_duration(struct ctx_ct_text text, uint64_t *ret)
{
	struct ctx_ct_text number;

	ctx_ct_trim(&text);
	while (text.n != 0 && (*text.at < '0' || *text.at > '9'))
		ctx_ct_skip(&text, 1);
	number = ctx_ct_word(&text);
	return ctx_ct_begins(text, "us") && ctx_ct_time(number, 1000, ret);
}

/* "name() {", "name();", "}": the kind, and the name. */
static const char *parse_function(struct ctx_ct_text text, struct ctx_ct_record *ret)
{
	size_t comment = ctx_ct_find(text, "/*"), parenthesis;

	text.n = comment;
	ctx_ct_trim(&text);
	if (text.n == 0) /* a comment alone */
		return NULL;
	if (*text.at == '}') {
		ret->kind = CTX_CT_EXIT;
		return NULL;
	}
	parenthesis = ctx_ct_find(text, "(");
	if (parenthesis == 0 || parenthesis == text.n)
		return "it has no function";
	ret->name = (struct ctx_ct_text){text.at, parenthesis};
	ctx_ct_trim(&ret->name);
	ret->kind = text.at[text.n - 1] == '{' ? CTX_CT_ENTER : CTX_CT_LEAF;
	return NULL;
}

/* "sshd-1234": the number behind the last dash. A processor's idle tasks have one number. */
static void set_task(struct ctx_ct_text task, struct ctx_ct_text cpu, struct ctx_ct_record *ret)
{
	size_t dash = task.n;

	while (dash != 0 && task.at[dash - 1] != '-')
		dash--;
	ret->thread = (struct ctx_ct_text){task.at + dash, task.n - dash};
	ret->thread_name = (struct ctx_ct_text){task.at, dash != 0 ? dash - 1 : 0};
	if (ctx_ct_is(ret->thread, "0"))
		ret->thread = cpu;
}

static const char *parse_trace_cmd(struct ctx_ct_parser *parser, struct ctx_ct_text line,
				   struct ctx_ct_record *ret)
{
	size_t event = ctx_ct_find(line, ": funcgraph_e"), bar, cpu;
	struct ctx_ct_text head = {line.at, event}, task, time;

	(void)parser;
	*ret = (struct ctx_ct_record){.kind = CTX_CT_NOTHING};
	if (event == line.n)
		return NULL;
	cpu = ctx_ct_find(head, " [");
	if (cpu == head.n)
		return "it has no processor";
	task = (struct ctx_ct_text){head.at, cpu};
	ctx_ct_trim(&task);
	ctx_ct_skip(&head, cpu + 1);
	set_task(task, ctx_ct_word(&head), ret);
	ctx_ct_trim(&head);
	/* Flags may stand before the time. */
	for (time = ctx_ct_word(&head); head.n != 0; time = ctx_ct_word(&head))
		;
	if (!ctx_ct_time(time, 1000000000, &ret->time_ns))
		return "it has no time";
	bar = ctx_ct_find(line, "|");
	if (bar == line.n)
		return "it has no function";
	event += strlen(": funcgraph_entry:");
	if (event < bar)
		parse_duration((struct ctx_ct_text){line.at + event, bar - event}, &ret->duration_ns);
	ctx_ct_skip(&line, bar + 1);
	return parse_function(line, ret);
}

static bool is_trace_cmd(struct ctx_ct_text head)
{
	return ctx_ct_find(head, ": funcgraph_entry:") != head.n;
}

/* The processor's clock where there are durations alone. */
static const char *keep_time(struct ctx_ct_parser *parser, struct ctx_ct_record *record)
{
	record->time_ns = parser->clock_ns;
	if (record->kind == CTX_CT_ENTER) {
		if (parser->n_begins == CTX_CT_CLOCK_DEPTH)
			return "calls are nested too deep";
		parser->begins[parser->n_begins++] = parser->clock_ns;
	} else if (record->kind == CTX_CT_LEAF) {
		parser->clock_ns += record->duration_ns;
	} else if (record->kind == CTX_CT_EXIT) {
		uint64_t begin_ns = parser->n_begins != 0 ? parser->begins[--parser->n_begins] : 0;

		if (parser->clock_ns < begin_ns + record->duration_ns)
			parser->clock_ns = begin_ns + record->duration_ns;
		record->time_ns = parser->clock_ns;
	}
	return NULL;
}

static void keep_task(struct ctx_ct_parser *parser, struct ctx_ct_text task)
{
	size_t n = task.n < sizeof(parser->task) ? task.n : sizeof(parser->task) - 1;

	memcpy(parser->task, task.at, n);
	parser->task[n] = '\0';
}

/* " sshd-1234 => bash-5678": the processor runs another task. */
static bool parse_switch(struct ctx_ct_parser *parser, struct ctx_ct_text rest)
{
	size_t arrow = ctx_ct_find(rest, " => ");

	if (arrow == rest.n || ctx_ct_find(rest, "|") != rest.n)
		return false;
	ctx_ct_skip(&rest, arrow + strlen(" => "));
	ctx_ct_trim(&rest);
	keep_task(parser, rest);
	return true;
}

/* The task, if the text has it, and the duration: what stands between the processor and the function. */
static void parse_columns(const struct ctx_ct_parser *parser, struct ctx_ct_text cpu, struct ctx_ct_text rest,
			  struct ctx_ct_record *ret)
{
	size_t bar = ctx_ct_find(rest, "|");

	if (bar != rest.n) {
		struct ctx_ct_text task = {rest.at, bar};

		ctx_ct_trim(&task);
		set_task(task, cpu, ret);
		ctx_ct_skip(&rest, bar + 1);
	} else if (parser->task[0] != '\0') {
		set_task((struct ctx_ct_text){parser->task, strlen(parser->task)}, cpu, ret);
	} else {
		ret->thread = cpu;
		ret->thread_name = (struct ctx_ct_text){"processor", strlen("processor")};
	}
	parse_duration(rest, &ret->duration_ns);
}

static const char *parse_ftrace(struct ctx_ct_parser *parser, struct ctx_ct_text line,
				struct ctx_ct_record *ret)
{
	struct ctx_ct_text rest = line, word, cpu;
	bool has_time = false;
	const char *wrong;
	uint64_t number;
	size_t bar;

	*ret = (struct ctx_ct_record){.kind = CTX_CT_NOTHING};
	ctx_ct_blanks(&rest);
	word = ctx_ct_word(&rest);
	if (ctx_ct_find(word, ".") != word.n && ctx_ct_time(word, 1000000000, &ret->time_ns) &&
	    ctx_ct_take(&rest, "|")) {
		has_time = true;
		ctx_ct_blanks(&rest);
		word = ctx_ct_word(&rest);
	}
	if (word.n < 2 || word.at[word.n - 1] != ')')
		return NULL;
	cpu = (struct ctx_ct_text){word.at, word.n - 1};
	if (!ctx_ct_number(cpu, &number) || (parser->only_cpu != 0 && parser->only_cpu != number + 1) ||
	    parse_switch(parser, rest))
		return NULL;
	ret->number = number;
	bar = rest.n;
	while (bar != 0 && rest.at[bar - 1] != '|')
		bar--;
	if (bar == 0)
		return NULL;
	parse_columns(parser, cpu, (struct ctx_ct_text){rest.at, bar - 1}, ret);
	ctx_ct_skip(&rest, bar);
	wrong = parse_function(rest, ret);
	return wrong != NULL || has_time ? wrong : keep_time(parser, ret);
}

static bool is_ftrace(struct ctx_ct_text head)
{
	struct ctx_ct_text line;

	while (ctx_ct_next_line(&head, &line) && line.n != 0 && *line.at == '#') {
		if (ctx_ct_begins(line, "# tracer: function_graph"))
			return true;
	}
	return false;
}

const struct ctx_ct_dialect ctx_ct_trace_cmd = {
	.format = "trace-cmd report", .object = "[kernel]", .is = is_trace_cmd, .parse = parse_trace_cmd};
const struct ctx_ct_dialect ctx_ct_ftrace = {.format = "ftrace text",
					     .object = "[kernel]",
					     .is = is_ftrace,
					     .parse = parse_ftrace,
					     .by_processor = true};
