#include "symbols/data_types.h"

#include "base/mem.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#define STEPS_MAX 32u	   /* of typedefs and pointers in a row */
#define DEPTH_MAX 16u	   /* of structures in structures */
#define MEMBERS_MAX 65536u /* of one structure */

bool ctx_data_type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), ret) != NULL;
}

static bool is_transparent(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool ctx_data_type_strip(Dwarf_Die *type, Dwarf_Die *ret)
{
	*ret = *type;
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		Dwarf_Die inner;

		if (!is_transparent(dwarf_tag(ret)))
			return true;
		if (!ctx_data_type_of(ret, &inner))
			return false; /* void */
		*ret = inner;
	}
	return false;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

bool ctx_data_type_pointee(Dwarf_Die *type, Dwarf_Die *ret)
{
	Dwarf_Die pointer;

	return ctx_data_type_strip(type, &pointer) && is_pointer(dwarf_tag(&pointer)) &&
	       ctx_data_type_of(&pointer, ret);
}

uint64_t ctx_data_type_size(Dwarf_Die *type)
{
	Dwarf_Die stripped;
	Dwarf_Word size;

	return ctx_data_type_strip(type, &stripped) && dwarf_aggregate_size(&stripped, &size) == 0 ? size : 0;
}

static bool has_members(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool ctx_data_type_has_members(Dwarf_Die *type)
{
	Dwarf_Die stripped;

	return ctx_data_type_strip(type, &stripped) && has_members(dwarf_tag(&stripped)) &&
	       !dwarf_hasattr_integrate(&stripped, DW_AT_declaration);
}

/* ---- members ---- */

struct member {
	Dwarf_Die type;
	const char *name; /* NULL: none, as of a base class */
	uint64_t begin, end;
	bool is_bits;
};

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr_integrate(die, name, &attribute), &value) != 0)
		return false;
	*ret = value;
	return true;
}

/* False: it is no data member. */
static bool read_member(Dwarf_Die *die, struct member *ret)
{
	int tag = dwarf_tag(die);
	uint64_t bits, offset = 0;

	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !ctx_data_type_of(die, &ret->type) ||
	    dwarf_hasattr(die, DW_AT_external)) /* static ones are elsewhere */
		return false;
	*ret = (struct member){.type = ret->type, .name = tag == DW_TAG_member ? dwarf_diename(die) : NULL};
	ret->is_bits = number_of(die, DW_AT_data_bit_offset, &bits);
	if (ret->is_bits) {
		uint64_t n_bits = 0;

		(void)number_of(die, DW_AT_bit_size, &n_bits);
		ret->begin = bits / 8;
		ret->end = (bits + n_bits + 7) / 8;
		return n_bits != 0 && n_bits <= 64 && bits < UINT64_MAX - 128;
	}
	(void)number_of(die, DW_AT_data_member_location, &offset);
	ret->begin = offset;
	ret->end = offset + ctx_data_type_size(&ret->type);
	return ret->end > ret->begin;
}

/* The first or next member. */
static bool next_member(Dwarf_Die *of, Dwarf_Die *at, bool *begun, unsigned *left, struct member *ret)
{
	for (;;) {
		int status = *begun ? dwarf_siblingof(at, at) : dwarf_child(of, at);

		*begun = true;
		if (status != 0 || (*left)-- == 0)
			return false;
		if (read_member(at, ret))
			return true;
	}
}

static void put_name(struct ctx_buf *path, const char *name)
{
	if (name == NULL || *name == '\0')
		return;
	if (path->n != 0)
		ctx_buf_put_text(path, ".");
	ctx_buf_put_text(path, name);
}

/* ---- what is at an offset ---- */

/* The element of an array that holds the offset: its type, with and without typedef, and the offset in it. */
static bool enter_array(Dwarf_Die *type, Dwarf_Die *element, uint64_t *offset)
{
	uint64_t size;

	if (!ctx_data_type_of(type, element) || !ctx_data_type_strip(element, type))
		return false;
	size = ctx_data_type_size(type);
	if (size == 0)
		return false;
	*offset %= size;
	return true;
}

static bool find_member(Dwarf_Die *type, uint64_t offset, struct member *ret)
{
	unsigned left = MEMBERS_MAX;
	bool begun = false;
	Dwarf_Die at;

	while (next_member(type, &at, &begun, &left, ret)) {
		if (offset >= ret->begin && offset < ret->end)
			return true;
	}
	return false;
}

