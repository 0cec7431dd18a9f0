/*
 * .eh_frame is a list of entries, CIEs (what several functions share) and FDEs (one function each):
 *
 *	u32 length (0xffffffff: u64 length follows; 0: end of one input's part)
 *	u32 id      CIE: 0      u8 version, augmentation "zPLR", factors, register, data of the augmentation
 *	            FDE: bytes back to its CIE      first address, number of bytes, both encoded as the CIE's 'R' tells
 *
 * Only the addresses are read. Source: LSB Core, Exception Frames; DWARF 5, 6.4.1.
 */
#include "symbols/fde_ranges.h"

#include <gelf.h>
#include <string.h>

/* "zPLRSB" and the like; a longer one is nothing that we know, and costs time with every function. */
#define AUGMENTATION_MAX 8

/* How a pointer is written: low half the format, high half what it counts from. */
enum {
	FORMAT = 0x0f,
	ABSOLUTE = 0x00,
	ULEB = 0x01,
	UDATA2 = 0x02,
	UDATA4 = 0x03,
	UDATA8 = 0x04,
	SIGNED = 0x08, /* as above, sign-extended */
	BASE = 0x70,
	PC_RELATIVE = 0x10,
	INDIRECT = 0x80,
};

struct reader { /* of one entry; reads of more than there is give 0 and set `failed` */
	const uint8_t *bytes;
	size_t n, at;
	bool failed;
	bool big_endian;
	uint8_t address_bytes; /* 4 or 8 */
};

struct frames {
	const struct ctx_elfobj *obj;
	struct reader section;
	uint64_t address; /* of the section */
	size_t cie;	  /* offset of the one that was read last; SIZE_MAX none */
	uint8_t encoding; /* of its functions' addresses */
	bool is_known;	  /* the encoding is one that we read */
};

static uint64_t take(struct reader *reader, size_t bytes)
{
	uint64_t value = 0;

	if (reader->failed || reader->n - reader->at < bytes) {
		reader->failed = true;
		return 0;
	}
	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)reader->bytes[reader->at + i]
			 << 8 * (reader->big_endian ? bytes - 1 - i : i);
	reader->at += bytes;
	return value;
}

/* ULEB128; bits behind the 64th are dropped. A signed one is skipped in the same way. */
static uint64_t take_leb(struct reader *reader)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint64_t byte;

	do {
		byte = take(reader, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 70);
	return value;
}

static size_t format_bytes(const struct reader *reader, uint8_t format)
{
	switch (format & ~SIGNED & FORMAT) {
	case ABSOLUTE:
		return reader->address_bytes;
	case UDATA2:
		return 2;
	case UDATA4:
		return 4;
	case UDATA8:
		return 8;
	default:
		return 0; /* LEB128 */
	}
}

static uint64_t take_number(struct reader *reader, uint8_t encoding)
{
	size_t bytes = format_bytes(reader, encoding);
	uint64_t value;

	if (bytes == 0)
		return take_leb(reader);
	value = take(reader, bytes);
	if (encoding & SIGNED && bytes < 8 && value >> (8 * bytes - 1) != 0)
		value |= ~(uint64_t)0 << 8 * bytes;
	return value;
}

