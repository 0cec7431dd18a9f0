#include "formats/stacktext/st_line.h"

#include "base/digits.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define SECONDS_MAX UINT64_C(10000000000)
#define WORDS_MAX 64 /* a command name has 15 bytes, so at most 8 words */
#define COMMAND_MAX 64u
#define ADDRESS_PLACES 16u
#define TIME_BYTES_MIN 9u /* "0.000000:" */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_text(struct ctx_st_text text, const char *other)
{
	return text.n == strlen(other) && memcmp(text.at, other, text.n) == 0;
}

/* The next word and the rest behind it. False: only blanks are left. */
static bool take_word(struct ctx_st_text *rest, struct ctx_st_text *ret)
{
	while (rest->n != 0 && is_blank(*rest->at)) {
		rest->at++;
		rest->n--;
	}
	*ret = (struct ctx_st_text){rest->at, 0};
	while (ret->n < rest->n && !is_blank(rest->at[ret->n]))
		ret->n++;
	rest->at += ret->n;
	rest->n -= ret->n;
	return ret->n != 0;
}

/* Decimal digits, all of the text. */
static bool number_of(struct ctx_st_text text, uint64_t *ret)
{
	uint64_t value = 0;

	if (text.n == 0 || text.n > 19)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(text.at[i] - '0');
	}
	*ret = value;
	return true;
}

/* Hexadecimal digits, all of the text. */
static bool address_of(struct ctx_st_text text, uint64_t *ret)
{
	uint64_t value = 0;

	if (text.n == 0)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		int digit = ctx_digit(text.at[i]);

		if (digit < 0 || value >> 60 != 0)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	*ret = value;
	return true;
}

/* "123" or "100/123", also "-1". */
static bool take_ids(struct ctx_st_text word, struct ctx_st_sample *ret)
{
	const char *slash = memchr(word.at, '/', word.n);
	struct ctx_st_text first = {word.at, slash != NULL ? (size_t)(slash - word.at) : word.n};
	struct ctx_st_text second = first;
	uint64_t pid, tid;

	if (is_text(word, "-1") || is_text(word, "-1/-1")) {
		ret->pid = ret->tid = -1;
		ret->has_ids = true;
		return true;
	}
	if (slash != NULL)
		second = (struct ctx_st_text){slash + 1, word.n - first.n - 1};
	if (!number_of(first, &pid) || !number_of(second, &tid) || pid > INT32_MAX || tid > INT32_MAX)
		return false;
	ret->pid = (int64_t)pid;
	ret->tid = (int64_t)tid;
	ret->has_ids = true;
	return true;
}

/* "[002]" */
static bool take_cpu(struct ctx_st_text word, struct ctx_st_sample *ret)
{
	uint64_t cpu;

	if (word.n < 3 || word.at[0] != '[' || word.at[word.n - 1] != ']' ||
	    !number_of((struct ctx_st_text){word.at + 1, word.n - 2}, &cpu) || cpu > INT32_MAX)
		return false;
	ret->cpu = (int32_t)cpu;
	return true;
}

/* "7037.203982:", with six or nine decimals. */
static bool take_time(struct ctx_st_text word, struct ctx_st_sample *ret)
{
	const char *dot = memchr(word.at, '.', word.n);
	struct ctx_st_text decimals;
	uint64_t seconds, part;

	if (dot == NULL || word.n < 4 || word.at[word.n - 1] != ':')
		return false;
	decimals = (struct ctx_st_text){dot + 1, (size_t)(word.at + word.n - dot) - 2};
	if (!number_of((struct ctx_st_text){word.at, (size_t)(dot - word.at)}, &seconds) ||
	    seconds > SECONDS_MAX || decimals.n > 9 || !number_of(decimals, &part))
		return false;
	for (size_t i = decimals.n; i < 9; i++)
		part *= 10;
	ret->has_time = true;
	ret->time_ns = seconds * NS_PER_S + part;
	return true;
}

/* "cycles:u:" */
static bool take_event(struct ctx_st_text word, struct ctx_st_sample *ret)
{
	if (word.n < 2 || word.at[word.n - 1] != ':' || !isalpha((unsigned char)word.at[0]))
		return false;
	ret->event = (struct ctx_st_text){word.at, word.n - 1};
	return true;
}

/* Without a module it could be text of a tracepoint; perf prints addresses with 16 places. */
static bool is_wide_address(struct ctx_st_text rest)
{
	const char *begin = rest.at;
	struct ctx_st_text word;
	uint64_t address;

	return take_word(&rest, &word) && address_of(word, &address) &&
	       (size_t)(word.at + word.n - begin) >= ADDRESS_PLACES && take_word(&rest, &word);
}

