#include "formats/experiment/exp_lines.h"

#include "base/digits.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/zstd_file.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP ((size_t)256 * 1024)
#define LINE_MAX_BYTES ((size_t)16 << 20)
#define OPTIONS (XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)

struct ctx_exp_lines {
	int fd;
	struct ctx_zstd_reader *unpacking; /* NULL: the file is plain */
	uint64_t begin;			   /* of the first line */
	uint64_t offset;		   /* of the next read, in the plain text */
	struct ctx_buf text;		   /* read from the file; unused from `at` on */
	size_t at;
	bool ended, grows;
	size_t number;
	xmlParserCtxtPtr parser;
	xmlDocPtr document; /* of the last line */
	struct ctx_buf values;
};

enum ctx_status ctx_exp_lines_open(const struct ctx_exp_text *text, struct ctx_exp_lines **ret,
				   struct ctx_err *err)
{
	struct ctx_exp_lines *lines = ctx_calloc(1, sizeof(*lines));
	enum ctx_status status = CTX_OK;

	if (lines == NULL)
		return ctx_err_nomem(err);
	lines->fd = text->fd;
	lines->begin = text->read.offset;
	lines->number = text->read.number;
	lines->grows = text->grows;
	lines->parser = xmlNewParserCtxt();
	if (lines->parser == NULL)
		status = ctx_err_nomem(err);
	if (status == CTX_OK && text->is_packed)
		status = ctx_zstd_open(text->fd, &lines->unpacking, err);
	if (lines->unpacking == NULL)
		lines->offset = lines->begin;
	if (status != CTX_OK) {
		ctx_exp_lines_close(lines);
		return status;
	}
	*ret = lines;
	return CTX_OK;
}

struct ctx_exp_lines_place ctx_exp_lines_place(const struct ctx_exp_lines *lines)
{
	return (struct ctx_exp_lines_place){lines->offset - (lines->text.n - lines->at), lines->number};
}

void ctx_exp_lines_close(struct ctx_exp_lines *lines)
{
	if (lines == NULL)
		return;
	xmlFreeDoc(lines->document);
	if (lines->parser != NULL)
		xmlFreeParserCtxt(lines->parser);
	ctx_zstd_close(lines->unpacking);
	ctx_buf_deinit(&lines->text);
	ctx_buf_deinit(&lines->values);
	free(lines);
}

/* Reads STEP bytes of a plain file. */
static enum ctx_status fill_plain(struct ctx_exp_lines *lines, uint8_t *room, size_t *ret_got,
				  struct ctx_err *err)
{
	uint64_t data = ctx_file_next_data(lines->fd, lines->offset);
	enum ctx_status status;

	/* A hole of a page or more is no text: what is behind it is read, if anything is. */
	if (data != UINT64_MAX)
		lines->offset = data;
	status = ctx_file_pread(&(struct ctx_file_place){lines->fd, "lines", lines->offset}, room, STEP,
				ret_got, err);
	if (status < 0)
		return status;
	lines->ended = status == CTX_END || data == UINT64_MAX;
	if (data == UINT64_MAX) /* up to the end: a hole, or nothing */
		*ret_got = 0;
	lines->offset += *ret_got;
	return CTX_OK;
}

/* Unpacks as much, or passes over what was read before. Damage is the end of the text. */
static enum ctx_status fill_packed(struct ctx_exp_lines *lines, uint8_t *room, size_t *ret_got,
				   struct ctx_err *err)
{
	uint64_t known = lines->begin > lines->offset ? lines->begin - lines->offset : 0;
	size_t step = known != 0 && known < STEP ? (size_t)known : STEP;
	struct ctx_err why = {0};
	enum ctx_status status = ctx_zstd_read(lines->unpacking, room, step, ret_got, &why);

	lines->ended = status != CTX_OK;
	lines->offset += *ret_got;
	if (known != 0)
		*ret_got = 0;
	if (status == CTX_E_FORMAT)
		return ctx_err_set(err, status, "byte %llu of the text: %s; the rest is left out",
				   (unsigned long long)lines->offset, why.msg);
	return status == CTX_OK || status == CTX_END ? CTX_OK : ctx_err_set(err, status, "%s", why.msg);
}

/* Reads up to a newline or the end of the file. First moves the unused text to the front. */
static enum ctx_status fill(struct ctx_exp_lines *lines, struct ctx_err *err)
{
	struct ctx_buf *text = &lines->text;
	uint8_t *room;
	size_t got = 0;
	enum ctx_status status;

	if (lines->at != 0) {
		memmove(text->bytes, text->bytes + lines->at, text->n - lines->at);
		text->n -= lines->at;
		lines->at = 0;
	}
	room = ctx_buf_reserve(text, STEP);
	if (room == NULL)
		return ctx_err_nomem(err);
	status = lines->unpacking != NULL ? fill_packed(lines, room, &got, err)
					  : fill_plain(lines, room, &got, err);
	text->n += got;
	return status;
}

