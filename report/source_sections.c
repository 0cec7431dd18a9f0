#include "report/source_sections.h"

#include "base/mem.h"
#include "report/code_places.h"

static bool key_of_function(const void *context, uint32_t function, uint32_t file, uint32_t line,
			    struct ctx_line_key *ret)
{
	const struct ctx_subject *subject = context;
	uint32_t owner = subject->owner_of[function];
	bool known = file != CTX_NONE && line != 0;

	*ret = (struct ctx_line_key){owner, known ? file : CTX_NONE, known ? line : 0};
	return owner != CTX_NONE;
}

static bool key_of_file(const void *context, uint32_t function, uint32_t file, uint32_t line,
			struct ctx_line_key *ret)
{
	const struct ctx_subject *subject = context;
	uint32_t owner = file != CTX_NONE ? subject->owner_of[file] : CTX_NONE;

	(void)function;
	*ret = (struct ctx_line_key){owner, file, line};
	return owner != CTX_NONE;
}

void ctx_source_sections_deinit(struct ctx_source_sections *sections)
{
	ctx_line_rows_deinit(&sections->lines);
	free(sections->sections);
	*sections = (struct ctx_source_sections){0};
}

static void take_row(struct ctx_source_section *section, const struct ctx_line_total *row)
{
	const struct ctx_code_sum *sum = &row->sum;

	if (row->key.line == 0) {
		section->no_line = row;
	} else {
		section->rows = section->rows != NULL ? section->rows : row;
		section->n_rows++;
		if (sum->inclusive > section->inclusive)
			section->inclusive = sum->inclusive;
		section->exclusive += sum->exclusive;
	}
	if (sum->exclusive > section->largest_exclusive)
		section->largest_exclusive = sum->exclusive;
	if (sum->inclusive > section->largest_inclusive)
		section->largest_inclusive = sum->inclusive;
}

static int compare(const void *left, const void *right)
{
	const struct ctx_source_section *a = left, *b = right;

	if (a->exclusive != b->exclusive)
		return a->exclusive > b->exclusive ? -1 : 1;
	if (a->inclusive != b->inclusive)
		return a->inclusive > b->inclusive ? -1 : 1;
	return a->owner != b->owner ? (a->owner < b->owner ? -1 : 1)
				    : (a->file < b->file ? -1 : a->file > b->file);
}

/* Weight of a function without a line goes to its heaviest section. */
static void give_no_line(struct ctx_source_section *sections, size_t n, const struct ctx_line_total *row)
{
	for (size_t i = 0; i < n; i++) {
		if (sections[i].owner == row->key.owner) {
			take_row(&sections[i], row);
			return;
		}
	}
}

static size_t make_sections(const struct ctx_subject *subject, const struct ctx_line_rows *lines,
			    struct ctx_source_section *sections)
{
	size_t n = 0, at = 0;

	for (uint32_t owner = 0; owner < subject->n; owner++) {
		size_t before = n;

		for (; at < lines->n && lines->rows[at].key.owner == owner; at++) {
			const struct ctx_line_total *row = &lines->rows[at];

			if (row->key.file == CTX_NONE)
				continue;
			if (n == before || sections[n - 1].file != row->key.file)
				sections[n++] =
					(struct ctx_source_section){.owner = owner, .file = row->key.file};
			take_row(&sections[n - 1], row);
		}
		if (n == before)
			sections[n++] = (struct ctx_source_section){
				.owner = owner, .file = subject->is_file ? subject->owners[owner] : CTX_NONE};
	}
	qsort(sections, n, sizeof(*sections), compare);
	for (size_t i = 0; i < lines->n; i++) {
		if (lines->rows[i].key.file == CTX_NONE)
			give_no_line(sections, n, &lines->rows[i]);
	}
	return n;
}

