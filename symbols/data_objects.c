#include "symbols/data_objects.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "elf/debug_files.h"
#include "symbols/data_operand.h"
#include "symbols/data_types.h"
#include "symbols/dwarf_file.h"
#include "symbols/dwarf_walk.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX ((uint64_t)1 << 18)  /* bytes of a function that are passed through */
#define DIES_MAX ((uint64_t)20000000) /* that are looked at for variables and types */
#define SCOPES_MAX 64u		      /* around an address */
#define SCOPE_DIES_MAX 100000u	      /* of the scopes of one address */
#define NAMES_MAX 1000000u	      /* texts */

/* A variable with a fixed address. */
struct variable {
	uint64_t address, size;
	Dwarf_Off type;
	uint32_t name;
};

struct ctx_data_objects {
	struct ctx_dwarf_file file;
	struct ctx_elf_file image;
	uint64_t begin, end; /* of all loaded segments */
	struct ctx_data_code *code;
	struct ctx_strtab names;
	struct variable *variables; /* owned; by address */
	size_t n_variables, variables_cap;
	bool has_variables;
	struct ctx_data_member *members; /* owned; of the last layout */
	size_t n_members, members_cap;
};

/* ---- opening ---- */

static void find_span(struct ctx_data_objects *objects)
{
	size_t n = 0;

	objects->begin = UINT64_MAX;
	if (elf_getphdrnum(objects->image.elf, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(objects->image.elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
		    header.p_memsz > UINT64_MAX - header.p_vaddr)
			continue;
		objects->begin = header.p_vaddr < objects->begin ? header.p_vaddr : objects->begin;
		objects->end = header.p_vaddr + header.p_memsz > objects->end
				       ? header.p_vaddr + header.p_memsz
				       : objects->end;
	}
}

static struct ctx_data_objects *create(void)
{
	struct ctx_data_objects *objects = ctx_calloc(1, sizeof(*objects));

	if (objects != NULL)
		objects->file.object.fd = objects->file.alt_object.fd = objects->image.fd = -1;
	return objects;
}

static enum ctx_status finish(struct ctx_data_objects *objects, enum ctx_status status,
			      struct ctx_data_objects **ret, struct ctx_err *err)
{
	if (status == CTX_OK)
		status = ctx_data_code_create(&objects->code, err);
	if (status != CTX_OK) {
		ctx_data_objects_close(objects);
		return status;
	}
	find_span(objects);
	*ret = objects;
	return CTX_OK;
}

enum ctx_status ctx_data_objects_open(const struct ctx_file_request *request, struct ctx_data_objects **ret,
				      struct ctx_err *err)
{
	struct ctx_data_objects *objects = create();
	struct ctx_found_file found CTX_CLEANUP(ctx_found_file_deinit) = {0};
	enum ctx_status status;

	if (objects == NULL)
		return ctx_err_nomem(err);
	status = ctx_debug_files_dwarf(request, &found, err);
	if (status == CTX_OK && found.path != NULL)
		status = ctx_dwarf_file_open_path(&objects->file, found.path, request, err);
	else if (status == CTX_OK)
		status = ctx_dwarf_file_open_image(&objects->file, &found.bytes, request, err);
	if (status == CTX_OK)
		status = ctx_debug_files_open_image(request, &objects->image, err);
	return finish(objects, status, ret, err);
}

enum ctx_status ctx_data_objects_open_bytes(const void *bytes, size_t n, struct ctx_data_objects **ret,
					    struct ctx_err *err)
{
	struct ctx_data_objects *objects = create();
	struct ctx_buf image CTX_AUTO_BUF = {0};
	enum ctx_status status;

	if (objects == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		ctx_buf_put(&image, bytes, n);
	status = ctx_buf_check(&image, err);
	if (status == CTX_OK)
		status = ctx_dwarf_file_open_image(&objects->file, &image, NULL, err);
	if (status == CTX_OK)
		status = ctx_elf_open_bytes(&objects->image, bytes, n, err);
	return finish(objects, status, ret, err);
}

void ctx_data_objects_close(struct ctx_data_objects *objects)
{
	if (objects == NULL)
		return;
	ctx_data_code_destroy(objects->code);
	ctx_dwarf_file_close(&objects->file);
	ctx_elf_close(&objects->image);
	ctx_strtab_deinit(&objects->names);
	free(objects->variables);
	free(objects->members);
	free(objects);
}

bool ctx_data_objects_locate(const struct ctx_data_objects *objects, const struct ctx_data_map *map,
			     uint64_t address, uint64_t *ret)
{
	uint64_t code;

	if (!ctx_elf_address(objects->image.segments, objects->image.n_segments, map->file_offset, &code))
		return false;
	*ret = address - (map->address - code);
	return *ret >= objects->begin && *ret < objects->end;
}

/* ---- names ---- */

static enum ctx_status keep_text(struct ctx_data_objects *objects, struct ctx_buf *text, const char **ret,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_buf_check(text, err);
	uint32_t id;

	if (status == CTX_OK && objects->names.n >= NAMES_MAX)
		status = ctx_err_set(err, CTX_E_NOTFOUND, "too many names of data");
	if (status == CTX_OK)
		status = ctx_strtab_add(&objects->names, (const char *)text->bytes, text->n, &id, err);
	if (status == CTX_OK)
		*ret = objects->names.strings[id];
	return status;
}

static enum ctx_status keep_object(struct ctx_data_objects *objects, Dwarf_Die *type, const char **ret,
				   struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};

	ctx_buf_put_text(&text, "{");
	ctx_data_type_text(type, &text);
	ctx_buf_put_text(&text, "}");
	return keep_text(objects, &text, ret, err);
}

static enum ctx_status keep_member(struct ctx_data_objects *objects, Dwarf_Die *type, const char *path,
				   const char **ret, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};

	ctx_buf_put_text(&text, "{");
	ctx_data_type_text(type, &text);
	if (path[0] != '\0') {
		ctx_buf_put_text(&text, " ");
		ctx_buf_put_text(&text, path);
	}
	ctx_buf_put_text(&text, "}");
	return keep_text(objects, &text, ret, err);
}

