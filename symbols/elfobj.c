#include "symbols/elfobj.h"

#include "base/mem.h"
#include "symbols/image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A string table may be shared by symbols that point into one another's names, but not without bound: names
 * are copied, and a small hostile file must not become gigabytes.
 */
#define NAME_BYTES_FACTOR 16
#define NAME_BYTES_EXTRA ((size_t)1 << 20)

static enum ctx_status elf_error(struct ctx_err *err)
{
	const char *text = elf_errmsg(-1);

	return ctx_err_set(err, CTX_E_FORMAT, "%s", text != NULL ? text : "damaged ELF file");
}

static bool range_is_sane(const struct ctx_elfobj_range *range)
{
	return range->size != 0 && range->address <= UINT64_MAX - range->size &&
	       range->offset <= UINT64_MAX - range->size;
}

static enum ctx_status add_range(struct ctx_elfobj_range **ranges, size_t *n, size_t *cap,
				 const struct ctx_elfobj_range *range, struct ctx_err *err)
{
	enum ctx_status status;

	if (!range_is_sane(range))
		return CTX_OK;
	status = ctx_grow(ranges, cap, *n + 1, err);
	if (status == CTX_OK)
		(*ranges)[(*n)++] = *range;
	return status;
}

static enum ctx_status read_segments(struct ctx_elfobj *obj, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	if (elf_getphdrnum(obj->elf, &n) != 0)
		return elf_error(err);
	for (size_t i = 0; i < n && i <= INT32_MAX && status == CTX_OK; i++) {
		struct ctx_elfobj_range range;
		GElf_Phdr header;

		if (gelf_getphdr(obj->elf, (int)i, &header) == NULL)
			return elf_error(err);
		if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0)
			continue;
		range = (struct ctx_elfobj_range){
			.offset = header.p_offset, .address = header.p_vaddr, .size = header.p_filesz};
		status = add_range(&obj->segments, &obj->segment_n, &obj->segments_cap, &range, err);
	}
	return status;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct ctx_elfobj_range *a = left;
	const struct ctx_elfobj_range *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static enum ctx_status read_sections(struct ctx_elfobj *obj, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	Elf_Scn *section = NULL;

	while (status == CTX_OK && (section = elf_nextscn(obj->elf, section)) != NULL) {
		struct ctx_elfobj_range range;
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) == NULL)
			return elf_error(err);
		if ((header.sh_flags & SHF_EXECINSTR) == 0 || (header.sh_flags & SHF_ALLOC) == 0)
			continue;
		range = (struct ctx_elfobj_range){
			.offset = header.sh_offset, .address = header.sh_addr, .size = header.sh_size};
		status = add_range(&obj->sections, &obj->section_n, &obj->sections_cap, &range, err);
	}
	if (obj->section_n > 1)
		qsort(obj->sections, obj->section_n, sizeof(*obj->sections), compare_ranges);
	return status;
}

/* True when the notes held the build id. */
static bool find_build_id(struct ctx_elfobj *obj, Elf_Data *notes)
{
	static const char digits[] = "0123456789abcdef";
	GElf_Nhdr header;
	size_t name;
	size_t at;
	size_t next;

	if (notes == NULL || notes->d_buf == NULL)
		return false;
	for (size_t offset = 0; (next = gelf_getnote(notes, offset, &header, &name, &at)) > 0;
	     offset = next) {
		const uint8_t *id = (const uint8_t *)notes->d_buf + at;

		if (header.n_type != NT_GNU_BUILD_ID || header.n_namesz != 4 || header.n_descsz == 0 ||
		    header.n_descsz > (CTX_BUILD_ID_TEXT_MAX - 1) / 2 ||
		    memcmp((const char *)notes->d_buf + name, "GNU", 4) != 0)
			continue;
		for (size_t i = 0; i < header.n_descsz; i++) {
			obj->build_id[2 * i] = digits[id[i] >> 4];
			obj->build_id[2 * i + 1] = digits[id[i] & 15];
		}
		obj->build_id[2 * (size_t)header.n_descsz] = '\0';
		return true;
	}
	return false;
}

/* Sections first: a separate debug file keeps its note section, but its program headers describe the original
 * file. */
