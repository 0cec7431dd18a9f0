#include "formats/traceevent/te_parse.h"

#include "base/mem.h"
#include "base/xxh.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define LIST_KEY "traceEvents"

/* Values */

bool ctx_te_parse_us(const char *text, size_t n, int64_t *ret_ns)
{
	const char *at = text, *end = text + n;
	bool is_negative = n != 0 && *at == '-';
	int64_t value = 0;
	int digits = -1; /* behind the point */

	for (at += is_negative; at < end && digits < 3; at++) {
		if (*at == '.' && digits < 0) {
			digits = 0;
			continue;
		}
		if (!isdigit((unsigned char)*at))
			break;
		if (value > CTX_TE_TIME_MAX / 10)
			return false;
		value = value * 10 + (*at - '0');
		digits += digits >= 0;
	}
	while (at < end && isdigit((unsigned char)*at))
		at++;
	for (; digits < 3; digits++) {
		if (digits < 0)
			continue;
		if (value > CTX_TE_TIME_MAX / 10)
			return false;
		value *= 10;
	}
	if (at < end) { /* with an exponent */
		char copy[64];
		double us;

		if (n >= sizeof(copy) || (*at != 'e' && *at != 'E'))
			return false;
		memcpy(copy, text, n);
		copy[n] = '\0';
		us = strtod(copy, NULL);
		if (!(fabs(us) < (double)CTX_TE_DURATION_MAX / 1e3))
			return false;
		*ret_ns = (int64_t)(us * 1e3);
		return true;
	}
	*ret_ns = is_negative ? -value : value;
	return value <= CTX_TE_TIME_MAX && *ret_ns > CTX_TE_TIME_MIN;
}

static bool parse_whole(const char *text, size_t n, int64_t *ret)
{
	char copy[32], *end;

	if (n == 0 || n >= sizeof(copy))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	*ret = strtoll(copy, &end, 10);
	if (*end == '.' || *end == 'e' || *end == 'E')
		*ret = (int64_t)strtod(copy, &end);
	return *end == '\0';
}

static int stop(struct ctx_te_parse *parse, enum ctx_status status)
{
	parse->status = status;
	return 0; /* yajl ends */
}

static int add_name(struct ctx_te_parse *parse, const char *text, size_t n, uint32_t *ret)
{
	enum ctx_status status = ctx_strtab_add(parse->names, text, n, ret, parse->err);

	return status == CTX_OK ? 1 : stop(parse, status);
}

static void add_arg_text(struct ctx_te_event *event, const char *text, size_t n)
{
	memcpy(event->args + event->n_args, text, n);
	event->args[event->n_args + n] = '\0';
	event->n_args += n + 1;
}

/* The key of an argument; without room it is forgotten, and its value with it. */
static void begin_arg(struct ctx_te_event *event, const char *text, size_t n)
{
	event->is_arg_open = event->n_args + n + 1 <= CTX_TE_ARGS_BYTES / 2;
	if (event->is_arg_open)
		add_arg_text(event, text, strnlen(text, n)); /* a zero byte would be its end */
}

static void end_arg(struct ctx_te_event *event, char type, const char *text, size_t n)
{
	if (!event->is_arg_open)
		return;
	event->is_arg_open = false;
	if (n > CTX_TE_ARGS_BYTES / 4)
		n = CTX_TE_ARGS_BYTES / 4;
	event->args[event->n_args++] = type;
	add_arg_text(event, text, strnlen(text, n));
}

