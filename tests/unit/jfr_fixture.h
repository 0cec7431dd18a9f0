/*
 * JFR files, byte by byte: numbers, texts, types and constant pools of chunks.
 *
 * Types are a line each: number, name, fields. A field is its name, ':' and its type's number, with 'c' for a constant,
 * 'a' for an array, 't' for a time in ticks: "22 jdk.types.StackTrace truncated:4 frames:23a".
 */
#ifndef CTX_TESTS_UNIT_JFR_FIXTURE_H
#define CTX_TESTS_UNIT_JFR_FIXTURE_H

#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct jfr { /* a chunk being written */
	struct ctx_buf out;
	bool compressed;
	uint64_t start_ns;
};

static inline void jfr_fixed(struct ctx_buf *out, uint64_t value, unsigned width)
{
	for (unsigned i = width; i-- > 0;)
		ctx_buf_put_u8(out, (uint8_t)(value >> (8 * i)));
}

static inline void jfr_number(const struct jfr *jfr, struct ctx_buf *out, uint64_t value, unsigned width)
{
	if (!jfr->compressed) {
		jfr_fixed(out, value, width);
		return;
	}
	for (unsigned i = 0; i < 8 && value >= 0x80; i++, value >>= 7)
		ctx_buf_put_u8(out, (uint8_t)(value | 0x80));
	ctx_buf_put_u8(out, (uint8_t)value);
}

/* As UTF-8; NULL: a null. */
static inline void jfr_text(const struct jfr *jfr, struct ctx_buf *out, const char *text)
{
	ctx_buf_put_u8(out, text != NULL ? 3 : 0);
	if (text == NULL)
		return;
	jfr_number(jfr, out, strlen(text), 4);
	ctx_buf_put_text(out, text);
}

static inline void jfr_begin(struct jfr *jfr)
{
	ctx_buf_clear(&jfr->out);
	for (unsigned i = 0; i < 68; i++)
		ctx_buf_put_u8(&jfr->out, 0);
}

/* Appends an event; its size has four bytes, as recorders reserve them. */
static inline void jfr_event(struct jfr *jfr, uint64_t type, struct ctx_buf *fields)
{
	struct ctx_buf id = {0};
	size_t n;

	jfr_number(jfr, &id, type, 8);
	n = 4 + id.n + fields->n;
	if (jfr->compressed) {
		for (unsigned i = 0; i < 3; i++)
			ctx_buf_put_u8(&jfr->out, (uint8_t)(n >> (7 * i) | 0x80));
		ctx_buf_put_u8(&jfr->out, (uint8_t)(n >> 21));
	} else {
		jfr_fixed(&jfr->out, n, 4);
	}
	ctx_buf_put(&jfr->out, id.bytes, id.n);
	ctx_buf_put(&jfr->out, fields->bytes, fields->n);
	ctx_buf_deinit(&id);
	ctx_buf_clear(fields);
}

/* --- metadata --- */

struct jfr_texts {
	char items[400][48];
	uint32_t n;
};

static inline void jfr_word(const struct jfr *jfr, struct ctx_buf *out, struct jfr_texts *texts,
			    const char *text)
{
	uint32_t i = 0;

	while (i < texts->n && strcmp(texts->items[i], text) != 0)
		i++;
	if (i == texts->n)
		snprintf(texts->items[texts->n++], sizeof(texts->items[0]), "%s", text);
	jfr_number(jfr, out, i, 4);
}

static inline void jfr_pair(const struct jfr *jfr, struct ctx_buf *out, struct jfr_texts *texts,
			    const char *const pair[2])
{
	jfr_word(jfr, out, texts, pair[0]);
	jfr_word(jfr, out, texts, pair[1]);
}

static inline void jfr_field(const struct jfr *jfr, struct ctx_buf *out, struct jfr_texts *texts, char *field)
{
	char *class = strchr(field, ':') + 1, *flags = class + strspn(class, "0123456789");
	bool is_constant = strchr(flags, 'c') != NULL, is_array = strchr(flags, 'a') != NULL;
	bool is_time = strchr(flags, 't') != NULL;

	class[-1] = '\0';
	jfr_word(jfr, out, texts, "field");
	jfr_number(jfr, out, 2 + (uint64_t)is_constant + (uint64_t)is_array, 4);
	if (is_constant)
		jfr_pair(jfr, out, texts, (const char *const[]){"constantPool", "true"});
	if (is_array)
		jfr_pair(jfr, out, texts, (const char *const[]){"dimension", "1"});
	*flags = '\0';
	jfr_pair(jfr, out, texts, (const char *const[]){"class", class});
	jfr_pair(jfr, out, texts, (const char *const[]){"name", field});
	jfr_number(jfr, out, is_time, 4);
	if (!is_time)
		return;
	jfr_word(jfr, out, texts, "annotation");
	jfr_number(jfr, out, 2, 4);
	jfr_pair(jfr, out, texts, (const char *const[]){"class", "99"});
	jfr_pair(jfr, out, texts, (const char *const[]){"value", "TICKS"});
	jfr_number(jfr, out, 0, 4);
}

