#include "formats/gprofng/gp_xml.h"

#include "base/digits.h"
#include "base/fileio.h"
#include "base/utf8.h"

#include <string.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define TAG_BYTES_MAX ((size_t)64 << 10)

static void drop_zeros(struct ctx_buf *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < text->n; i++) {
		if (text->bytes[i] != '\0')
			text->bytes[kept++] = text->bytes[i];
	}
	text->n = kept;
}

enum ctx_status ctx_gp_xml_open(struct ctx_gp_xml *xml, const char *path, struct ctx_err *err)
{
	enum ctx_status status;

	*xml = (struct ctx_gp_xml){.line = 1};
	status = ctx_file_read(path, FILE_BYTES_MAX, &xml->text, err);
	if (status != CTX_OK) {
		ctx_gp_xml_deinit(xml);
		return status;
	}
	drop_zeros(&xml->text);
	return CTX_OK;
}

enum ctx_status ctx_gp_xml_set(struct ctx_gp_xml *xml, const void *bytes, size_t n, struct ctx_err *err)
{
	*xml = (struct ctx_gp_xml){.line = 1};
	if (n != 0)
		ctx_buf_put(&xml->text, bytes, n);
	drop_zeros(&xml->text);
	return ctx_buf_check(&xml->text, err);
}

void ctx_gp_xml_deinit(struct ctx_gp_xml *xml)
{
	ctx_buf_deinit(&xml->text);
	ctx_buf_deinit(&xml->values);
	*xml = (struct ctx_gp_xml){0};
}

/* Text */

/* The character that "&name;" (without its ends) denotes; -1: none. */
static long entity(const char *name, size_t n)
{
	static const struct {
		const char *name;
		char is;
	} entities[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
	unsigned base = 10;
	long value = 0;
	size_t i = 1;

	for (size_t k = 0; k < sizeof(entities) / sizeof(entities[0]); k++) {
		if (strlen(entities[k].name) == n && memcmp(name, entities[k].name, n) == 0)
			return entities[k].is;
	}
	if (n < 2 || n > 8 || name[0] != '#')
		return -1;
	if (name[1] == 'x') {
		base = 16;
		i = 2;
	}
	for (; i < n; i++) {
		int digit = ctx_digit(name[i]);

		if (digit < 0 || digit >= (int)base)
			return -1;
		value = value * (long)base + digit;
	}
	return value != 0 && value <= 0x10ffff ? value : -1;
}

/* Appends the text and a zero. An unknown entity is copied unchanged. */
static void put_unescaped(struct ctx_buf *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *end;
		long code = -1;

		if (text[i] == '&') {
			size_t left = n - i < 12 ? n - i : 12;

			end = memchr(text + i, ';', left);
			code = end != NULL ? entity(text + i + 1, (size_t)(end - text) - i - 1) : -1;
			if (code >= 0) {
				ctx_utf8_put(out, (uint32_t)code);
				i = (size_t)(end - text);
				continue;
			}
		}
		ctx_buf_put_u8(out, (uint8_t)text[i]);
	}
	ctx_buf_put_u8(out, 0);
}

/* Tags */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-' || c == '.' || c == ':' || (unsigned char)c >= 0x80;
}

/* Moves on, counting lines. */
static void go_to(struct ctx_gp_xml *xml, size_t at)
{
	const uint8_t *from = xml->text.bytes;

	while (xml->at < at) {
		const uint8_t *newline = memchr(from + xml->at, '\n', at - xml->at);

		if (newline == NULL)
			break;
		xml->line++;
		xml->at = (size_t)(newline - from) + 1;
	}
	xml->at = at;
}

/*
 * The end of the tag that begins at `at`: after its '>'. 0: it does not end, and *ret_next is where
 * to resume.
 */
static size_t tag_end(const struct ctx_gp_xml *xml, size_t at, size_t *ret_next)
{
	const char *text = (const char *)xml->text.bytes;
	size_t end = xml->text.n - at > TAG_BYTES_MAX ? at + TAG_BYTES_MAX : xml->text.n;
	const char *newline;
	char quote = '\0';

	for (size_t i = at + 1; i < end; i++) {
		if (quote != '\0') {
			if (text[i] == quote)
				quote = '\0';
		} else if (text[i] == '"' || text[i] == '\'') {
			quote = text[i];
		} else if (text[i] == '>') {
			return i + 1;
		} else if (text[i] == '<') {
			*ret_next = i;
			return 0;
		}
	}
	newline = memchr(text + at, '\n', end - at);
	*ret_next = newline != NULL ? (size_t)(newline - text) + 1 : end;
	return 0;
}

struct attribute { /* its offset in `values` */
	size_t name, value;
};

/* One attribute from *at on; its value goes to `values`. False: no valid one. */
static bool take_attribute(const char *text, size_t *at, size_t end, struct ctx_buf *values,
			   struct attribute *ret)
{
	size_t i = *at, begin = i;
	const char *close;

