#include "rules/rule_impl.h"

#include <math.h>

const struct ctx_rule_figure *ctx_rule_figure_of(const struct ctx_rule_row *row,
						 const struct rule_field *field)
{
	return &row->figures[ctx_rule_figure_at(field->measure, ctx_rule_weighting_of(field))];
}

double ctx_rule_value(const struct ctx_rule_rows *rows, const struct ctx_rule_row *row,
		      const struct rule_field *field)
{
	const struct ctx_rule_figure *figure = row != NULL ? ctx_rule_figure_of(row, field) : NULL;
	double a, b;

	if (figure == NULL || !figure->known || (!rows->compared && ctx_rule_aspect_compares(field->aspect)))
		return NAN;
	a = figure->value[0];
	b = figure->value[1];
	switch (field->aspect) {
	case RULE_VALUE:
	case RULE_B:
		return b;
	case RULE_A:
		return a;
	case RULE_DIFFERENCE:
		return b - a;
	case RULE_LOW:
		return figure->low;
	case RULE_HIGH:
		return figure->high;
	case RULE_P:
		return figure->p;
	case RULE_CHANGE:
	case RULE_VERDICT:
	case RULE_NAME:
	case RULE_OBJECT:
	case RULE_ASPECTS:
		break;
	}
	if (a == b)
		return 0;
	return a == 0 ? copysign(INFINITY, b) : (b - a) / fabs(a);
}

const char *ctx_rule_text(const struct ctx_rule_row *row, const struct rule_field *field)
{
	if (field->aspect == RULE_NAME)
		return row->name;
	if (field->aspect == RULE_OBJECT)
		return row->object;
	return ctx_rule_figure_of(row, field)->known ? ctx_rule_figure_of(row, field)->verdict : NULL;
}

const struct ctx_rule_row *ctx_rule_row_of(const struct ctx_rule_rows *rows, const struct rule *rule,
					   const struct ctx_rule_row *row, enum ctx_rule_kind kind)
{
	if (ctx_rule_kind_has_rows(kind))
		return kind == rule->info.kind ? row : NULL;
	return rows->tables[kind].n != 0 ? &rows->tables[kind].rows[0] : NULL;
}
