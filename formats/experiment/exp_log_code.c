#include "formats/experiment/exp_log_code.h"

#include "base/digits.h"
#include "base/mem.h"
#include "formats/experiment/exp_functions.h"

#include <stdlib.h>
#include <string.h>

#define MACHINE_USUAL 62u /* x86-64 */

void ctx_exp_code_lines_deinit(struct ctx_exp_code_lines *lines)
{
	ctx_arena_deinit(&lines->arena);
	ctx_strtab_deinit(&lines->strings);
	free(lines->functions);
	free(lines->codes);
	free(lines->vms);
	ctx_map64_deinit(&lines->of_key);
	*lines = (struct ctx_exp_code_lines){0};
}

static enum ctx_status keep(struct ctx_exp_code_lines *lines, const char *text, const char **ret,
			    struct ctx_err *err)
{
	uint32_t id;
	enum ctx_status status = ctx_strtab_add_text(&lines->strings, text, &id, err);

	if (status == CTX_OK)
		*ret = ctx_strtab_get(&lines->strings, id);
	return status;
}

static enum ctx_code_kind kind_of(const struct ctx_exp_line *line)
{
	const char *word = ctx_exp_line_text(line, "kind");
	enum ctx_code_kind kind = word != NULL ? ctx_code_kind_find(word) : CTX_CODE_NATIVE;

	return kind < CTX_CODE_N ? kind : CTX_CODE_NATIVE; /* of a later version */
}

enum ctx_status ctx_exp_code_lines_function(struct ctx_exp_code_lines *lines, const struct ctx_exp_line *line,
					    uint32_t *ret, struct ctx_err *err)
{
	const char *name = ctx_exp_line_text(line, "name"), *module = ctx_exp_line_text(line, "module");
	const char *file = ctx_exp_line_text(line, "file");
	struct ctx_exp_function_row row = {.kind = kind_of(line)};
	enum ctx_status status;
	uint32_t *place;

	if (!ctx_exp_line_number32(line, "number", &row.key) || row.key >= CTX_EXP_FUNCTIONS_MAX ||
	    name == NULL || name[0] == '\0' || module == NULL)
		return CTX_E_FORMAT;
	if (!ctx_exp_line_number32(line, "line", &row.line))
		row.line = 0;
	status = keep(lines, name, &row.name, err);
	if (status == CTX_OK)
		status = keep(lines, module, &row.module, err);
	if (status == CTX_OK && file != NULL)
		status = keep(lines, file, &row.file, err);
	if (status == CTX_OK)
		status = ctx_grow(&lines->functions, &lines->functions_cap, lines->n_functions + 1, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&lines->of_key, row.key);
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place != CTX_MAP64_NONE)
		return CTX_E_FORMAT;
	*place = *ret = (uint32_t)lines->n_functions;
	lines->functions[lines->n_functions++] = row;
	return CTX_OK;
}

/* --- code --- */

/* The next `n` numbers, separated by commas, and the space behind them. False: there are others. */
static bool take_numbers(const char **at, uint32_t *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t number;

		if (!ctx_digits_take(at, 10, &number) || number >= UINT32_MAX ||
		    (i + 1 < n && *(*at)++ != ','))
			return false;
		out[i] = (uint32_t)number;
	}
	*at += **at == ' ';
	return true;
}

static size_t count_items(const char *text)
{
	size_t n = *text != '\0';

	for (; *text != '\0'; text++)
		n += *text == ' ';
	return n;
}

static enum ctx_status read_sites(struct ctx_exp_code_lines *lines, const char *text,
				  struct ctx_jit_places *places, struct ctx_err *err)
{
	size_t n = count_items(text);
	struct ctx_jit_site *sites;

	if (n > CTX_EXP_CODE_ROWS_MAX)
		return CTX_E_FORMAT;
	sites = ctx_arena_alloc(&lines->arena, (n + 1) * sizeof(*sites));
	if (sites == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		uint32_t numbers[3], row;

		if (!take_numbers(&text, numbers, CTX_COUNT_OF(numbers)) || numbers[0] > i)
			return CTX_E_FORMAT;
		row = ctx_map64_get(&lines->of_key, numbers[1]);
		if (row == CTX_MAP64_NONE)
			return CTX_E_FORMAT;
		sites[i] = (struct ctx_jit_site){.caller = numbers[0] != 0 ? numbers[0] - 1 : CTX_NONE,
						 .function = lines->functions[row].name,
						 .file = lines->functions[row].file,
						 .line = numbers[2]};
	}
	places->sites = sites;
	places->n_sites = n;
	return *text == '\0' ? CTX_OK : CTX_E_FORMAT;
}