/*
 * The next line without its newline, in *ret_at. Part of an overlong line is skipped, with
 * CTX_E_FORMAT.
 */
static enum ctx_status next_line(struct ctx_exp_lines *lines, size_t *ret_at, size_t *ret_n,
				 struct ctx_err *err)
{
	size_t searched = 0;
	enum ctx_status status;

	for (;;) {
		size_t left = lines->text.n - lines->at;
		const uint8_t *from = left != 0 ? lines->text.bytes + lines->at : NULL;
		const uint8_t *newline =
			left > searched ? memchr(from + searched, '\n', left - searched) : NULL;

		if (newline != NULL || (lines->ended && left != 0 && !lines->grows)) {
			*ret_at = lines->at;
			*ret_n = newline != NULL ? (size_t)(newline - from) : left;
			lines->at += *ret_n + (newline != NULL);
			lines->number++;
			return CTX_OK;
		}
		if (lines->ended)
			return CTX_END;
		if (left > LINE_MAX_BYTES) {
			lines->at = lines->text.n;
			return ctx_err_set(err, CTX_E_FORMAT, "line %zu: longer than %zu bytes; line skipped",
					   lines->number + 1, LINE_MAX_BYTES);
		}
		searched = left;
		status = fill(lines, err);
		if (status != CTX_OK)
			return status;
	}
}

/* The digits of an escape are lower-case. */
static int escape_digit(char c)
{
	return c >= 'A' && c <= 'F' ? -1 : ctx_digit(c);
}

/*
 * Appends `n` bytes of text with \xHH converted to bytes, and a zero. \x00 is not converted: it must not end
 * the text.
 */
static void put_unescaped(struct ctx_buf *out, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *escape = memchr(text, '\\', (size_t)(end - text));
		size_t plain = escape != NULL ? (size_t)(escape - text) : (size_t)(end - text);
		int high, low;

		ctx_buf_put(out, text, plain);
		text += plain;
		if (text == end)
			break;
		high = end - text >= 4 && text[1] == 'x' ? escape_digit(text[2]) : -1;
		low = high >= 0 ? escape_digit(text[3]) : -1;
		if (low >= 0 && high + low != 0) {
			ctx_buf_put_u8(out, (uint8_t)(high << 4 | low));
			text += 4;
		} else {
			ctx_buf_put(out, text++, 1);
		}
	}
	ctx_buf_put_u8(out, 0);
}

static bool is_name_char(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/*
 * A lower-case name at `*at`, put into `values` with a zero; its place there. False: none.
 */
static bool take_name(struct ctx_exp_lines *lines, const uint8_t **at, const uint8_t *end, size_t *ret_place)
{
	const uint8_t *begin = *at;

	while (*at < end && is_name_char(**at))
		++*at;
	*ret_place = lines->values.n;
	ctx_buf_put(&lines->values, begin, (size_t)(*at - begin));
	ctx_buf_put_u8(&lines->values, 0);
	return *at != begin && (*begin < '0' || *begin > '9');
}

/* A value of ASCII without escapes of XML, up to its quote. */
static bool take_value(struct ctx_exp_lines *lines, const uint8_t **at, const uint8_t *end, size_t *ret_place)
{
	const uint8_t *begin = *at;

	while (*at < end && **at >= ' ' && **at < 0x7f && **at != '"' && **at != '&' && **at != '<')
		++*at;
	if (*at == end || **at != '"')
		return false;
	*ret_place = lines->values.n;
	put_unescaped(&lines->values, (const char *)begin, (size_t)(*at - begin));
	++*at;
	return true;
}

/* Whether `name` is one of the first `n` attributes: that is no XML. */
static bool is_repeated(const struct ctx_exp_lines *lines, const size_t *names, size_t n, size_t name)
{
	const char *text = (const char *)lines->values.bytes;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(text + names[i], text + name) == 0)
			return true;
	}
	return false;
}

/*
 * Parses the lines that recorders write, `<map tstamp="0.1" .../>`, ten times as fast as libxml2.
 * False: anything else, which libxml2 judges.
 */
