#include "ctxan/sql.h"

#include <ctype.h>
#include <string.h>

struct printer {
	FILE *out;
	enum ctx_report_format format;
	bool started;
};

static void put_csv(FILE *out, const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_cells(const struct printer *printer, const char *const *cells, int n)
{
	for (int i = 0; i < n; i++) {
		const char *text = cells[i] != NULL ? cells[i] : "";

		if (i != 0)
			fputc(printer->format == CTX_REPORT_CSV ? ',' : '\t', printer->out);
		if (printer->format == CTX_REPORT_CSV)
			put_csv(printer->out, text);
		else
			ctx_report_put_name(printer->out, text);
	}
	fputc('\n', printer->out);
}

static void print_json(const struct printer *printer, const struct ctx_sql_result_row *row)
{
	fputs(printer->started ? ",\n{" : "\n{", printer->out);
	for (int i = 0; i < row->n; i++) {
		if (i != 0)
			fputs(", ", printer->out);
		ctx_report_put_json_string(printer->out, row->names[i]);
		fputs(": ", printer->out);
		if (row->values[i] == NULL)
			fputs("null", printer->out);
		else if (row->numeric[i] &&
			 (isdigit((unsigned char)row->values[i][0]) || row->values[i][0] == '-') &&
			 strpbrk(row->values[i], "nN") == NULL)
			fputs(row->values[i], printer->out);
		else
			ctx_report_put_json_string(printer->out, row->values[i]);
	}
	fputc('}', printer->out);
}

static enum ctx_status print_row(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	struct printer *printer = context;

	if (printer->format == CTX_REPORT_JSON) {
		print_json(printer, row);
	} else {
		if (!printer->started)
			print_cells(printer, row->names, row->n);
		print_cells(printer, row->values, row->n);
	}
	printer->started = true;
	return ferror(printer->out) ? ctx_err_set(err, CTX_E_IO, "the output cannot be written") : CTX_OK;
}

enum ctx_status ctx_sql_print(struct ctx_store *store, const char *sql, enum ctx_report_format format,
			      FILE *out, struct ctx_err *err)
{
	struct printer printer = {.out = out, .format = format};
	enum ctx_status status;

	if (format == CTX_REPORT_JSON)
		fputc('[', out);
	status = ctx_store_sql(store, sql, print_row, &printer, err);
	if (format == CTX_REPORT_JSON)
		fputs("\n]\n", out);
	return status;
}