static void read_build_id(struct ctx_elfobj *obj)
{
	Elf_Scn *section = NULL;
	size_t n = 0;

	while ((section = elf_nextscn(obj->elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_NOTE &&
		    find_build_id(obj, elf_getdata(section, NULL)))
			return;
	}
	if (elf_getphdrnum(obj->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(obj->elf, (int)i, &header) == NULL || header.p_type != PT_NOTE ||
		    header.p_offset > INT64_MAX)
			continue;
		if (find_build_id(obj,
				  elf_getdata_rawchunk(obj->elf, (int64_t)header.p_offset, header.p_filesz,
						       header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)))
			return;
	}
}

static enum ctx_status read_headers(struct ctx_elfobj *obj, struct ctx_err *err)
{
	enum ctx_status status;
	GElf_Ehdr header;

	if (obj->elf == NULL)
		return elf_error(err);
	if (elf_kind(obj->elf) != ELF_K_ELF || gelf_getehdr(obj->elf, &header) == NULL)
		return ctx_err_set(err, CTX_E_FORMAT, "not an ELF file");
	obj->machine = header.e_machine;
	status = read_segments(obj, err);
	if (status == CTX_OK)
		status = read_sections(obj, err);
	if (status == CTX_OK)
		read_build_id(obj);
	return status;
}

static enum ctx_status open_image(struct ctx_elfobj *obj, struct ctx_err *err)
{
	if (obj->image.n < EI_NIDENT)
		return ctx_err_set(err, CTX_E_FORMAT, "not an ELF file");
	elf_version(EV_CURRENT);
	obj->elf = elf_memory((char *)obj->image.bytes, obj->image.n);
	return read_headers(obj, err);
}

enum ctx_status ctx_elfobj_open_bytes(struct ctx_elfobj *obj, const void *bytes, size_t n,
				      struct ctx_err *err)
{
	enum ctx_status status;

	*obj = (struct ctx_elfobj){.fd = -1};
	if (n != 0)
		ctx_buf_put(&obj->image, bytes, n);
	status = ctx_buf_check(&obj->image, err);
	return status == CTX_OK ? open_image(obj, err) : status;
}

enum ctx_status ctx_elfobj_open_archive(struct ctx_elfobj *obj, const char *path, struct ctx_err *err)
{
	enum ctx_status status;

	*obj = (struct ctx_elfobj){.fd = -1};
	status = ctx_image_read(path, CTX_IMAGE_BYTES_MAX, &obj->image, err);
	if (status != CTX_OK)
		return status;
	status = open_image(obj, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", path);
}

enum ctx_status ctx_elfobj_open_path(struct ctx_elfobj *obj, const char *path, struct ctx_err *err)
{
	enum ctx_status status;
	struct stat info;

	*obj = (struct ctx_elfobj){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
	if (obj->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
	if (obj->fd < 0 || fstat(obj->fd, &info) != 0)
		return ctx_err_errno(err, errno == EACCES ? CTX_E_PERM : CTX_E_IO, "%s", path);
	if (!S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a regular file", path);
	elf_version(EV_CURRENT);
	obj->elf = elf_begin(obj->fd, ELF_C_READ, NULL);
	status = read_headers(obj, err);
	return status == CTX_OK ? status : ctx_err_prefix(err, status, "%s", path);
}

void ctx_elfobj_close(struct ctx_elfobj *obj)
{
	elf_end(obj->elf);
	if (obj->fd >= 0)
		close(obj->fd);
	ctx_buf_deinit(&obj->image);
	ctx_arena_deinit(&obj->names);
	free(obj->segments);
	free(obj->sections);
	*obj = (struct ctx_elfobj){.fd = -1};
}

Elf_Scn *ctx_elfobj_named_section(const struct ctx_elfobj *obj, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(obj->elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(obj->elf, section)) != NULL) {
		const char *found = NULL;
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) != NULL && header.sh_type != SHT_NOBITS)
			found = elf_strptr(obj->elf, names, header.sh_name);
		if (found != NULL && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

const struct ctx_elfobj_range *ctx_elfobj_section(const struct ctx_elfobj *obj, uint64_t address)
{
	size_t low = 0;
	size_t high = obj->section_n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (obj->sections[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - obj->sections[low - 1].address >= obj->sections[low - 1].size)
		return NULL;
	return &obj->sections[low - 1];
}

/* A function of this object, by type and place; mapping symbols ($x, $d) and labels of data are not. */
static bool is_function(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	return symbol->st_shndx != SHN_UNDEF &&
	       (symbol->st_shndx < SHN_LORESERVE || symbol->st_shndx == SHN_XINDEX);
}

/*
 * In .symtab a versioned symbol is NAME@@VERSION, in .dynsym NAME: without the version they are the same
 * name, and a profile reads the same from stripped files. Names that we give have an '@' of their own: they are in files that an export made.
 */
static const char *without_version(struct ctx_elfobj *obj, const char *name, size_t bytes)
{
	const char *at = memchr(name, '@', bytes);

	if (strcmp(name, "@plt ") == 0) /* gprofng would take it for something else without the blank */
		return "@plt";
	if (at != NULL && (name[0] == '<' || strncmp(at, "@plt", bytes - (size_t)(at - name)) == 0))
		return name;
	return at != NULL && at != name ? ctx_arena_strndup(&obj->names, name, (size_t)(at - name)) : name;
}

static enum ctx_status add_symbol(struct ctx_elfobj *obj, const GElf_Sym *symbol, const Elf_Data *names,
				  size_t *budget, uint32_t file, struct ctx_symset *set, struct ctx_err *err)
{
	const struct ctx_elfobj_range *section;
	struct ctx_symset_raw raw = {
		.start = symbol->st_value, .size = symbol->st_size, .module = "", .file = file};
	size_t bytes;

	if (!is_function(symbol) || symbol->st_name >= names->d_size)
		return CTX_OK;
	if (obj->machine == EM_ARM)
		raw.start &= ~(uint64_t)1; /* the Thumb bit */
	section = ctx_elfobj_section(obj, raw.start);
	raw.name = (const char *)names->d_buf + symbol->st_name;
	if (section == NULL || raw.name[0] == '$')
		return CTX_OK;
	bytes = strnlen(raw.name, names->d_size - symbol->st_name) + 1;
	if (bytes > names->d_size - symbol->st_name)
		return CTX_OK;
	if (bytes > *budget)
		return ctx_err_set(err, CTX_E_FORMAT, "symbol names overlap without bound");
	*budget -= bytes;
	if (strcmp(raw.name, "<Unknown>") == 0) /* an export says that there is none */
		return CTX_OK;
	raw.name = without_version(obj, raw.name, bytes);
	if (raw.name == NULL)
		return ctx_err_nomem(err);
	raw.limit = section->address + section->size;
	return ctx_symset_add(set, &raw, err);
}

static enum ctx_status add_table(struct ctx_elfobj *obj, Elf_Scn *section, size_t names_index,
				 struct ctx_symset *set, struct ctx_err *err)
{
	Elf_Data *symbols = elf_getdata(section, NULL);
	Elf_Data *names = elf_rawdata(elf_getscn(obj->elf, names_index), NULL);
	enum ctx_status status = CTX_OK;
	uint32_t files = 0;
	uint32_t file = 0;
	size_t budget;

	if (symbols == NULL || names == NULL)
		return elf_error(err);
	if (symbols->d_buf == NULL || names->d_buf == NULL)
		return CTX_OK;
	budget = names->d_size > SIZE_MAX / NAME_BYTES_FACTOR - NAME_BYTES_EXTRA
			 ? SIZE_MAX
			 : names->d_size * NAME_BYTES_FACTOR + NAME_BYTES_EXTRA;
	for (size_t i = 1; i <= INT32_MAX && status == CTX_OK; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(symbols, (int)i, &symbol) == NULL)
			break;
		/* Local symbols follow that of their source file; behind one without a name are the linker's own. */
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
			file = symbol.st_name != 0 ? ++files : 0;
		status = add_symbol(obj, &symbol, names, &budget,
				    GELF_ST_BIND(symbol.st_info) == STB_LOCAL ? file : 0, set, err);
	}
	return status;
}

enum ctx_status ctx_elfobj_add_symbols(struct ctx_elfobj *obj, uint32_t type, struct ctx_symset *set,
				       size_t *ret_count, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	Elf_Scn *section = NULL;
	size_t before = set->raw_n;

	while (status == CTX_OK && (section = elf_nextscn(obj->elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) != NULL && header.sh_type == type)
			status = add_table(obj, section, header.sh_link, set, err);
	}
	if (status != CTX_OK)
		set->raw_n = before;
	*ret_count = set->raw_n - before;
	return status;
}
