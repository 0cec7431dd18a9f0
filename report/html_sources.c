#include "report/html_sources.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "report/source_sections.h"
#include "report/source_texts.h"

#include <string.h>
#include <zlib.h>

#define LONGEST 400u  /* maximum length of a line in characters; longer ones end in an ellipsis */
#define MISSES_MOST 8 /* number of groups that may fail to fit before the page counts as full */
#define DICTIONARY 32768u

void ctx_html_put_valid(struct ctx_buf *out, const char *text, size_t n)
{
	while (n > 0) {
		uint32_t code;
		size_t length = ctx_utf8_decode(text, n, &code);

		if (code == UINT32_MAX)
			ctx_buf_put_text(out, "\xef\xbf\xbd");
		else
			ctx_buf_put(out, text, length);
		text += length;
		n -= length;
	}
}

static void put_line_text(struct ctx_buf *out, const char *text, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < LONGEST && at < n; i++) {
		uint32_t code;

		at += ctx_utf8_decode(text + at, n - at, &code);
	}
	ctx_html_put_valid(out, text, at);
	if (at < n)
		ctx_buf_put_text(out, "\xe2\x80\xa6");
}

struct making {
	const struct ctx_code_view *view;
	struct ctx_subject subject;
	struct ctx_source_sections sections;
	struct ctx_source_texts texts;
	uint64_t unit_weight;
	size_t room; /* packed bytes */
};

static void making_cleanup(struct making *making)
{
	ctx_subject_deinit(&making->subject);
	ctx_source_sections_deinit(&making->sections);
	if (making->texts.files != NULL)
		ctx_source_texts_deinit(&making->texts);
}

/* One line of a section in the page: without weight if `row` is NULL. */
struct shown_line {
	uint32_t line; /* 0: instructions without line numbers */
	const struct ctx_line_total *row;
};

struct shown_lines {
	struct shown_line *lines; /* owned */
	size_t n, cap;
	uint32_t n_text; /* lines of the file's text */
};

static enum ctx_status add_line(struct shown_lines *shown, uint32_t line, const struct ctx_line_total *row,
				struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&shown->lines, &shown->cap, shown->n + 1, err);

	if (status == CTX_OK)
		shown->lines[shown->n++] = (struct shown_line){line, row};
	return status;
}

/* Lines first to last, without long runs of lines without weight. */
static enum ctx_status add_text(const struct ctx_source_section *section, uint32_t first, uint32_t last,
				struct shown_lines *shown, struct ctx_err *err)
{
	size_t n = (size_t)last - first + 1, row = 0;
	bool *marks CTX_AUTO_FREE = ctx_calloc(n, sizeof(*marks));
	bool *chosen CTX_AUTO_FREE = ctx_calloc(n, sizeof(*chosen));
	enum ctx_status status = CTX_OK;

	if (marks == NULL || chosen == NULL)
		return ctx_err_nomem(err);
	ctx_source_section_mark(section, first, n, marks);
	ctx_code_mark_shown(marks, n, CTX_SOURCE_CONTEXT, chosen);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		uint32_t line = first + (uint32_t)i;

		while (row < section->n_rows && section->rows[row].key.line < line)
			row++;
		if (chosen[i])
			status = add_line(shown, line, marks[i] ? &section->rows[row] : NULL, err);
	}
	return status;
}

static enum ctx_status choose_lines(struct making *making, const struct ctx_source_section *section,
				    struct shown_lines *shown, struct ctx_err *err)
{
	struct ctx_line_range range = {1, 0};
	enum ctx_status status = ctx_source_texts_count(&making->texts, section->file, &shown->n_text, err);

	if (status == CTX_OK && ctx_line_has_weight(section->no_line))
		status = add_line(shown, 0, section->no_line, err);
	if (shown->n_text != 0 && section->n_rows != 0)
		range = ctx_source_section_view(making->view, &making->subject, section, shown->n_text);
	if (status == CTX_OK && range.first <= range.last)
		status = add_text(section, range.first, range.last, shown, err);
	/* Lines that the text lacks: there is no text, or it is another version of the file. */
	for (size_t i = 0; i < section->n_rows && status == CTX_OK; i++) {
		if (section->rows[i].key.line > shown->n_text && ctx_line_has_weight(&section->rows[i]))
			status = add_line(shown, section->rows[i].key.line, &section->rows[i], err);
	}
	return status;
}

