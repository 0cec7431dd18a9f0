#include "formats/perfevent/pe_tracepoint.h"

#include "base/digits.h"

#include <string.h>

struct text { /* not zero-terminated */
	const char *at, *end;
};

/* --- texts --- */

static struct text make_text(const char *text, size_t n)
{
	return (struct text){text, n != 0 ? text + n : text};
}

static void skip_blanks(struct text *text)
{
	while (text->at < text->end && (*text->at == ' ' || *text->at == '\t'))
		text->at++;
}

/* The next line, without leading blanks. */
static struct text next_line(struct text *text)
{
	const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
	struct text line = {text->at, end != NULL ? end : text->end};

	text->at = end != NULL ? end + 1 : text->end;
	skip_blanks(&line);
	return line;
}

static bool take_word(struct text *text, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(text->end - text->at) < n || memcmp(text->at, word, n) != 0)
		return false;
	text->at += n;
	return true;
}

/* The rest of the first line that begins with `key`. */
static bool find_line(struct text text, const char *key, struct text *ret)
{
	while (text.at < text.end) {
		*ret = next_line(&text);
		if (take_word(ret, key)) {
			skip_blanks(ret);
			return true;
		}
	}
	return false;
}

/* Decimal, or hexadecimal after 0x. */
static bool take_number(struct text *text, uint64_t *ret)
{
	unsigned base = 10;
	const char *begin;

	skip_blanks(text);
	if (text->end - text->at > 2 && text->at[0] == '0' && (text->at[1] == 'x' || text->at[1] == 'X')) {
		base = 16;
		text->at += 2;
	}
	*ret = 0;
	for (begin = text->at; text->at < text->end; text->at++) {
		int digit = ctx_digit(*text->at);

		if (digit < 0 || digit >= (int)base)
			break;
		if (*ret > (UINT64_MAX - (unsigned)digit) / base)
			return false;
		*ret = *ret * base + (unsigned)digit;
	}
	return text->at > begin;
}

/* The number after "KEY:" in a line. */
static bool find_number(struct text line, const char *key, uint64_t *ret)
{
	char *at = memmem(line.at, (size_t)(line.end - line.at), key, strlen(key));

	if (at == NULL)
		return false;
	line.at = at + strlen(key);
	return take_number(&line, ret);
}

/* --- formats --- */

bool ctx_pe_format_id(const char *text, size_t n, uint64_t *ret)
{
	struct text line;

	return find_line(make_text(text, n), "ID:", &line) && take_number(&line, ret);
}

const char *ctx_pe_format_name(const char *text, size_t n, size_t *ret_n)
{
	struct text line;

	if (!find_line(make_text(text, n), "name:", &line))
		return NULL;
	*ret_n = (size_t)(line.end - line.at);
	return line.at;
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Does the declaration ("pid_t prev_pid") declare this name? The name is the last word. */
static bool declares(struct text declaration, const char *name)
{
	const char *begin = declaration.end;

	while (begin > declaration.at && is_of_name(begin[-1]))
		begin--;
	return strlen(name) == (size_t)(declaration.end - begin) &&
	       memcmp(name, begin, (size_t)(declaration.end - begin)) == 0;
}

/* Old kernels have no "signed:"; the fields read here are signed there. */
bool ctx_pe_format_field(const char *text, size_t n, const char *name, struct ctx_pe_field *ret)
{
	struct text left = make_text(text, n);

	while (left.at < left.end) {
		struct text line = next_line(&left);
		uint64_t offset, size, is_signed;
		const char *end;

		if (!take_word(&line, "field:"))
			continue;
		end = memchr(line.at, ';', (size_t)(line.end - line.at));
		if (end == NULL || !declares((struct text){line.at, end}, name))
			continue;
		if (!find_number(line, "offset:", &offset) || !find_number(line, "size:", &size) ||
		    offset > UINT16_MAX || (size != 1 && size != 2 && size != 4 && size != 8))
			return false;
		*ret = (struct ctx_pe_field){
			.offset = (uint16_t)offset,
			.size = (uint16_t)size,
			.is_signed = !find_number(line, "signed:", &is_signed) || is_signed != 0,
		};
		return true;
	}
	return false;
}

bool ctx_pe_field_read(const struct ctx_pe_field *field, const uint8_t *raw, size_t n, bool swap,
		       int64_t *ret)
{
	unsigned shift = 64 - 8u * field->size;
	uint64_t value = 0;

	if (raw == NULL || field->size == 0 || n < field->size || field->offset > n - field->size)
		return false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (field->size == sizeof(uint32_t)) /* almost all are: no call */
		memcpy(&value, raw + field->offset, sizeof(uint32_t));
	else
		memcpy(&value, raw + field->offset, field->size);
#else
	memcpy((char *)&value + sizeof(value) - field->size, raw + field->offset, field->size);
#endif
	if (swap)
		value = __builtin_bswap64(value) >> shift;
	*ret = field->is_signed ? (int64_t)(value << shift) >> shift : (int64_t)value;
	return true;
}

/* --- prev_state --- */

/* The kernel's letters since 2.6: X, Z and x are dead, T and t are stopped. */
static void take_state(struct ctx_pe_prev_states *states, uint64_t bit, char letter)
{
	if (letter == 'X' || letter == 'Z' || letter == 'x')
		states->dead |= bit;
	else if (letter == 'T' || letter == 't')
		states->stopped |= bit;
	else if (letter != 'R')
		states->waits |= bit;
}

/* Each { NUMBER, "LETTER" } of the print format. */
struct ctx_pe_prev_states ctx_pe_prev_states_parse(const char *text, size_t n)
{
	struct ctx_pe_prev_states states = {0};
	struct text line = {0};

	if (!find_line(make_text(text, n), "print fmt:", &line))
		line.at = line.end;
	while (line.at < line.end && (line.at = memchr(line.at, '{', (size_t)(line.end - line.at))) != NULL) {
		uint64_t bit;

		line.at++;
		if (!take_number(&line, &bit) || !take_word(&line, ","))
			continue;
		skip_blanks(&line);
		if (take_word(&line, "\"") && line.end - line.at > 1 && line.at[1] == '"')
			take_state(&states, bit, *line.at);
	}
	if ((states.dead | states.stopped | states.waits) == 0)
		states = (struct ctx_pe_prev_states){.dead = 0x30, .stopped = 0x0c, .waits = 0xc3};
	return states;
}

enum ctx_pe_leaving ctx_pe_leaving_of(const struct ctx_pe_prev_states *states, int64_t prev_state)
{
	uint64_t state = (uint64_t)prev_state;

	if (state & states->dead)
		return CTX_PE_LEAVING_DEAD;
	if (state & states->stopped)
		return CTX_PE_LEAVING_STOPPED;
	return state & states->waits ? CTX_PE_LEAVING_BLOCKED : CTX_PE_LEAVING_PREEMPTED;
}
