/*
 * A line is tried in forms, from the longest to the shortest, until one fits:
 *
 *	a::b<int>::f(int) › g(long) [lib] › h(char)	all names
 *	a::b<…>::f(int) › g(long) [lib] › h(char)	without template arguments
 *	a::b<…>::f(…) › g(…) [lib] › h(…)		without parameters
 *	a::b<…>::f(…) › ·1· › h(…)			without frames in the middle
 *	·2· › h(…)
 *	·2· › …::h(…)					without scopes
 *
 * Names are made once for each form, and frames in the middle are dropped by widths alone.
 */
#include "base/mem.h"
#include "report/fold.h"
#include "report/names.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 64u /* frames of a line; there is no room for more on any screen */

/* The text of a frame in one form. */
struct piece {
	struct ctx_buf text;
	size_t width;
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

static const char *object_before(const struct line *line, size_t frame)
{
	return frame != 0 ? line->frames[frame - 1].object : line->style->object;
}

static void put_object(struct ctx_buf *buf, const char *object, bool ascii)
{
	const char *slash = strrchr(object, '/');
	const char *base = slash != NULL && slash[1] != '\0' ? slash + 1 : object;

	/* "[kernel]" has its brackets already. */
	ctx_buf_put_text(buf, *base == '[' ? " " : " [");
	ctx_name_put_text(buf, base, ascii);
	ctx_buf_put_text(buf, *base == '[' ? "" : "]");
}

static bool is_equal(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void make_piece(const struct line *line, size_t i, enum ctx_text_short how)
{
	size_t at = frame_of(line, i);
	const struct ctx_fold_frame *frame = &line->frames[at];
	struct ctx_buf safe CTX_AUTO_BUF = {0}, usual CTX_AUTO_BUF = {0};
	struct piece *piece = &line->pieces[i];
	bool ascii = line->style->ascii;

	ctx_buf_clear(&piece->text);
	ctx_name_put_text(&safe, frame->name, ascii);
	ctx_text_abbreviate(&usual, (const char *)safe.bytes, safe.n);
	ctx_text_collapse(&piece->text, (const char *)usual.bytes, usual.n, how, ascii);
	if (frame->instances > 1)
		ctx_buf_printf(&piece->text, " %s%u", ascii ? "x" : "×", frame->instances);
	if (frame->object != NULL && !is_equal(frame->object, object_before(line, at)))
		put_object(&piece->text, frame->object, ascii);
	if (safe.failed || usual.failed)
		piece->text.failed = true;
	piece->width =
		piece->text.failed ? 0 : ctx_text_width((const char *)piece->text.bytes, piece->text.n);
}

static bool make_pieces(const struct line *line, enum ctx_text_short how)
{
	for (size_t i = 0; i < line->n_pieces; i++) {
		make_piece(line, i, how);
		if (line->pieces[i].text.failed) {
			line->buf->failed = true;
			return false;
		}
	}
	return true;
}

/* Columns of "·12·"; 0 frames have none. */
static size_t gap_width(size_t dropped)
{
	size_t width = dropped != 0 ? 2 : 0;

	for (; dropped != 0; dropped /= 10)
		width++;
	return width;
}

/* Columns of the line with so many first and last frames. */
static size_t line_width(const struct line *line, size_t first, size_t last)
{
	size_t parts = first + last, width = gap_width(line->n - parts);

	for (size_t i = 0; i < first; i++)
		width += line->pieces[i].width;
	for (size_t i = line->n_pieces - last; i < line->n_pieces; i++)
		width += line->pieces[i].width;
	parts += line->n > parts;
	return width + 3 * (parts - 1);
}

static void put_separator(const struct line *line, bool *is_first)
{
	if (!*is_first)
		ctx_buf_put_text(line->buf, line->style->ascii ? " > " : " › ");
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

	for (size_t i = 0; i < line->n_pieces; i++) {
		bool gap = i == first && line->n > first + last;

		if (gap) {
			put_separator(line, &is_first);
			put_gap(line, line->n - first - last);
		}
		if (i >= first && i < line->n_pieces - last)
			continue;
		put_separator(line, &is_first);
		ctx_buf_put(line->buf, line->pieces[i].text.bytes, line->pieces[i].text.n);
	}
}

/* The most frames that fit: the first one and the last ones, or the last one alone. */
static bool put_some(const struct line *line)
{
	size_t half = line->n_pieces / 2;

	for (size_t dropped = 1; dropped < line->n; dropped++) {
		size_t shown = line->n - dropped, first = shown / 2, last;

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

/* The last frame alone, cut. */
static void put_last(const struct line *line)
{
	struct ctx_buf last CTX_AUTO_BUF = {0};
	const struct piece *piece = &line->pieces[line->n_pieces - 1];
	size_t gap = line->n > 1 ? gap_width(line->n - 1) + 3 : 0, width = line->style->width;
	bool with_gap = gap != 0 && width > 3 * gap;

	if (with_gap) {
		put_gap(line, line->n - 1);
		ctx_buf_put_text(line->buf, line->style->ascii ? " > " : " › ");
	}
	ctx_text_cut(line->buf, (const char *)piece->text.bytes, piece->text.n,
		     with_gap ? width - gap : width, line->style->ascii);
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
	put_last(line);
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
	for (size_t i = 0; i < line.n_pieces; i++)
		ctx_buf_deinit(&line.pieces[i].text);
	free(line.pieces);
}