static void put_figures(const struct shown_lines *shown, uint64_t unit, struct ctx_buf *out)
{
	const struct ctx_code_sum none = {0};

	for (int column = 0; column < 4; column++) {
		for (size_t i = 0; i < shown->n; i++) {
			const struct ctx_line_total *row = shown->lines[i].row;
			const struct ctx_code_sum *sum = row != NULL ? &row->sum : &none;

			if (column == 0)
				ctx_buf_put_varint(out, sum->exclusive_samples);
			else if (column == 1)
				ctx_buf_put_varint(out, sum->inclusive_samples);
			else if (column == 2)
				ctx_buf_put_zigzag(out,
						   (int64_t)(sum->exclusive - sum->exclusive_samples * unit));
			else
				ctx_buf_put_zigzag(out,
						   (int64_t)(sum->inclusive - sum->inclusive_samples * unit));
		}
	}
}

static enum ctx_status put_texts(const struct making *making, const struct ctx_source_section *section,
				 const struct shown_lines *shown, struct ctx_buf *out, struct ctx_err *err)
{
	struct ctx_buf text = {0};
	bool any = false;
	enum ctx_status status;

	for (size_t i = 0; i < shown->n; i++) {
		uint32_t line = shown->lines[i].line;
		const char *raw;
		size_t n;

		if (line == 0 || line > shown->n_text)
			continue;
		if (any)
			ctx_buf_put_u8(&text, '\n');
		any = true;
		raw = ctx_source_texts_raw(&making->texts, section->file, line, &n);
		put_line_text(&text, raw, n);
	}
	status = ctx_buf_check(&text, err);
	ctx_buf_put_varint(out, text.n);
	ctx_buf_put(out, text.bytes, text.n);
	ctx_buf_deinit(&text);
	return status;
}

static enum ctx_status put_section(struct making *making, const struct ctx_source_section *section,
				   struct ctx_buf *out, struct ctx_err *err)
{
	struct shown_lines shown = {0};
	struct ctx_buf path = {0};
	enum ctx_status status = choose_lines(making, section, &shown, err);

	if (status == CTX_OK) {
		const char *name = making->view->code->files[section->file].path;

		ctx_html_put_valid(&path, name, strlen(name));
		status = ctx_buf_check(&path, err);
	}
	if (status == CTX_OK) {
		ctx_buf_put_varint(out, path.n);
		ctx_buf_put(out, path.bytes, path.n);
		ctx_buf_put_varint(out, shown.n_text);
		ctx_buf_put_varint(out, shown.n);
		for (size_t i = 0; i < shown.n; i++)
			ctx_buf_put_varint(out, shown.lines[i].line - (i != 0 ? shown.lines[i - 1].line : 0));
		put_figures(&shown, making->unit_weight, out);
		status = put_texts(making, section, &shown, out, err);
	}
	free(shown.lines);
	ctx_buf_deinit(&path);
	return status;
}

static bool section_has_weight(const struct ctx_source_section *section)
{
	if (ctx_line_has_weight(section->no_line))
		return true;
	for (size_t i = 0; i < section->n_rows; i++) {
		if (ctx_line_has_weight(&section->rows[i]))
			return true;
	}
	return false;
}

/* The sections of one owner, heaviest first. */
struct group {
	uint64_t exclusive, inclusive;
	uint32_t owner;
	size_t first, n; /* in a list of sections grouped by owner */
};

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	if (a->exclusive != b->exclusive)
		return a->exclusive > b->exclusive ? -1 : 1;
	if (a->inclusive != b->inclusive)
		return a->inclusive > b->inclusive ? -1 : 1;
	return a->owner < b->owner ? -1 : a->owner > b->owner;
}