/* A value of text or a number, of an event's own key. */
static int take_value(struct ctx_te_parse *parse, const char *text, size_t n, bool is_number)
{
	struct ctx_te_event *event = &parse->event;
	int64_t *times[] = {[CTX_TE_TS] = &event->ts_ns,
			    [CTX_TE_DUR] = &event->dur_ns,
			    [CTX_TE_TTS] = &event->tts_ns,
			    [CTX_TE_TDUR] = &event->tdur_ns};
	bool is_pid = parse->key == CTX_TE_PID;

	switch (parse->key) {
	case CTX_TE_PH:
		event->phase = n == 1 ? text[0] : '?';
		break;
	case CTX_TE_TS:
	case CTX_TE_DUR:
	case CTX_TE_TTS:
	case CTX_TE_TDUR:
		if (!ctx_te_parse_us(text, n, times[parse->key]))
			return 1;
		break;
	case CTX_TE_PID:
	case CTX_TE_TID:
		event->has |= 1u << parse->key;
		if (parse_whole(text, n, is_pid ? &event->pid : &event->tid))
			return 1;
		return add_name(parse, text, n, is_pid ? &event->pid_text : &event->tid_text);
	case CTX_TE_NAME:
		return add_name(parse, text, n, &event->name);
	case CTX_TE_CAT:
		return n == 0 ? 1 : add_name(parse, text, n, &event->category);
	case CTX_TE_ID:
	case CTX_TE_SCOPE:
		event->id = (event->id ^ ctx_xxh3(text, n)) * 31 + (parse->key == CTX_TE_SCOPE) + is_number;
		break;
	case CTX_TE_ID2:
	case CTX_TE_ARGS:
	case CTX_TE_OTHER_KEY:
		return 1;
	}
	event->has |= 1u << parse->key;
	return 1;
}

/* Where a value stands, by the depth inside of the list: 1 event, 2 args or id2. */
static unsigned place(const struct ctx_te_parse *parse)
{
	return parse->list_depth != 0 && !parse->is_done ? parse->depth - parse->list_depth : 0;
}

static int on_scalar(struct ctx_te_parse *parse, const char *text, size_t n, bool is_number)
{
	unsigned at = place(parse);

	parse->is_list_next = false;
	if (at == 1)
		return take_value(parse, text, n, is_number);
	if (at == 2 && parse->key == CTX_TE_ARGS)
		end_arg(&parse->event, is_number ? 'n' : 's', text, n);
	else if (at == 2 && parse->key == CTX_TE_ID2) {
		parse->event.id = (parse->event.id ^ ctx_xxh3(text, n)) * 31 + 7;
		parse->event.has |= 1u << CTX_TE_ID;
	}
	return 1;
}

static int on_string(void *context, const unsigned char *text, size_t n)
{
	return on_scalar(context, (const char *)text, n, false);
}

static int on_number(void *context, const char *text, size_t n)
{
	return on_scalar(context, text, n, true);
}

static int on_word(void *context, const char *text)
{
	struct ctx_te_parse *parse = context;

	parse->is_list_next = false;
	if (place(parse) == 2 && parse->key == CTX_TE_ARGS)
		end_arg(&parse->event, 'w', text, strlen(text));
	return 1;
}

static int on_null(void *context)
{
	return on_word(context, "null");
}

static int on_boolean(void *context, int value)
{
	return on_word(context, value != 0 ? "true" : "false");
}

static enum ctx_te_key find_key(const char *text, size_t n)
{
	static const struct {
		const char *text;
		size_t n;
	} keys[] = {[CTX_TE_PH] = {"ph", 2},	[CTX_TE_TS] = {"ts", 2},     [CTX_TE_DUR] = {"dur", 3},
		    [CTX_TE_TTS] = {"tts", 3},	[CTX_TE_TDUR] = {"tdur", 4}, [CTX_TE_PID] = {"pid", 3},
		    [CTX_TE_TID] = {"tid", 3},	[CTX_TE_NAME] = {"name", 4}, [CTX_TE_CAT] = {"cat", 3},
		    [CTX_TE_ID] = {"id", 2},	[CTX_TE_ID2] = {"id2", 3},   [CTX_TE_SCOPE] = {"scope", 5},
		    [CTX_TE_ARGS] = {"args", 4}};

	for (size_t i = 0; i < CTX_TE_OTHER_KEY; i++) {
		if (keys[i].n == n && keys[i].text[0] == text[0] && memcmp(keys[i].text, text, n) == 0)
			return (enum ctx_te_key)i;
	}
	return CTX_TE_OTHER_KEY;
}

