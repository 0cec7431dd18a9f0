#include "symbols/dwarf_names.h"

#include "symbols/dwarf_scope.h"

#include <dwarf.h>
#include <string.h>

#define HOPS_MAX 16

static const char *text_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

/*
 * An inlined function refers to its abstract instance, which refers to its declaration in a class
 * or namespace; any of them may have the name. `*ret_plain` is the last plain name,
 * `*ret_named` its DIE.
 */
static const char *linkage_name(Dwarf_Die die, const char **ret_plain, Dwarf_Die *ret_named)
{
	Dwarf_Attribute attribute;

	for (int hop = 0; hop < HOPS_MAX; hop++) {
		const char *name = text_attribute(&die, DW_AT_linkage_name);
		Dwarf_Die next;

		if (name == NULL)
			name = text_attribute(&die, DW_AT_MIPS_linkage_name);
		if (name != NULL && name[0] != '\0')
			return name;
		name = text_attribute(&die, DW_AT_name);
		if (name != NULL && name[0] != '\0') {
			*ret_plain = name;
			*ret_named = die;
		}
		if (dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &next) == NULL &&
		    dwarf_formref_die(dwarf_attr(&die, DW_AT_specification, &attribute), &next) == NULL)
			break;
		die = next;
	}
	return NULL;
}

static enum ctx_status add_plain(struct ctx_dwarf_reader *reader, const char *plain, Dwarf_Die *named,
				 uint32_t *ret_id, struct ctx_err *err)
{
	struct ctx_buf name CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_dwarf_scope_put(reader, named, &name, err);

	if (status != CTX_OK)
		return status;
	ctx_buf_put_text(&name, plain);
	if (ctx_buf_check(&name, err) != CTX_OK)
		return CTX_E_NOMEM;
	return ctx_dwarf_reader_text(reader, (const char *)name.bytes, name.n, ret_id, err);
}

enum ctx_status ctx_dwarf_reader_function(struct ctx_dwarf_reader *reader, Dwarf_Die *function,
					  uint32_t *ret_id, struct ctx_err *err)
{
	uint32_t *seen = ctx_map64_place(&reader->seen, (uintptr_t)function->addr);
	const char *linkage, *plain = NULL;
	Dwarf_Die named;
	enum ctx_status status = CTX_OK;

	if (seen == NULL)
		return ctx_err_nomem(err);
	if (*seen == CTX_MAP64_NONE) {
		linkage = reader->text_left != 0 ? linkage_name(*function, &plain, &named) : NULL;
		if (linkage != NULL)
			status = ctx_dwarf_reader_text(reader, linkage, strlen(linkage), seen, err);
		else if (plain != NULL)
			status = add_plain(reader, plain, &named, seen, err);
		if (status == CTX_OK && *seen == CTX_DWARF_NONE)
			status = ctx_strtab_add_text(&reader->strings, "<unnamed>", seen, err);
	}
	if (status == CTX_OK)
		*ret_id = *seen;
	return status;
}
