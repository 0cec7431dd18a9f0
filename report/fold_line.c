/*
 * A line is tried in forms, from the longest to the shortest, until one fits:
 *
 *	a::b<int>::f(int) › g(long) [lib] › h(char)	all names
 *	a::b<…>::f(int) › g(long) [lib] › h(char)	without template arguments
 *	a::b<…>::f(…) › g(…) [lib] › h(…)		without parameters
 *	a::b<…>::f(…) › ·1· › h(…)			without frames in the middle
 *	·2· › h(…)
 *	·2· › …::h(…)					without scopes and objects
 *
 * Names are made once for each form, and frames in the middle are dropped by widths alone.
 */
#include "base/mem.h"
#include "report/fold.h"
#include "report/names.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 64u /* frames of a line; there is no room for more on any screen */

/* The texts of a frame in one form. */
struct piece {
	struct ctx_buf name, object; /* the object empty: none */
	size_t name_width, object_width;
};

struct line {
	struct ctx_buf *buf;
	const struct ctx_fold_frame *frames;
	size_t n;
	const struct ctx_fold_line_style *style;
	struct piece *pieces; /* of the first and the last frames, at most MAX_SHOWN */
	size_t n_pieces;
};

/* The frame of a piece. Those between the two halves have none. */
static size_t frame_of(const struct line *line, size_t piece)
{
	return piece < line->n_pieces / 2 ? piece : line->n - line->n_pieces + piece;
}

