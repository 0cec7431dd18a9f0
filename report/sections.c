#include "report/sections.h"

void ctx_sections_begin(struct ctx_sections *sections, const struct ctx_section *section, const char *title)
{
	struct ctx_out *out = sections->out;

	if (!ctx_out_is_text(out)) {
		sections->at = section;
		return;
	}
	ctx_out_section(out, NULL);
	if (sections->at != NULL)
		ctx_out_line(out, "");
	title = title != NULL ? title : section->title;
	if (title != NULL)
		ctx_out_line(out, title);
	sections->at = section;
	for (size_t i = 0; i < section->n_shown; i++) {
		sections->text[i] = sections->columns[section->shown[i].column];
		sections->text[i].title = section->shown[i].title;
	}
	out->columns = sections->text;
	out->n_columns = section->n_shown;
}

void ctx_sections_clear(const struct ctx_sections *sections, struct ctx_cell *cells)
{
	for (size_t i = 0; i < sections->n_columns; i++)
		cells[i] = (struct ctx_cell){.kind = CTX_CELL_ABSENT};
}

void ctx_sections_row_begin(struct ctx_sections *sections, struct ctx_cell *cells, const char *name)
{
	const struct ctx_section *at = sections->at;
	struct ctx_cell shown[CTX_SECTION_COLUMNS];

	if (!ctx_out_is_text(sections->out)) {
		cells[0] = ctx_cell_name(name != NULL ? name : at->name);
		ctx_out_row_begin(sections->out, cells);
		return;
	}
	for (size_t i = 0; i < at->n_shown; i++)
		shown[i] = cells[at->shown[i].column];
	ctx_out_row_begin(sections->out, shown);
}

void ctx_sections_row_end(struct ctx_sections *sections)
{
	ctx_out_row_end(sections->out);
}

void ctx_sections_end(struct ctx_sections *sections)
{
	ctx_out_section(sections->out, NULL);
	sections->out->columns = sections->columns;
	sections->out->n_columns = sections->n_columns;
}
