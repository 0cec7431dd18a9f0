#include "collect/jit_dumps.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/experiment/exp_functions.h"
#include "formats/perfdata/pd_jitdump.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DUMPS_MAX 1024u			      /* that wait for the end of their process */
#define DUMP_BYTES_MAX ((size_t)256 << 20)    /* of one; what is behind is left out */
#define INSTRUCTIONS_MAX ((uint64_t)64 << 20) /* of all functions; those beyond have names alone */

struct dump {
	int64_t pid;
	uint32_t process, object;
	int fd;
};

struct ctx_jit_dumps {
	struct ctx_exp_writer *writer;
	const struct ctx_proctree *tree;
	struct dump *items; /* owned */
	size_t n, cap;
	uint64_t instructions; /* written */
	uint64_t unusable;
	char why[CTX_JIT_DUMPS_TEXT_MAX]; /* of the first one */
};

enum ctx_status ctx_jit_dumps_create(struct ctx_exp_writer *writer, const struct ctx_proctree *tree,
				     struct ctx_jit_dumps **ret, struct ctx_err *err)
{
	struct ctx_jit_dumps *dumps = ctx_calloc(1, sizeof(*dumps));

	if (dumps == NULL)
		return ctx_err_nomem(err);
	dumps->writer = writer;
	dumps->tree = tree;
	*ret = dumps;
	return CTX_OK;
}

void ctx_jit_dumps_destroy(struct ctx_jit_dumps *dumps)
{
	if (dumps == NULL)
		return;
	for (size_t i = 0; i < dumps->n; i++)
		close(dumps->items[i].fd);
	free(dumps->items);
	free(dumps);
}

static void refuse(struct ctx_jit_dumps *dumps, const char *why)
{
	if (dumps->unusable++ == 0)
		snprintf(dumps->why, sizeof(dumps->why), "%.180s", why);
}

/* Opened at once: the process may remove it. */
enum ctx_status ctx_jit_dumps_note(struct ctx_jit_dumps *dumps, const struct ctx_perf_record *record,
				   struct ctx_err *err)
{
	struct dump dump = {.pid = record->pid, .fd = -1};
	const struct ctx_exp_map_entry *entry;
	struct ctx_err why = {0};
	uint32_t thread, number;
	enum ctx_status status;

	if ((record->type != PERF_RECORD_MMAP2 && record->type != PERF_RECORD_MMAP) ||
	    !ctx_pd_jitdump_is(record->mmap.path, &number) || dumps->n == DUMPS_MAX ||
	    !ctx_proctree_lookup(dumps->tree, dump.pid, &dump.process, &thread))
		return CTX_OK;
	entry = ctx_exp_map_list_find(ctx_exp_maps(dumps->writer, dump.process), record->mmap.address);
	status = ctx_grow(&dumps->items, &dumps->cap, dumps->n + 1, err);
	if (entry == NULL || status != CTX_OK)
		return status;
	dump.object = entry->object;
	dump.fd = ctx_exp_objects_open(ctx_exp_all_objects(dumps->writer), entry->object, &why);
	if (dump.fd < 0)
		refuse(dumps, why.msg);
	else
		dumps->items[dumps->n++] = dump;
	return CTX_OK;
}

static enum ctx_status read_file(const struct dump *dump, const char *path, struct ctx_buf *out,
				 struct ctx_err *err)
{
	struct stat info;
	size_t size = fstat(dump->fd, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0, got;
	uint8_t *room;
	enum ctx_status status;

	size = size < DUMP_BYTES_MAX ? size : DUMP_BYTES_MAX;
	room = ctx_buf_reserve(out, size + 1);
	if (room == NULL)
		return ctx_err_nomem(err);
	status = ctx_file_pread(&(struct ctx_file_place){dump->fd, path, 0}, room, size, &got, err);
	out->n = got;
	return status < 0 ? status : CTX_OK;
}

/* A dump that was read: `bytes` are the file. */
struct contents {
	const char *path;
	struct ctx_buf bytes;
	struct ctx_pd_jitdump functions;
};

static enum ctx_status write_load(struct ctx_jit_dumps *dumps, const struct dump *dump,
				  const struct contents *contents, size_t i, struct ctx_err *err)
{
	const struct ctx_pd_jit_load *load = &contents->functions.loads[i];
	const struct ctx_exp_function function = {.name = load->name[0] != '\0' ? load->name : "<Unknown>",
						  .module = contents->path};
	struct ctx_exp_code code = {.process = dump->process,
				    .time_ns = load->time_ns,
				    .address = load->address,
				    .size = load->size < UINT32_MAX ? (uint32_t)load->size : UINT32_MAX};
	enum ctx_status status = ctx_exp_function(dumps->writer, &function, &code.function, err);

	if (status != CTX_OK || code.function == CTX_NONE)
		return status;
	if (load->size <= CTX_EXP_CODE_BYTES_MAX && dumps->instructions < INSTRUCTIONS_MAX) {
		code.instructions = contents->bytes.bytes + load->file_offset;
		dumps->instructions += load->size;
	}
	return ctx_exp_code(dumps->writer, &code, err);
}

static enum ctx_status write_dump(struct ctx_jit_dumps *dumps, const struct dump *dump, struct ctx_err *err)
{
	struct contents contents = {
		.path = ctx_exp_objects_path(ctx_exp_all_objects(dumps->writer), dump->object)};
	struct ctx_err why = {0};
	enum ctx_status status = read_file(dump, contents.path, &contents.bytes, &why);

	if (status == CTX_OK)
		status = ctx_pd_jitdump_parse(contents.bytes.bytes, contents.bytes.n, &contents.functions,
					      &why);
	if (status == CTX_OK && contents.functions.arch_timestamps)
		status = ctx_err_set(&why, CTX_E_FORMAT, "%s: its times are those of another clock",
				     contents.path);
	if (status != CTX_OK && status != CTX_E_NOMEM)
		refuse(dumps, why.msg);
	for (size_t i = 0; i < contents.functions.n && status == CTX_OK; i++)
		status = write_load(dumps, dump, &contents, i, err);
	ctx_pd_jitdump_deinit(&contents.functions);
	ctx_buf_deinit(&contents.bytes);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	return why.msg[0] != '\0' ? CTX_OK : status;
}

enum ctx_status ctx_jit_dumps_take(struct ctx_jit_dumps *dumps, int64_t pid, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t kept = 0;

	for (size_t i = 0; i < dumps->n; i++) {
		struct dump *dump = &dumps->items[i];

		if (status != CTX_OK || (pid != -1 && dump->pid != pid)) {
			dumps->items[kept++] = *dump;
			continue;
		}
		status = write_dump(dumps, dump, err);
		close(dump->fd);
	}
	dumps->n = kept;
	return status;
}

bool ctx_jit_dumps_text(const struct ctx_jit_dumps *dumps, char text[CTX_JIT_DUMPS_TEXT_MAX])
{
	if (dumps->unusable == 0)
		return false;
	snprintf(text, CTX_JIT_DUMPS_TEXT_MAX, "code of just-in-time compilers has no names: %.180s",
		 dumps->why);
	return true;
}