bool ctx_data_type_at(Dwarf_Die *type, uint64_t offset, struct ctx_data_part *ret, struct ctx_buf *path)
{
	uint64_t base = 0;	 /* of the present type in the aggregate */
	Dwarf_Die named = *type; /* with its typedef */

	*ret = (struct ctx_data_part){0};
	if (!ctx_data_type_strip(type, &ret->type))
		return false;
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		int tag = dwarf_tag(&ret->type);
		struct member member;

		if (tag == DW_TAG_array_type) {
			if (!enter_array(&ret->type, &named, &offset))
				return false;
			continue;
		}
		if (!has_members(tag)) {
			ret->offset = base;
			return offset < ctx_data_type_size(&ret->type) || ctx_data_type_size(&ret->type) == 0;
		}
		if (!ret->has_aggregate) {
			ret->aggregate = named;
			ret->has_aggregate = true;
			ret->of_aggregate = offset;
			if (offset >= ctx_data_type_size(&ret->type))
				return false;
		}
		if (!find_member(&ret->type, offset, &member)) {
			ret->is_padding = true;
			ret->offset = base + offset;
			return true;
		}
		put_name(path, member.name);
		base += member.begin;
		offset -= member.begin;
		if (!ctx_data_type_strip(&member.type, &ret->type))
			return false;
		if (member.is_bits) {
			ret->offset = base;
			return true;
		}
	}
	return false;
}

/* ---- text ---- */

static const char *kind_text(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type:
		return "structure:";
	case DW_TAG_class_type:
		return "class:";
	case DW_TAG_union_type:
		return "union:";
	case DW_TAG_enumeration_type:
		return "enumeration:";
	default:
		return NULL;
	}
}

void ctx_data_type_text(Dwarf_Die *type, struct ctx_buf *out)
{
	Dwarf_Die at = *type, inner;
	const char *alias = NULL; /* the last typedef: of a type without a name */

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		int tag = dwarf_tag(&at);
		const char *name = dwarf_diename(&at);

		if (is_transparent(tag)) {
			alias = tag == DW_TAG_typedef ? name : alias;
		} else if (is_pointer(tag)) {
			ctx_buf_put_text(out, "pointer+");
			alias = NULL;
		} else if (tag == DW_TAG_array_type) {
			ctx_buf_put_text(out, "array+");
			alias = NULL;
		} else {
			name = name != NULL ? name : alias;
			if (kind_text(tag) != NULL)
				ctx_buf_put_text(out, kind_text(tag));
			ctx_buf_put_text(out, tag == DW_TAG_subroutine_type ? "function"
					      : name != NULL		    ? name
									    : "<unnamed>");
			return;
		}
		if (!ctx_data_type_of(&at, &inner)) {
			ctx_buf_put_text(out, "void");
			return;
		}
		at = inner;
	}
	ctx_buf_put_text(out, "<unnamed>");
}

/* ---- all scalars ---- */

struct level {
	Dwarf_Die type, at;
	bool begun;
	unsigned left;
	uint64_t base;
	size_t path_bytes;
};

bool ctx_data_type_each(Dwarf_Die *type, ctx_data_member_fn each, void *context)
{
	struct level levels[DEPTH_MAX];
	struct ctx_buf path CTX_AUTO_BUF = {0};
	unsigned depth = 0, left = MEMBERS_MAX;

	levels[0] = (struct level){.left = MEMBERS_MAX};
	if (!ctx_data_type_strip(type, &levels[0].type) || !has_members(dwarf_tag(&levels[0].type)))
		return false;
	for (;;) {
		struct level *level = &levels[depth];
		struct member member;
		Dwarf_Die inner;

		path.n = level->path_bytes;
		if (left == 0)
			return false;
		if (!next_member(&level->type, &level->at, &level->begun, &level->left, &member)) {
			if (depth-- == 0)
				return true;
			continue;
		}
		left--;
		put_name(&path, member.name);
		if (!ctx_data_type_strip(&member.type, &inner))
			continue;
		if (has_members(dwarf_tag(&inner)) && !member.is_bits && depth + 1 < DEPTH_MAX) {
			levels[++depth] = (struct level){.type = inner,
							 .left = MEMBERS_MAX,
							 .base = level->base + member.begin,
							 .path_bytes = path.n};
			continue;
		}
		ctx_buf_put_u8(&path, 0);
		if (path.failed ||
		    !each(context, &member.type, level->base + member.begin, (const char *)path.bytes))
			return false;
	}
}
