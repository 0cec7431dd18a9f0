#include "collect/debug_object.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "elf/elf_buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTION_BYTES_MAX ((uint64_t)1 << 30)
#define CRC_STEP_BYTES ((size_t)64 * 1024)
#define LINK_NAME_MAX 255u

struct elf_file {
	int fd;
	Elf *elf;
	struct stat info;
};

struct ctx_debug_object {
	struct elf_file image, debug; /* debug.elf NULL: the image has the line tables */
	struct ctx_code_range *code;  /* owned */
	uint64_t *offsets;	      /* of each range, in the file; owned */
	size_t n_code, code_cap, offsets_cap;
	struct ctx_debug_sections sections; /* borrowed from libelf */
	struct ctx_debug_units units;
};

static void close_file(struct elf_file *file)
{
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct elf_file){.fd = -1};
}

static enum ctx_status open_file(struct elf_file *file, const char *path, struct ctx_err *err)
{
	const char *ident;

	*file = (struct elf_file){.fd = -1};
	/* Not a device or a pipe: opening those could do something, or wait. */
	if (stat(path, &file->info) != 0)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
	if (!S_ISREG(file->info.st_mode))
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: not a plain file", path);
	file->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &file->info) != 0)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	ident = file->elf != NULL ? elf_getident(file->elf, NULL) : NULL;
	if (ident == NULL || elf_kind(file->elf) != ELF_K_ELF || ident[EI_DATA] != ELFDATA2LSB)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: no ELF file of this kind of machine", path);
	return CTX_OK;
}

/* --- sections --- */

static Elf_Scn *find_section(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		const char *found = gelf_getshdr(section, &header) != NULL
					    ? elf_strptr(elf, names, header.sh_name)
					    : NULL;

		if (found != NULL && strcmp(found, name) == 0 && header.sh_type != SHT_NOBITS)
			return section;
	}
	return NULL;
}

/* Bytes that the section has when it is not compressed; UINT64_MAX: nobody can tell. */
static uint64_t unpacked_bytes(Elf_Scn *section, const GElf_Shdr *header, bool is_gnu)
{
	GElf_Chdr packed;
	const Elf_Data *data;
	uint64_t n = 0;

	if ((header->sh_flags & SHF_COMPRESSED) != 0)
		return gelf_getchdr(section, &packed) != NULL ? packed.ch_size : UINT64_MAX;
	if (!is_gnu)
		return header->sh_size;
	/* "ZLIB" and the size, most significant byte first. */
	data = elf_rawdata(section, NULL);
	if (data == NULL || data->d_buf == NULL || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4) != 0)
		return UINT64_MAX;
	for (size_t i = 4; i < 12; i++)
		n = n << 8 | ((const uint8_t *)data->d_buf)[i];
	return n;
}

/* A section called .debug_<name>, or .zdebug_<name> as it was once done. Empty where there is none that can be read. */
static struct ctx_debug_bytes load_section(const struct elf_file *file, const char *name)
{
	char full[32];
	const Elf_Data *data;
	GElf_Shdr header;
	Elf_Scn *section;
	bool is_gnu;

	snprintf(full, sizeof(full), ".debug_%s", name);
	section = find_section(file->elf, full);
	is_gnu = section == NULL;
	if (is_gnu) {
		snprintf(full, sizeof(full), ".zdebug_%s", name);
		section = find_section(file->elf, full);
	}
	if (section == NULL || gelf_getshdr(section, &header) == NULL ||
	    header.sh_size > (uint64_t)file->info.st_size ||
	    unpacked_bytes(section, &header, is_gnu) > SECTION_BYTES_MAX)
		return (struct ctx_debug_bytes){0};
	if (is_gnu && elf_compress_gnu(section, 0, 0) < 0)
		return (struct ctx_debug_bytes){0};
	if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0)
		return (struct ctx_debug_bytes){0};
	data = elf_rawdata(section, NULL);
	if (data == NULL || data->d_buf == NULL)
		return (struct ctx_debug_bytes){0};
	return (struct ctx_debug_bytes){data->d_buf, data->d_size};
}

static bool has_lines(const struct elf_file *file)
{
	return find_section(file->elf, ".debug_line") != NULL ||
	       find_section(file->elf, ".zdebug_line") != NULL;
}

