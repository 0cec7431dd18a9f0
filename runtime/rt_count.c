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
#define SITES_MAX (1u << 28)
#define BLOCKS_MAX (1u << 20)
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
	uint32_t first, end; /* its sites */
	uint8_t *code;	     /* near the object; NULL: none yet */
	size_t n, size;	     /* bytes of it */
	bool cannot;	     /* code cannot be made near it, or its own not be written */
	uint64_t done, refused;
};

/* Sites at the address of number `site`. */
static uint32_t group_of(const struct patching *patching, uint32_t site)
{
	uint32_t n = 1;

	while (site + n < patching->end && ctx_rt_count_is_same(site, site + n))
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

/* Whether code that was written can be executed: some processes may never make memory executable (PR_SET_MDWE). */
static bool can_execute(const uint8_t *code, size_t size)
{
	return ctx_rt_syscall(SYS_mprotect, code, size, PROT_READ | PROT_EXEC) == 0 &&
	       ctx_rt_syscall(SYS_mprotect, code, size, PROT_READ | PROT_WRITE) == 0;
}

/* The object's own code is opened last: then nothing can fail any more. */
static bool begin_code(struct patching *patching)
{
	const uint64_t targets[] = {(uintptr_t)ctx_rt_count_slow, (uintptr_t)ctx_rt_count_raise};
	size_t size = SLOTS_BYTES + (patching->end - patching->first) * CTX_RT_COUNT_CODE_BYTES(1);
	uint8_t *code;

	if (patching->code != NULL || patching->cannot)
		return patching->code != NULL;
	patching->cannot = true;
	patching->size = (size + CTX_RT_PAGE - 1) & ~(size_t)(CTX_RT_PAGE - 1);
	code = ctx_rt_text_near(&patching->text, patching->size);
	if (code == NULL)
		return false;
	if (!can_execute(code, patching->size) || !ctx_rt_text_open(&patching->text, true)) {
		(void)ctx_rt_text_open(&patching->text, false);
		ctx_rt_memory_unmap(code, patching->size);
		return false;
	}
	patching->cannot = false;
	patching->code = code;
	memcpy(patching->code, targets, sizeof(targets));
	patching->n = SLOTS_BYTES;
	return true;
}

static bool patch_site(struct patching *patching, uint32_t site, uint32_t n_sites)
{
	const struct ctx_rt_count_site *sites = ctx_rt_counting.sites;
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
			.counter = 8 * ctx_rt_count_counter(&ctx_rt_counting.shape, site + i),
			.countdown = ctx_rt_counting.has_thresholds && sites[site + i].threshold != 0
					     ? 8 * ctx_rt_count_countdown(&ctx_rt_counting.shape, site + i)
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
	uint64_t at = patching->text.base + ctx_rt_counting.sites[patching->first].address;
	uint32_t first;

	if (!ctx_rt_text_has(&patching->text, at, CTX_RT_LOOK_BYTES))
		return false;
	memcpy(&first, (const void *)(uintptr_t)at, sizeof(first));
	at += first == ENDBR ? sizeof(first) : 0;
	return *(const uint8_t *)(uintptr_t)at == 0xe9;
}

/* Blocks of this process: one whose thread has ended may be another's by now. */
static void set_bases(uint32_t number, uint64_t base)
{
	const uint32_t pid = (uint32_t)ctx_rt_syscall(SYS_getpid);

	for (uint32_t i = 1; i < ctx_rt_counting.shape.n_blocks; i++) {
		if (ctx_rt_counting.cells[i] != NULL && ctx_rt_counting.owners[i].pid == pid &&
		    atomic_load(&ctx_rt_counting.owners[i].state) != CTX_RT_COUNT_FREE)
			ctx_rt_counting.cells[i][number] = base;
	}
}

static void patch_object(uint32_t number, const struct dl_phdr_info *info, bool may_patch)
{
	struct ctx_rt_count_object *object = &ctx_rt_counting.objects[number];
	struct patching patching = {.text = ctx_rt_text_of(info), .first = object->first};
	const uint32_t n_sites = object->n;
	const bool is_new = ctx_rt_counting.bases[number] != info->dlpi_addr;
	uint32_t n;

	if (n_sites == 0 || patching.first > ctx_rt_counting.shape.n_sites ||
	    n_sites > ctx_rt_counting.shape.n_sites - patching.first)
		return;
	patching.end = patching.first + n_sites;
	if (!is_new && is_patched(&patching))
		return;
	ctx_rt_counting.bases[number] = info->dlpi_addr;
	ctx_rt_counting_block(0)[number] = info->dlpi_addr;
	set_bases(number, info->dlpi_addr);
	/* The code of all is there before any entry jumps to it. */
	for (uint32_t site = patching.first; site < patching.end; site += n) {
		n = group_of(&patching, site);
		if (may_patch && patch_site(&patching, site, n))
			patching.done += n;
		else
			patching.refused += n;
	}
	if (patching.code != NULL) {
		(void)ctx_rt_syscall(SYS_mprotect, patching.code, patching.size, PROT_READ | PROT_EXEC);
		(void)ctx_rt_text_open(&patching.text, false);
	}
	atomic_fetch_add(&object->patched, patching.done);
	/* Those of a library that is looked at again are counted already. */
	atomic_fetch_add(&object->refused, is_new ? patching.refused : 0);
}

struct looking {
	bool is_alone;			    /* there is one thread */
	const struct ctx_rt_loaded *before; /* a library was opened; NULL: the program begins */
	uint64_t base;			    /* of the library */
};

/* No thread knows of it yet: it is the library that was opened, and was not there. Not so if its constructors have made the first threads. */
static bool is_unknown(const struct looking *looking, uint64_t base)
{
	return looking->before != NULL && !looking->before->is_alone && base == looking->base &&
	       looking->before->n <= CTX_RT_LOADED_MAX && !ctx_rt_loaded_has(looking->before, base);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct looking *looking = context;
	const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";

	(void)size;
	for (uint32_t i = 0; i < ctx_rt_counting.shape.n_objects; i++) {
		if (is_file(&ctx_rt_counting.objects[i], path))
			patch_object(i, info, looking->is_alone || is_unknown(looking, info->dlpi_addr));
	}
	return 0;
}

static void patch_loaded(struct looking *looking)
{
	ctx_rt_mute();
	(void)dl_iterate_phdr(look_at, looking);
	ctx_rt_unmute();
}

void ctx_rt_count_opened(const struct ctx_rt_loaded *before, const void *handle)
{
	const struct link_map *map = handle; /* as the C library has it */
	struct looking looking = {
		.is_alone = __libc_single_threaded != 0, .before = before, .base = map->l_addr};
	int error = errno;

	if (ctx_rt_counting.shared != NULL && !ctx_rt_is_restricted())
		patch_loaded(&looking);
	errno = error;
}

/* `shape` is a copy: every process of the recording can write to the file. */
static bool is_shape(const struct ctx_rt_count_header *shape, bool *ret_has_thresholds)
{
	struct ctx_rt_count_header with = *shape, without = *shape;

	if (shape->magic != CTX_RT_COUNT_MAGIC || shape->version != CTX_RT_COUNT_VERSION ||
	    shape->n_objects > CTX_RT_COUNT_OBJECTS_MAX || shape->n_sites > SITES_MAX ||
	    shape->n_blocks == 0 || shape->n_blocks > BLOCKS_MAX)
		return false;
	ctx_rt_count_shape(&with, 1);
	ctx_rt_count_shape(&without, 0);
	*ret_has_thresholds = shape->bytes == with.bytes && shape->block_bytes == with.block_bytes;
	return shape->bytes <= FILE_MAX &&
	       (*ret_has_thresholds
			? shape->blocks_at == with.blocks_at
			: shape->bytes == without.bytes && shape->blocks_at == without.blocks_at &&
				  shape->block_bytes == without.block_bytes);
}

static bool has_size(int fd, uint64_t bytes)
{
	struct stat found;

	return fstatat(fd, "", &found, AT_EMPTY_PATH) == 0 && (uint64_t)found.st_size == bytes;
}

static bool make_cells(uint32_t n)
{
	const size_t bytes =
		(n * sizeof(*ctx_rt_counting.cells) + CTX_RT_PAGE - 1) & ~(size_t)(CTX_RT_PAGE - 1);

	ctx_rt_counting.cells = ctx_rt_memory_map(bytes);
	return ctx_rt_counting.cells != NULL && madvise(ctx_rt_counting.cells, bytes, MADV_WIPEONFORK) == 0;
}

static bool map_shared(void)
{
	struct ctx_rt_counting *counting = &ctx_rt_counting;
	int fd = ctx_rt_recorder_request(CTX_RT_ASK_COUNT);
	struct ctx_rt_count_header *header = fd >= 0 ? ctx_rt_memory_map_file(fd, CTX_RT_PAGE) : NULL,
				   *all = NULL;

	if (header != NULL)
		memcpy(&counting->shape, header, sizeof(counting->shape));
	if (header != NULL && is_shape(&counting->shape, &counting->has_thresholds) &&
	    has_size(fd, counting->shape.bytes)) {
		all = ctx_rt_memory_map_file(fd, (size_t)counting->shape.bytes);
		if (all == NULL)
			atomic_fetch_add(&header->unmapped, 1);
	}
	if (header != NULL)
		ctx_rt_memory_unmap(header, CTX_RT_PAGE);
	if (fd >= 0)
		ctx_rt_close(fd);
	if (all == NULL || !make_cells(counting->shape.n_blocks))
		return false;
	counting->objects = (struct ctx_rt_count_object *)(all + 1);
	counting->sites = (const struct ctx_rt_count_site *)(counting->objects + counting->shape.n_objects);
	counting->owners =
		(struct ctx_rt_count_owner *)(uintptr_t)(counting->sites + counting->shape.n_sites);
	counting->shared = all;
	return true;
}

/* Before the program's own functions. */
__attribute__((constructor)) static void start(void)
{
	struct looking looking = {.is_alone = __libc_single_threaded != 0};
	int error = errno;

	if ((ctx_rt_begin() & CTX_RT_WHAT_COUNT) != 0 && !ctx_rt_is_restricted() && !ctx_rt_is_late()) {
		if (map_shared()) {
			ctx_rt_count_hits_begin();
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

void ctx_rt_count_opened(const struct ctx_rt_loaded *before, const void *handle)
{
	(void)before;
	(void)handle;
}

#endif
