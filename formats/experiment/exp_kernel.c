#include "formats/experiment/exp_kernel.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * x86-64, as Documentation/arch/x86/x86_64/mm.rst has it: the kernel is somewhere in the first
 * gigabyte behind CODE if its place is random, else at its begin; modules follow behind that
 * gigabyte, or else behind its first half.
 */
#define CODE UINT64_C(0xffffffff80000000)
#define MIDDLE UINT64_C(0xffffffffa0000000)
#define CODE_END UINT64_C(0xffffffffc0000000)

#define PAGE_BITS 12
#define PAGES_MAX 4096u
#define TEXT_MAX ((size_t)1 << 20)
#define KALLSYMS_BEGIN ((size_t)64 << 10)

void ctx_exp_kernel_deinit(struct ctx_exp_kernel *kernel)
{
	ctx_map64_deinit(&kernel->pages);
	*kernel = (struct ctx_exp_kernel){0};
}

void ctx_exp_kernel_see(struct ctx_exp_kernel *kernel, uint64_t address)
{
	uint32_t *place;

	kernel->is_seen = true;
	if ((address >= CODE && address < MIDDLE) || kernel->has_more)
		return;
	place = ctx_map64_place(&kernel->pages, address >> PAGE_BITS);
	if (place == NULL || (*place == CTX_MAP64_NONE && kernel->n_pages == PAGES_MAX))
		kernel->has_more = true;
	else if (*place == CTX_MAP64_NONE)
		*place = kernel->n_pages++;
}

struct ctx_exp_kernel_texts ctx_exp_kernel_texts_default(void)
{
	return (struct ctx_exp_kernel_texts){.boot_id = "/proc/sys/kernel/random/boot_id",
					     .modules = "/proc/modules",
					     .kallsyms = "/proc/kallsyms"};
}

/* Appends at most `max` bytes of a file and a zero; a missing one is empty. */
static void read_begin(const char *path, size_t max, struct ctx_buf *out)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *room = ctx_buf_reserve(out, max);
	size_t got;

	if (fd >= 0 && room != NULL &&
	    ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, room, max, &got, NULL) >= 0)
		out->n += got;
	ctx_buf_put_u8(out, 0);
}

/* Whether the kernel is so high that its gigabyte is all its own: the first of its functions says it. */
static bool is_placed_high(const char *kallsyms)
{
	struct ctx_buf text = {0};
	bool is = false, found = false;
	char *rest, *line;

	read_begin(kallsyms, KALLSYMS_BEGIN, &text);
	rest = text.failed ? NULL : (char *)text.bytes;
	while (!found && (line = strsep(&rest, "\n")) != NULL) {
		uint64_t address;
		char type;

		found = sscanf(line, "%16" SCNx64 " %c", &address, &type) == 2 &&
			(type == 'T' || type == 't') && address >= CODE && address < CODE_END;
		is = found && address >= MIDDLE;
	}
	ctx_buf_deinit(&text);
	return is;
}

/* A line of /proc/modules: name, size, number of users, users, state, address. */
struct module {
	char name[64];
	uint64_t size, address;
};

static bool next_module(char **text, struct module *ret)
{
	char *line;

	while ((line = strsep(text, "\n")) != NULL) {
		if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, ret->name, &ret->size,
			   &ret->address) == 3 &&
		    ret->address != 0)
			return true;
	}
	return false;
}

/* How many of the seen pages are in [first, first + n). */
static uint32_t count_pages(const struct ctx_exp_kernel *kernel, uint64_t first, uint64_t n)
{
	uint32_t found = 0;

	for (uint64_t page = first; page - first < n && page - first < (UINT64_C(1) << 20); page++)
		found += ctx_map64_get(&kernel->pages, page) != CTX_MAP64_NONE;
	return found;
}

void ctx_exp_kernel_key(const struct ctx_exp_kernel *kernel, const struct ctx_exp_kernel_texts *texts,
			char ret[CTX_EXP_STORE_KEY])
{
	uint32_t n_found = 0;
	struct ctx_buf said = {0}, modules = {0};
	uint64_t low, high;

	ret[0] = '\0';
	if (!kernel->is_seen || kernel->has_more)
		return;
	read_begin(texts->boot_id, 64, &said);
	if (said.n > 1 && kernel->n_pages != 0 && is_placed_high(texts->kallsyms))
		n_found = count_pages(kernel, MIDDLE >> PAGE_BITS, (CODE_END - MIDDLE) >> PAGE_BITS);
	if (said.n > 1 && n_found < kernel->n_pages) {
		struct module module;
		char *text;

		read_begin(texts->modules, TEXT_MAX, &modules);
		text = modules.failed ? NULL : (char *)modules.bytes;
		while (next_module(&text, &module)) {
			/* A module begins at a page. */
			n_found += count_pages(kernel, module.address >> PAGE_BITS,
					       (module.size + (1u << PAGE_BITS) - 1) >> PAGE_BITS);
			ctx_buf_printf(&said, "%s %" PRIx64 " %" PRIx64 "\n", module.name, module.size,
				       module.address);
		}
	}
	if (said.n > 1 && !said.failed && n_found == kernel->n_pages) {
		low = ctx_xxh3_128(said.bytes, said.n, &high);
		snprintf(ret, CTX_EXP_STORE_KEY, "kallsyms-%016" PRIx64 "%016" PRIx64 ".zst", high, low);
	}
	ctx_buf_deinit(&said);
	ctx_buf_deinit(&modules);
}