static enum ctx_status read_rows(struct ctx_exp_code_lines *lines, const char *text,
				 struct ctx_jit_places *places, struct ctx_err *err)
{
	size_t n = count_items(text);
	struct ctx_jit_row *rows;
	uint32_t begin = 0;

	if (n > CTX_EXP_CODE_ROWS_MAX)
		return CTX_E_FORMAT;
	rows = ctx_arena_alloc(&lines->arena, (n + 1) * sizeof(*rows));
	if (rows == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		uint32_t numbers[2];

		if (!take_numbers(&text, numbers, CTX_COUNT_OF(numbers)) || numbers[1] > places->n_sites ||
		    numbers[0] > UINT32_MAX - begin || (i != 0 && numbers[0] == 0))
			return CTX_E_FORMAT;
		begin += numbers[0];
		rows[i] = (struct ctx_jit_row){begin, numbers[1] != 0 ? numbers[1] - 1 : CTX_NONE};
	}
	places->rows = rows;
	places->n_rows = n;
	return *text == '\0' ? CTX_OK : CTX_E_FORMAT;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum ctx_status read_instructions(struct ctx_exp_code_lines *lines, const char *text,
					 struct ctx_exp_code_line *code, struct ctx_err *err)
{
	size_t n = strlen(text) / 2;
	uint8_t *bytes;

	if (strlen(text) % 2 != 0 || n > CTX_EXP_CODE_BYTES_MAX)
		return CTX_E_FORMAT;
	bytes = ctx_arena_alloc(&lines->arena, n + 1);
	if (bytes == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return CTX_E_FORMAT;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	code->instructions = bytes;
	code->n_instructions = n;
	return CTX_OK;
}

enum ctx_status ctx_exp_code_lines_code(struct ctx_exp_code_lines *lines, const struct ctx_exp_line *line,
					uint32_t *ret, struct ctx_err *err)
{
	const char *sites = ctx_exp_line_text(line, "sites"), *rows = ctx_exp_line_text(line, "rows");
	const char *text = ctx_exp_line_text(line, "text");
	enum ctx_status status = ctx_grow(&lines->codes, &lines->codes_cap, lines->n_codes + 1, err);
	struct ctx_exp_code_line code = {0};
	uint32_t key, machine = MACHINE_USUAL;

	if (status != CTX_OK)
		return status;
	if (!ctx_exp_line_number32(line, "function", &key))
		return CTX_E_FORMAT;
	code.function = ctx_map64_get(&lines->of_key, key);
	if (code.function == CTX_MAP64_NONE)
		return CTX_E_FORMAT;
	if (ctx_exp_line_number32(line, "machine", &machine) && machine > UINT16_MAX)
		return CTX_E_FORMAT;
	code.machine = (uint16_t)machine;
	if (sites != NULL && rows != NULL) {
		status = read_sites(lines, sites, &code.places, err);
		if (status == CTX_OK)
			status = read_rows(lines, rows, &code.places, err);
	}
	if (status == CTX_OK && text != NULL)
		status = read_instructions(lines, text, &code, err);
	if (status != CTX_OK)
		return status;
	*ret = (uint32_t)lines->n_codes;
	lines->codes[lines->n_codes++] = code;
	return CTX_OK;
}

struct ctx_event_function ctx_exp_code_lines_event(const struct ctx_exp_code_lines *lines, uint32_t row)
{
	const struct ctx_exp_function_row *function = &lines->functions[row];

	return (struct ctx_event_function){.id = function->key,
					   .name = function->name,
					   .module = function->module,
					   .file = function->file,
					   .line = function->line,
					   .size = CTX_FRAME_POSITIONS,
					   .positions = CTX_POSITION_LINE,
					   .code_kind = function->kind};
}

struct ctx_map_event ctx_exp_code_lines_map(const struct ctx_exp_code_lines *lines, uint32_t row,
					    uint64_t address, uint64_t size)
{
	const struct ctx_exp_code_line *code = &lines->codes[row];
	const struct ctx_exp_function_row *function = &lines->functions[code->function];

	return (struct ctx_map_event){.address = address,
				      .size = size,
				      .file_offset = address,
				      .path = function->module,
				      .build_id = "",
				      .archive = "",
				      .function = function->name,
				      .code = code->instructions,
				      .n_code = code->n_instructions,
				      .machine = code->machine,
				      .code_kind = function->kind,
				      .places = code->places.n_rows != 0 ? &code->places : NULL};
}
