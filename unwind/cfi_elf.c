#include "unwind/cfi_elf.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* zlib never makes more than about a thousandth of what it unpacks; a header that says otherwise lies. */
#define MAX_RATIO 1100
#define MAX_SECTION_BYTES ((uint64_t)1 << 31)

static enum ctx_status elf_error(struct ctx_err *err)
{
	const char *text = elf_errmsg(-1);

	return ctx_err_set(err, CTX_E_FORMAT, "%s", text != NULL ? text : "damaged ELF file");
}

static enum ctx_status read_segments(struct ctx_cfi_elf *elf, struct ctx_err *err)
{
	size_t n = 0;

	if (elf_getphdrnum(elf->elf, &n) != 0)
		return elf_error(err);
	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		enum ctx_status status;
		GElf_Phdr header;

		if (gelf_getphdr(elf->elf, (int)i, &header) == NULL)
			return elf_error(err);
		if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || header.p_memsz == 0 ||
		    header.p_vaddr > UINT64_MAX - header.p_memsz ||
		    header.p_offset > UINT64_MAX - header.p_filesz)
			continue;
		status = ctx_grow(&elf->segments, &elf->segments_cap, elf->n_segments + 1, err);
		if (status != CTX_OK)
			return status;
		elf->segments[elf->n_segments++] = (struct ctx_cfi_segment){.offset = header.p_offset,
									    .address = header.p_vaddr,
									    .file_size = header.p_filesz,
									    .memory_size = header.p_memsz};
	}
	return CTX_OK;
}

/* True when the notes held the build id. */
static bool find_build_id(struct ctx_cfi_elf *elf, Elf_Data *notes)
{
	static const char digits[] = "0123456789abcdef";
	GElf_Nhdr header;
	size_t next, name, at;

	if (notes == NULL || notes->d_buf == NULL)
		return false;
	for (size_t offset = 0; (next = gelf_getnote(notes, offset, &header, &name, &at)) > 0;
	     offset = next) {
		const uint8_t *bytes = notes->d_buf;

		if (header.n_type != NT_GNU_BUILD_ID || header.n_namesz != 4 || header.n_descsz == 0 ||
		    header.n_descsz > (CTX_CFI_BUILD_ID_TEXT - 1) / 2 || memcmp(bytes + name, "GNU", 4) != 0)
			continue;
		for (size_t i = 0; i < header.n_descsz; i++) {
			elf->build_id[2 * i] = digits[bytes[at + i] >> 4];
			elf->build_id[2 * i + 1] = digits[bytes[at + i] & 15];
		}
		elf->build_id[2 * (size_t)header.n_descsz] = '\0';
		return true;
	}
	return false;
}

/* From program headers, for a file without section headers. */
static void read_build_id(struct ctx_cfi_elf *elf)
{
	size_t n = 0;

	if (elf->build_id[0] != '\0' || elf_getphdrnum(elf->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf->elf, (int)i, &header) == NULL || header.p_type != PT_NOTE ||
		    header.p_filesz > INT32_MAX || header.p_offset > INT64_MAX)
			continue;
		if (find_build_id(elf, elf_getdata_rawchunk(elf->elf, (int64_t)header.p_offset,
							    (size_t)header.p_filesz,
							    header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)))
			return;
	}
}

/* Unpacks a section in place, if it is packed. */
static bool unpack(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	GElf_Chdr packed;
	uint8_t gnu[12];
	Elf_Data *data;
	uint64_t size = 0;

	if ((header->sh_flags & SHF_COMPRESSED) != 0) {
		if (gelf_getchdr(section, &packed) == NULL || packed.ch_size > MAX_SECTION_BYTES ||
		    packed.ch_size / MAX_RATIO > header->sh_size)
			return false;
		return elf_compress(section, 0, 0) >= 0;
	}
	if (strncmp(name, ".zdebug", 7) != 0)
		return true;
	data = elf_rawdata(section, NULL);
	if (data == NULL || data->d_buf == NULL || data->d_size < sizeof(gnu))
		return false;
	memcpy(gnu, data->d_buf, sizeof(gnu));
	for (size_t i = 4; i < sizeof(gnu); i++)
		size = size << 8 | gnu[i];
	if (size > MAX_SECTION_BYTES || size / MAX_RATIO > data->d_size)
		return false;
	return elf_compress_gnu(section, 0, 0) >= 0;
}