/* What follows the ids; false: nothing that belongs to a sample. */
static bool take_fields(struct ctx_st_text rest, struct ctx_st_sample *ret)
{
	struct ctx_st_text before = rest, word;
	bool any = false;

	if (take_word(&rest, &word) && take_cpu(word, ret))
		before = rest;
	rest = before;
	if (take_word(&rest, &word) && take_time(word, ret)) {
		before = rest;
		any = true;
	}
	rest = before;
	if (take_word(&rest, &word) && number_of(word, &ret->period)) {
		struct ctx_st_text behind = rest;

		/* A number is a period only before an event. */
		if (take_word(&rest, &word) && take_event(word, ret)) {
			before = rest;
			any = true;
		} else {
			ret->period = 0;
		}
		(void)behind;
	} else if (word.n != 0 && take_event(word, ret)) {
		before = rest;
		any = true;
	}
	rest = before;
	ret->has_leaf = any && rest.n != 0 && ctx_st_frame_parse(rest.at, rest.n, &ret->leaf) &&
			ret->leaf.address != 0 && (ret->leaf.module.at != NULL || is_wide_address(rest));
	return any;
}

/* The words before a field. */
static struct ctx_st_text command_before(const char *line, const char *field)
{
	struct ctx_st_text command = {line, (size_t)(field - line)};

	while (command.n != 0 && is_blank(line[command.n - 1]))
		command.n--;
	return command;
}

/* "app-1234", as ftrace and trace-cmd write a thread. */
static bool ends_with_pid(struct ctx_st_text text)
{
	size_t n = text.n;

	while (n != 0 && isdigit((unsigned char)text.at[n - 1]))
		n--;
	return n != text.n && n != 0 && text.at[n - 1] == '-';
}

/*
 * A line without ids, but with a time: "app [002] 7037.203982: cycles:u:", where the command may be missing, too. Lines
 * of ftrace have flags between the processor and the time.
 */
static bool timed_sample(const char *line, size_t n, struct ctx_st_sample *ret)
{
	struct ctx_st_text rest = {line, n}, word;

	for (int i = 0; i < WORDS_MAX; i++) {
		struct ctx_st_text fields = rest;
		bool is_cpu;

		if (!take_word(&rest, &word))
			return false;
		*ret = (struct ctx_st_sample){.cpu = -1, .pid = -1, .tid = -1};
		is_cpu = take_cpu(word, ret);
		if (!is_cpu && (!take_time(word, ret) || word.n < TIME_BYTES_MIN))
			continue;
		ret->has_time = false;
		ret->command = command_before(line, word.at);
		return take_fields(fields, ret) && ret->has_time && (ret->event.n != 0 || ret->has_leaf) &&
		       ret->command.n <= COMMAND_MAX && !(is_cpu && ends_with_pid(ret->command));
	}
	return false;
}

bool ctx_st_sample_parse(const char *line, size_t n, struct ctx_st_sample *ret)
{
	struct ctx_st_text rest, word;

	while (n != 0 && is_blank(*line)) { /* names are aligned to the right */
		line++;
		n--;
	}
	if (n == 0 || line[0] == '#')
		return false;
	rest = (struct ctx_st_text){line, n};
	for (int i = 0; i < WORDS_MAX && take_word(&rest, &word); i++) {
		*ret = (struct ctx_st_sample){.cpu = -1};
		if (take_time(word, ret)) /* ids come before it: what follows is a period */
			break;
		if (i == 0 || !take_ids(word, ret) || !take_fields(rest, ret))
			continue;
		ret->command = command_before(line, word.at);
		return true;
	}
	return timed_sample(line, n, ret);
}

/* All that is left is fields, of which none is needed. */
static bool is_fields(struct ctx_st_text rest, struct ctx_st_sample *ret)
{
	struct ctx_st_text before = rest, word;

	*ret = (struct ctx_st_sample){.cpu = -1, .pid = -1, .tid = -1};
	if (take_word(&rest, &word) && take_ids(word, ret))
		before = rest;
	rest = before;
	if (take_word(&rest, &word) && take_cpu(word, ret))
		before = rest;
	rest = before;
	if (take_word(&rest, &word) && take_event(word, ret))
		before = rest;
	return !take_word(&before, &word);
}

bool ctx_st_head_parse(const char *line, size_t n, struct ctx_st_sample *ret)
{
	struct ctx_st_text rest, word;

	while (n != 0 && (is_blank(line[n - 1]) || line[n - 1] == '\r'))
		n--;
	while (n != 0 && is_blank(*line)) {
		line++;
		n--;
	}
	rest = (struct ctx_st_text){line, n};
	for (int i = 0; i < WORDS_MAX; i++) {
		const char *begin = rest.at;

		if (is_fields(rest, ret)) {
			ret->command = command_before(line, begin);
			return ret->command.n <= COMMAND_MAX;
		}
		take_word(&rest, &word);
	}
	return false;
}

bool ctx_st_frame_is_sure(const char *line, size_t n)
{
	struct ctx_st_text rest = {line, n}, word;
	uint64_t address;

	return n > 1 && line[0] == '\t' && take_word(&rest, &word) && address_of(word, &address) &&
	       (size_t)(word.at + word.n - line) == 1 + ADDRESS_PLACES && take_word(&rest, &word);
}

