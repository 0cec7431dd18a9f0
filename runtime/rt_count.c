/*
 *	constructor, dlopen --> objects of the file --> code near each, jumps from its entries
 *	entry --> code --no block, or a threshold--> ctx_rt_count_slow, _raise --all registers saved--> rt_count_hits.c
 */
#include "runtime/rt_count.h"

#include "runtime/count_layout.h"
#include "runtime/rt_count_code.h"
#include "runtime/rt_count_hits.h"
#include "runtime/rt_memory.h"
#include "runtime/rt_process.h"
#include "runtime/rt_real.h"
#include "runtime/rt_recorder.h"
#include "runtime/rt_text.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>

#ifdef __x86_64__

#define FILE_MAX (UINT64_C(4) << 30)
#define GROUP_MAX 16u /* sites at one address */
#define ENDBR 0xfa1e0ff3u
#define SLOTS_BYTES 16u

extern __attribute__((visibility("hidden"))) const char ctx_rt_count_slow[], ctx_rt_count_raise[];

/* They leave struct ctx_rt_count_hit on the stack. */
// clang-format off
#define STUB(name, raises)                                                                                   \
	".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n"                            \
	".cfi_startproc\n"                                                                                   \
	"pushfq\n.cfi_adjust_cfa_offset 8\n"                                                                  \
	"push %rdi\n.cfi_adjust_cfa_offset 8\n"                                                               \
	"push %rbp\n.cfi_adjust_cfa_offset 8\n"                                                               \
	"push $" raises "\n.cfi_adjust_cfa_offset 8\n"                                                        \
	"mov %rsp, %rdi\n"                                                                                   \
	"call ctx_rt_count_heavy\n"                                                                          \
	"lea 8(%rsp), %rsp\n.cfi_adjust_cfa_offset -8\n"                                                      \
	"pop %rbp\n.cfi_adjust_cfa_offset -8\n"                                                               \
	"pop %rdi\n.cfi_adjust_cfa_offset -8\n"                                                               \
	"popfq\n.cfi_adjust_cfa_offset -8\n"                                                                  \
	"ret\n"                                                                                              \
	".cfi_endproc\n.size " name ", . - " name "\n"

__asm__(".text\n.p2align 4\n"
	STUB("ctx_rt_count_slow", "0")
	STUB("ctx_rt_count_raise", "1"));
// clang-format on

bool ctx_rt_count_is_on(void)
{
	return ctx_rt_counting.shared != NULL;
}

/* Patching */

struct patching {
	struct ctx_rt_text text;
	struct ctx_rt_count_object *object;
	uint8_t *code;	/* near the object; NULL: none yet */
	size_t n, size; /* bytes of it */
	bool is_open;	/* the object's own code can be written */
	uint64_t done, refused;
};

/* Sites at the address of number `site`. */
static uint32_t group_of(const struct patching *patching, uint32_t site)
{
	uint32_t n = 1;

	while (site + n < patching->object->first + patching->object->n &&
	       ctx_rt_count_is_same(site, site + n))
		n++;
	return n;
}

/* What an entry has room for: bytes that do nothing; 0: none. *at is moved behind an endbr64. */
static size_t find_room(const struct ctx_rt_text *text, uint64_t *at)
{
	static const uint8_t sled[2] = {0xeb, 0x09};
	uint32_t first;

	if (!ctx_rt_text_has(text, *at, CTX_RT_LOOK_BYTES + sizeof(first)))
		return 0;
	memcpy(&first, (const void *)(uintptr_t)*at, sizeof(first));
	if (first == ENDBR)
		*at += sizeof(first);
	if (memcmp((const void *)(uintptr_t)*at, sled, sizeof(sled)) == 0)
		return sizeof(sled) + sled[1];
	return ctx_rt_text_room(text, *at);
}

