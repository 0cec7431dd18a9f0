#include "formats/uftrace/uf_info.h"

#include "base/cursor.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/uftrace/uf_text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "Ftrace!" /* with its zero byte */
#define MAGIC_BYTES sizeof(MAGIC)
#define HEADER_BYTES 40u
#define VERSION_MIN 3u
#define VERSION_MAX 4u
#define LITTLE_ENDIAN_ORDER 1u
#define CLASS_64 2u

bool ctx_uf_info_is(const char *directory)
{
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "info");
	int fd CTX_AUTO_CLOSE = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	char magic[MAGIC_BYTES];
	size_t got = 0;

	return fd >= 0 &&
	       ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, magic, sizeof(magic), &got, NULL) ==
		       CTX_OK &&
	       memcmp(magic, MAGIC, MAGIC_BYTES) == 0;
}

static enum ctx_status read_header(struct ctx_uf_info *info, struct ctx_uf_text *text, struct ctx_err *err)
{
	struct ctx_cursor cursor = ctx_cursor_make(text->bytes.bytes, text->bytes.n - 1);
	const uint8_t *magic = ctx_cursor_get_bytes(&cursor, MAGIC_BYTES);
	uint16_t size;
	uint8_t order, class;

	if (magic == NULL || memcmp(magic, MAGIC, MAGIC_BYTES) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "info: offset 0: does not begin with \"Ftrace!\"");
	info->version = ctx_cursor_get_u32(&cursor);
	size = ctx_cursor_get_u16(&cursor);
	order = ctx_cursor_get_u8(&cursor);
	class = ctx_cursor_get_u8(&cursor);
	info->features = ctx_cursor_get_u64(&cursor);
	if (cursor.failed || text->bytes.n - 1 < HEADER_BYTES)
		return ctx_err_set(err, CTX_E_FORMAT, "info: cut: %zu bytes of a header of %u",
				   text->bytes.n - 1, HEADER_BYTES);
	if (order != LITTLE_ENDIAN_ORDER)
		return ctx_err_set(err, CTX_E_FORMAT,
				   "info: offset 14: recorded on a big-endian machine, which is not read");
	if (info->version < VERSION_MIN || info->version > VERSION_MAX)
		return ctx_err_set(err, CTX_E_VERSION, "info: offset 8: version %u; %u and %u are read",
				   info->version, VERSION_MIN, VERSION_MAX);
	if (class != CLASS_64)
		return ctx_err_set(err, CTX_E_FORMAT,
				   "info: offset 15: recorded from a program of 32 bits, which is not read");
	text->at = size >= HEADER_BYTES && size < text->bytes.n ? size : HEADER_BYTES;
	return CTX_OK;
}

/* Lines for the header of reports: what they begin with, and their names there. */
static const struct {
	const char *begin, *key;
} shown[] = {
	{"cmdline:", "command"},	 {"osinfo:hostname=", "host"},	    {"osinfo:kernel=", "kernel"},
	{"cpuinfo:desc=", "processor"},	 {"record_date:", "start"},	    {"elapsed_time:", "elapsed"},
	{"exit_status:", "exit status"}, {"uftrace_version:", "collector"},
};

static enum ctx_status take_line(const char *line, struct ctx_source_notes *notes, struct ctx_err *err)
{
	for (size_t i = 0; i < CTX_COUNT_OF(shown); i++) {
		const char *value = line + strlen(shown[i].begin);
		char text[512];

		if (strncmp(line, shown[i].begin, strlen(shown[i].begin)) != 0)
			continue;
		snprintf(text, sizeof(text), "%s%s", strcmp(shown[i].key, "collector") == 0 ? "uftrace " : "",
			 value);
		return ctx_source_notes_property(notes, shown[i].key, text, err);
	}
	return CTX_OK;
}

enum ctx_status ctx_uf_info_read(struct ctx_uf_info *info, const char *directory,
				 struct ctx_source_notes *notes, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "info"), *line;
	struct ctx_uf_text text CTX_CLEANUP(ctx_uf_text_deinit) = {0};
	enum ctx_status status = path != NULL ? ctx_uf_text_read(&text, path, err) : ctx_err_nomem(err);

	if (status == CTX_OK)
		status = read_header(info, &text, err);
	while (status == CTX_OK && (line = ctx_uf_text_line(&text)) != NULL)
		status = take_line(line, notes, err);
	return status;
}