/* "name+0x1f": without the offset. */
static void take_offset(struct ctx_st_frame *frame)
{
	struct ctx_st_text *name = &frame->name;

	for (size_t i = name->n; i-- > 2;) {
		if (memcmp(name->at + i - 2, "0x", 2) != 0 || i < 3 || name->at[i - 3] != '+')
			continue;
		if (address_of((struct ctx_st_text){name->at + i, name->n - i}, &frame->offset))
			name->n = i - 3;
		return;
	}
}

/* "name (module)": the module is in the last parentheses, and may have some of its own. */
static void take_module(struct ctx_st_text rest, struct ctx_st_frame *frame)
{
	size_t depth = 0, at = rest.n;

	frame->name = rest;
	if (rest.n == 0 || rest.at[rest.n - 1] != ')')
		return;
	while (at-- > 0) {
		depth += rest.at[at] == ')';
		depth -= rest.at[at] == '(';
		if (depth == 0)
			break;
	}
	if (depth != 0 || (at != 0 && !is_blank(rest.at[at - 1])))
		return;
	frame->module = (struct ctx_st_text){rest.at + at + 1, rest.n - at - 2};
	frame->name.n = at;
}

bool ctx_st_frame_parse(const char *line, size_t n, struct ctx_st_frame *ret)
{
	struct ctx_st_text rest = {line, n}, word;

	*ret = (struct ctx_st_frame){.address = 0};
	while (rest.n != 0 && (is_blank(rest.at[rest.n - 1]) || rest.at[rest.n - 1] == '\r'))
		rest.n--;
	if (n == 0 || !is_blank(line[0]) || !take_word(&rest, &word))
		return false;
	if (!address_of(word, &ret->address)) /* -F sym: without addresses */
		rest = (struct ctx_st_text){word.at, word.n + rest.n};
	while (rest.n != 0 && is_blank(*rest.at)) {
		rest.at++;
		rest.n--;
	}
	take_module(rest, ret);
	while (ret->name.n != 0 && is_blank(ret->name.at[ret->name.n - 1]))
		ret->name.n--;
	if (is_text(ret->module, "inlined")) {
		ret->is_inlined = true;
		ret->module.n = 0;
	}
	take_offset(ret);
	if (is_text(ret->name, "[unknown]"))
		ret->name.n = 0;
	if (is_text(ret->module, "[unknown]"))
		ret->module.n = 0;
	return true;
}

bool ctx_st_folded_parse(const char *line, size_t n, struct ctx_st_text *ret_stack, uint64_t *ret_count)
{
	struct ctx_st_text count;
	const char *dot;
	uint64_t decimals;

	while (n != 0 && (is_blank(line[n - 1]) || line[n - 1] == '\r'))
		n--;
	count = (struct ctx_st_text){line + n, 0};
	while (count.n < n && !is_blank(count.at[-1])) {
		count.at--;
		count.n++;
	}
	if (count.n == 0 || count.n == n || line[0] == '#')
		return false;
	*ret_stack = (struct ctx_st_text){line, n - count.n};
	while (ret_stack->n != 0 && is_blank(line[ret_stack->n - 1]))
		ret_stack->n--;
	dot = memchr(count.at, '.', count.n);
	if (dot != NULL &&
	    !number_of((struct ctx_st_text){dot + 1, (size_t)(count.at + count.n - dot) - 1}, &decimals))
		return false;
	if (dot != NULL)
		count.n = (size_t)(dot - count.at);
	return ret_stack->n != 0 && number_of(count, ret_count);
}

bool ctx_st_folded_next(struct ctx_st_text *stack, struct ctx_st_frame *ret)
{
	static const struct {
		const char *suffix, *module;
	} suffixes[] = {{"_[k]", "[kernel]"}, {"_[j]", "[jit]"}, {"_[i]", ""}};
	const char *end;

	*ret = (struct ctx_st_frame){.address = 0};
	do {
		if (stack->n == 0)
			return false;
		end = memchr(stack->at, ';', stack->n);
		ret->name =
			(struct ctx_st_text){stack->at, end != NULL ? (size_t)(end - stack->at) : stack->n};
		stack->at += ret->name.n + (end != NULL);
		stack->n -= ret->name.n + (end != NULL);
	} while (ret->name.n == 0);
	for (size_t i = 0; i < CTX_COUNT_OF(suffixes); i++) {
		size_t n = strlen(suffixes[i].suffix);

		if (ret->name.n <= n || memcmp(ret->name.at + ret->name.n - n, suffixes[i].suffix, n) != 0)
			continue;
		ret->name.n -= n;
		ret->module = (struct ctx_st_text){suffixes[i].module, strlen(suffixes[i].module)};
		ret->is_inlined = i == 2;
	}
	if (is_text(ret->name, "[unknown]"))
		ret->name.n = 0;
	return true;
}
