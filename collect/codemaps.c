#include "collect/codemaps.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_maps.h"
#include "unwind/code_cache.h"
#include "unwind/table_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* How long instructions of code in memory are remembered: a JIT compiler may replace them. */
#define MEMORY_CODE_MS 256
#define FILES_MAX 64u /* kept open for their code */
#define MEMORY_CODE (UINT64_C(1) << 63)
#define PAGE_BYTES 4096u
#define PAGES_MAX 512u /* 2 MiB, allocated with the first code that is read from memory */

/* A page of code in memory, as it was last read: a process may end before its last samples are unwound. */
struct page {
	uint64_t address; /* 0: none */
	uint32_t process;
	bool is_there;	/* it could be read once */
	uint64_t round; /* when it was last read, or could not be */
	uint8_t bytes[PAGE_BYTES];
};

struct object {
	const struct ctx_cfi_table *table; /* borrowed from the cache */
	bool is_known; /* written last and read first: once it is set, the table is visible */
	bool has_file; /* `file` is set: owned, -1 none */
	int file;
};

struct ctx_codemaps {
	const struct ctx_exp_writer *writer;
	pthread_mutex_t lock; /* for the cache and for writing to objects */
	struct ctx_table_cache cache;
	struct ctx_code_cache *code;
	struct page *pages;	  /* by process and address, modulo; owned; NULL: none yet */
	uint8_t room[PAGE_BYTES]; /* to read into, with the lock held */
	uint64_t memory_code;	  /* identifies code in memory: another one every MEMORY_CODE_MS */
	uint64_t round;		  /* of ctx_codemaps_refresh; 0: none yet */
	struct object *objects;	  /* by the writer's number of the object */
	size_t n_files;
	size_t n, cap;
};

enum ctx_status ctx_codemaps_create(const struct ctx_exp_writer *writer, struct ctx_codemaps **ret,
				    struct ctx_err *err)
{
	struct ctx_codemaps *maps = ctx_calloc(1, sizeof(*maps));

	if (maps == NULL)
		return ctx_err_nomem(err);
	if (ctx_code_cache_create(&maps->code, err) != CTX_OK) {
		free(maps);
		return CTX_E_NOMEM;
	}
	maps->writer = writer;
	pthread_mutex_init(&maps->lock, NULL);
	*ret = maps;
	return CTX_OK;
}

void ctx_codemaps_destroy(struct ctx_codemaps *maps)
{
	if (maps == NULL)
		return;
	ctx_table_cache_deinit(&maps->cache);
	ctx_code_cache_destroy(maps->code);
	for (size_t i = 0; i < maps->n; i++) {
		if (maps->objects[i].has_file && maps->objects[i].file >= 0)
			close(maps->objects[i].file);
	}
	pthread_mutex_destroy(&maps->lock);
	free(maps->objects);
	free(maps->pages);
	free(maps);
}

enum ctx_status ctx_codemaps_refresh(struct ctx_codemaps *maps, struct ctx_err *err)
{
	size_t want = ctx_exp_all_objects(maps->writer)->names.n;
	enum ctx_status status = ctx_grow(&maps->objects, &maps->cap, want, err);

	if (status != CTX_OK)
		return status;
	while (maps->n < want)
		maps->objects[maps->n++] = (struct object){0};
	maps->round++;
	maps->memory_code = ctx_clock_ns(CLOCK_MONOTONIC) / 1000000 / MEMORY_CODE_MS;
	return CTX_OK;
}

