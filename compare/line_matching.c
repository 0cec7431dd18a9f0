#include "compare/line_matching.h"

#include "base/map64.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <stdlib.h>
#include <string.h>

#define ALIKE 0.6
#define PAIRS_MAX 1000000u /* lines of A times lines of B in a place that was edited */
#define BUCKETS 1024u
#define BUCKET_SHIFT 22u
#define SEVERAL (UINT32_MAX - 1)

/* Trimmed lines of a file, from 1. */
struct file {
	struct ctx_line_text *lines;
	uint64_t *hashes;
	uint32_t *other; /* the line of the other file; 0: none */
	size_t n;	 /* lines */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct ctx_line_text trimmed(const char *text, size_t n)
{
	while (n > 0 && is_space(text[n - 1]))
		n--;
	while (n > 0 && is_space(text[0])) {
		text++;
		n--;
	}
	return (struct ctx_line_text){text, n};
}

static void file_deinit(struct file *file)
{
	free(file->lines);
	free(file->hashes);
	free(file->other);
}

static enum ctx_status divide(struct ctx_line_text text, struct file *ret, struct ctx_err *err)
{
	const char *end = text.text + text.n, *at = text.text;
	size_t n = text.n != 0;

	for (size_t i = 0; i + 1 < text.n; i++)
		n += text.text[i] == '\n';
	ret->n = n < CTX_LINES_MAX ? n : CTX_LINES_MAX;
	ret->lines = ctx_calloc(ret->n + 2, sizeof(*ret->lines));
	ret->hashes = ctx_calloc(ret->n + 2, sizeof(*ret->hashes));
	ret->other = ctx_calloc(ret->n + 2, sizeof(*ret->other));
	if (ret->lines == NULL || ret->hashes == NULL || ret->other == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 1; i <= ret->n; i++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline != NULL ? newline : end;

		ret->lines[i] = trimmed(at, (size_t)(stop - at));
		ret->hashes[i] = ctx_xxh3(ret->lines[i].text, ret->lines[i].n);
		at = newline != NULL ? newline + 1 : end;
	}
	return CTX_OK;
}

static bool are_equal(const struct file *a, size_t i, const struct file *b, size_t j)
{
	return a->hashes[i] == b->hashes[j] && a->lines[i].n == b->lines[j].n &&
	       memcmp(a->lines[i].text, b->lines[j].text, a->lines[i].n) == 0;
}

static void join(struct file *a, size_t i, struct file *b, size_t j)
{
	a->other[i] = (uint32_t)j;
	b->other[j] = (uint32_t)i;
}

/* By hash of a line: its number, or that there are several. */
static enum ctx_status number_lines(const struct file *file, struct ctx_map64 *map, struct ctx_err *err)
{
	for (size_t i = 1; i <= file->n; i++) {
		uint32_t *place = ctx_map64_place(map, file->hashes[i]);

		if (place == NULL)
			return ctx_err_nomem(err);
		*place = *place == CTX_MAP64_NONE ? (uint32_t)i : SEVERAL;
	}
	return CTX_OK;
}

/* Lines that are in each file once. */
static enum ctx_status join_unique(struct file *a, struct file *b, struct ctx_err *err)
{
	struct ctx_map64 of_a = {0}, of_b = {0};
	enum ctx_status status = number_lines(a, &of_a, err);