/* What is at a place: a type, and the offset in it. */
struct place {
	Dwarf_Die type;
	uint64_t offset;
	const char *variable; /* NULL unknown */
};

static enum ctx_status name_place(struct ctx_data_objects *objects, struct place *place,
				  struct ctx_data_name *ret, struct ctx_err *err)
{
	struct ctx_buf path CTX_AUTO_BUF = {0};
	struct ctx_data_name name = {0};
	struct ctx_data_part part;
	const char *variable = place->variable;
	enum ctx_status status = CTX_OK;

	if (!ctx_data_type_at(&place->type, place->offset, &part, &path))
		return ctx_err_set(err, CTX_E_NOTFOUND, "no data at this offset of its type");
	ctx_buf_put_u8(&path, 0);
	status = ctx_buf_check(&path, err);
	if (status == CTX_OK && part.has_aggregate) {
		status = keep_object(objects, &part.aggregate, &name.object, err);
		variable = (const char *)path.bytes;
	}
	name.offset = part.has_aggregate ? part.offset : 0;
	if (status == CTX_OK && !part.is_padding) {
		name.size = ctx_data_type_size(&part.type);
		status =
			keep_member(objects, &part.type, variable != NULL ? variable : "", &name.member, err);
	}
	if (status == CTX_OK)
		*ret = name;
	return status;
}

/* ---- variables with a fixed address ---- */

/* Itself, or by its number in .debug_addr. */
static bool has_address(Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Attribute attribute, indexed;
	Dwarf_Addr address;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_getlocation(dwarf_attr(die, DW_AT_location, &attribute), &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) {
		if (dwarf_getlocation_attr(&attribute, &ops[0], &indexed) != 0 ||
		    dwarf_formaddr(&indexed, &address) != 0)
			return false;
		*ret = address;
		return true;
	}
	*ret = ops[0].number;
	return ops[0].atom == DW_OP_addr;
}

static enum ctx_status add_variable(struct ctx_data_objects *objects, Dwarf_Die *die, struct ctx_err *err)
{
	struct variable variable;
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attribute;
	enum ctx_status status;
	Dwarf_Die type, origin = *die;

