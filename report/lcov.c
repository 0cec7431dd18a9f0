/*
 * Coverage as a tracefile of lcov, for genhtml and the like: what was executed has the count 1.
 *
 *	TN:  SF:path  FN:line,function  FNDA:0|1,function  FNF, FNH  DA:line,0|1  LF, LH  end_of_record
 *
 * Source: geninfo(1), "TRACEFILE FORMAT".
 */
#include "base/mem.h"
#include "report/coverage_lines.h"
#include "report/report_exports.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct function {
	const char *name; /* n bytes */
	size_t n;
	uint32_t line; /* its first */
	bool executed;
};

static int by_name(const void *a, const void *b)
{
	const struct function *left = a, *right = b;
	int order = memcmp(left->name, right->name, left->n < right->n ? left->n : right->n);

	if (order == 0 && left->n != right->n)
		return left->n < right->n ? -1 : 1;
	return order != 0 ? order : (left->line > right->line) - (left->line < right->line);
}

static int by_line(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	return left->line != right->line ? (left->line < right->line ? -1 : 1) : by_name(a, b);
}

/* Each name once, by its first line. Returns how many. */
static size_t list_functions(const struct ctx_profile *profile, const struct ctx_coverage_line *lines,
			     size_t n, struct function *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		out[i] = (struct function){.line = lines[i].line, .executed = lines[i].executed != 0};
		out[i].name = ctx_coverage_function(profile, lines[i].function, &out[i].n);
	}
	qsort(out, n, sizeof(*out), by_name);
	for (size_t i = 0; i < n; i++) {
		struct function *last = kept != 0 ? &out[kept - 1] : NULL;

		if (last != NULL && last->n == out[i].n && memcmp(last->name, out[i].name, last->n) == 0)
			last->executed = last->executed || out[i].executed;
		else
			out[kept++] = out[i];
	}
	qsort(out, kept, sizeof(*out), by_line);
	return kept;
}

struct file { /* a part of the lines */
	const char *path;
	const struct ctx_coverage_line *lines;
	size_t n;
};

/* The lines of one file. */
static void put_file(const struct ctx_profile *profile, const struct file *file, struct function *room,
		     FILE *out)
{
	const struct ctx_coverage_line *lines = file->lines;
	size_t n = file->n;
	size_t n_functions = list_functions(profile, lines, n, room), n_hit = 0, n_lines = 0;

	fprintf(out, "TN:\nSF:%s\n", file->path);
	for (size_t i = 0; i < n_functions; i++)
		fprintf(out, "FN:%" PRIu32 ",%.*s\n", room[i].line, (int)room[i].n, room[i].name);
	for (size_t i = 0; i < n_functions; i++) {
		fprintf(out, "FNDA:%d,%.*s\n", room[i].executed, (int)room[i].n, room[i].name);
		n_hit += room[i].executed;
	}
	fprintf(out, "FNF:%zu\nFNH:%zu\n", n_functions, n_hit);
	n_hit = 0;
	for (size_t i = 0; i < n;) {
		uint32_t line = lines[i].line;
		bool executed = false;

		for (; i < n && lines[i].line == line; i++)
			executed = executed || lines[i].executed != 0;
		fprintf(out, "DA:%" PRIu32 ",%d\n", line, executed);
		n_lines++;
		n_hit += executed;
	}
	fprintf(out, "LF:%zu\nLH:%zu\nend_of_record\n", n_lines, n_hit);
}

static enum ctx_status write_lcov(const struct ctx_export_input *input, FILE *out, struct ctx_err *err)
{
	struct ctx_coverage_lines lines CTX_CLEANUP(ctx_coverage_lines_deinit) = {0};
	struct function *room CTX_AUTO_FREE = NULL;
	enum ctx_status status = ctx_coverage_lines_pull(input->source, &lines, err);
	size_t n = 0;

	if (status == CTX_OK && !lines.has_any)
		return ctx_err_set(err, CTX_E_ARG, "no coverage was recorded (ctxrec --indicator '*:once')");
	if (status != CTX_OK)
		return status;
	room = ctx_calloc(lines.n + 1, sizeof(*room));
	if (room == NULL)
		return ctx_err_nomem(err);
	/* Those without a file come last. */
	while (n < lines.n && lines.items[n].file != CTX_NONE) {
		const char *path = lines.code->files[lines.items[n].file].path;
		size_t first = n;

		while (n < lines.n && lines.items[n].file != CTX_NONE &&
		       strcmp(lines.code->files[lines.items[n].file].path, path) == 0)
			n++;
		put_file(input->profile, &(struct file){path, lines.items + first, n - first}, room, out);
	}
	if (n == 0)
		input->remark(input->remark_context, "no line: the programs have no line tables (gcc -g)");
	return CTX_OK;
}

const struct ctx_export_kind ctx_export_lcov = {
	.name = "lcov",
	.suffix = ".info",
	.write = write_lcov,
};