/* The element of one line of the types. */
static inline void jfr_class(const struct jfr *jfr, struct ctx_buf *out, struct jfr_texts *texts, char *line)
{
	struct ctx_buf fields = {0};
	char *rest, *id = strtok_r(line, " ", &rest), *name = strtok_r(NULL, " ", &rest), *field;
	uint32_t n = 0;

	while ((field = strtok_r(NULL, " ", &rest)) != NULL) {
		jfr_field(jfr, &fields, texts, field);
		n++;
	}
	jfr_word(jfr, out, texts, "class");
	jfr_number(jfr, out, 2, 4);
	jfr_pair(jfr, out, texts, (const char *const[]){"id", id});
	jfr_pair(jfr, out, texts, (const char *const[]){"name", name});
	jfr_number(jfr, out, n, 4);
	ctx_buf_put(out, fields.bytes, fields.n);
	ctx_buf_deinit(&fields);
}

static inline void jfr_metadata(struct jfr *jfr, const char *const *types, size_t n)
{
	static struct jfr_texts texts;
	struct ctx_buf tree = {0}, fields = {0};

	texts.n = 0;
	jfr_word(jfr, &tree, &texts, "root");
	jfr_number(jfr, &tree, 0, 4);
	jfr_number(jfr, &tree, 1, 4);
	jfr_word(jfr, &tree, &texts, "metadata");
	jfr_number(jfr, &tree, 0, 4);
	jfr_number(jfr, &tree, n, 4);
	for (size_t i = 0; i < n; i++) {
		char *line = strdup(types[i]);

		jfr_class(jfr, &tree, &texts, line);
		free(line);
	}
	for (unsigned i = 0; i < 3; i++) /* start, duration, number */
		jfr_number(jfr, &fields, 0, 8);
	jfr_number(jfr, &fields, texts.n, 4);
	for (uint32_t i = 0; i < texts.n; i++)
		jfr_text(jfr, &fields, texts.items[i]);
	ctx_buf_put(&fields, tree.bytes, tree.n);
	jfr_event(jfr, 0, &fields);
	ctx_buf_deinit(&tree);
	ctx_buf_deinit(&fields);
}

/* A checkpoint with these pools: each a type's number, the number of entries, and them. */
static inline void jfr_checkpoint(struct jfr *jfr, struct ctx_buf *pools, uint32_t n)
{
	struct ctx_buf fields = {0};

	for (unsigned i = 0; i < 3; i++) /* start, duration, distance */
		jfr_number(jfr, &fields, 0, 8);
	ctx_buf_put_u8(&fields, 1);
	jfr_number(jfr, &fields, n, 4);
	ctx_buf_put(&fields, pools->bytes, pools->n);
	jfr_event(jfr, 1, &fields);
	ctx_buf_clear(pools);
	ctx_buf_deinit(&fields);
}

/* Completes the header: ticks are microseconds from 1000 at the start. */
static inline void jfr_end(struct jfr *jfr, uint64_t size)
{
	struct ctx_buf header = {0};

	ctx_buf_put(&header, "FLR\0", 4);
	jfr_fixed(&header, 2, 2);
	jfr_fixed(&header, 0, 2);
	jfr_fixed(&header, size, 8);
	jfr_fixed(&header, 0, 8);
	jfr_fixed(&header, 68, 8);
	jfr_fixed(&header, jfr->start_ns, 8);
	jfr_fixed(&header, 1000000, 8);
	jfr_fixed(&header, 1000, 8);
	jfr_fixed(&header, 1000000, 8);
	jfr_fixed(&header, jfr->compressed, 4);
	memcpy(jfr->out.bytes, header.bytes, header.n);
	ctx_buf_deinit(&header);
}

#endif