	if (!has_address(die, &variable.address))
		return CTX_OK;
	if (name == NULL &&
	    dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_specification, &attribute), &origin) != NULL)
		name = dwarf_diename(&origin);
	if (name == NULL || !ctx_data_type_of(die, &type))
		return CTX_OK;
	variable.type = dwarf_dieoffset(&type);
	variable.size = ctx_data_type_size(&type);
	if (variable.size == 0 || variable.size > UINT64_MAX - variable.address)
		return CTX_OK;
	status = ctx_strtab_add_text(&objects->names, name, &variable.name, err);
	if (status == CTX_OK)
		status =
			ctx_grow(&objects->variables, &objects->variables_cap, objects->n_variables + 1, err);
	if (status == CTX_OK)
		objects->variables[objects->n_variables++] = variable;
	return status;
}

/* DIEs that may have variables or types in them. */
static bool is_worth_it(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		return true;
	default:
		return false;
	}
}

/* Calls `each` for the DIEs of all units, until it says that it is enough. */
struct passing {
	struct ctx_data_objects *objects;
	enum ctx_status (*each)(struct passing *passing, Dwarf_Die *die, struct ctx_err *err);
	const char *wanted; /* name of a type */
	Dwarf_Die found;
	bool has_found;
};

static enum ctx_status pass_all(void *context, struct ctx_err *err)
{
	struct passing *passing = context;
	uint64_t left = DIES_MAX;
	enum ctx_status status = CTX_OK;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf_get_units(passing->objects->file.dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		struct ctx_dwarf_walk walk;
		bool more = ctx_dwarf_walk_begin(&walk, &die);

		while (more && left-- != 0 && status == CTX_OK && !passing->has_found) {
			status = passing->each(passing, &walk.die, err);
			more = ctx_dwarf_walk_next(&walk, is_worth_it(&walk.die));
		}
		if (status != CTX_OK || passing->has_found || left == 0)
			return status;
	}
	return status;
}

static enum ctx_status take_variable(struct passing *passing, Dwarf_Die *die, struct ctx_err *err)
{
	return dwarf_tag(die) == DW_TAG_variable ? add_variable(passing->objects, die, err) : CTX_OK;
}

static int by_address(const void *a, const void *b)
{
	const struct variable *left = a, *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

static enum ctx_status find_variables(struct ctx_data_objects *objects, struct ctx_err *err)
{
	struct passing passing = {.objects = objects, .each = take_variable};
	enum ctx_status status;

	if (objects->has_variables)
		return CTX_OK;
	objects->n_variables = 0;
	status = ctx_dwarf_file_run(&objects->file, pass_all, &passing, err);
	if (status != CTX_OK)
		return status;
	objects->has_variables = true;
	if (objects->n_variables != 0)
		qsort(objects->variables, objects->n_variables, sizeof(*objects->variables), by_address);
	return CTX_OK;
}

struct naming {
	struct ctx_data_objects *objects;
	uint64_t address; /* of the data, or of the instruction */
	bool is_behind;
	struct ctx_data_name name;
};

/* Where a fixed address is. False: in no variable. */
static bool fixed_place(const struct ctx_data_objects *objects, uint64_t address, struct place *ret)
{
	size_t n = ctx_count_up_to(objects->variables, objects->n_variables, address, address);
	const struct variable *variable = n != 0 ? &objects->variables[n - 1] : NULL;

	if (variable == NULL || address - variable->address >= variable->size ||
	    dwarf_offdie(objects->file.dwarf, variable->type, &ret->type) == NULL)
		return false;
	ret->offset = address - variable->address;
	ret->variable = objects->names.strings[variable->name];
	return true;
}

static enum ctx_status run_fixed(void *context, struct ctx_err *err)
{
	struct naming *naming = context;
	struct place place;

	return fixed_place(naming->objects, naming->address, &place)
		       ? name_place(naming->objects, &place, &naming->name, err)
		       : ctx_err_set(err, CTX_E_NOTFOUND, "no variable is at this address");
}

enum ctx_status ctx_data_objects_at(struct ctx_data_objects *objects, uint64_t address,
				    struct ctx_data_name *ret, struct ctx_err *err)
{
	struct naming naming = {.objects = objects, .address = address};
	enum ctx_status status = find_variables(objects, err);

	if (status == CTX_OK)
		status = ctx_dwarf_file_run(&objects->file, run_fixed, &naming, err);
	if (status == CTX_OK)
		*ret = naming.name;
	return status;
}

/* ---- variables of scopes ---- */

/* The scopes around an address, the innermost first, and what a place in the frame is relative to. */
struct scopes {
	Dwarf_Die items[SCOPES_MAX];
	size_t n;
	uint64_t pc;
	bool has_cfa;
	int cfa_register;
	int64_t cfa_offset;
	int base_register; /* the frame base is that register; CTX_DATA_NO_REGISTER: the CFA, or unknown */
	bool base_is_cfa;
};

/* In the order of the file; `Dwarf_Die`s of the function's variables and parameters. */
typedef bool (*variable_fn)(void *context, const struct scopes *scopes, Dwarf_Die *die, const Dwarf_Op *op);

/* The first variable in the scopes that has a place of one operation here and that `is` takes. */
static bool each_variable(struct scopes *scopes, variable_fn is, void *context)
{
	unsigned left = SCOPE_DIES_MAX;

	for (size_t i = 0; i < scopes->n; i++) {
		Dwarf_Die at;

		if (dwarf_child(&scopes->items[i], &at) != 0)
			continue;
		do {
			Dwarf_Attribute attribute;
			Dwarf_Op *ops;
			size_t n;

			int tag = dwarf_tag(&at);

			if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
			    dwarf_getlocation_addr(dwarf_attr(&at, DW_AT_location, &attribute), scopes->pc,
						   &ops, &n, 1) == 1 &&
			    n == 1 && is(context, scopes, &at, &ops[0]))
				return true;
		} while (dwarf_siblingof(&at, &at) == 0 && left-- != 0);
	}
	return false;
}

