#include "ingest/unwinding.h"

#include "base/mem.h"
#include "elf/debug_files.h"
#include "unwind/code_cache.h"
#include "unwind/unwind.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 4096u /* of the user's part */
#define FILES_MAX 64u	 /* kept open for their code */

struct object_table {		     /* by object id; all zero: not searched yet */
	struct ctx_cfi_table *table; /* owned; NULL: none */
	bool known;
	int file; /* with its code; owned; -1: none, also where there is no table */
};

struct ctx_unwinding {
	struct ctx_resolver *resolver;
	struct object_table *tables;
	size_t n_tables, tables_cap, n_files;
	struct ctx_code_cache *code;
	const struct ctx_addrspace *space; /* of the current sample */
	enum ctx_status status;		   /* of the search for tables */
	struct ctx_unwinding_counts counts;
	uint64_t *frames;
	size_t frames_cap;
	struct ctx_unwind_frame unwound[FRAMES_MAX];
};

enum ctx_status ctx_unwinding_create(struct ctx_resolver *resolver, struct ctx_unwinding **ret,
				     struct ctx_err *err)
{
	struct ctx_unwinding *unwinding = ctx_calloc(1, sizeof(*unwinding));

	if (unwinding == NULL)
		return ctx_err_nomem(err);
	if (ctx_code_cache_create(&unwinding->code, err) != CTX_OK) {
		free(unwinding);
		return CTX_E_NOMEM;
	}
	unwinding->resolver = resolver;
	*ret = unwinding;
	return CTX_OK;
}

void ctx_unwinding_destroy(struct ctx_unwinding *unwinding)
{
	if (unwinding == NULL)
		return;
	for (size_t i = 0; i < unwinding->n_tables; i++) {
		ctx_cfi_table_close(unwinding->tables[i].table);
		if (unwinding->tables[i].file >= 0)
			close(unwinding->tables[i].file);
	}
	ctx_code_cache_destroy(unwinding->code);
	free(unwinding->tables);
	free(unwinding->frames);
	free(unwinding);
}

/*
 * A missing file, or one without call frame information, is not a failure: stacks end there with a
 * reason.
 */
static enum ctx_status read_table(struct ctx_unwinding *unwinding, uint32_t object, struct object_table *ret)
{
	struct ctx_found_file file = {0};
	struct ctx_file_request request;
	enum ctx_status status;

	if (!ctx_resolver_file_request(unwinding->resolver, object, &request))
		return CTX_OK;
	status = ctx_debug_files_image(&request, &file, NULL);
	if (status == CTX_OK && file.path != NULL)
		status = ctx_cfi_table_open(file.path, &ret->table, NULL);
	else if (status == CTX_OK)
		status = ctx_cfi_table_open_bytes(file.bytes.bytes, file.bytes.n, &ret->table, NULL);
	if (ret->table != NULL && file.path != NULL && unwinding->n_files < FILES_MAX)
		ret->file = open(file.path, O_RDONLY | O_CLOEXEC);
	unwinding->n_files += ret->file >= 0;
	ctx_found_file_deinit(&file);
	return status == CTX_E_NOMEM ? status : CTX_OK;
}

static const struct object_table *table_of(struct ctx_unwinding *unwinding, uint32_t object)
{
	struct object_table *place;

	if (ctx_grow(&unwinding->tables, &unwinding->tables_cap, (size_t)object + 1, NULL) != CTX_OK) {
		unwinding->status = CTX_E_NOMEM;
		return NULL;
	}
	while (unwinding->n_tables <= object)
		unwinding->tables[unwinding->n_tables++] = (struct object_table){.file = -1};
	place = &unwinding->tables[object];
	if (!place->known) {
		place->known = true;
		if (read_table(unwinding, object, place) != CTX_OK)
			unwinding->status = CTX_E_NOMEM;
	}
	return place;
}

static bool find(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	struct ctx_unwinding *unwinding = context;
	const struct object_table *table;
	struct ctx_mapped map;
	uint64_t address;

	if (!ctx_addrspace_peek(unwinding->space, pc, &map))
		return false;
	*ret = (struct ctx_unwind_object){.begin = map.begin, .end = map.end};
	table = table_of(unwinding, map.object);
	if (table == NULL)
		return true;
	ret->table = table->table;
	if (table->file >= 0) {
		ret->code = map.object + UINT64_C(1);
		ret->code_bias = map.begin - map.file_offset;
	}
	/* By the pc: a segment can begin after the page that its mapping begins with. */
	if (ret->table != NULL &&
	    ctx_cfi_table_address(ret->table, map.file_offset + (pc - map.begin), &address))
		ret->bias = pc - address;
	else
		ret->table = NULL;
	return true;
}

/* Code of files; what was in memory alone is not in the recording. */
static size_t read_code(void *context, uint64_t address, uint8_t *out, size_t n)
{
	struct ctx_unwinding *unwinding = context;
	const struct object_table *table;
	struct ctx_mapped map;
	ssize_t got;

	if (!ctx_addrspace_peek(unwinding->space, address, &map))
		return 0;
	table = table_of(unwinding, map.object);
	if (table == NULL || table->file < 0)
		return 0;
	if (n > map.end - address)
		n = map.end - address;
	got = pread(table->file, out, n, (off_t)(map.file_offset + (address - map.begin)));
	return got > 0 ? (size_t)got : 0;
}

enum ctx_status ctx_unwinding_frames(struct ctx_unwinding *unwinding, const struct ctx_addrspace *space,
				     const struct ctx_event_stack *stack, struct ctx_chain *ret,
				     struct ctx_err *err)
{
	struct ctx_unwind_space objects = {
		.find = find, .read_code = read_code, .context = unwinding, .cache = unwinding->code};
	enum ctx_truncation end;
	size_t n_user, n = stack->n_frames;

	unwinding->space = space;
	unwinding->status = CTX_OK;
	end = ctx_unwind(&objects, stack->user, unwinding->unwound, FRAMES_MAX, &n_user);
	if (unwinding->status != CTX_OK ||
	    ctx_grow(&unwinding->frames, &unwinding->frames_cap, n + n_user + 1, NULL) != CTX_OK)
		return ctx_err_nomem(err);
	if (n != 0)
		memcpy(unwinding->frames, stack->frames, n * sizeof(*stack->frames));
	for (size_t i = 0; i < n_user; i++)
		unwinding->frames[n++] = unwinding->unwound[i].address;
	if (end != CTX_TRUNCATED_NOT)
		unwinding->frames[n++] = ctx_frame_truncated(end);
	unwinding->counts.samples++;
	unwinding->counts.ends[end]++;
	*ret = (struct ctx_chain){.frames = unwinding->frames, .n = n};
	return CTX_OK;
}

struct ctx_unwinding_counts ctx_unwinding_counts(const struct ctx_unwinding *unwinding)
{
	return unwinding->counts;
}
