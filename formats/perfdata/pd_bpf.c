/*
 *	info --ksyms, lengths--> functions --.
 *	     --line rows, addresses--> rows --+--sorted by address--> places of each function
 *	     --BTF's texts--> files, names --´
 */
#include "formats/perfdata/pd_bpf.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "formats/perfdata/pd_btf.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Bits of `arrays`. */
enum {
	JITED_INSNS = 0,
	JITED_KSYMS = 3,
	JITED_FUNC_LENS = 4,
	FUNC_INFO = 5,
	LINE_INFO = 6,
	JITED_LINE_INFO = 7,
	PROG_TAGS = 8,
};

/* Offsets in struct bpf_prog_info. */
enum {
	AT_ID = 4,
	AT_JITED_LENGTH = 16,
	AT_JITED_INSNS = 24,
	AT_NAME = 64,
	AT_N_KSYMS = 104,
	AT_N_LENGTHS = 108,
	AT_KSYMS = 112,
	AT_LENGTHS = 120,
	AT_BTF = 128,
	AT_FUNC_BYTES = 132,
	AT_FUNC_INFO = 136,
	AT_N_FUNC_INFO = 144,
	AT_N_LINES = 148,
	AT_LINES = 152,
	AT_JITED_LINES = 160,
	AT_N_JITED_LINES = 168,
	AT_LINE_BYTES = 172,
	AT_JITED_LINE_BYTES = 176,
	AT_N_TAGS = 180,
	AT_TAGS = 184,
	INFO_MIN = 192, /* of a kernel that has lines */
};

#define NAME_BYTES 16u
#define KSYM_BYTES 512 /* KSYM_NAME_LEN, with the zero byte */
#define TAG_BYTES 8u
#define LINE_SHIFT 10 /* line and column are one number */

struct ctx_pd_bpf_program {
	struct ctx_pe_wire info, data;
	uint64_t arrays;
};

struct ctx_pd_bpf_btf {
	struct ctx_pe_wire bytes;
	struct ctx_pd_btf btf; /* once settled */
};

static void free_rows(struct ctx_pd_bpf *bpf)
{
	for (size_t i = 0; i < bpf->n; i++) {
		free((struct ctx_jit_row *)bpf->functions[i].places.rows);
		free((struct ctx_jit_site *)bpf->functions[i].places.sites);
	}
}

void ctx_pd_bpf_deinit(struct ctx_pd_bpf *bpf)
{
	free_rows(bpf);
	for (size_t i = 0; i < bpf->n_btfs; i++)
		ctx_pd_btf_close(&bpf->btfs[i].btf);
	ctx_map64_deinit(&bpf->btf_of_id);
	free(bpf->programs);
	free(bpf->btfs);
	free(bpf->functions);
	*bpf = (struct ctx_pd_bpf){0};
}

/* ---- features ---- */

static enum ctx_status cut_short(struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "cut short");
}

/* The next `n` bytes, copied. */
static enum ctx_status keep(struct ctx_pe_wire *wire, struct ctx_arena *arena, size_t n,
			    struct ctx_pe_wire *ret, struct ctx_err *err)
{
	const uint8_t *bytes = ctx_pe_wire_bytes(wire, n);
	uint8_t *copy;

	if (bytes == NULL)
		return cut_short(err);
	copy = ctx_arena_alloc(arena, n + 1);
	if (copy == NULL)
		return ctx_err_nomem(err);
	memcpy(copy, bytes, n);
	*ret = ctx_pe_wire_make(copy, n, wire->swap);
	return CTX_OK;
}

static enum ctx_status read_program(struct ctx_pd_bpf *bpf, struct ctx_arena *arena, struct ctx_pe_wire *wire,
				    struct ctx_err *err)
{
	uint32_t info_bytes = ctx_pe_wire_u32(wire), data_bytes = ctx_pe_wire_u32(wire);
	struct ctx_pd_bpf_program program = {.arrays = ctx_pe_wire_u64(wire)};
	enum ctx_status status = wire->failed ? cut_short(err) : CTX_OK;

	if (status == CTX_OK)
		status = keep(wire, arena, info_bytes, &program.info, err);
	if (status == CTX_OK)
		status = keep(wire, arena, data_bytes, &program.data, err);
	if (status == CTX_OK)
		status = ctx_grow(&bpf->programs, &bpf->programs_cap, bpf->n_programs + 1, err);
	if (status == CTX_OK)
		bpf->programs[bpf->n_programs++] = program;
	return status;
}

