#include "rules/rule_impl.h"

static void put_field(struct ctx_buf *buf, const struct ctx_rule_rows *rows, const struct ctx_rule_row *row,
		      const struct rule_field *field)
{
	if (ctx_rule_aspect_is_text(field->aspect)) {
		const char *text = row != NULL ? ctx_rule_text(row, field) : NULL;

		ctx_buf_put_text(buf, text != NULL ? text : "-");
	} else if (field->aspect == RULE_CHANGE) {
		ctx_rule_put_change(buf, ctx_rule_value(rows, row, field));
	} else {
		ctx_rule_put_number(buf, field->unit, ctx_rule_value(rows, row, field));
	}
}

/* "parse_row: 12.0 ms -> 13.1 ms (+9.2 %)" */
static void put_default(struct ctx_buf *buf, const struct ctx_rule_rows *rows, const struct rule *rule,
			const struct ctx_rule_row *row)
{
	static const struct rule_field name = {.aspect = RULE_NAME};
	struct rule_field field = rule->first;
	const struct ctx_rule_row *own = ctx_rule_row_of(rows, rule, row, field.kind);

	if (ctx_rule_kind_has_rows(rule->info.kind))
		put_field(buf, rows, row, &name);
	if (!ctx_rule_kind_has_rows(field.kind))
		ctx_buf_printf(buf, "%s%s.%s", ctx_rule_kind_has_rows(rule->info.kind) ? ": " : "",
			       ctx_rule_kind_name(field.kind),
			       ctx_rule_measure_at(field.kind, field.measure)->name);
	ctx_buf_put_text(buf, ": ");
	field.aspect = RULE_A;
	if (rows->compared) {
		put_field(buf, rows, own, &field);
		ctx_buf_put_text(buf, " -> ");
	}
	field.aspect = RULE_B;
	put_field(buf, rows, own, &field);
	if (!rows->compared)
		return;
	ctx_buf_put_text(buf, " (");
	field = ctx_rule_field_aspect(field, RULE_CHANGE);
	put_field(buf, rows, own, &field);
	ctx_buf_put_text(buf, ")");
}

void ctx_rule_put_message(struct ctx_buf *buf, const struct ctx_rule_rows *rows, const struct rule *rule,
			  const struct ctx_rule_row *row)
{
	if (rule->n_pieces == 0)
		put_default(buf, rows, rule, row);
	for (size_t i = 0; i < rule->n_pieces; i++) {
		const struct rule_piece *piece = &rule->pieces[i];

		if (piece->text != NULL)
			ctx_buf_put_text(buf, piece->text);
		else
			put_field(buf, rows, ctx_rule_row_of(rows, rule, row, piece->field.kind),
				  &piece->field);
	}
}