static int on_key(void *context, const unsigned char *text, size_t n)
{
	struct ctx_te_parse *parse = context;
	unsigned at = place(parse);

	if (at == 1)
		parse->key = find_key((const char *)text, n);
	else if (at == 2 && parse->key == CTX_TE_ARGS)
		begin_arg(&parse->event, (const char *)text, n);
	else if (parse->depth == 1 && parse->list_depth == 0)
		parse->is_list_next = n == strlen(LIST_KEY) && memcmp(text, LIST_KEY, n) == 0;
	return 1;
}

static int on_begin(struct ctx_te_parse *parse, bool is_list)
{
	parse->depth++;
	if (parse->depth == 1)
		parse->is_file_object = !is_list;
	if (parse->list_depth == 0) {
		if (is_list && (parse->depth == 1 || parse->is_list_next))
			parse->list_depth = parse->depth;
	} else if (place(parse) == 1 && !is_list) {
		parse->event.has = 0;
		parse->event.phase = '\0';
		parse->event.pid = parse->event.tid = 0;
		parse->event.pid_text = parse->event.tid_text = CTX_TE_NO_NAME;
		parse->event.name = parse->event.category = CTX_TE_NO_NAME;
		parse->event.id = 0;
		parse->event.n_args = 0;
		parse->event.is_arg_open = false;
		parse->key = CTX_TE_OTHER_KEY;
	} else if (place(parse) == 1) {
		parse->key = CTX_TE_OTHER_KEY;
	} else if (place(parse) == 3 && parse->key == CTX_TE_ARGS) {
		end_arg(&parse->event, 'w', "", 0);
	}
	parse->is_list_next = false;
	return 1;
}

static int on_begin_object(void *context)
{
	return on_begin(context, false);
}

static int on_begin_list(void *context)
{
	return on_begin(context, true);
}

static int on_end_object(void *context)
{
	struct ctx_te_parse *parse = context;
	enum ctx_status status;

	if (place(parse) == 1) {
		parse->depth--;
		parse->n_events++;
		status = parse->take(parse->context, &parse->event, parse->err);
		return status == CTX_OK ? 1 : stop(parse, status);
	}
	parse->depth--;
	return 1;
}

static int on_end_list(void *context)
{
	struct ctx_te_parse *parse = context;

	if (parse->depth == parse->list_depth)
		parse->is_done = true;
	parse->depth--;
	return parse->is_done ? stop(parse, CTX_END) : 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_begin_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end_object,
	.yajl_start_array = on_begin_list,
	.yajl_end_array = on_end_list,
};

/* Files */

static yajl_handle make_yajl(struct ctx_te_parse *parse)
{
	yajl_handle yajl = yajl_alloc(&callbacks, NULL, parse);

	if (yajl != NULL)
		yajl_config(yajl, yajl_dont_validate_strings, 1);
	return yajl;
}

/* The next line of the piece that begins with an event, perhaps behind a comma; SIZE_MAX: none. */
static size_t find_event(const struct ctx_te_input *input, size_t at)
{
	const uint8_t *bytes = input->bytes;

	while (at < input->n) {
		const uint8_t *end = memchr(bytes + at, '\n', input->n - at);

		if (end == NULL)
			return SIZE_MAX;
		at = (size_t)(end - bytes) + 1;
		while (at < input->n && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == ','))
			at++;
		if (at < input->n && bytes[at] == '{')
			return at;
	}
	return SIZE_MAX;
}

struct pass { /* over a file */
	struct ctx_te_parse *parse;
	struct ctx_te_input input;
	yajl_handle yajl;
	bool is_lost; /* behind an error, up to the next event */
};

static void pass_end(struct pass *pass)
{
	if (pass->yajl != NULL)
		yajl_free(pass->yajl);
	ctx_te_input_close(&pass->input);
}