static void find_base(struct scopes *scopes)
{
	scopes->base_register = CTX_DATA_NO_REGISTER;
	for (size_t i = 0; i < scopes->n; i++) {
		Dwarf_Attribute attribute;
		Dwarf_Op *ops;
		size_t n;

		if (dwarf_tag(&scopes->items[i]) != DW_TAG_subprogram ||
		    dwarf_getlocation_addr(dwarf_attr(&scopes->items[i], DW_AT_frame_base, &attribute),
					   scopes->pc, &ops, &n, 1) != 1 ||
		    n != 1)
			continue;
		scopes->base_is_cfa = ops[0].atom == DW_OP_call_frame_cfa;
		if (ops[0].atom >= DW_OP_reg0 && ops[0].atom < DW_OP_reg0 + (int)CTX_DATA_REGISTERS)
			scopes->base_register = ops[0].atom - DW_OP_reg0;
		return;
	}
}

static void find_cfa(struct ctx_data_objects *objects, struct scopes *scopes)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(objects->image.elf);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;

	if (cfi == NULL)
		return;
	/* Of a register and an offset libdw makes this one operation. */
	if (dwarf_cfi_addrframe(cfi, scopes->pc, &frame) == 0 && dwarf_frame_cfa(frame, &ops, &n) == 0 &&
	    n == 1 && ops[0].atom == DW_OP_bregx && ops[0].number < CTX_DATA_REGISTERS) {
		scopes->has_cfa = true;
		scopes->cfa_register = (int)ops[0].number;
		scopes->cfa_offset = (int64_t)ops[0].number2;
	}
	free(frame);
	(void)dwarf_cfi_end(cfi);
}

static bool has_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine;
}

/* Those of a unit that hold the address. Not by dwarf_getscopes, which may never end for damaged files. */
static void find_scopes(struct scopes *scopes, Dwarf_Die *unit)
{
	struct ctx_dwarf_walk walk;
	uint64_t left = DIES_MAX;
	unsigned outermost = 0;
	bool more = ctx_dwarf_walk_begin(&walk, unit), into = true;

	for (; more && left-- != 0; more = ctx_dwarf_walk_next(&walk, into)) {
		bool is_scope = has_code(dwarf_tag(&walk.die));

		if (scopes->n != 0 && walk.depth <= outermost)
			break;
		into = is_scope ? dwarf_haspc(&walk.die, scopes->pc) == 1 : is_worth_it(&walk.die);
		if (!is_scope || !into)
			continue;
		outermost = scopes->n == 0 ? walk.depth : outermost;
		if (scopes->n == SCOPES_MAX)
			break;
		scopes->items[scopes->n++] = walk.die;
	}
	for (size_t i = 0; i < scopes->n / 2; i++) { /* the innermost first */
		Dwarf_Die outer = scopes->items[i];

		scopes->items[i] = scopes->items[scopes->n - 1 - i];
		scopes->items[scopes->n - 1 - i] = outer;
	}
}

