#include "symbols/probe_once.h"

#include "base/mem.h"
#include "symbols/probe_names.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX ((uint64_t)4 << 20) /* bytes; of larger ones only lines at the entry are sites */

struct addresses {
	uint64_t *items; /* owned */
	size_t n, cap;
};

struct walk {
	const struct ctx_probe_once *once;
	struct ctx_map64 functions; /* addresses that the symbol table calls functions, as keys */
	struct addresses lines, targets;
	struct ctx_buf code;
	uint8_t *begins; /* by byte of the function: an instruction begins there; owned */
	size_t begins_cap;
	csh handle;
	cs_insn *instruction;
	ctx_probe_once_fn each;
	void *context;
};

static void walk_deinit(struct walk *walk)
{
	ctx_map64_deinit(&walk->functions);
	free(walk->lines.items);
	free(walk->targets.items);
	ctx_buf_deinit(&walk->code);
	free(walk->begins);
	if (walk->instruction != NULL)
		cs_free(walk->instruction, 1);
	if (walk->handle != 0)
		cs_close(&walk->handle);
}

static enum ctx_status append(struct addresses *addresses, uint64_t address, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&addresses->items, &addresses->cap, addresses->n + 1, err);

	if (status == CTX_OK)
		addresses->items[addresses->n++] = address;
	return status;
}

static enum ctx_status take_line(void *context, const struct ctx_source_line *line, struct ctx_err *err)
{
	struct walk *walk = context;

	return line->file != NULL && line->line != 0 ? append(&walk->lines, line->address, err) : CTX_OK;
}

/* Where a jump with a fixed target goes to. */
static bool target_of(const cs_insn *instruction, uint64_t *ret)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*ret = (uint64_t)x86->operands[0].imm;
	return true;
}

/* Instructions from the function's begin on, one behind the other. */
static enum ctx_status disassemble(struct walk *walk, uint64_t begin, struct ctx_err *err)
{
	const uint8_t *at = walk->code.bytes;
	size_t n = walk->code.n;
	uint64_t address = begin, target;
	enum ctx_status status = ctx_grow(&walk->begins, &walk->begins_cap, n + 1, err);

	if (status != CTX_OK)
		return status;
	memset(walk->begins, 0, n + 1);
	walk->targets.n = 0;
	while (status == CTX_OK && cs_disasm_iter(walk->handle, &at, &n, &address, walk->instruction)) {
		const cs_insn *instruction = walk->instruction;

		walk->begins[instruction->address - begin] = 1;
		if (!cs_insn_group(walk->handle, instruction, CS_GRP_JUMP))
			continue;
		status = append(&walk->targets, address, err);
		if (status == CTX_OK && target_of(instruction, &target))
			status = append(&walk->targets, target, err);
	}
	return status;
}

static bool is_begin(const struct walk *walk, uint64_t begin, uint64_t address)
{
	return address >= begin && address - begin < walk->code.n && walk->begins[address - begin] != 0;
}

/* Those that are instructions of the function. */
static enum ctx_status give(const struct walk *walk, const struct addresses *addresses, uint64_t begin,
			    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < addresses->n && status == CTX_OK; i++) {
		if (is_begin(walk, begin, addresses->items[i]))
			status = walk->each(walk->context, addresses->items[i], err);
	}
	return status;
}

static bool agree(const struct walk *walk, uint64_t begin)
{
	for (size_t i = 0; i < walk->lines.n; i++) {
		if (!is_begin(walk, begin, walk->lines.items[i]))
			return false;
	}
	return true;
}

static enum ctx_status take_function(struct walk *walk, const struct ctx_symbol *symbol, struct ctx_err *err)
{
	const struct ctx_source_range range = {symbol->start, symbol->start + symbol->size};
	enum ctx_status status = CTX_OK;

	walk->lines.n = 0;
	walk->code.n = 0;
	if (symbol->size == 0 || symbol->size > FUNCTION_MAX || range.end < range.begin ||
	    ctx_elf_section_at(walk->once->image, symbol->start) == NULL)
		return CTX_OK;
	status = ctx_source_map_lines(walk->once->map, range, take_line, walk, err);
	if (status != CTX_OK)
		return status;
	if (walk->lines.n == 0)
		return ctx_map64_get(&walk->functions, symbol->start) != CTX_MAP64_NONE
			       ? walk->each(walk->context, symbol->start, err)
			       : CTX_OK;
	if (ctx_elf_read_code(walk->once->image, symbol->start, (size_t)symbol->size, &walk->code, NULL) !=
	    CTX_OK)
		return CTX_OK;
	status = disassemble(walk, symbol->start, err);
	if (status == CTX_OK && agree(walk, symbol->start))
		status = give(walk, &walk->targets, symbol->start, err);
	return status == CTX_OK ? give(walk, &walk->lines, symbol->start, err) : status;
}

static enum ctx_status begin(struct walk *walk, struct ctx_err *err)
{
	const struct ctx_elf_file *image = walk->once->image;

	if (image->machine != EM_X86_64 && image->machine != EM_386)
		return ctx_err_set(err, CTX_E_ARG, "coverage is for programs of x86");
	if (cs_open(CS_ARCH_X86, image->machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_32, &walk->handle) !=
	    CS_ERR_OK)
		return ctx_err_nomem(err);
	(void)cs_option(walk->handle, CS_OPT_DETAIL, CS_OPT_ON);
	walk->instruction = cs_malloc(walk->handle);
	return walk->instruction != NULL ? ctx_probe_list_functions(image, &walk->functions, err)
					 : ctx_err_nomem(err);
}

enum ctx_status ctx_probe_once_sites(const struct ctx_probe_once *once, ctx_probe_once_fn each, void *context,
				     struct ctx_err *err)
{
	struct walk walk CTX_CLEANUP(walk_deinit) = {.once = once, .each = each, .context = context};
	uint32_t n = ctx_symtab_count(once->symbols);
	enum ctx_status status = begin(&walk, err);

	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_symbol symbol;
		size_t length;

		status = ctx_symtab_get(once->symbols, i, &symbol, err);
		length = status == CTX_OK ? strlen(symbol.name) : 0;
		if (status == CTX_OK && (length < 4 || strcmp(symbol.name + length - 4, "@plt") != 0) &&
		    ctx_probe_name_matches(once->wanted, symbol.linkage_name, symbol.name))
			status = take_function(&walk, &symbol, err);
	}
	return status;
}