/* Without memory there is no table, and the next pc tries again. */
static const struct ctx_cfi_table *read_table(struct ctx_codemaps *maps, uint32_t number, bool *ret_is_known)
{
	const struct ctx_exp_objects *objects = ctx_exp_all_objects(maps->writer);
	const char *path = ctx_exp_objects_path(objects, number);
	const char *build_id = ctx_exp_objects_build_id(objects, number);
	const struct ctx_cfi_table *table = NULL;
	char room[32] = "", own[CTX_BUILDID_TEXT];
	enum ctx_status status = CTX_OK;
	struct ctx_table_image image = {.key = path};
	const uint8_t *vdso;

	if (strcmp(path, "[vdso]") == 0) {
		/* Our own vdso is that of all 64-bit processes; others do not have its build id. */
		if (build_id[0] != '\0' && ctx_exp_own_vdso(&vdso, &image.n, own) &&
		    strcmp(own, build_id) == 0) {
			image.bytes = vdso;
			status = ctx_table_cache_get_image(&maps->cache, &image, &table, NULL);
		}
	} else {
		int fd CTX_AUTO_CLOSE = ctx_exp_objects_open(objects, number, NULL);

		if (fd >= 0)
			snprintf(room, sizeof(room), "/proc/self/fd/%d", fd);
		status = ctx_table_cache_get(&maps->cache, &(struct ctx_table_file){path, room, build_id},
					     &table, NULL);
	}
	*ret_is_known = status == CTX_OK;
	return status == CTX_OK ? table : NULL;
}

static const struct ctx_cfi_table *table_of(struct ctx_codemaps *maps, uint32_t number)
{
	struct object *object = &maps->objects[number];
	const struct ctx_cfi_table *table;
	bool is_known;

	if (__atomic_load_n(&object->is_known, __ATOMIC_ACQUIRE))
		return object->table;
	pthread_mutex_lock(&maps->lock);
	if (!object->is_known) {
		object->table = read_table(maps, number, &is_known);
		__atomic_store_n(&object->is_known, is_known, __ATOMIC_RELEASE);
	}
	table = object->table;
	pthread_mutex_unlock(&maps->lock);
	return table;
}

static const struct ctx_exp_map_entry *entry_of(const struct ctx_code_view *view, uint64_t pc)
{
	const struct ctx_exp_map_entry *entry =
		ctx_exp_map_list_find(ctx_exp_maps(view->maps->writer, view->process), pc);

	return entry != NULL && entry->object < view->maps->n ? entry : NULL;
}

/*
 * Identifies the instructions at the pcs of a mapping (struct ctx_unwind_object). A file with a table
 * is a program's: it does not change, and is the same in every process.
 */
static void set_code(const struct ctx_code_view *view, const struct ctx_exp_map_entry *entry,
		     const struct ctx_cfi_table *table, struct ctx_unwind_object *ret)
{
	if (table == NULL) {
		ret->code = MEMORY_CODE | (view->maps->memory_code << 32 & ~MEMORY_CODE) | view->process;
		return;
	}
	ret->code = entry->object + UINT64_C(1);
	ret->code_bias = entry->address - entry->file_offset;
}

static bool find(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	struct ctx_code_view *view = context;
	const struct ctx_exp_map_entry *entry = entry_of(view, pc);
	const struct ctx_cfi_table *table;
	uint64_t address;

	if (entry == NULL)
		return false;
	*ret = (struct ctx_unwind_object){.begin = entry->address, .end = entry->address + entry->size};
	table = table_of(view->maps, entry->object);
	set_code(view, entry, table, ret);
	if (table == NULL ||
	    !ctx_cfi_table_address(table, entry->file_offset + (pc - entry->address), &address))
		return true;
	ret->table = table;
	ret->bias = pc - address;
	return true;
}

/* The file of an object, which stays open; -1: none. To be called with the lock held. */
static int open_file(struct ctx_codemaps *maps, uint32_t number)
{
	struct object *object = &maps->objects[number];

	if (object->has_file)
		return object->file;
	object->has_file = true;
	object->file = maps->n_files < FILES_MAX
			       ? ctx_exp_objects_open(ctx_exp_all_objects(maps->writer), number, NULL)
			       : -1;
	maps->n_files += object->file >= 0;
	return object->file;
}

static size_t read_file(struct ctx_codemaps *maps, uint32_t number, uint64_t offset, uint8_t *out, size_t n)
{
	ssize_t got;
	int fd;

	pthread_mutex_lock(&maps->lock);
	fd = open_file(maps, number);
	pthread_mutex_unlock(&maps->lock);
	got = fd >= 0 ? pread(fd, out, n, (off_t)offset) : -1;
	return got > 0 ? (size_t)got : 0;
}