static enum ctx_status read_code(struct ctx_debug_object *object, struct ctx_err *err)
{
	size_t n = 0;

	if (elf_getphdrnum(object->image.elf, &n) != 0)
		n = 0;
	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(object->image.elf, (int)i, &header) == NULL)
			break;
		if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 ||
		    header.p_filesz > UINT64_MAX - header.p_vaddr)
			continue;
		if (ctx_grow(&object->code, &object->code_cap, object->n_code + 1, err) != CTX_OK ||
		    ctx_grow(&object->offsets, &object->offsets_cap, object->n_code + 1, err) != CTX_OK)
			return CTX_E_NOMEM;
		object->offsets[object->n_code] = header.p_offset;
		object->code[object->n_code++] =
			(struct ctx_code_range){header.p_vaddr, header.p_vaddr + header.p_filesz};
	}
	return CTX_OK;
}

/* --- the debug file --- */

/* The checksum of .gnu_debuglink: CRC-32 as in zip, over the whole file. */
static bool has_checksum(const struct elf_file *file, uint32_t wanted)
{
	uint8_t *bytes CTX_AUTO_FREE = malloc(CRC_STEP_BYTES);
	uint32_t table[256], crc = UINT32_MAX;
	uint64_t offset = 0;
	size_t got = 0;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (0xedb88320u & (0u - (table[i] & 1)));
	}
	do {
		if (bytes == NULL ||
		    ctx_file_pread(file->fd, "", bytes, CRC_STEP_BYTES, offset, &got, NULL) < 0)
			return false;
		for (size_t i = 0; i < got; i++)
			crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
		offset += got;
	} while (got != 0);
	return ~crc == wanted;
}

/* Takes `path` as the debug file if it has line tables and is of the same build. */
static bool try_debug(struct ctx_debug_object *object, const char *path, const char *build_id, uint32_t crc)
{
	struct elf_file file;
	char found[CTX_BUILDID_TEXT];

	if (path == NULL)
		return false;
	if (open_file(&file, path, NULL) == CTX_OK && has_lines(&file)) {
		ctx_buildid_of_fd(file.fd, found);
		if (build_id[0] != '\0' ? strcmp(found, build_id) == 0 : has_checksum(&file, crc)) {
			object->debug = file;
			return true;
		}
	}
	close_file(&file);
	return false;
}

/* "name", zeros up to a multiple of four, the checksum. A name with a directory could lead anywhere: it is none. */
static bool read_link(const struct ctx_debug_object *object, char name[LINK_NAME_MAX + 1], uint32_t *ret_crc)
{
	Elf_Scn *section = find_section(object->image.elf, ".gnu_debuglink");
	const Elf_Data *data = section != NULL ? elf_rawdata(section, NULL) : NULL;
	struct ctx_cursor cursor;
	size_t n;

	if (data == NULL || data->d_buf == NULL)
		return false;
	n = strnlen(data->d_buf, data->d_size);
	if (n == 0 || n > LINK_NAME_MAX || n / 4 * 4 + 8 > data->d_size ||
	    memchr(data->d_buf, '/', n) != NULL)
		return false;
	memcpy(name, data->d_buf, n + 1);
	cursor = ctx_cursor_make((const uint8_t *)data->d_buf + n / 4 * 4 + 4, 4);
	*ret_crc = ctx_cursor_get_u32(&cursor);
	return true;
}

static bool try_build_id(struct ctx_debug_object *object, const char *build_id, const char *root)
{
	struct ctx_buf path = {0};
	bool found;

	if (!ctx_buildid_is_plain(build_id))
		return false;
	ctx_buf_printf(&path, "%s/.build-id/%.2s/%s.debug", root, build_id, build_id + 2);
	ctx_buf_put_u8(&path, 0);
	found = !path.failed && try_debug(object, (const char *)path.bytes, build_id, 0);
	ctx_buf_deinit(&path);
	return found;
}