/* The data of the augmentation, up to the encoding of addresses. */
static bool read_augmentation(struct reader *reader, const char *augmentation, uint8_t *ret_encoding)
{
	take_leb(reader); /* its length */
	for (const char *at = augmentation + 1; *at != '\0'; at++) {
		uint8_t personality;

		switch (*at) {
		case 'R':
			*ret_encoding = (uint8_t)take(reader, 1);
			return !reader->failed;
		case 'L':
			take(reader, 1);
			break;
		case 'P':
			personality = (uint8_t)take(reader, 1);
			take_number(reader, personality);
			break;
		case 'S':
		case 'B':
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !reader->failed;
}

/* `reader` stands behind the CIE's id. False: it is of a kind that we do not know. */
static bool read_cie(struct reader *reader, uint8_t *ret_encoding)
{
	uint8_t version = (uint8_t)take(reader, 1);
	char augmentation[AUGMENTATION_MAX + 1];
	size_t n = 0;

	do
		augmentation[n] = (char)take(reader, 1);
	while (augmentation[n] != '\0' && ++n < sizeof(augmentation));
	if (reader->failed || n == sizeof(augmentation) || (version != 1 && version != 3))
		return false;
	take_leb(reader); /* factor of code */
	take_leb(reader); /* of data */
	if (version == 1)
		take(reader, 1);
	else
		take_leb(reader); /* register of the return address */
	*ret_encoding = ABSOLUTE;
	if (augmentation[0] == '\0')
		return !reader->failed;
	return augmentation[0] == 'z' && read_augmentation(reader, augmentation, ret_encoding);
}

/* The next entry, without its length; `*ret_offset` is where that began. False at the end, or where it is damaged. */
static bool next_entry(struct reader *section, struct reader *ret, size_t *ret_offset)
{
	uint64_t length = 0;

	while (length == 0) {
		if (section->n - section->at < 4)
			return false;
		*ret_offset = section->at;
		length = take(section, 4);
	}
	if (length == UINT32_MAX)
		length = take(section, 8);
	if (section->failed || length > section->n - section->at)
		return false;
	*ret = *section;
	ret->n = section->at + (size_t)length;
	section->at = ret->n;
	return true;
}

/* Learns the encoding of the CIE at an offset, if that is not the one it knows. */
static void look_up_cie(struct frames *frames, size_t offset)
{
	struct reader cie = frames->section;
	struct reader section = frames->section;
	size_t begin;

	if (offset == frames->cie)
		return;
	frames->cie = offset;
	section.at = offset;
	frames->is_known = next_entry(&section, &cie, &begin) && begin == offset && take(&cie, 4) == 0 &&
			   read_cie(&cie, &frames->encoding) && (frames->encoding & INDIRECT) == 0 &&
			   ((frames->encoding & BASE) == 0 || (frames->encoding & BASE) == PC_RELATIVE);
}

static enum ctx_status add_function(const struct frames *frames, uint64_t start, uint64_t size,
				    struct ctx_symset *set, struct ctx_err *err)
{
	const struct ctx_elfobj_range *section = ctx_elfobj_section(frames->obj, start);
	uint64_t rest;

	if (section == NULL || size == 0)
		return CTX_OK;
	rest = section->size - (start - section->address);
	return ctx_symset_add_extent(set, start, size < rest ? size : rest, err);
}

/* `entry` stands behind its length, and is not a CIE. */
static enum ctx_status add_fde(struct frames *frames, struct reader *entry, uint64_t back, size_t id_at,
			       struct ctx_symset *set, struct ctx_err *err)
{
	uint64_t start;
	uint64_t size;
	size_t at;

	if (back > id_at)
		return CTX_OK;
	look_up_cie(frames, id_at - (size_t)back);
	if (!frames->is_known)
		return CTX_OK;
	at = entry->at;
	start = take_number(entry, frames->encoding);
	if (frames->encoding & PC_RELATIVE)
		start += frames->address + at;
	if (entry->address_bytes == 4)
		start = (uint32_t)start;
	size = take_number(entry, frames->encoding & FORMAT & ~SIGNED);
	return entry->failed ? CTX_OK : add_function(frames, start, size, set, err);
}

enum ctx_status ctx_fde_ranges_add(const struct ctx_elfobj *obj, struct ctx_symset *set, struct ctx_err *err)
{
	Elf_Scn *scn = ctx_elfobj_named_section(obj, ".eh_frame");
	const char *ident = elf_getident(obj->elf, NULL);
	const Elf_Data *data = scn != NULL ? elf_rawdata(scn, NULL) : NULL;
	enum ctx_status status = CTX_OK;
	struct frames frames = {.obj = obj, .cie = SIZE_MAX};
	struct reader entry;
	GElf_Shdr header;
	size_t offset;

	/* A relocatable file's addresses are not written yet. */
	if (data == NULL || data->d_buf == NULL || ident == NULL || gelf_getshdr(scn, &header) == NULL ||
	    (header.sh_flags & (SHF_ALLOC | SHF_COMPRESSED)) != SHF_ALLOC || obj->section_n == 0)
		return CTX_OK;
	frames.address = header.sh_addr;
	frames.section = (struct reader){.bytes = data->d_buf,
					 .n = data->d_size,
					 .big_endian = ident[EI_DATA] == ELFDATA2MSB,
					 .address_bytes = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8};
	while (status == CTX_OK && next_entry(&frames.section, &entry, &offset)) {
		size_t id_at = entry.at;
		uint64_t id = take(&entry, 4);

		if (id != 0 && !entry.failed)
			status = add_fde(&frames, &entry, id, id_at, set, err);
	}
	return status;
}
