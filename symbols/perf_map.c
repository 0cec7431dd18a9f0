/*
 * The lines, sorted by start, are swept once. Kept lines with an open range form a stack with the
 * latest line on top, because an earlier line that begins inside a later one is dropped:
 *
 *	line 1      |--- A ---------------|       kept
 *	line 3           |--- B ---|              kept: the set assigns the addresses from here on to B, then A again
 *	line 2               |--- C ---|          dropped: B's code has overwritten its beginning
 */
#include "symbols/perf_map.h"
#include "elf/image.h"
#include "elf/reasons.h"

#include "base/digits.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "symbols/symtab.h"
#include "symbols/symtab_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)1 << 30)
#define LINES_MAX ((size_t)1 << 24)

struct line {
	uint64_t start, end;
	const char *name;
	uint32_t number; /* line number */
};

struct lines {
	struct line *items;
	size_t n, cap;
};

static void lines_cleanup(struct lines *lines)
{
	free(lines->items);
}

/*
 * A hexadecimal number, with or without 0x, and the blanks after it; false if there is none, or it
 * exceeds 64 bits.
 */
static bool take_number(char **at, uint64_t *ret)
{
	const char *digits = *at;

	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		digits += 2;
	if (!ctx_digits_take(&digits, 16, ret) || (*digits != ' ' && *digits != '\t'))
		return false;
	*at += digits - *at;
	*at += strspn(*at, " \t");
	return true;
}

/* The name is the rest of the line: it may contain blanks. */
static bool parse_line(char *at, struct line *ret)
{
	uint64_t size;
	size_t n;

	if (!take_number(&at, &ret->start) || !take_number(&at, &size) || size == 0 ||
	    size > UINT64_MAX - ret->start)
		return false;
	ret->end = ret->start + size;
	for (n = strlen(at); n > 0 && strchr(" \t\r", at[n - 1]) != NULL;)
		n--;
	at[n] = '\0';
	ret->name = at;
	return n != 0;
}

static enum ctx_status parse_lines(char *text, size_t n, struct lines *lines, struct ctx_err *err)
{
	char *next;

	for (char *at = text; at < text + n; at = next) {
		struct line line = {.number = (uint32_t)lines->n};
		char *end = memchr(at, '\n', (size_t)(text + n - at));
		enum ctx_status status;

		next = end != NULL ? end + 1 : text + n;
		if (end != NULL)
			*end = '\0';
		if (!parse_line(at, &line))
			continue;
		if (lines->n == LINES_MAX)
			return ctx_err_set(err, CTX_E_LIMIT, "more than %zu functions", LINES_MAX);
		status = ctx_grow(&lines->items, &lines->cap, lines->n + 1, err);
		if (status != CTX_OK)
			return status;
		lines->items[lines->n++] = line;
	}
	return CTX_OK;
}

/* Of lines with one start the latest comes first, so that the others are dropped. */
static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left;
	const struct line *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->number > b->number ? -1 : a->number < b->number;
}

/* The stack reuses the space of lines already swept: it is never larger. */
static enum ctx_status sweep(struct lines *lines, struct ctx_symset *set, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t depth = 0;

	for (size_t i = 0; i < lines->n && status == CTX_OK; i++) {
		struct line line = lines->items[i];
		struct ctx_symset_raw raw = {.start = line.start,
					     .size = line.end - line.start,
					     .limit = UINT64_MAX,
					     .name = line.name,
					     .module = ""};

		while (depth > 0 && lines->items[depth - 1].end <= line.start)
			depth--;
		if (depth > 0 && lines->items[depth - 1].number > line.number)
			continue;
		lines->items[depth++] = line;
		status = ctx_symset_add(set, &raw, err);
	}
	return status;
}

enum ctx_status ctx_perf_map_add(char *text, size_t n, struct ctx_symset *set, struct ctx_err *err)
{
	struct lines lines CTX_CLEANUP(lines_cleanup) = {0};
	enum ctx_status status = parse_lines(text, n, &lines, err);

	if (status != CTX_OK)
		return status;
	if (lines.n == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no line \"START SIZE NAME\"");
	qsort(lines.items, lines.n, sizeof(*lines.items), compare_lines);
	return sweep(&lines, set, err);
}

/*
 * The owner is checked on the open file: the path may lead elsewhere a moment later. Any user may
 * create links in /tmp.
 */
static enum ctx_status read_own_file(const char *path, struct ctx_buf *out, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat info;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
	if (fd < 0 || fstat(fd, &info) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	if (!S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a plain file", path);
	if (info.st_uid != geteuid() && info.st_uid != 0)
		return ctx_err_set(err, CTX_E_PERM, "%s: belongs to neither this user nor root", path);
	return ctx_file_read_fd(fd, path, FILE_BYTES_MAX, out, err);
}

/* `is_copy`: an archive of the recording, whose owner does not matter. */
static enum ctx_status fill(struct ctx_symtab *table, const char *path, bool is_copy, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status =
		is_copy ? ctx_image_read(path, FILE_BYTES_MAX, &text, err) : read_own_file(path, &text, err);

	if (status != CTX_OK)
		return status;
	ctx_buf_put_u8(&text, 0);
	status = ctx_buf_check(&text, err);
	if (status == CTX_OK) {
		status = ctx_perf_map_add((char *)text.bytes, text.n - 1, &table->set, err);
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "%s", path);
	}
	if (status == CTX_OK)
		status = ctx_symtab_freeze(table, err);
	if (status != CTX_OK)
		return status;
	table->origin = is_copy ? "archive" : ctx_arena_strdup(&table->arena, path);
	return table->origin != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status make_empty(struct ctx_symtab *table, const char *reason, struct ctx_err *err)
{
	struct ctx_buf reasons CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_symtab_freeze(table, err);

	ctx_reasons_add(&reasons, "%s", reason);
	return status == CTX_OK ? ctx_symtab_set_reasons(table, &reasons, err) : status;
}

static enum ctx_status open_file(const char *path, bool is_copy, struct ctx_symtab **ret, struct ctx_err *err)
{
	struct ctx_symtab *table CTX_CLEANUP(ctx_symtab_free_cleanup) = ctx_calloc(1, sizeof(*table));
	struct ctx_err reason = {0};
	enum ctx_status status;

	if (table == NULL)
		return ctx_err_nomem(err);
	table->flat = true;
	status = fill(table, path, is_copy, &reason);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		status = make_empty(table, reason.msg, err);
	if (status != CTX_OK)
		return status;
	*ret = table;
	table = NULL;
	return CTX_OK;
}

enum ctx_status ctx_symtab_open_perf_map(const char *path, const char *symfs, struct ctx_symtab **ret,
					 struct ctx_err *err)
{
	char *full CTX_AUTO_FREE = NULL;

	if (asprintf(&full, "%s%s", symfs, path) < 0) {
		full = NULL;
		return ctx_err_nomem(err);
	}
	return open_file(full, false, ret, err);
}

enum ctx_status ctx_symtab_open_perf_map_copy(const char *path, struct ctx_symtab **ret, struct ctx_err *err)
{
	return open_file(path, true, ret, err);
}