struct groups {
	struct group *groups;			   /* owned; hottest first, only those with weight */
	const struct ctx_source_section **members; /* owned */
	size_t n;
};

static void groups_cleanup(struct groups *groups)
{
	free(groups->groups);
	free(groups->members);
}

static void add_member(struct group *group, const struct ctx_source_section *section)
{
	group->n++;
	group->exclusive += section->exclusive;
	if (section->no_line != NULL)
		group->exclusive += section->no_line->sum.exclusive;
	if (section->largest_inclusive > group->inclusive)
		group->inclusive = section->largest_inclusive;
}

static enum ctx_status make_groups(const struct making *making, struct groups *ret, struct ctx_err *err)
{
	const struct ctx_source_sections *sections = &making->sections;
	size_t n_owners = making->subject.n, at = 0;

	ret->groups = ctx_calloc(n_owners + 1, sizeof(*ret->groups));
	ret->members = ctx_calloc(sections->n + 1, sizeof(*ret->members));
	if (ret->groups == NULL || ret->members == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < sections->n; i++) {
		if (sections->sections[i].file != CTX_NONE && section_has_weight(&sections->sections[i]))
			add_member(&ret->groups[sections->sections[i].owner], &sections->sections[i]);
	}
	for (size_t i = 0; i < n_owners; i++) {
		ret->groups[i].owner = (uint32_t)i;
		ret->groups[i].first = at;
		at += ret->groups[i].n;
		ret->groups[i].n = 0;
	}
	for (size_t i = 0; i < sections->n; i++) {
		struct group *group = &ret->groups[sections->sections[i].owner];

		if (sections->sections[i].file != CTX_NONE && section_has_weight(&sections->sections[i]))
			ret->members[group->first + group->n++] = &sections->sections[i];
	}
	for (size_t i = 0; i < n_owners; i++) {
		if (ret->groups[i].n != 0)
			ret->groups[ret->n++] = ret->groups[i];
	}
	qsort(ret->groups, ret->n, sizeof(*ret->groups), compare_groups);
	return CTX_OK;
}

/* Compressed size of the bytes from `from` on, after those before them. */
static enum ctx_status packed_size(z_stream *stream, const struct ctx_buf *bytes, size_t from, size_t *ret,
				   struct ctx_err *err)
{
	size_t before = from < DICTIONARY ? from : DICTIONARY;
	uint8_t out[4096];
	int rc = deflateReset(stream);

	if (rc == Z_OK && before != 0)
		rc = deflateSetDictionary(stream, bytes->bytes + from - before, (uInt)before);
	stream->next_in = bytes->bytes + from;
	stream->avail_in = (uInt)(bytes->n - from);
	while (rc == Z_OK) {
		stream->next_out = out;
		stream->avail_out = sizeof(out);
		rc = deflate(stream, Z_FINISH);
	}
	*ret = stream->total_out;
	return rc == Z_STREAM_END ? CTX_OK : ctx_err_set(err, CTX_E_INTERNAL, "zlib: %d", rc);
}

/* Appends the group. */
static enum ctx_status put_group(struct making *making, const struct groups *groups,
				 const struct group *group, struct ctx_buf *out, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	ctx_buf_put_varint(out, group->n);
	for (size_t i = 0; i < group->n && status == CTX_OK; i++)
		status = put_section(making, groups->members[group->first + i], out, err);
	return status == CTX_OK ? ctx_buf_check(out, err) : status;
}

/* Appends groups while they fit; `number_of` gets their numbers, by owner. */
static enum ctx_status put_groups(struct making *making, const struct groups *groups, uint32_t *number_of,
				  struct ctx_html_sources *ret, struct ctx_err *err)
{
	z_stream stream = {0};
	enum ctx_status status = CTX_OK;
	int misses = 0;