	while (i < end && is_name(text[i]))
		i++;
	if (i == begin)
		return false;
	ret->name = values->n;
	ctx_buf_put(values, text + begin, i - begin);
	ctx_buf_put_u8(values, 0);
	while (i < end && is_space(text[i]))
		i++;
	if (i == end || text[i++] != '=')
		return false;
	while (i < end && is_space(text[i]))
		i++;
	if (i == end || (text[i] != '"' && text[i] != '\''))
		return false;
	close = memchr(text + i + 1, text[i], end - i - 1);
	if (close == NULL)
		return false;
	ret->value = values->n;
	put_unescaped(values, text + i + 1, (size_t)(close - text) - i - 1);
	*at = (size_t)(close - text) + 1;
	return true;
}

/* The inside of a tag, [at, end), and the text after its '>'. False: invalid. */
static bool take_tag(struct ctx_gp_xml *xml, size_t at, size_t end, size_t text_end, struct ctx_gp_tag *ret)
{
	const char *text = (const char *)xml->text.bytes;
	struct attribute found[CTX_GP_ATTRIBUTES_MAX];
	size_t text_begin = end + 1, begin, content;

	ctx_buf_clear(&xml->values);
	ret->closes = at < end && text[at] == '/';
	at += ret->closes;
	ret->empty = at < end && text[end - 1] == '/';
	end -= ret->empty;
	begin = at;
	while (at < end && is_name(text[at]))
		at++;
	if (at == begin)
		return false;
	ctx_buf_put(&xml->values, text + begin, at - begin);
	ctx_buf_put_u8(&xml->values, 0);
	ret->n_attributes = 0;
	for (;;) {
		while (at < end && is_space(text[at]))
			at++;
		if (at >= end || ret->n_attributes == CTX_GP_ATTRIBUTES_MAX)
			break;
		if (!take_attribute(text, &at, end, &xml->values, &found[ret->n_attributes]))
			return false;
		ret->n_attributes++;
	}
	content = xml->values.n;
	put_unescaped(&xml->values, text + text_begin, text_end - text_begin);
	if (xml->values.failed)
		return true; /* reported by the caller */
	ret->name = (const char *)xml->values.bytes;
	ret->text = (const char *)xml->values.bytes + content;
	for (size_t i = 0; i < ret->n_attributes; i++) {
		ret->attributes[i].name = (const char *)xml->values.bytes + found[i].name;
		ret->attributes[i].value = (const char *)xml->values.bytes + found[i].value;
	}
	return true;
}

enum ctx_status ctx_gp_xml_next(struct ctx_gp_xml *xml, struct ctx_gp_tag *ret, struct ctx_err *err)
{
	const char *text = (const char *)xml->text.bytes;
	const char *open = xml->at < xml->text.n ? memchr(text + xml->at, '<', xml->text.n - xml->at) : NULL;
	size_t at, end, next = 0, text_end;

	if (open == NULL)
		return CTX_END;
	at = (size_t)(open - text);
	go_to(xml, at);
	ret->line = xml->line;
	end = tag_end(xml, at, &next);
	if (end == 0) {
		go_to(xml, next);
		return ctx_err_set(err, CTX_E_FORMAT, "line %zu: a tag that does not end", ret->line);
	}
	go_to(xml, end);
	if (text[at + 1] == '!' || text[at + 1] == '?')
		return ctx_err_set(err, CTX_E_FORMAT, "line %zu: a declaration, which is not read",
				   ret->line);
	text_end = end;
	if (text[at + 1] != '/' && text[end - 2] != '/') {
		open = end < xml->text.n ? memchr(text + end, '<', xml->text.n - end) : NULL;
		text_end = open != NULL ? (size_t)(open - text) : xml->text.n;
		if (text_end - end > TAG_BYTES_MAX)
			text_end = end + TAG_BYTES_MAX;
	}
	if (!take_tag(xml, at + 1, end - 1, text_end, ret))
		return ctx_err_set(err, CTX_E_FORMAT, "line %zu: is no element", ret->line);
	return ctx_buf_check(&xml->values, err);
}

/* Values */

const char *ctx_gp_tag_text(const struct ctx_gp_tag *tag, const char *name)
{
	for (size_t i = 0; i < tag->n_attributes; i++) {
		if (strcmp(tag->attributes[i].name, name) == 0)
			return tag->attributes[i].value;
	}
	return NULL;
}

bool ctx_gp_number_parse(const char *text, uint64_t *ret)
{
	bool negative = text[0] == '-', hex;
	uint64_t value;

	text += negative || text[0] == '+';
	hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	text += hex ? 2 : 0;
	if (!ctx_digits_take(&text, hex ? 16 : 10, &value) || *text != '\0')
		return false;
	*ret = negative ? 0 - value : value;
	return true;
}

bool ctx_gp_tag_number(const struct ctx_gp_tag *tag, const char *name, uint64_t *ret)
{
	const char *text = ctx_gp_tag_text(tag, name);

	return text != NULL && ctx_gp_number_parse(text, ret);
}

bool ctx_gp_tag_time(const struct ctx_gp_tag *tag, const char *name, int64_t *ret_ns)
{
	const char *text = ctx_gp_tag_text(tag, name);
	bool negative = text != NULL && text[0] == '-';
	uint64_t ns;

	if (text == NULL || !ctx_seconds_parse(text + negative, &ns))
		return false;
	*ret_ns = negative ? -(int64_t)ns : (int64_t)ns;
	return true;
}