static bool take_simple(struct ctx_exp_lines *lines, size_t at, size_t n, struct ctx_exp_line *ret)
{
	const uint8_t *text = lines->text.bytes + at, *end = text + n;
	size_t element, names[CTX_EXP_ATTRIBUTES_MAX], places[CTX_EXP_ATTRIBUTES_MAX], found = 0;

	ctx_buf_clear(&lines->values);
	if (n < 4 || *text++ != '<' || !take_name(lines, &text, end, &element))
		return false;
	while (text < end && *text == ' ') {
		text++;
		if (found == CTX_EXP_ATTRIBUTES_MAX || !take_name(lines, &text, end, &names[found]) ||
		    lines->values.failed || is_repeated(lines, names, found, names[found]) ||
		    end - text < 2 || text[0] != '=' || text[1] != '"')
			return false;
		text += 2;
		if (!take_value(lines, &text, end, &places[found]))
			return false;
		found++;
	}
	if (end - text != 2 || text[0] != '/' || text[1] != '>' || lines->values.failed)
		return false;
	ret->element = (const char *)lines->values.bytes + element;
	ret->n_attributes = found;
	for (size_t i = 0; i < found; i++) {
		ret->attributes[i].name = (const char *)lines->values.bytes + names[i];
		ret->attributes[i].value = (const char *)lines->values.bytes + places[i];
	}
	return true;
}

/*
 * Copies the attributes of the element into `values`. Pointers are set at the end, when `values` is
 * no longer reallocated.
 */
static enum ctx_status take_attributes(struct ctx_exp_lines *lines, const xmlNode *node,
				       struct ctx_exp_line *ret, struct ctx_err *err)
{
	size_t places[CTX_EXP_ATTRIBUTES_MAX];

	ctx_buf_clear(&lines->values);
	ret->n_attributes = 0;
	for (const xmlAttr *at = node->properties; at != NULL; at = at->next) {
		xmlChar *value;

		if (ret->n_attributes == CTX_EXP_ATTRIBUTES_MAX)
			break;
		value = xmlNodeListGetString(lines->document, at->children, 1);
		places[ret->n_attributes] = lines->values.n;
		ret->attributes[ret->n_attributes++].name = (const char *)at->name;
		put_unescaped(&lines->values, value != NULL ? (const char *)value : "",
			      value != NULL ? strlen((const char *)value) : 0);
		xmlFree(value);
	}
	for (size_t i = 0; i < ret->n_attributes && !lines->values.failed; i++)
		ret->attributes[i].value = (const char *)lines->values.bytes + places[i];
	return ctx_buf_check(&lines->values, err);
}

enum ctx_status ctx_exp_lines_next(struct ctx_exp_lines *lines, struct ctx_exp_line *ret, struct ctx_err *err)
{
	const xmlNode *node;
	enum ctx_status status;
	size_t at, n;

	do {
		status = next_line(lines, &at, &n, err);
		if (status != CTX_OK)
			return status;
	} while (n == 0);
	ret->number = lines->number;
	if (take_simple(lines, at, n, ret))
		return CTX_OK;
	xmlFreeDoc(lines->document);
	lines->document = NULL;
	if (memmem(lines->text.bytes + at, n, "<!", 2) == NULL)
		lines->document = xmlCtxtReadMemory(lines->parser, (const char *)lines->text.bytes + at,
						    (int)n, NULL, "UTF-8", OPTIONS);
	node = lines->document != NULL ? xmlDocGetRootElement(lines->document) : NULL;
	if (node == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "line %zu: is no element; line skipped", lines->number);
	ret->element = (const char *)node->name;
	return take_attributes(lines, node, ret, err);
}

const char *ctx_exp_line_text(const struct ctx_exp_line *line, const char *name)
{
	for (size_t i = 0; i < line->n_attributes; i++) {
		if (strcmp(line->attributes[i].name, name) == 0)
			return line->attributes[i].value;
	}
	return NULL;
}

bool ctx_exp_line_number(const struct ctx_exp_line *line, const char *name, uint64_t *ret)
{
	const char *text = ctx_exp_line_text(line, name);
	bool hex = text != NULL && text[0] == '0' && text[1] == 'x';
	uint64_t value;

	if (text == NULL)
		return false;
	text += hex ? 2 : 0;
	if (!ctx_digits_take(&text, hex ? 16 : 10, &value) || *text != '\0')
		return false;
	*ret = value;
	return true;
}

bool ctx_exp_line_number32(const struct ctx_exp_line *line, const char *name, uint32_t *ret)
{
	uint64_t value;

	if (!ctx_exp_line_number(line, name, &value) || value >= UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

bool ctx_exp_line_signed(const struct ctx_exp_line *line, const char *name, int64_t *ret)
{
	const char *text = ctx_exp_line_text(line, name);
	bool negative = text != NULL && text[0] == '-';
	uint64_t value;

	if (text == NULL)
		return false;
	text += negative;
	if (!ctx_digits_take(&text, 10, &value) || *text != '\0' || value > INT64_MAX)
		return false;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

bool ctx_exp_line_time(const struct ctx_exp_line *line, const char *name, uint64_t *ret_ns)
{
	const char *text = ctx_exp_line_text(line, name);

	return text != NULL && ctx_seconds_parse(text, ret_ns);
}