enum ctx_status ctx_source_sections_build(const struct ctx_code_view *view, const struct ctx_subject *subject,
					  struct ctx_source_sections *ret, struct ctx_err *err)
{
	struct ctx_source_sections made = {0};
	enum ctx_status status = ctx_line_rows_build(view, subject->is_file ? key_of_file : key_of_function,
						     subject, &made.lines, err);

	if (status != CTX_OK)
		return status;
	made.sections = ctx_calloc(made.lines.n + subject->n, sizeof(*made.sections));
	if (made.sections == NULL) {
		ctx_source_sections_deinit(&made);
		return ctx_err_nomem(err);
	}
	made.n = make_sections(subject, &made.lines, made.sections);
	*ret = made;
	return CTX_OK;
}

/*
 * Maximum distance of an instruction's line after the known lines of a function to be counted as
 * the function's.
 */
#define REACH 8

/* The first line of another function after `line`. */
static uint32_t next_function(const struct ctx_code_view *view, const struct ctx_subject *subject,
			      const struct ctx_source_section *section, uint32_t line)
{
	uint32_t first = UINT32_MAX;

	for (size_t i = 0; i < view->code->n_sites; i++) {
		const struct ctx_site *site = &view->code->sites[i];

		if (site->file == section->file && site->line > line && site->line < first &&
		    subject->owner_of[site->function] != section->owner)
			first = site->line;
	}
	return first;
}

static void extend_down(const struct ctx_function_code *part, uint32_t file, uint32_t limit, uint32_t *last)
{
	uint32_t before;

	do {
		before = *last;
		for (size_t i = 0; i < part->n_lines; i++) {
			const struct ctx_line_row *row = &part->lines[i];

			if (row->file == file && row->line > *last && row->line < limit &&
			    row->line - *last <= REACH)
				*last = row->line;
		}
	} while (*last != before);
}

static struct ctx_line_range range_of(const struct ctx_code_view *view, const struct ctx_subject *subject,
				      const struct ctx_source_section *section)
{
	uint32_t owner = subject->owners[section->owner], first = section->rows[0].key.line,
		 last = section->rows[section->n_rows - 1].key.line, limit;
	const struct ctx_function_code *parts;
	size_t n = 0;

	if (subject->is_file || view->reader == NULL || view->profile->functions[owner].inlined ||
	    view->reader->code(view->reader->context, owner, &parts, &n, NULL) != CTX_OK)
		n = 0;
	limit = n != 0 ? next_function(view, subject, section, last) : 0;
	for (size_t i = 0; i < n; i++) {
		const struct ctx_line_row *entry = parts[i].n_lines != 0 ? &parts[i].lines[0] : NULL;

		if (entry != NULL && entry->file == section->file && entry->line != 0 &&
		    ctx_code_is_inside(&view->profile->functions[owner], parts[i].address) &&
		    entry->line < first)
			first = entry->line;
		extend_down(&parts[i], section->file, limit, &last);
	}
	return (struct ctx_line_range){first, last};
}

struct ctx_line_range ctx_source_section_view(const struct ctx_code_view *view,
					      const struct ctx_subject *subject,
					      const struct ctx_source_section *section, uint32_t n_lines)
{
	struct ctx_line_range range = range_of(view, subject, section);

	return (struct ctx_line_range){
		.first = range.first > CTX_SOURCE_AROUND ? range.first - CTX_SOURCE_AROUND : 1,
		.last = n_lines > CTX_SOURCE_AROUND && range.last < n_lines - CTX_SOURCE_AROUND
				? range.last + CTX_SOURCE_AROUND
				: n_lines,
	};
}

size_t ctx_source_section_mark(const struct ctx_source_section *section, uint32_t first, size_t n,
			       bool *marks)
{
	size_t found = 0;

	for (size_t i = 0; i < section->n_rows; i++) {
		uint32_t line = section->rows[i].key.line;

		if (line >= first && line - first < n && ctx_line_has_weight(&section->rows[i])) {
			marks[line - first] = true;
			found++;
		}
	}
	return found;
}