static enum ctx_status read_btf(struct ctx_pd_bpf *bpf, struct ctx_arena *arena, struct ctx_pe_wire *wire,
				struct ctx_err *err)
{
	struct ctx_pd_bpf_btf btf = {0};
	uint32_t id = ctx_pe_wire_u32(wire), bytes = ctx_pe_wire_u32(wire);
	uint32_t *place;
	enum ctx_status status = wire->failed ? cut_short(err) : keep(wire, arena, bytes, &btf.bytes, err);

	if (status == CTX_OK)
		status = ctx_grow(&bpf->btfs, &bpf->btfs_cap, bpf->n_btfs + 1, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&bpf->btf_of_id, id);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = (uint32_t)bpf->n_btfs;
	bpf->btfs[bpf->n_btfs++] = btf;
	return CTX_OK;
}

enum ctx_status ctx_pd_bpf_read(struct ctx_pd_bpf *bpf, struct ctx_arena *arena, uint32_t feature,
				struct ctx_pe_wire *wire, struct ctx_err *err)
{
	uint32_t n = ctx_pe_wire_u32(wire);
	enum ctx_status status = wire->failed ? cut_short(err) : CTX_OK;

	for (uint32_t i = 0; i < n && status == CTX_OK; i++)
		status = feature == CTX_PD_FEATURE_BPF_BTF ? read_btf(bpf, arena, wire, err)
							   : read_program(bpf, arena, wire, err);
	return status;
}

/* ---- programs ---- */

/* What the functions of one program are made of. */
struct making {
	struct ctx_pd_bpf *bpf;
	struct ctx_arena *arena;
	const struct ctx_pd_bpf_program *program;
	const struct ctx_pd_btf *btf; /* NULL: there is none */
};

static uint32_t u32_at(struct ctx_pe_wire wire, size_t at)
{
	ctx_pe_wire_bytes(&wire, at);
	return ctx_pe_wire_u32(&wire);
}

static uint64_t u64_at(struct ctx_pe_wire wire, size_t at)
{
	ctx_pe_wire_bytes(&wire, at);
	return ctx_pe_wire_u64(&wire);
}

/* `n` rows of `row` bytes at the offset that the struct has at `at`; failed: the program has none. */
static struct ctx_pe_wire array_of(const struct ctx_pd_bpf_program *program, unsigned bit, size_t at,
				   uint64_t bytes)
{
	struct ctx_pe_wire data = program->data;
	uint64_t offset = u64_at(program->info, at);

	data.failed = (program->arrays >> bit & 1) == 0 || offset > ctx_pe_wire_left(&data) ||
		      bytes > ctx_pe_wire_left(&data) - offset;
	if (!data.failed) {
		data.at += offset;
		data.end = data.at + bytes;
	}
	return data;
}

/* "bpf_prog_6d92fe5dc324b4de_mixed", as bpf_get_prog_name of the kernel makes it. */
static enum ctx_status name_function(const struct making *making, size_t i, const char **ret,
				     struct ctx_err *err)
{
	const struct ctx_pd_bpf_program *program = making->program;
	uint32_t n_tags = u32_at(program->info, AT_N_TAGS);
	uint32_t row = u32_at(program->info, AT_FUNC_BYTES);
	uint32_t n = u32_at(program->info, AT_N_FUNC_INFO);
	struct ctx_pe_wire tags = array_of(program, PROG_TAGS, AT_TAGS, (uint64_t)n_tags * TAG_BYTES);
	struct ctx_pe_wire functions = array_of(program, FUNC_INFO, AT_FUNC_INFO, (uint64_t)n * row);
	struct ctx_buf text CTX_AUTO_BUF = {0};
	const uint8_t *tag = NULL;
	const char *name = NULL;