static void take_frames(struct ctx_cfi_elf *elf, Elf_Scn *scn, const GElf_Shdr *header, const char *name,
			bool is_eh)
{
	struct ctx_cfi_section section = {.address = header->sh_addr, .is_eh = is_eh};
	Elf_Data *data;

	if (header->sh_type == SHT_NOBITS || elf->n_sections == CTX_COUNT_OF(elf->sections) ||
	    !unpack(scn, header, name))
		return;
	data = elf_getdata(scn, NULL);
	if (data == NULL || data->d_buf == NULL || data->d_size == 0)
		return;
	section.bytes = data->d_buf;
	section.n = data->d_size;
	elf->sections[elf->n_sections++] = section;
	if (is_eh && elf->n_sections == 2 && !elf->sections[0].is_eh) {
		elf->sections[1] = elf->sections[0];
		elf->sections[0] = section;
	}
}

static enum ctx_status read_sections(struct ctx_cfi_elf *elf, struct ctx_err *err)
{
	uint64_t text = 0, data = 0;
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf->elf, &names) != 0)
		return elf_error(err);
	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		const char *name;
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) == NULL)
			return elf_error(err);
		if (header.sh_type == SHT_NOTE && elf->build_id[0] == '\0')
			(void)find_build_id(elf, elf_getdata(section, NULL));
		name = elf_strptr(elf->elf, names, header.sh_name);
		if (name == NULL)
			continue;
		if (strcmp(name, ".text") == 0)
			text = header.sh_addr;
		else if (strcmp(name, ".got") == 0)
			data = header.sh_addr;
		else if (strcmp(name, ".eh_frame") == 0)
			take_frames(elf, section, &header, name, true);
		else if (strcmp(name, ".debug_frame") == 0 || strcmp(name, ".zdebug_frame") == 0)
			take_frames(elf, section, &header, name, false);
	}
	for (size_t i = 0; i < elf->n_sections; i++) {
		elf->sections[i].text = text;
		elf->sections[i].data = data;
	}
	return CTX_OK;
}

static enum ctx_status read_elf(struct ctx_cfi_elf *elf, struct ctx_err *err)
{
	enum ctx_status status;
	GElf_Ehdr header;

	if (elf->elf == NULL || elf_kind(elf->elf) != ELF_K_ELF || gelf_getehdr(elf->elf, &header) == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "no ELF file");
	elf->machine = ctx_machine_of_elf(header.e_machine);
	if (elf->machine == CTX_MACHINE_UNKNOWN || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return ctx_err_set(err, CTX_E_FORMAT, "of a machine whose stacks are not known");
	status = read_segments(elf, err);
	if (status == CTX_OK)
		status = read_sections(elf, err);
	if (status == CTX_OK)
		read_build_id(elf);
	return status;
}

enum ctx_status ctx_cfi_elf_open(struct ctx_cfi_elf *elf, const char *path, struct ctx_err *err)
{
	enum ctx_status status;
	struct stat info;

	*elf = (struct ctx_cfi_elf){.fd = -1};
	(void)elf_version(EV_CURRENT);
	/* Opening a device could do something; a pipe in a file's place must not hold us up. */
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: no plain file", path);
	elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (elf->fd < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
		return ctx_err_errno(err, errno == EACCES || errno == EPERM ? CTX_E_PERM : CTX_E_IO, "%s",
				     path);
	}
	if (fstat(elf->fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	if (!S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: no plain file", path);
	elf->elf = elf_begin(elf->fd, ELF_C_READ, NULL);
	status = read_elf(elf, err);
	return status == CTX_OK ? CTX_OK : ctx_err_prefix(err, status, "%s", path);
}

enum ctx_status ctx_cfi_elf_open_bytes(struct ctx_cfi_elf *elf, const void *bytes, size_t n,
				       struct ctx_err *err)
{
	*elf = (struct ctx_cfi_elf){.fd = -1};
	(void)elf_version(EV_CURRENT);
	if (n == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no ELF file");
	/* libelf takes the image as its own to change, but does not for what is only read. */
	elf->elf = elf_memory((char *)(uintptr_t)bytes, n);
	return read_elf(elf, err);
}

void ctx_cfi_elf_close(struct ctx_cfi_elf *elf)
{
	if (elf->elf != NULL)
		(void)elf_end(elf->elf);
	if (elf->fd >= 0)
		(void)close(elf->fd);
	free(elf->segments);
	*elf = (struct ctx_cfi_elf){.fd = -1};
}
