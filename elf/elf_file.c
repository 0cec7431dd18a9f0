#include "elf/elf_file.h"

#include "base/bisect.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "elf/elf_buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* zlib never compresses to less than about a thousandth. Small sections are not checked. */
#define COMPRESSION_MAX 1100
#define COMPRESSED_EXTRA 4096
#define SECTION_BYTES_MAX ((uint64_t)1 << 31)

/* ".zdebug_*": "ZLIB" and the size, most significant byte first. */
#define GNU_HEADER_BYTES 12

enum ctx_status ctx_elf_error(struct ctx_err *err)
{
	const char *text = elf_errmsg(-1);

	return ctx_err_set(err, CTX_E_FORMAT, "%s", text != NULL ? text : "damaged ELF file");
}

static enum ctx_status add_segment(struct ctx_elf_file *file, const GElf_Phdr *header, struct ctx_err *err)
{
	enum ctx_status status;

	if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0 ||
	    (header->p_filesz | header->p_memsz) == 0 || header->p_vaddr > UINT64_MAX - header->p_memsz ||
	    header->p_vaddr > UINT64_MAX - header->p_filesz ||
	    header->p_offset > UINT64_MAX - header->p_filesz)
		return CTX_OK;
	status = ctx_grow(&file->segments, &file->segments_cap, file->n_segments + 1, err);
	if (status == CTX_OK)
		file->segments[file->n_segments++] = (struct ctx_elf_segment){.offset = header->p_offset,
									      .address = header->p_vaddr,
									      .file_size = header->p_filesz,
									      .memory_size = header->p_memsz};
	return status;
}

static enum ctx_status read_segments(struct ctx_elf_file *file, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	if (elf_getphdrnum(file->elf, &n) != 0)
		return ctx_elf_error(err);
	for (size_t i = 0; i < n && i <= INT32_MAX && status == CTX_OK; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(file->elf, (int)i, &header) == NULL)
			return ctx_elf_error(err);
		status = add_segment(file, &header, err);
	}
	return status;
}

static int compare_sections(const void *left, const void *right)
{
	const struct ctx_elf_section *a = left;
	const struct ctx_elf_section *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static enum ctx_status read_sections(struct ctx_elf_file *file, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	Elf_Scn *section = NULL;

	while (status == CTX_OK && (section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) == NULL)
			return ctx_elf_error(err);
		if ((header.sh_flags & SHF_EXECINSTR) == 0 || (header.sh_flags & SHF_ALLOC) == 0 ||
		    header.sh_size == 0 || header.sh_addr > UINT64_MAX - header.sh_size ||
		    header.sh_offset > UINT64_MAX - header.sh_size)
			continue;
		status = ctx_grow(&file->sections, &file->sections_cap, file->n_sections + 1, err);
		if (status == CTX_OK)
			file->sections[file->n_sections++] =
				(struct ctx_elf_section){header.sh_addr, header.sh_size};
	}
	if (file->n_sections > 1)
		qsort(file->sections, file->n_sections, sizeof(*file->sections), compare_sections);
	return status;
}

static enum ctx_status read_headers(struct ctx_elf_file *file, struct ctx_err *err)
{
	enum ctx_status status;
	GElf_Ehdr header;

	if (file->elf == NULL)
		return ctx_elf_error(err);
	if (elf_kind(file->elf) != ELF_K_ELF || gelf_getehdr(file->elf, &header) == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "not an ELF file");
	file->machine = header.e_machine;
	file->is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
	file->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
	status = read_segments(file, err);
	return status == CTX_OK ? read_sections(file, err) : status;
}

enum ctx_status ctx_elf_open_bytes(struct ctx_elf_file *file, const void *bytes, size_t n,
				   struct ctx_err *err)
{
	*file = (struct ctx_elf_file){.fd = -1};
	if (n < EI_NIDENT)
		return ctx_err_set(err, CTX_E_FORMAT, "not an ELF file");
	elf_version(EV_CURRENT);
	(void)ctx_buildid_of_image(bytes, n, file->build_id);
	/* libelf's parameter is not const, but it does not modify an image that is only read. */
	file->elf = elf_memory((char *)(uintptr_t)bytes, n);
	return read_headers(file, err);
}