	ctx_buf_put_text(&text, "bpf_prog_");
	if (!tags.failed && i < n_tags)
		tag = tags.at + i * TAG_BYTES;
	for (size_t k = 0; tag != NULL && k < TAG_BYTES; k++)
		ctx_buf_printf(&text, "%02x", tag[k]);
	if (!functions.failed && making->btf != NULL && i < n && row >= 2 * sizeof(uint32_t))
		name = ctx_pd_btf_function(making->btf, u32_at(functions, i * row + sizeof(uint32_t)));
	if (name != NULL)
		ctx_buf_printf(&text, "_%.*s", KSYM_BYTES - 2 - (int)text.n, name);
	else if (program->info.at[AT_NAME] != '\0')
		ctx_buf_printf(&text, "_%.*s", (int)NAME_BYTES, (const char *)&program->info.at[AT_NAME]);
	ctx_buf_put_u8(&text, 0);
	if (ctx_buf_check(&text, err) != CTX_OK)
		return CTX_E_NOMEM;
	*ret = ctx_arena_strdup(making->arena, (const char *)text.bytes);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* Appends the functions of a program, in the order of their code. */
static enum ctx_status add_functions(const struct making *making, struct ctx_err *err)
{
	const struct ctx_pd_bpf_program *program = making->program;
	struct ctx_pd_bpf *bpf = making->bpf;
	uint32_t n = u32_at(program->info, AT_N_KSYMS);
	uint32_t code_bytes = u32_at(program->info, AT_JITED_LENGTH);
	struct ctx_pe_wire addresses =
		array_of(program, JITED_KSYMS, AT_KSYMS, (uint64_t)n * sizeof(uint64_t));
	struct ctx_pe_wire lengths =
		array_of(program, JITED_FUNC_LENS, AT_LENGTHS, (uint64_t)n * sizeof(uint32_t));
	struct ctx_pe_wire code = array_of(program, JITED_INSNS, AT_JITED_INSNS, code_bytes);
	enum ctx_status status = CTX_OK;

	if (addresses.failed || lengths.failed || u32_at(program->info, AT_N_LENGTHS) != n)
		return CTX_OK;
	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_pd_bpf_function function = {.address = ctx_pe_wire_u64(&addresses),
						       .size = ctx_pe_wire_u32(&lengths),
						       .program = u32_at(program->info, AT_ID)};

		function.code = ctx_pe_wire_bytes(&code, function.size);
		/* 0: the kernel does not tell this user. */
		if (function.address == 0 || function.size == 0 ||
		    function.size > UINT64_MAX - function.address)
			continue;
		status = name_function(making, i, &function.name, err);
		if (status == CTX_OK)
			status = ctx_grow(&bpf->functions, &bpf->cap, bpf->n + 1, err);
		if (status == CTX_OK)
			bpf->functions[bpf->n++] = function;
	}
	return status;
}

/* ---- lines ---- */

struct line {
	uint64_t address;
	uint32_t order; /* among the program's */
	uint32_t file;	/* offset among the texts of the BTF */
	uint32_t number;
};

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The lines of a program by address, of one address the last. */
static enum ctx_status read_lines(const struct ctx_pd_bpf_program *program, struct line **ret, size_t *ret_n,
				  struct ctx_err *err)
{
	uint32_t n = u32_at(program->info, AT_N_LINES);
	uint32_t row = u32_at(program->info, AT_LINE_BYTES);
	uint32_t jited_row = u32_at(program->info, AT_JITED_LINE_BYTES);
	struct ctx_pe_wire rows = array_of(program, LINE_INFO, AT_LINES, (uint64_t)n * row);
	struct ctx_pe_wire addresses =
		array_of(program, JITED_LINE_INFO, AT_JITED_LINES, (uint64_t)n * jited_row);
	struct line *lines;
	size_t kept = 0;