static void scopes_at(struct ctx_data_objects *objects, uint64_t pc, struct scopes *ret)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	ret->pc = pc;
	ret->n = 0;
	ret->has_cfa = ret->base_is_cfa = false;
	ret->base_register = CTX_DATA_NO_REGISTER;
	while (dwarf_get_units(objects->file.dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		if (dwarf_haspc(&die, pc) != 1)
			continue;
		find_scopes(ret, &die);
		break;
	}
	if (ret->n == 0)
		return;
	find_base(ret);
	find_cfa(objects, ret);
}

struct frame_search {
	const struct ctx_data_operand *operand;
	struct place *ret;
};

/* Whether the operand, a place in the frame, is in the variable. */
static bool is_in_frame(void *context, const struct scopes *scopes, Dwarf_Die *die, const Dwarf_Op *op)
{
	struct frame_search *search = context;
	int base = search->operand->base;
	int64_t at = search->operand->offset, begin = (int64_t)op->number;
	uint64_t size;
	Dwarf_Die type;

	if (op->atom == DW_OP_fbreg && scopes->base_is_cfa && scopes->has_cfa && base == scopes->cfa_register)
		at -= scopes->cfa_offset;
	else if (!(op->atom == DW_OP_fbreg && base == scopes->base_register) &&
		 !(op->atom >= DW_OP_breg0 && op->atom == DW_OP_breg0 + base))
		return false;
	if (!ctx_data_type_of(die, &type))
		return false;
	size = ctx_data_type_size(&type);
	if (at < begin || (uint64_t)(at - begin) >= size)
		return false;
	*search->ret = (struct place){
		.type = type, .offset = (uint64_t)(at - begin), .variable = dwarf_diename(die)};
	return true;
}

struct register_search {
	int number;
	Dwarf_Die *ret; /* the variable's type */
};

static bool is_in_register(void *context, const struct scopes *scopes, Dwarf_Die *die, const Dwarf_Op *op)
{
	struct register_search *search = context;

	(void)scopes;
	return op->atom == DW_OP_reg0 + search->number && ctx_data_type_of(die, search->ret);
}

/* ---- instructions ---- */

enum value_kind { NOTHING, VALUE, ADDRESS };

/* What a register has: a value of a type, or the address of a place. */
struct value {
	enum value_kind kind;
	Dwarf_Die type;
	int64_t offset; /* ADDRESS: from the begin of what has the type */
};

struct walking {
	struct ctx_data_objects *objects;
	struct value registers[CTX_DATA_REGISTERS];
	struct scopes scopes; /* of the present instruction */
	bool has_scopes;
};

static struct scopes *scopes_of(struct walking *walking, uint64_t pc)
{
	if (walking->has_scopes && walking->scopes.pc == pc)
		return &walking->scopes;
	scopes_at(walking->objects, pc, &walking->scopes);
	walking->has_scopes = true;
	return &walking->scopes;
}

/* What the address in a register is of: its own address kept, or what a pointer points to. */
static bool pointed_to(struct walking *walking, int number, uint64_t pc, struct place *ret, int64_t *offset)
{
	struct value *value = &walking->registers[number];
	struct register_search search = {.number = number, .ret = &ret->type};
	Dwarf_Die type;

	if (value->kind == ADDRESS) {
		ret->type = value->type;
		*offset += value->offset;
		return true;
	}
	if (value->kind == VALUE && ctx_data_type_pointee(&value->type, &ret->type))
		return true;
	if (!each_variable(scopes_of(walking, pc), is_in_register, &search))
		return false;
	type = ret->type;
	return ctx_data_type_pointee(&type, &ret->type);
}

/* Elements of an array are alike; in front of an object, or behind, is another element. */
static bool set_offset(struct place *place, int64_t offset, bool has_index)
{
	int64_t size = (int64_t)ctx_data_type_size(&place->type);

	if (size > 0 && (has_index || offset < 0 || offset >= size))
		offset = (offset % size + size) % size;
	place->offset = (uint64_t)offset;
	return offset >= 0;
}

/* False: not known. */
static bool find_place(struct walking *walking, const struct ctx_data_operand *operand, uint64_t pc,
		       struct place *ret)
{
	struct frame_search search = {.operand = operand, .ret = ret};
	struct ctx_data_objects *objects = walking->objects;
	bool has_index = operand->index != CTX_DATA_NO_REGISTER;
	int64_t offset = operand->offset;