enum ctx_status ctx_elf_open_image(struct ctx_elf_file *file, struct ctx_buf *image, struct ctx_err *err)
{
	enum ctx_status status = ctx_elf_open_bytes(file, image->bytes, image->n, err);

	file->image = *image;
	*image = (struct ctx_buf){0};
	return status;
}

/* Opening a device could have side effects; opening a pipe could block. */
static enum ctx_status open_plain(const char *path, int *ret, struct ctx_err *err)
{
	struct stat info;

	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a regular file", path);
	*ret = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*ret < 0 && (errno == ENOENT || errno == ENOTDIR))
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
	if (*ret < 0 || fstat(*ret, &info) != 0)
		return ctx_err_errno(err, errno == EACCES || errno == EPERM ? CTX_E_PERM : CTX_E_IO, "%s",
				     path);
	if (!S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a regular file", path);
	return CTX_OK;
}

enum ctx_status ctx_elf_open_path(struct ctx_elf_file *file, const char *path, struct ctx_err *err)
{
	enum ctx_status status;

	*file = (struct ctx_elf_file){.fd = -1};
	status = open_plain(path, &file->fd, err);
	if (status != CTX_OK)
		return status;
	elf_version(EV_CURRENT);
	(void)ctx_buildid_of_fd(file->fd, file->build_id);
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	status = read_headers(file, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", path);
}

void ctx_elf_close(struct ctx_elf_file *file)
{
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	ctx_buf_deinit(&file->image);
	free(file->segments);
	free(file->sections);
	*file = (struct ctx_elf_file){.fd = -1};
}

void ctx_elf_move(struct ctx_elf_file *from, struct ctx_elf_file *to)
{
	(void)elf_cntl(from->elf, ELF_C_FDDONE);
	if (from->fd >= 0)
		close(from->fd);
	*to = *from;
	to->fd = -1;
	*from = (struct ctx_elf_file){.fd = -1};
}

/* --- sections --- */

const char *ctx_elf_section_name(Elf *elf, const GElf_Shdr *header)
{
	const char *name = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) == 0)
		name = elf_strptr(elf, names, header->sh_name);
	return name != NULL ? name : "";
}

Elf_Scn *ctx_elf_named_section(const struct ctx_elf_file *file, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) != NULL && header.sh_type != SHT_NOBITS &&
		    strcmp(ctx_elf_section_name(file->elf, &header), name) == 0)
			return section;
	}
	return NULL;
}

/* Compressed section of linkers older than SHF_COMPRESSED. */
static bool read_gnu_size(Elf_Scn *section, const GElf_Shdr *header, const char *name, uint64_t *ret)
{
	const Elf_Data *data;
	uint64_t size = 0;

	if ((header->sh_flags & SHF_COMPRESSED) != 0 || strncmp(name, ".zdebug_", 8) != 0)
		return false;
	data = elf_rawdata(section, NULL);
	if (data == NULL || data->d_buf == NULL || data->d_size < GNU_HEADER_BYTES ||
	    memcmp(data->d_buf, "ZLIB", 4) != 0)
		return false;
	for (size_t i = 4; i < GNU_HEADER_BYTES; i++)
		size = size << 8 | ((const uint8_t *)data->d_buf)[i];
	*ret = size;
	return true;
}

bool ctx_elf_unpacked_size(Elf_Scn *section, const GElf_Shdr *header, const char *name, uint64_t *ret)
{
	GElf_Chdr compression;

	*ret = header->sh_size;
	if ((header->sh_flags & SHF_COMPRESSED) != 0) {
		if (gelf_getchdr(section, &compression) == NULL)
			return false;
		*ret = compression.ch_size;
	} else {
		(void)read_gnu_size(section, header, name, ret);
	}
	return *ret <= COMPRESSED_EXTRA || *ret / COMPRESSION_MAX <= header->sh_size;
}