static bool begin_code(struct patching *patching)
{
	const uint64_t targets[] = {(uintptr_t)ctx_rt_count_slow, (uintptr_t)ctx_rt_count_raise};
	size_t size = SLOTS_BYTES + patching->object->n * CTX_RT_COUNT_CODE_BYTES(1);

	if (patching->code != NULL)
		return true;
	if (!patching->is_open)
		patching->is_open = ctx_rt_text_open(&patching->text, true);
	patching->size = (size + CTX_RT_PAGE - 1) & ~(size_t)(CTX_RT_PAGE - 1);
	patching->code = patching->is_open ? ctx_rt_text_near(&patching->text, patching->size) : NULL;
	if (patching->code == NULL)
		return false;
	memcpy(patching->code, targets, sizeof(targets));
	patching->n = SLOTS_BYTES;
	return true;
}

static bool patch_site(struct patching *patching, uint32_t site, uint32_t n_sites)
{
	const struct ctx_rt_count_site *sites = ctx_rt_count_sites(ctx_rt_counting.shared);
	struct ctx_rt_count_bump bumps[GROUP_MAX];
	uint64_t at = patching->text.base + sites[site].address;
	size_t room = find_room(&patching->text, &at), entry, n;
	uint8_t jump[CTX_RT_JUMP_BYTES];
	struct ctx_rt_count_code code = {.back = at + room, .bumps = bumps, .n = n_sites};

	if (room == 0 || n_sites > GROUP_MAX || !begin_code(patching))
		return false;
	for (uint32_t i = 0; i < n_sites; i++)
		bumps[i] = (struct ctx_rt_count_bump){
			.site = site + i,
			.counter = 8 * ctx_rt_count_counter(ctx_rt_counting.shared, site + i),
			.countdown = sites[site + i].threshold != 0
					     ? 8 * ctx_rt_count_countdown(ctx_rt_counting.shared, site + i)
					     : 0};
	code.at = (uintptr_t)patching->code + patching->n;
	code.slots = (uintptr_t)patching->code;
	code.tls = ctx_rt_count_tls();
	n = ctx_rt_count_encode(&code, patching->code + patching->n, &entry);
	if (n == 0 || ctx_rt_count_jump(at, code.at + entry, jump) == 0)
		return false;
	patching->n += n;
	memcpy((void *)(uintptr_t)at, jump, sizeof(jump));
	return true;
}

static bool is_file(const struct ctx_rt_count_object *object, const char *path)
{
	struct stat found;

	return fstatat(AT_FDCWD, path, &found, 0) == 0 && found.st_dev == object->device &&
	       found.st_ino == object->inode;
}

/* A library that was closed and opened again has its code as it is in the file. */
static bool is_patched(const struct patching *patching)
{
	uint64_t at = patching->text.base +
		      ctx_rt_count_sites(ctx_rt_counting.shared)[patching->object->first].address;
	uint32_t first;

	if (!ctx_rt_text_has(&patching->text, at, CTX_RT_LOOK_BYTES))
		return false;
	memcpy(&first, (const void *)(uintptr_t)at, sizeof(first));
	at += first == ENDBR ? sizeof(first) : 0;
	return *(const uint8_t *)(uintptr_t)at == 0xe9;
}

static void patch_object(uint32_t number, const struct dl_phdr_info *info, bool may_patch)
{
	struct patching patching = {.text = ctx_rt_text_of(info),
				    .object = &ctx_rt_count_objects(ctx_rt_counting.shared)[number]};
	uint32_t end = patching.object->first + patching.object->n;
	uint32_t n;

	if (ctx_rt_counting.bases[number] == info->dlpi_addr && is_patched(&patching))
		return;
	ctx_rt_counting.bases[number] = info->dlpi_addr;
	ctx_rt_count_block(ctx_rt_counting.shared, 0)[number] = info->dlpi_addr;
	/* Threads that have a block already. */
	for (uint32_t i = 1; i < ctx_rt_counting.shared->n_blocks; i++) {
		if (ctx_rt_counting.cells[i] != NULL)
			ctx_rt_counting.cells[i][number] = info->dlpi_addr;
	}
	/* The code of all is there before any entry jumps to it. */
	for (uint32_t site = patching.object->first; site < end; site += n) {
		n = group_of(&patching, site);
		if (may_patch && patch_site(&patching, site, n))
			patching.done += n;
		else
			patching.refused += n;
	}
	if (patching.code != NULL)
		(void)ctx_rt_syscall(SYS_mprotect, patching.code, patching.size, PROT_READ | PROT_EXEC);
	if (patching.is_open)
		(void)ctx_rt_text_open(&patching.text, false);
	atomic_fetch_add(&patching.object->patched, patching.done);
	atomic_fetch_add(&patching.object->refused, patching.refused);
}