/* As if a new list began. */
static enum ctx_status begin_anew(struct pass *pass, struct ctx_err *err)
{
	struct ctx_te_parse *parse = pass->parse;

	yajl_free(pass->yajl);
	pass->yajl = make_yajl(parse);
	if (pass->yajl == NULL)
		return ctx_err_nomem(err);
	parse->depth = parse->list_depth = 0;
	parse->is_list_next = false;
	pass->is_lost = false;
	yajl_parse(pass->yajl, (const unsigned char *)"[", 1);
	return CTX_OK;
}

/* Says what is wrong there. */
static enum ctx_status tell_error(struct pass *pass, size_t at, struct ctx_err *err)
{
	const char *path = strrchr(pass->input.path, '/');
	unsigned long long line = ctx_te_input_line(&pass->input, at), offset = pass->input.offset + at;

	path = path != NULL ? path + 1 : pass->input.path;
	if (pass->parse->list_depth == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: line %llu, offset %llu: no JSON", pass->input.path,
				   line, offset);
	return ctx_source_notes_damage(pass->parse->notes, err, "%s: line %llu, offset %llu: no JSON", path,
				       line, offset);
}

/* Goes through the piece. CTX_END: the list has ended. */
static enum ctx_status read_piece(struct pass *pass, struct ctx_err *err)
{
	struct ctx_te_parse *parse = pass->parse;
	const struct ctx_te_input *input = &pass->input;
	size_t at = 0;

	if (input->offset == 0 && input->n >= 3 && memcmp(input->bytes, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	while (at < input->n) {
		enum ctx_status status = CTX_OK;
		size_t begin;

		if (pass->is_lost) {
			at = find_event(input, at);
			if (at == SIZE_MAX)
				return CTX_OK;
			status = begin_anew(pass, err);
		}
		if (status != CTX_OK)
			return status;
		parse->err = err;
		parse->status = CTX_OK;
		if (yajl_parse(pass->yajl, input->bytes + at, input->n - at) == yajl_status_ok)
			return CTX_OK;
		if (parse->status != CTX_OK)
			return parse->status;
		begin = at;
		at += yajl_get_bytes_consumed(pass->yajl);
		status = tell_error(pass, at, err);
		if (status != CTX_OK)
			return status;
		pass->is_lost = true;
		at = at > begin + 3 ? at - 2 : begin + 1; /* the line may have begun with what is wrong */
	}
	return CTX_OK;
}

/* Behind the last piece: what is missing. */
static enum ctx_status end_pass(struct pass *pass, struct ctx_err *err)
{
	const struct ctx_te_parse *parse = pass->parse;
	const char *name = strrchr(pass->input.path, '/');
	unsigned long long end = pass->input.offset + pass->input.n;

	name = name != NULL ? name + 1 : pass->input.path;
	if (parse->list_depth == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: offset %llu: ends before its list of events",
				   pass->input.path, end);
	if (pass->input.is_cut)
		return ctx_source_notes_damage(
			parse->notes, err, "%s: offset %llu: cannot be unpacked any further: cut or damaged",
			name, end);
	if (!parse->is_done && (place(parse) != 0 || parse->is_file_object) && !pass->is_lost)
		return ctx_source_notes_damage(parse->notes, err, "%s: offset %llu: cut", name, end);
	return CTX_OK;
}

enum ctx_status ctx_te_parse_file(struct ctx_te_parse *parse, const char *path, struct ctx_err *err)
{
	struct pass pass CTX_CLEANUP(pass_end) = {.parse = parse};
	enum ctx_status status = ctx_te_input_open(&pass.input, path, err);

	if (status != CTX_OK)
		return status;
	pass.yajl = make_yajl(parse);
	if (pass.yajl == NULL)
		return ctx_err_nomem(err);
	while (status == CTX_OK && !parse->is_done) {
		status = ctx_te_input_next(&pass.input, err);
		if (status == CTX_OK)
			status = read_piece(&pass, err);
	}
	return status == CTX_END ? end_pass(&pass, err) : status;
}