Elf_Data *ctx_elf_section_data(Elf *elf, Elf_Scn *section)
{
	const char *name;
	Elf_Data *data;
	GElf_Shdr header;
	uint64_t size;

	if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
		return NULL;
	name = ctx_elf_section_name(elf, &header);
	if (!ctx_elf_unpacked_size(section, &header, name, &size) || size > SECTION_BYTES_MAX)
		return NULL;
	if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0)
		return NULL;
	if (read_gnu_size(section, &header, name, &size) && elf_compress_gnu(section, 0, 0) < 0)
		return NULL;
	data = elf_getdata(section, NULL);
	return data != NULL && data->d_buf != NULL && data->d_size != 0 ? data : NULL;
}

const struct ctx_elf_section *ctx_elf_section_at(const struct ctx_elf_file *file, uint64_t address)
{
	size_t n = ctx_count_up_to(file->sections, file->n_sections, address, address);

	if (n == 0 || address - file->sections[n - 1].address >= file->sections[n - 1].size)
		return NULL;
	return &file->sections[n - 1];
}

/* --- segments --- */

bool ctx_elf_address(const struct ctx_elf_segment *segments, size_t n, uint64_t offset, uint64_t *ret_address)
{
	for (size_t i = 0; i < n; i++) {
		const struct ctx_elf_segment *segment = &segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->file_size) {
			*ret_address = segment->address + (offset - segment->offset);
			return true;
		}
	}
	return false;
}

/* NULL: no segment has a byte of the file for that address. */
static const struct ctx_elf_segment *segment_at(const struct ctx_elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct ctx_elf_segment *segment = &file->segments[i];

		if (address >= segment->address && address - segment->address < segment->file_size)
			return segment;
	}
	return NULL;
}

bool ctx_elf_offset(const struct ctx_elf_file *file, uint64_t address, uint64_t *ret_offset)
{
	const struct ctx_elf_segment *segment = segment_at(file, address);

	if (segment != NULL)
		*ret_offset = address - segment->address + segment->offset;
	return segment != NULL;
}

/* A file that ends before its segment returns the bytes that it has. */
static enum ctx_status read_at(const struct ctx_elf_file *file, uint64_t offset, size_t n,
			       struct ctx_buf *out, struct ctx_err *err)
{
	enum ctx_status status;
	struct stat info;
	uint8_t *room;

	if (file->fd < 0) {
		size_t bytes = 0;
		const char *image = elf_rawfile(file->elf, &bytes);

		if (image != NULL && offset < bytes)
			ctx_buf_put(out, image + offset, n < bytes - offset ? n : bytes - (size_t)offset);
		return ctx_buf_check(out, err);
	}
	if (fstat(file->fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "fstat");
	if (offset >= (uint64_t)info.st_size)
		return CTX_OK;
	n = n < (uint64_t)info.st_size - offset ? n : (size_t)((uint64_t)info.st_size - offset);
	room = ctx_buf_reserve(out, n);
	if (room == NULL)
		return ctx_err_nomem(err);
	status = ctx_file_pread(&(struct ctx_file_place){file->fd, "the object's file", offset}, room, n, &n,
				err);
	if (status != CTX_OK && status != CTX_END)
		return status;
	out->n += n;
	return CTX_OK;
}

enum ctx_status ctx_elf_read_code(const struct ctx_elf_file *file, uint64_t address, size_t n,
				  struct ctx_buf *out, struct ctx_err *err)
{
	const struct ctx_elf_segment *segment = segment_at(file, address);
	uint64_t at;

	if (segment == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no code at %llx", (unsigned long long)address);
	at = address - segment->address;
	return read_at(file, segment->offset + at,
		       n < segment->file_size - at ? n : (size_t)(segment->file_size - at), out, err);
}
