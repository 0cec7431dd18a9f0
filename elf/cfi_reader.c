/*
 *	entry: length 4 (or ffffffff, length 8) | id: 0 (.debug_frame: all ones) for a CIE, otherwise the position of the CIE | body
 *	CIE:   version | augmentation, 0 | .. | code, data alignment | return register | augmentation data | program
 *	FDE:   begin | size | augmentation data | program
 */
#include "elf/cfi_reader.h"

#include "elf/elf_bytes.h"

#include <dwarf.h>
#include <string.h>

/*
 * "zPLRSB" and the like. No longer one is defined, and parsing it would cost time at each of its
 * functions.
 */
#define AUGMENTATION_MAX 16

static uint64_t get_uint(const struct ctx_cfi_section *section, struct ctx_cursor *cursor, size_t n)
{
	return ctx_elf_get_uint(cursor, n, section->big_endian);
}

static size_t address_bytes(const struct ctx_cfi_section *section)
{
	return section->is_32 ? 4 : 8;
}

static uint64_t get_value(const struct ctx_cfi_section *section, struct ctx_cursor *cursor, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
		return get_uint(section, cursor, address_bytes(section));
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return get_uint(section, cursor, 8);
	case DW_EH_PE_uleb128:
		return ctx_cursor_get_varint(cursor);
	case DW_EH_PE_sleb128:
		return (uint64_t)ctx_elf_get_sleb(cursor);
	case DW_EH_PE_udata2:
		return get_uint(section, cursor, 2);
	case DW_EH_PE_udata4:
		return get_uint(section, cursor, 4);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)get_uint(section, cursor, 2);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)get_uint(section, cursor, 4);
	default:
		cursor->failed = true;
		return 0;
	}
}

static uint64_t get_pointer(const struct ctx_cfi_section *section, struct ctx_cursor *cursor,
			    uint8_t encoding)
{
	size_t offset = (size_t)(cursor->at - section->bytes);
	uint64_t value;

	if (encoding == DW_EH_PE_aligned) {
		size_t n = address_bytes(section);
		size_t past = (size_t)((section->address + offset) % n);

		if (past != 0)
			(void)ctx_cursor_get_bytes(cursor, n - past);
		return get_uint(section, cursor, n);
	}
	value = get_value(section, cursor, encoding & 0x0f);
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return section->address + offset + value;
	case DW_EH_PE_textrel:
		cursor->failed |= section->text == 0;
		return section->text + value;
	case DW_EH_PE_datarel:
		cursor->failed |= section->data == 0;
		return section->data + value;
	default: /* relative to a function: only landing-pad tables use it */
		cursor->failed = true;
		return 0;
	}
}

uint64_t ctx_cfi_get_pointer(const struct ctx_cfi_section *section, struct ctx_cursor *cursor,
			     uint8_t encoding)
{
	uint64_t value = get_pointer(section, cursor, encoding);

	return section->is_32 ? (uint32_t)value : value;
}

/* The id: a marker in a CIE, the position of the CIE in an FDE. */
static bool read_id(const struct ctx_cfi_section *section, struct ctx_cfi_entry *entry)
{
	size_t at = (size_t)(entry->body.at - section->bytes);
	bool wide = entry->is_64 && !section->is_eh;
	uint64_t id = get_uint(section, &entry->body, wide ? 8 : 4);
	uint64_t mark = section->is_eh ? 0 : wide ? UINT64_MAX : UINT32_MAX;

	entry->kind = id == mark ? CTX_CFI_ENTRY_CIE : CTX_CFI_ENTRY_FDE;
	if (entry->body.failed || entry->kind == CTX_CFI_ENTRY_CIE)
		return !entry->body.failed;
	if (section->is_eh && id > at)
		return false;
	entry->cie_offset = section->is_eh ? at - (size_t)id : (size_t)id;
	return entry->cie_offset < section->n;
}

enum ctx_status ctx_cfi_entry_next(const struct ctx_cfi_section *section, size_t *at,
				   struct ctx_cfi_entry *ret)
{
	for (;;) {
		struct ctx_cfi_entry entry = {.offset = *at};
		struct ctx_cursor cursor;
		uint64_t length;

		if (*at >= section->n)
			return CTX_END;
		cursor = ctx_cursor_make(section->bytes + *at, section->n - *at);
		length = get_uint(section, &cursor, 4);
		if (length == UINT32_MAX) {
			entry.is_64 = true;
			length = get_uint(section, &cursor, 8);
		}
		if (cursor.failed || length > ctx_cursor_left(&cursor))
			return CTX_E_FORMAT;
		*at = (size_t)(cursor.at - section->bytes) + (size_t)length;
		if (length == 0) {
			/*
			 * .eh_frame ends with an empty entry; some linkers left empty entries in
			 * the middle, too.
			 */
			continue;
		}
		entry.body = ctx_cursor_make(cursor.at, (size_t)length);
		if (!read_id(section, &entry))
			entry.kind = CTX_CFI_ENTRY_FDE, entry.cie_offset = SIZE_MAX;
		*ret = entry;
		return CTX_OK;
	}
}