	if (status == CTX_OK)
		status = number_lines(b, &of_b, err);
	for (size_t i = 1; i <= a->n && status == CTX_OK; i++) {
		uint32_t j = ctx_map64_get(&of_b, a->hashes[i]);

		if (a->lines[i].n != 0 && j != CTX_MAP64_NONE && j != SEVERAL &&
		    ctx_map64_get(&of_a, a->hashes[i]) == i && are_equal(a, i, b, j))
			join(a, i, b, j);
	}
	ctx_map64_deinit(&of_a);
	ctx_map64_deinit(&of_b);
	return status;
}

/* Both files begin and end the same, as it were, in front of the first line and behind the last. */
static void join_neighbours(struct file *a, struct file *b)
{
	for (size_t i = 1; i <= a->n; i++) {
		size_t j = (i == 1 ? 0 : a->other[i - 1]) + 1u;

		if (a->other[i] == 0 && (i == 1 || a->other[i - 1] != 0) && j <= b->n && b->other[j] == 0 &&
		    are_equal(a, i, b, j))
			join(a, i, b, j);
	}
	for (size_t i = a->n; i >= 1; i--) {
		size_t j = i == a->n ? b->n : a->other[i + 1] - 1u;

		if (a->other[i] == 0 && (i == a->n || a->other[i + 1] != 0) && j >= 1 && j <= b->n &&
		    b->other[j] == 0 && are_equal(a, i, b, j))
			join(a, i, b, j);
	}
}

static unsigned bucket(const char *text)
{
	uint32_t pair = (uint32_t)(unsigned char)text[0] << 8 | (unsigned char)text[1];

	return (pair * 2654435761u) >> BUCKET_SHIFT;
}

double ctx_line_likeness(struct ctx_line_text a, struct ctx_line_text b)
{
	uint32_t counts[BUCKETS] = {0};
	size_t shared = 0, n_a = a.n > 1 ? a.n - 1 : 0, n_b = b.n > 1 ? b.n - 1 : 0;

	if (n_a + n_b == 0)
		return a.n == b.n && memcmp(a.text, b.text, a.n) == 0;
	for (size_t i = 0; i < n_a; i++)
		counts[bucket(a.text + i)]++;
	for (size_t i = 0; i < n_b; i++) {
		uint32_t *count = &counts[bucket(b.text + i)];

		shared += *count != 0;
		*count -= *count != 0;
	}
	return 2 * (double)shared / (double)(n_a + n_b);
}

/* A place that was edited: lines [a0, a1) became [b0, b1). */
struct edit {
	size_t a0, a1, b0, b1;
};

/* Joins lines that are alike, in order, so that the sum of likenesses is the largest. */
static enum ctx_status join_alike(struct file *a, struct file *b, const struct edit *edit,
				  struct ctx_err *err)
{
	size_t n = edit->a1 - edit->a0, m = edit->b1 - edit->b0;
	double *best CTX_AUTO_FREE = NULL;
	double *like CTX_AUTO_FREE = NULL;

	if (n == 0 || m == 0 || n > PAIRS_MAX / m)
		return CTX_OK;
	best = ctx_calloc((n + 1) * (m + 1), sizeof(*best));
	like = ctx_calloc(n * m, sizeof(*like));
	if (best == NULL || like == NULL)
		return ctx_err_nomem(err);
	/* best[i][j]: of the lines from i and from j on. */
	for (size_t i = n; i-- > 0;) {
		for (size_t j = m; j-- > 0;) {
			double here = ctx_line_likeness(a->lines[edit->a0 + i], b->lines[edit->b0 + j]);
			double with = (here >= ALIKE ? here : 0) + best[(i + 1) * (m + 1) + j + 1];
			double without = best[(i + 1) * (m + 1) + j] > best[i * (m + 1) + j + 1]
						 ? best[(i + 1) * (m + 1) + j]
						 : best[i * (m + 1) + j + 1];

			like[i * m + j] = here;
			best[i * (m + 1) + j] = with > without ? with : without;
		}
	}
	for (size_t i = 0, j = 0; i < n && j < m;) {
		double here = best[i * (m + 1) + j];

		if (here == best[(i + 1) * (m + 1) + j])
			i++;
		else if (here == best[i * (m + 1) + j + 1])
			j++;
		else {
			if (like[i * m + j] >= ALIKE)
				join(a, edit->a0 + i, b, edit->b0 + j);
			i++;
			j++;
		}
	}
	return CTX_OK;
}

/* Lines without a match that lie between two that have one, in both files. */
static enum ctx_status join_edited(struct file *a, struct file *b, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 1; i <= a->n && status == CTX_OK; i++) {
		struct edit edit = {i, i, (i == 1 ? 0 : a->other[i - 1]) + 1u, 0};
		size_t end;

		if (a->other[i] != 0)
			continue;
		while (edit.a1 <= a->n && a->other[edit.a1] == 0)
			edit.a1++;
		end = edit.a1 <= a->n ? a->other[edit.a1] : b->n + 1;
		edit.b1 = edit.b0;
		while (edit.b1 <= b->n && b->other[edit.b1] == 0)
			edit.b1++;
		/* What is behind moved elsewhere: the order says nothing. */
		if (edit.b1 == end)
			status = join_alike(a, b, &edit, err);
		i = edit.a1 - 1;
	}
	return status;
}

enum ctx_status ctx_lines_match(struct ctx_line_text a, struct ctx_line_text b, uint32_t **ret, size_t *ret_n,
				struct ctx_err *err)
{
	struct file of_a = {0}, of_b = {0};
	enum ctx_status status = divide(a, &of_a, err);

	if (status == CTX_OK)
		status = divide(b, &of_b, err);
	if (status == CTX_OK)
		status = join_unique(&of_a, &of_b, err);
	if (status == CTX_OK) {
		join_neighbours(&of_a, &of_b);
		status = join_edited(&of_a, &of_b, err);
	}
	if (status == CTX_OK) {
		*ret = of_a.other;
		*ret_n = of_a.n + 1;
		of_a.other = NULL;
	}
	file_deinit(&of_a);
	file_deinit(&of_b);
	return status;
}