	*ret = (struct place){0};
	if (operand->is_absolute)
		return fixed_place(objects, (uint64_t)operand->offset, ret);
	if (each_variable(scopes_of(walking, pc), is_in_frame, &search))
		return true;
	if (operand->base == walking->scopes.cfa_register && walking->scopes.has_cfa)
		return false; /* of the frame, but of no variable */
	return pointed_to(walking, operand->base, pc, ret, &offset) && set_offset(ret, offset, has_index);
}

static void step(struct walking *walking, const struct ctx_data_step *now)
{
	struct value *to = now->to != CTX_DATA_NO_REGISTER ? &walking->registers[now->to] : NULL;
	struct value *from = now->from != CTX_DATA_NO_REGISTER ? &walking->registers[now->from] : NULL;
	struct value next = {.kind = NOTHING};
	struct ctx_buf unused CTX_AUTO_BUF = {0};
	struct ctx_data_part part;
	struct place place;
	Dwarf_Die pointee;

	switch (now->effect) {
	case CTX_DATA_LOADS:
		if (find_place(walking, &now->operand, now->address, &place) &&
		    ctx_data_type_at(&place.type, place.offset, &part, &unused) && !part.is_padding)
			next = (struct value){.kind = VALUE, .type = part.type};
		break;
	case CTX_DATA_ADDRESSES:
		if (find_place(walking, &now->operand, now->address, &place))
			next = (struct value){
				.kind = ADDRESS, .type = place.type, .offset = (int64_t)place.offset};
		break;
	case CTX_DATA_COPIES:
		if (from != NULL)
			next = *from;
		break;
	case CTX_DATA_ADDS:
	case CTX_DATA_INDEXES:
		next = *to;
		if (next.kind != ADDRESS &&
		    !(next.kind == VALUE && ctx_data_type_pointee(&next.type, &pointee)) && from != NULL)
			next = *from; /* the number was there first */
		if (next.kind == VALUE && ctx_data_type_pointee(&next.type, &pointee))
			next = (struct value){.kind = ADDRESS, .type = pointee};
		else if (next.kind == VALUE)
			next.kind = NOTHING;
		next.offset += now->addend;
		break;
	case CTX_DATA_FORGETS:
		break;
	}
	for (unsigned i = 0; i < CTX_DATA_REGISTERS; i++) {
		if (now->written >> i & 1)
			walking->registers[i].kind = NOTHING;
	}
	if (to != NULL)
		*to = next;
}

/* The part of the function, at the address, that holds it: its first byte. */
static bool begin_of(struct scopes *scopes, uint64_t *ret)
{
	for (size_t i = 0; i < scopes->n; i++) {
		Dwarf_Addr base, begin, end;

		if (dwarf_tag(&scopes->items[i]) != DW_TAG_subprogram)
			continue;
		for (ptrdiff_t at = 0; (at = dwarf_ranges(&scopes->items[i], at, &base, &begin, &end)) > 0;) {
			if (scopes->pc >= begin && scopes->pc < end) {
				*ret = begin;
				return true;
			}
		}
	}
	return false;
}

/* Passes from the begin of the function to the instruction; false: its operand is not known. */
static bool walk_to(struct walking *walking, uint64_t pc, bool is_behind, struct place *ret)
{
	struct ctx_data_step now;

	while (ctx_data_code_next(walking->objects->code, &now)) {
		bool is_it = is_behind ? now.next == pc : now.address == pc;

		if (now.is_target)
			memset(walking->registers, 0, sizeof(walking->registers));
		if (is_it)
			return now.has_memory && find_place(walking, &now.operand, now.address, ret);
		if (now.address >= pc)
			return false;
		step(walking, &now);
	}
	return false;
}

static enum ctx_status run_accessed(void *context, struct ctx_err *err)
{
	struct naming *naming = context;
	struct walking walking = {.objects = naming->objects};
	struct ctx_buf bytes CTX_AUTO_BUF = {0};
	uint64_t pc = naming->address, begin = 0;
	struct place place = {0};
	enum ctx_status status = CTX_E_NOTFOUND;
	bool found = false;