	if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < groups->n && misses < MISSES_MOST && status == CTX_OK; i++) {
		size_t from = ret->groups.n, size = 0;

		status = put_group(making, groups, &groups->groups[i], &ret->groups, err);
		if (status == CTX_OK)
			status = packed_size(&stream, &ret->groups, from, &size, err);
		if (status == CTX_OK && size <= making->room - ret->packed_bytes) {
			ret->packed_bytes += size;
			number_of[groups->groups[i].owner] =
				CTX_HTML_SOURCE_FIRST + (uint32_t)ret->n_groups++;
		} else {
			ret->groups.n = from;
			misses++;
		}
	}
	deflateEnd(&stream);
	return status;
}

static enum ctx_status make_sources(struct making *making, struct ctx_html_sources *ret, struct ctx_err *err)
{
	struct groups groups __attribute__((cleanup(groups_cleanup))) = {0};
	uint32_t *number_of CTX_AUTO_FREE = ctx_calloc(making->subject.n + 1, sizeof(*number_of));
	enum ctx_status status = number_of != NULL ? make_groups(making, &groups, err) : ctx_err_nomem(err);
	uint32_t n_functions = making->view->profile->n_functions;

	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < making->subject.n; i++)
		number_of[i] = CTX_HTML_SOURCE_LEFT;
	status = put_groups(making, &groups, number_of, ret, err);
	if (status != CTX_OK)
		return status;
	ret->of_function = ctx_calloc(n_functions + 1, sizeof(*ret->of_function));
	if (ret->of_function == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n_functions; i++) {
		if (making->subject.owner_of[i] != CTX_NONE)
			ret->of_function[i] = number_of[making->subject.owner_of[i]];
	}
	return CTX_OK;
}

/* Without source files there are no lines, and the scan is skipped: `ret->code` is NULL then. */
static enum ctx_status pull(struct ctx_report_source *source, struct ctx_code_view *ret, struct ctx_err *err)
{
	struct ctx_report_code code;
	enum ctx_status status = source->code(source, &code, err);

	*ret = (struct ctx_code_view){.profile = source->selection.profile};
	if (status != CTX_OK || code.code == NULL || code.code->n_files == 0)
		return status;
	ret->code = code.code;
	ret->reader = code.reader;
	status = source->raw_histogram(source, &ret->raw, err);
	return status == CTX_OK ? ctx_code_check(ret, err) : status;
}

enum ctx_status ctx_html_sources_make(struct ctx_report_source *source, uint64_t unit_weight, size_t room,
				      struct ctx_html_sources *ret, struct ctx_err *err)
{
	struct ctx_code_view view;
	struct making making __attribute__((cleanup(making_cleanup))) = {
		.view = &view, .unit_weight = unit_weight, .room = room};
	enum ctx_status status = pull(source, &view, err);

	*ret = (struct ctx_html_sources){.unit_weight = unit_weight};
	if (status != CTX_OK || view.code == NULL)
		return status;
	status = ctx_subject_lined(&view, &making.subject, err);
	if (status == CTX_OK)
		status = ctx_source_texts_init(&making.texts, &view, err);
	if (status == CTX_OK)
		status = ctx_source_sections_build(&view, &making.subject, &making.sections, err);
	if (status == CTX_OK)
		status = make_sources(&making, ret, err);
	for (size_t i = 0; status == CTX_OK && i < view.raw->n; i++) {
		ret->weight += view.raw->entries[i].weight;
		ret->samples += view.raw->entries[i].samples;
	}
	if (status != CTX_OK)
		ctx_html_sources_deinit(ret);
	return status;
}

void ctx_html_sources_drop(struct ctx_html_sources *sources, uint32_t n_functions)
{
	for (uint32_t i = 0; sources->of_function != NULL && i < n_functions; i++) {
		if (sources->of_function[i] >= CTX_HTML_SOURCE_FIRST)
			sources->of_function[i] = CTX_HTML_SOURCE_LEFT;
	}
	ctx_buf_clear(&sources->groups);
	sources->n_groups = sources->packed_bytes = 0;
	sources->dropped = true;
}

void ctx_html_sources_deinit(struct ctx_html_sources *sources)
{
	free(sources->of_function);
	ctx_buf_deinit(&sources->groups);
	*sources = (struct ctx_html_sources){0};
}