/* "zR...": the operands of the letters are in `data`. */
static bool read_augmentation(const struct ctx_cfi_section *section, const char *letters,
			      struct ctx_cursor *data, struct ctx_cfi_cie *cie)
{
	for (const char *letter = letters; *letter != '\0'; letter++) {
		switch (*letter) {
		case 'R':
			cie->encoding = ctx_cursor_get_u8(data);
			break;
		case 'L':
			(void)ctx_cursor_get_u8(data);
			break;
		case 'P': {
			uint8_t encoding = ctx_cursor_get_u8(data);

			if (encoding != DW_EH_PE_omit)
				(void)ctx_cfi_get_pointer(section, data, encoding);
			break;
		}
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* aarch64: return addresses are signed with the other key */
		case 'G': /* aarch64: tagged stack frames */
			break;
		default: /* unknown: skipped by the data's length, unless the encoding follows it */
			return strchr(letter, 'R') == NULL;
		}
	}
	return !data->failed;
}

bool ctx_cfi_cie_read(const struct ctx_cfi_section *section, const struct ctx_cfi_entry *entry,
		      struct ctx_cfi_cie *ret)
{
	struct ctx_cursor body = entry->body;
	struct ctx_cfi_cie cie = {.encoding = DW_EH_PE_absptr};
	uint8_t version = ctx_cursor_get_u8(&body);
	const char *letters = (const char *)body.at;
	size_t left = ctx_cursor_left(&body);
	const uint8_t *end = memchr(body.at, '\0', left < AUGMENTATION_MAX ? left : AUGMENTATION_MAX);

	if (body.failed || end == NULL || version == 0 || version > 4 || version == 2)
		return false;
	(void)ctx_cursor_get_bytes(&body, (size_t)(end - body.at) + 1);
	if (version == 4 && ctx_cursor_get_u8(&body) != address_bytes(section))
		return false; /* size of an address */
	if (version == 4 && ctx_cursor_get_u8(&body) != 0)
		return false; /* size of a segment selector */
	cie.code_align = ctx_cursor_get_varint(&body);
	cie.data_align = ctx_elf_get_sleb(&body);
	cie.return_register = version == 1 ? ctx_cursor_get_u8(&body) : ctx_cursor_get_varint(&body);
	if (letters[0] == 'z') {
		uint64_t n = ctx_cursor_get_varint(&body);
		const uint8_t *bytes = n <= SIZE_MAX ? ctx_cursor_get_bytes(&body, (size_t)n) : NULL;
		struct ctx_cursor data;

		if (bytes == NULL)
			return false;
		data = ctx_cursor_make(bytes, (size_t)n);
		cie.sized = true;
		if (!read_augmentation(section, letters + 1, &data, &cie))
			return false;
	} else if (letters[0] != '\0') {
		return false;
	}
	cie.program = body;
	*ret = cie;
	return !body.failed;
}

bool ctx_cfi_fde_read(const struct ctx_cfi_section *section, const struct ctx_cfi_entry *entry,
		      const struct ctx_cfi_cie *cie, struct ctx_cfi_fde *ret)
{
	struct ctx_cursor body = entry->body;
	uint64_t begin = ctx_cfi_get_pointer(section, &body, cie->encoding);
	uint64_t size = get_value(section, &body, cie->encoding & 0x0f);

	/* An indirect pointer is known only after dynamic linking. */
	if (body.failed || (cie->encoding & DW_EH_PE_indirect) != 0 || begin > UINT64_MAX - size)
		return false;
	if (cie->sized) {
		uint64_t n = ctx_cursor_get_varint(&body);

		if (n > ctx_cursor_left(&body) || ctx_cursor_get_bytes(&body, (size_t)n) == NULL)
			return false;
	}
	*ret = (struct ctx_cfi_fde){
		.cie_offset = entry->cie_offset, .begin = begin, .end = begin + size, .program = body};
	return !body.failed;
}