	if (naming->objects->image.machine != EM_X86_64 || (naming->is_behind && pc == 0))
		return ctx_err_set(err, CTX_E_NOTFOUND, "operands are read of x86-64 alone");
	if (begin_of(scopes_of(&walking, pc - naming->is_behind), &begin) && pc - begin <= CODE_MAX)
		status = ctx_elf_read_code(&naming->objects->image, begin, pc - begin + 16, &bytes, err);
	if (status == CTX_OK)
		status = ctx_data_code_begin(naming->objects->code, bytes.bytes, bytes.n, begin, err);
	if (status == CTX_OK)
		found = walk_to(&walking, pc, naming->is_behind, &place);
	if (found)
		status = name_place(naming->objects, &place, &naming->name, err);
	if (status == CTX_E_NOMEM || found)
		return status;
	return ctx_err_set(err, CTX_E_NOTFOUND, "it is not known what the instruction accesses");
}

enum ctx_status ctx_data_objects_accessed(struct ctx_data_objects *objects, uint64_t code, bool is_behind,
					  struct ctx_data_name *ret, struct ctx_err *err)
{
	struct naming naming = {.objects = objects, .address = code, .is_behind = is_behind};
	enum ctx_status status = find_variables(objects, err);

	if (status == CTX_OK)
		status = ctx_dwarf_file_run(&objects->file, run_accessed, &naming, err);
	if (status == CTX_OK)
		*ret = naming.name;
	return status;
}

/* ---- layout ---- */

static enum ctx_status take_type(struct passing *passing, Dwarf_Die *die, struct ctx_err *err)
{
	const char *name = dwarf_diename(die);

	(void)err;
	if (name == NULL || strcmp(name, passing->wanted) != 0 || !ctx_data_type_has_members(die))
		return CTX_OK;
	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_typedef:
		passing->found = *die;
		passing->has_found = true;
		return CTX_OK;
	default:
		return CTX_OK;
	}
}

struct listing {
	struct ctx_data_objects *objects;
	enum ctx_status status;
	struct ctx_err *err;
};

static bool add_member(void *context, Dwarf_Die *type, uint64_t offset, const char *path)
{
	struct listing *listing = context;
	struct ctx_data_objects *objects = listing->objects;
	struct ctx_data_member member = {.offset = offset, .size = ctx_data_type_size(type)};

	listing->status = keep_member(objects, type, path, &member.text, listing->err);
	if (listing->status == CTX_OK)
		listing->status = ctx_grow(&objects->members, &objects->members_cap, objects->n_members + 1,
					   listing->err);
	if (listing->status != CTX_OK)
		return false;
	objects->members[objects->n_members++] = member;
	return true;
}

struct laying_out {
	struct passing passing;
	const char *object;
	uint64_t size;
};

static enum ctx_status run_layout(void *context, struct ctx_err *err)
{
	struct laying_out *out = context;
	struct listing listing = {.objects = out->passing.objects, .err = err};
	enum ctx_status status = pass_all(&out->passing, err);

	if (status != CTX_OK || !out->passing.has_found)
		return status != CTX_OK
			       ? status
			       : ctx_err_set(err, CTX_E_NOTFOUND, "no structure or union is called %s",
					     out->passing.wanted);
	out->size = ctx_data_type_size(&out->passing.found);
	status = keep_object(out->passing.objects, &out->passing.found, &out->object, err);
	if (status != CTX_OK)
		return status;
	out->passing.objects->n_members = 0;
	if (!ctx_data_type_each(&out->passing.found, add_member, &listing) && listing.status == CTX_OK)
		return ctx_err_set(err, CTX_E_NOTFOUND, "the members of %s cannot be read",
				   out->passing.wanted);
	return listing.status;
}

static int by_offset(const void *a, const void *b)
{
	const struct ctx_data_member *left = a, *right = b;

	return (left->offset > right->offset) - (left->offset < right->offset);
}

enum ctx_status ctx_data_objects_layout(struct ctx_data_objects *objects, const char *type,
					struct ctx_data_layout *ret, struct ctx_err *err)
{
	struct laying_out out = {.passing = {.objects = objects, .each = take_type, .wanted = type}};
	enum ctx_status status = ctx_dwarf_file_run(&objects->file, run_layout, &out, err);

	if (status != CTX_OK)
		return status;
	if (objects->n_members != 0)
		qsort(objects->members, objects->n_members, sizeof(*objects->members), by_offset);
	*ret = (struct ctx_data_layout){
		.object = out.object, .members = objects->members, .n = objects->n_members, .size = out.size};
	return CTX_OK;
}