	*ret_n = 0;
	*ret = NULL;
	if (rows.failed || addresses.failed || row < 4 * sizeof(uint32_t) || jited_row < sizeof(uint64_t) ||
	    u32_at(program->info, AT_N_JITED_LINES) != n)
		return CTX_OK;
	lines = ctx_calloc(n, sizeof(*lines));
	if (lines == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		size_t at = (size_t)i * row;

		lines[i] = (struct line){.address = u64_at(addresses, (size_t)i * jited_row),
					 .order = i,
					 .file = u32_at(rows, at + 4),
					 .number = u32_at(rows, at + 12) >> LINE_SHIFT};
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	for (uint32_t i = 0; i < n; i++) {
		kept -= kept != 0 && lines[kept - 1].address == lines[i].address;
		lines[kept++] = lines[i];
	}
	*ret = lines;
	*ret_n = kept;
	return CTX_OK;
}

/* NULL: not known, or no path of a file. The bytes that are looked at are limited: many lines may share a text. */
static const char *file_of(const struct ctx_pd_btf *btf, uint32_t text)
{
	const char *file = ctx_pd_btf_text(btf, text);

	return file != NULL && file[0] != '\0' && strnlen(file, PATH_MAX) < PATH_MAX ? file : NULL;
}

/* Those in a function; a row for each, a site for each that differs from the one before. */
static enum ctx_status place_function(const struct making *making, struct ctx_pd_bpf_function *function,
				      const struct line *lines, size_t n, struct ctx_err *err)
{
	struct ctx_jit_row *rows = ctx_calloc(n, sizeof(*rows));
	struct ctx_jit_site *sites = ctx_calloc(n, sizeof(*sites));
	size_t n_rows = 0, n_sites = 0;

	if (rows == NULL || sites == NULL) {
		free(rows);
		free(sites);
		return ctx_err_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		const char *file = file_of(making->btf, lines[i].file);
		bool is_known = file != NULL && lines[i].number != 0;

		if (is_known && (n_sites == 0 || sites[n_sites - 1].line != lines[i].number ||
				 sites[n_sites - 1].file != file))
			sites[n_sites++] =
				(struct ctx_jit_site){CTX_NONE, function->name, file, lines[i].number};
		rows[n_rows++] = (struct ctx_jit_row){
			.begin = (uint32_t)(lines[i].address - function->address),
			.site = is_known ? (uint32_t)n_sites - 1 : CTX_NONE,
		};
	}
	function->places = (struct ctx_jit_places){rows, sites, n_rows, n_sites};
	return CTX_OK;
}

static int compare_functions(const void *left, const void *right)
{
	const struct ctx_pd_bpf_function *a = left, *b = right;

	if (a->program != b->program)
		return a->program < b->program ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/*
 * Functions `first` on are those of the program. Where functions overlap, which those of the kernel do not, each line is
 * one of the first that has it.
 */
static enum ctx_status add_lines(const struct making *making, size_t first, struct ctx_err *err)
{
	struct ctx_pd_bpf_function *functions = making->bpf->functions;
	size_t n_functions = making->bpf->n, n, at = 0;
	struct line *lines CTX_AUTO_FREE = NULL;
	enum ctx_status status = read_lines(making->program, &lines, &n, err);

	if (status != CTX_OK || n == 0 || first == n_functions)
		return status;
	qsort(&functions[first], n_functions - first, sizeof(*functions), compare_functions);
	for (size_t i = first; i < n_functions && status == CTX_OK; i++) {
		size_t begin;

		while (at < n && lines[at].address < functions[i].address)
			at++;
		begin = at;
		while (at < n && lines[at].address - functions[i].address < functions[i].size)
			at++;
		if (at != begin)
			status = place_function(making, &functions[i], &lines[begin], at - begin, err);
	}
	return status;
}

static enum ctx_status settle_program(struct making *making, struct ctx_err *err)
{
	const struct ctx_pd_bpf *bpf = making->bpf;
	size_t first = bpf->n;
	uint32_t btf;
	enum ctx_status status;

	if (ctx_pe_wire_left(&making->program->info) < INFO_MIN)
		return CTX_OK;
	btf = ctx_map64_get(&bpf->btf_of_id, u32_at(making->program->info, AT_BTF));
	if (btf != CTX_MAP64_NONE && bpf->btfs[btf].btf.n_strings != 0)
		making->btf = &bpf->btfs[btf].btf;
	status = add_functions(making, err);
	return status == CTX_OK && making->btf != NULL ? add_lines(making, first, err) : status;
}

enum ctx_status ctx_pd_bpf_settle(struct ctx_pd_bpf *bpf, struct ctx_arena *arena, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < bpf->n_btfs && status == CTX_OK; i++) {
		ctx_pd_btf_close(&bpf->btfs[i].btf);
		status = ctx_pd_btf_open(bpf->btfs[i].bytes, &bpf->btfs[i].btf, err);
	}
	free_rows(bpf);
	bpf->n = 0;
	for (size_t i = 0; i < bpf->n_programs && status == CTX_OK; i++) {
		struct making making = {.bpf = bpf, .arena = arena, .program = &bpf->programs[i]};

		status = settle_program(&making, err);
	}
	if (bpf->n != 0)
		qsort(bpf->functions, bpf->n, sizeof(*bpf->functions), compare_functions);
	return status;
}

const struct ctx_pd_bpf_function *ctx_pd_bpf_of(const struct ctx_pd_bpf *bpf, uint32_t program, size_t *ret_n)
{
	size_t first = ctx_count_below(bpf->functions, bpf->n, program, program);

	*ret_n = ctx_count_up_to(bpf->functions, bpf->n, program, program) - first;
	return *ret_n != 0 ? &bpf->functions[first] : NULL;
}