static bool try_link(struct ctx_debug_object *object, const char *path, const char *build_id,
		     const char *root)
{
	char *dir CTX_AUTO_FREE = ctx_path_dir(path);
	char name[LINK_NAME_MAX + 1];
	uint32_t crc;
	bool found = false;

	if (dir == NULL || !read_link(object, name, &crc))
		return false;
	for (int i = 0; i < 3 && !found; i++) {
		struct ctx_buf candidate = {0};

		ctx_buf_printf(&candidate, "%s%s%s%s", i == 2 ? root : "", dir, i == 1 ? "/.debug/" : "/",
			       name);
		ctx_buf_put_u8(&candidate, 0);
		found = !candidate.failed && try_debug(object, (const char *)candidate.bytes, build_id, crc);
		ctx_buf_deinit(&candidate);
	}
	return found;
}

/* --- the whole --- */

void ctx_debug_object_close(struct ctx_debug_object *object)
{
	if (object == NULL)
		return;
	ctx_debug_units_deinit(&object->units);
	close_file(&object->debug);
	close_file(&object->image);
	free(object->code);
	free(object->offsets);
	free(object);
}

static enum ctx_status open_object(struct ctx_debug_object *object, const char *path, const char *build_id,
				   const char *root, struct ctx_err *err)
{
	char found[CTX_BUILDID_TEXT];
	enum ctx_status status = open_file(&object->image, path, err);
	const struct elf_file *file;

	if (status != CTX_OK)
		return status;
	ctx_buildid_of_fd(object->image.fd, found);
	if (build_id[0] != '\0' && strcmp(found, build_id) != 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: changed since: its build id is another one",
				   path);
	status = read_code(object, err);
	if (status != CTX_OK)
		return status;
	if (!has_lines(&object->image) && !try_build_id(object, found, root) &&
	    !try_link(object, path, found, root))
		return ctx_err_set(err, CTX_E_NOTFOUND, "%s: no line tables", path);
	file = object->debug.elf != NULL ? &object->debug : &object->image;
	object->sections.line = load_section(file, "line");
	object->sections.line_str = load_section(file, "line_str");
	return CTX_OK;
}

enum ctx_status ctx_debug_object_open(const char *path, const char *build_id, const char *root,
				      struct ctx_debug_object **ret, struct ctx_err *err)
{
	struct ctx_debug_object *object = ctx_calloc(1, sizeof(*object));
	enum ctx_status status;

	if (object == NULL)
		return ctx_err_nomem(err);
	object->image.fd = object->debug.fd = -1;
	status = open_object(object, path, build_id, root, err);
	if (status == CTX_OK)
		*ret = object;
	else
		ctx_debug_object_close(object);
	return status;
}

int64_t ctx_debug_object_time(const struct ctx_debug_object *object)
{
	return object->image.info.st_mtim.tv_sec;
}

bool ctx_debug_object_address(const struct ctx_debug_object *object, uint64_t file_offset,
			      uint64_t *ret_address)
{
	for (size_t i = 0; i < object->n_code; i++) {
		const struct ctx_code_range *code = &object->code[i];

		if (file_offset >= object->offsets[i] &&
		    file_offset - object->offsets[i] < code->end - code->begin) {
			*ret_address = code->begin + (file_offset - object->offsets[i]);
			return true;
		}
	}
	return false;
}

enum ctx_status ctx_debug_object_files(struct ctx_debug_object *object, const uint64_t *addresses, size_t n,
				       bool all, ctx_debug_line_fn *each, void *context,
				       struct ctx_debug_line_stats *ret_stats, struct ctx_err *err)
{
	const struct elf_file *file = object->debug.elf != NULL ? &object->debug : &object->image;
	struct ctx_debug_line_request request = {.sections = &object->sections,
						 .code = object->code,
						 .n_code = object->n_code,
						 .addresses = addresses,
						 .n_addresses = n,
						 .all = all};
	enum ctx_status status = ctx_debug_line_files(&request, each, context, ret_stats, err);

	if (status != CTX_OK || ret_stats->homeless == 0)
		return status;
	/* Version 5 says its directories itself; only older tables are worth reading the large section. */
	object->sections.abbrev = load_section(file, "abbrev");
	object->sections.info = load_section(file, "info");
	object->sections.str = load_section(file, "str");
	status = ctx_debug_units_read(&object->units, &object->sections, err);
	request.units = &object->units;
	return status == CTX_OK ? ctx_debug_line_files(&request, each, context, ret_stats, err) : status;
}