static bool is_equal(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void make_piece(const struct line *line, size_t i, enum ctx_text_short how)
{
	const struct ctx_fold_frame *frame = &line->frames[frame_of(line, i)];
	struct ctx_buf safe CTX_AUTO_BUF = {0}, usual CTX_AUTO_BUF = {0};
	struct piece *piece = &line->pieces[i];
	bool ascii = line->style->ascii;

	ctx_buf_clear(&piece->name);
	ctx_buf_clear(&piece->object);
	ctx_name_put_text(&safe, frame->name, ascii);
	ctx_text_abbreviate(&usual, (const char *)safe.bytes, safe.n);
	ctx_text_collapse(&piece->name, (const char *)usual.bytes, usual.n, how, ascii);
	if (frame->instances > 1)
		ctx_buf_printf(&piece->name, " %s%u", ascii ? "x" : "×", frame->instances);
	if (how < CTX_TEXT_NO_SCOPES && frame->object != NULL)
		ctx_name_put_object(&piece->object, frame->object, ascii);
	if (safe.failed || usual.failed || piece->name.failed || piece->object.failed) {
		line->buf->failed = true;
		return;
	}
	piece->name_width = ctx_text_width((const char *)piece->name.bytes, piece->name.n);
	piece->object_width = ctx_text_width((const char *)piece->object.bytes, piece->object.n);
}

static bool make_pieces(const struct line *line, enum ctx_text_short how)
{
	for (size_t i = 0; i < line->n_pieces && !line->buf->failed; i++)
		make_piece(line, i, how);
	return !line->buf->failed;
}

/* Whether the frame before it in the line has another object. */
static bool has_object(const struct line *line, size_t piece, size_t piece_before)
{
	const char *before = piece_before != SIZE_MAX ? line->frames[frame_of(line, piece_before)].object
						      : line->style->object;

	return !is_equal(line->frames[frame_of(line, piece)].object, before);
}

/* Columns of "·12·"; 0 frames have none. */
static size_t gap_width(size_t dropped)
{
	size_t width = dropped != 0 ? 2 : 0;

	for (; dropped != 0; dropped /= 10)
		width++;
	return width;
}

/* Whether a line with so many first and last frames has this one. */
static bool is_shown(const struct line *line, size_t piece, size_t first, size_t last)
{
	return piece < first || piece >= line->n_pieces - last;
}

/* Columns of the line with so many first and last frames. */
static size_t line_width(const struct line *line, size_t first, size_t last)
{
	size_t parts = first + last, width = gap_width(line->n - parts), before = SIZE_MAX;

	for (size_t i = 0; i < line->n_pieces; i++) {
		if (!is_shown(line, i, first, last))
			continue;
		width += line->pieces[i].name_width;
		if (has_object(line, i, before))
			width += line->pieces[i].object_width;
		before = i;
	}
	parts += line->n > parts;
	return width + 3 * (parts - 1);
}

static const char *separator(const struct line *line)
{
	if (line->style->upward)
		return line->style->ascii ? " < " : " ‹ ";
	return line->style->ascii ? " > " : " › ";
}

static void put_separator(const struct line *line, bool *is_first)
{
	if (!*is_first)
		ctx_buf_put_text(line->buf, separator(line));
	*is_first = false;
}

static void put_gap(const struct line *line, size_t dropped)
{
	const char *dot = line->style->ascii ? "." : "·";

	ctx_buf_printf(line->buf, "%s%zu%s", dot, dropped, dot);
}

static void put_line(const struct line *line, size_t first, size_t last)
{
	bool is_first = true;
	size_t before = SIZE_MAX;

	for (size_t i = 0; i < line->n_pieces; i++) {
		const struct piece *piece = &line->pieces[i];

		if (i == first && last != 0 && line->n > first + last) {
			put_separator(line, &is_first);
			put_gap(line, line->n - first - last);
		}
		if (!is_shown(line, i, first, last))
			continue;
		put_separator(line, &is_first);
		ctx_buf_put(line->buf, piece->name.bytes, piece->name.n);
		if (has_object(line, i, before))
			ctx_buf_put(line->buf, piece->object.bytes, piece->object.n);
		before = i;
	}
	if (last == 0 && line->n > first) {
		put_separator(line, &is_first);
		put_gap(line, line->n - first);
	}
}

/*
 * The most frames that fit, some at each end. The last one stays, upward the first one: there is
 * the most weight.
 */
static bool put_some(const struct line *line)
{
	size_t half = line->n_pieces / 2;

	for (size_t dropped = 1; dropped < line->n; dropped++) {
		size_t shown = line->n - dropped, last;
		size_t first = line->style->upward ? shown - shown / 2 : shown / 2;

		first = first < half ? first : half;
		last = shown - first;
		if (last > line->n_pieces - half)
			continue;
		if (line_width(line, first, last) <= line->style->width) {
			put_line(line, first, last);
			return true;
		}
	}
	return false;
}

/* The last frame alone, or upward the first one, cut. */
static void put_one(const struct line *line)
{
	bool upward = line->style->upward;
	const struct piece *piece = &line->pieces[upward ? 0 : line->n_pieces - 1];
	size_t gap = line->n > 1 ? gap_width(line->n - 1) + 3 : 0, width = line->style->width;
	bool with_gap = gap != 0 && width > 3 * gap;

	if (with_gap && !upward) {
		put_gap(line, line->n - 1);
		ctx_buf_put_text(line->buf, separator(line));
	}
	ctx_text_cut(line->buf, (const char *)piece->name.bytes, piece->name.n,
		     with_gap ? width - gap : width, line->style->ascii);
	if (with_gap && upward) {
		ctx_buf_put_text(line->buf, separator(line));
		put_gap(line, line->n - 1);
	}
}

static void try_forms(const struct line *line)
{
	bool all = line->n_pieces == line->n;

	for (int how = CTX_TEXT_WHOLE; how <= CTX_TEXT_NO_SCOPES; how++) {
		if (!make_pieces(line, (enum ctx_text_short)how))
			return;
		if (all && line_width(line, line->n, 0) <= line->style->width) {
			put_line(line, line->n, 0);
			return;
		}
		if (how >= CTX_TEXT_NO_PARAMETERS && put_some(line))
			return;
	}
	put_one(line);
}

void ctx_fold_line(struct ctx_buf *buf, const struct ctx_fold_frame *frames, size_t n,
		   const struct ctx_fold_line_style *style)
{
	struct line line = {.buf = buf, .frames = frames, .n = n, .style = style};

	line.n_pieces = n < MAX_SHOWN ? n : MAX_SHOWN;
	line.pieces = ctx_calloc(line.n_pieces, sizeof(*line.pieces));
	if (line.pieces == NULL) {
		buf->failed = true;
		return;
	}
	try_forms(&line);
	for (size_t i = 0; i < line.n_pieces; i++) {
		ctx_buf_deinit(&line.pieces[i].name);
		ctx_buf_deinit(&line.pieces[i].object);
	}
	free(line.pieces);
}