struct looking {
	bool is_alone;	/* there is one thread */
	bool was_alone; /* and was before the library was opened */
	bool is_begin;
	uint64_t base; /* of the library that was opened */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct looking *looking = context;
	const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";
	bool is_unknown = !looking->is_begin && !looking->was_alone && info->dlpi_addr == looking->base;

	(void)size;
	for (uint32_t i = 0; i < ctx_rt_counting.shared->n_objects; i++) {
		if (is_file(&ctx_rt_count_objects(ctx_rt_counting.shared)[i], path))
			patch_object(i, info, looking->is_alone || is_unknown);
	}
	return 0;
}

static void patch_loaded(struct looking *looking)
{
	ctx_rt_mute();
	(void)dl_iterate_phdr(look_at, looking);
	ctx_rt_unmute();
}

void ctx_rt_count_opened(bool was_alone, const void *handle)
{
	const struct link_map *map = handle; /* as the C library has it */
	struct looking looking = {
		.is_alone = __libc_single_threaded != 0, .was_alone = was_alone, .base = map->l_addr};
	int error = errno;

	if (ctx_rt_counting.shared != NULL && !ctx_rt_is_restricted())
		patch_loaded(&looking);
	errno = error;
}

static bool is_shape(const struct ctx_rt_count_header *header)
{
	struct ctx_rt_count_header with = *header, without = *header;

	ctx_rt_count_shape(&with, 1);
	ctx_rt_count_shape(&without, 0);
	return header->magic == CTX_RT_COUNT_MAGIC && header->version == CTX_RT_COUNT_VERSION &&
	       header->n_objects <= CTX_RT_COUNT_OBJECTS_MAX && header->n_blocks != 0 &&
	       header->bytes <= FILE_MAX && (header->bytes == with.bytes || header->bytes == without.bytes);
}

static struct ctx_rt_count_header *map_shared(void)
{
	int fd = ctx_rt_recorder_request(CTX_RT_ASK_COUNT);
	struct ctx_rt_count_header *header = fd >= 0 ? ctx_rt_memory_map_file(fd, CTX_RT_PAGE) : NULL,
				   *all = NULL;

	if (header != NULL && is_shape(header)) {
		all = ctx_rt_memory_map_file(fd, (size_t)header->bytes);
		if (all == NULL)
			atomic_fetch_add(&header->unmapped, 1);
	}
	if (header != NULL)
		ctx_rt_memory_unmap(header, CTX_RT_PAGE);
	if (fd >= 0)
		ctx_rt_close(fd);
	return all;
}

static bool make_cells(uint32_t n)
{
	const size_t bytes =
		(n * sizeof(*ctx_rt_counting.cells) + CTX_RT_PAGE - 1) & ~(size_t)(CTX_RT_PAGE - 1);

	ctx_rt_counting.cells = ctx_rt_memory_map(bytes);
	return ctx_rt_counting.cells != NULL && madvise(ctx_rt_counting.cells, bytes, MADV_WIPEONFORK) == 0;
}

/* Before the program's own functions. */
__attribute__((constructor)) static void start(void)
{
	struct looking looking = {.is_alone = __libc_single_threaded != 0, .is_begin = true};
	int error = errno;

	if ((ctx_rt_begin() & CTX_RT_WHAT_COUNT) != 0 && !ctx_rt_is_restricted() && !ctx_rt_is_late()) {
		struct ctx_rt_count_header *all = map_shared();

		if (all != NULL && make_cells(all->n_blocks)) {
			ctx_rt_count_hits_begin();
			ctx_rt_counting.shared = all;
			patch_loaded(&looking);
		}
	}
	errno = error;
}

#else

bool ctx_rt_count_is_on(void)
{
	return false;
}

void ctx_rt_count_opened(bool was_alone, const void *handle)
{
	(void)was_alone;
	(void)handle;
}

#endif