static size_t read_memory(int64_t pid, uint64_t address, void *out, size_t n)
{
	struct iovec to = {.iov_base = out, .iov_len = n};
	struct iovec from = {.iov_base = (void *)(uintptr_t)address, .iov_len = n};
	ssize_t got = pid > 0 ? process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) : -1;

	return got > 0 ? (size_t)got : 0;
}

/* The place of a page; NULL: no memory. To be called with the lock held. */
static struct page *page_of(struct ctx_codemaps *maps, uint32_t process, uint64_t address)
{
	uint64_t key = (address / PAGE_BYTES) ^ ((uint64_t)process * 0x9e37u);

	if (maps->pages == NULL)
		maps->pages = ctx_calloc(PAGES_MAX, sizeof(*maps->pages));
	return maps->pages != NULL ? &maps->pages[key % PAGES_MAX] : NULL;
}

/* Brings a page up to date, once in a round. False: it is none's. */
static bool refresh_page(const struct ctx_code_view *view, struct page *page, uint64_t begin)
{
	bool is_kept = page->address == begin && page->process == view->process, is_read;

	if (is_kept && page->round == view->maps->round)
		return page->is_there;
	is_read = read_memory(view->pid, begin, view->maps->room, PAGE_BYTES) == PAGE_BYTES;
	if (!is_read && !is_kept && page->is_there) /* another page, which may be asked for again */
		return false;
	if (is_read)
		memcpy(page->bytes, view->maps->room, PAGE_BYTES);
	/* What cannot be read any more stays. */
	page->is_there = is_read || (is_kept && page->is_there);
	page->address = begin;
	page->process = view->process;
	page->round = view->maps->round;
	return page->is_there;
}

/* Up to `n` bytes of one page. */
static size_t read_page(const struct ctx_code_view *view, uint64_t address, uint8_t *out, size_t n)
{
	uint64_t at = address % PAGE_BYTES;
	struct page *page;
	size_t got = 0;

	n = n < PAGE_BYTES - at ? n : PAGE_BYTES - at;
	pthread_mutex_lock(&view->maps->lock);
	page = page_of(view->maps, view->process, address - at);
	if (page != NULL && refresh_page(view, page, address - at)) {
		memcpy(out, page->bytes + at, n);
		got = n;
	}
	pthread_mutex_unlock(&view->maps->lock);
	return got;
}

static size_t read_pages(const struct ctx_code_view *view, uint64_t address, uint8_t *out, size_t n)
{
	size_t got = 0, one;

	while (got < n && (one = read_page(view, address + got, out + got, n - got)) != 0)
		got += one;
	return got;
}

static size_t read_code(void *context, uint64_t address, uint8_t *out, size_t n)
{
	const struct ctx_code_view *view = context;
	const struct ctx_exp_map_entry *entry = entry_of(view, address);

	if (entry == NULL)
		return 0;
	if (n > entry->size - (address - entry->address))
		n = entry->size - (address - entry->address);
	if (table_of(view->maps, entry->object) != NULL)
		return read_file(view->maps, entry->object, entry->file_offset + (address - entry->address),
				 out, n);
	return read_pages(view, address, out, n);
}

struct ctx_unwind_space ctx_code_view_space(struct ctx_code_view *view)
{
	return (struct ctx_unwind_space){
		.find = find, .read_code = read_code, .context = view, .cache = view->maps->code};
}

bool ctx_code_view_same_function(struct ctx_code_view *view, uint64_t a, uint64_t b)
{
	struct ctx_unwind_object object;
	uint64_t begin, end;

	if (ctx_frame_is_named(a) || ctx_frame_is_named(b)) /* an interpreted method is its function */
		return ctx_frame_is_named(a) && ctx_frame_is_named(b) &&
		       ctx_frame_function(a) == ctx_frame_function(b);
	return a == b ||
	       (find(view, a, &object) && object.table != NULL && b >= object.begin && b < object.end &&
		ctx_cfi_table_function(object.table, a - object.bias, &begin, &end) &&
		b - object.bias >= begin && b - object.bias < end);
}
