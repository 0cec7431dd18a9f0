#include "collect/procfs.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "base/shellword.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 64
#define COMMAND_MAX_BYTES ((size_t)4096) /* each fork repeats it */
#define FILE_MAX_BYTES ((size_t)64 << 20)

bool ctx_procfs_exists(int64_t pid)
{
	return kill((pid_t)pid, 0) == 0 || errno != ESRCH;
}

void ctx_ids_deinit(struct ctx_ids *ids)
{
	free(ids->items);
	*ids = (struct ctx_ids){0};
}

enum ctx_status ctx_ids_add(struct ctx_ids *ids, int64_t id, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&ids->items, &ids->cap, ids->n + 1, err);

	if (status == CTX_OK)
		ids->items[ids->n++] = id;
	return status;
}

static void dir_cleanup(DIR **dir)
{
	if (*dir != NULL)
		closedir(*dir);
}

static void buf_cleanup(struct ctx_buf *buf)
{
	ctx_buf_deinit(buf);
}

static enum ctx_status list_numbers(const char *path, struct ctx_ids *ids, struct ctx_err *err)
{
	DIR *dir __attribute__((cleanup(dir_cleanup))) = opendir(path);
	struct dirent *entry;

	if (dir == NULL)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	while ((entry = readdir(dir)) != NULL) {
		char *end;
		long id = strtol(entry->d_name, &end, 10);
		enum ctx_status status;

		if (end == entry->d_name || *end != '\0' || id <= 0)
			continue;
		status = ctx_ids_add(ids, id, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

enum ctx_status ctx_procfs_pids(struct ctx_ids *ids, struct ctx_err *err)
{
	return list_numbers("/proc", ids, err);
}

enum ctx_status ctx_procfs_tids(int64_t pid, struct ctx_ids *ids, struct ctx_err *err)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/task", pid);
	return list_numbers(path, ids, err);
}

uint64_t ctx_procfs_namespace(int64_t pid, const char *kind)
{
	char path[PATH_BYTES];
	struct stat info;

	if (pid == 0)
		snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	else
		snprintf(path, sizeof(path), "/proc/%" PRId64 "/ns/%s", pid, kind);
	return stat(path, &info) == 0 ? (uint64_t)info.st_ino : 0;
}

enum ctx_status ctx_procfs_comm(int64_t pid, int64_t tid, char *name, size_t size, struct ctx_err *err)
{
	struct ctx_buf buf __attribute__((cleanup(buf_cleanup))) = {0};
	char path[PATH_BYTES];
	enum ctx_status status;

	if (tid != 0)
		snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64 "/comm", pid, tid);
	else
		snprintf(path, sizeof(path), "/proc/%" PRId64 "/comm", pid);
	status = ctx_file_read(path, FILE_MAX_BYTES, &buf, err);
	ctx_buf_put_u8(&buf, 0);
	if (status == CTX_OK)
		status = ctx_buf_check(&buf, err);
	if (status != CTX_OK)
		return status;
	snprintf(name, size, "%.*s", (int)strcspn((char *)buf.bytes, "\n"), (char *)buf.bytes);
	return CTX_OK;
}

void ctx_quote_arguments(const char *arguments, size_t n, struct ctx_buf *out)
{
	size_t start = out->n;

	for (size_t at = 0; at < n; at += strnlen(arguments + at, n - at) + 1) {
		/* The last one may not be terminated where a process overwrote its arguments. */
		char *word CTX_AUTO_FREE = ctx_memdup0(arguments + at, strnlen(arguments + at, n - at));

		if (word == NULL) {
			out->failed = true;
			return;
		}
		if (out->n > start)
			ctx_buf_put_u8(out, ' ');
		ctx_shellword_put(out, word);
	}
	ctx_buf_put_u8(out, 0);
	if (!out->failed)
		out->n--;
}

/* Reads no more than `max_bytes` of a file; what is cut ends with "...". */
static enum ctx_status read_begin(const char *path, size_t max_bytes, struct ctx_buf *out,
				  struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *room = ctx_buf_reserve(out, max_bytes + 4);
	enum ctx_status status;
	size_t got;

	if (room == NULL)
		return ctx_err_nomem(err);
	if (fd < 0)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "%s", path);
	status = ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, room, max_bytes, &got, err);
	if (status < 0)
		return status;
	out->n += got;
	if (status == CTX_OK)
		ctx_buf_put(out, "...", 4);
	return CTX_OK;
}

/*
 * A title that a process has set for people, "postgres: checkpointer": a single argument with a blank, and no
 * path of a program before it.
 */
static bool is_title(struct ctx_buf *raw)
{
	size_t n;

	ctx_buf_put_u8(raw, 0);
	if (raw->failed)
		return false;
	raw->n--;
	n = strlen((const char *)raw->bytes);
	return n > 0 && n + 1 >= raw->n && raw->bytes[strcspn((const char *)raw->bytes, " /")] == ' ';
}

enum ctx_status ctx_procfs_command(int64_t pid, struct ctx_buf *out, struct ctx_err *err)
{
	struct ctx_buf raw __attribute__((cleanup(buf_cleanup))) = {0};
	char path[PATH_BYTES];
	enum ctx_status status;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/cmdline", pid);
	status = read_begin(path, COMMAND_MAX_BYTES, &raw, err);
	if (status != CTX_OK)
		return status;
	/* Programs that set their title fill the rest of their arguments with zero bytes. */
	while (raw.n > 1 && raw.bytes[raw.n - 1] == 0 && raw.bytes[raw.n - 2] == 0)
		raw.n--;
	if (is_title(&raw))
		ctx_buf_put(out, raw.bytes, strlen((const char *)raw.bytes) + 1), out->n -= !out->failed;
	else if (raw.n > 0 && !(raw.n == 1 && raw.bytes[0] == 0))
		ctx_quote_arguments((const char *)raw.bytes, raw.n, out);
	return ctx_buf_check(out, err);
}

enum ctx_status ctx_procfs_maps(int64_t pid, struct ctx_buf *out, struct ctx_err *err)
{
	char path[PATH_BYTES];
	enum ctx_status status, checked;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/maps", pid);
	status = ctx_file_read(path, FILE_MAX_BYTES, out, err);
	if (status == CTX_E_LIMIT) {
		while (out->n > 0 && out->bytes[out->n - 1] != '\n')
			out->n--;
		status = CTX_END;
	}
	ctx_buf_put_u8(out, 0);
	checked = ctx_buf_check(out, err);
	return checked == CTX_OK || status < 0 ? status : checked;
}

/* 55d0c0a00000-55d0c0a21000 r-xp 00002000 fd:01 1234   /usr/bin/cat */
static bool parse_map(char *line, struct ctx_procfs_map *ret)
{
	struct ctx_procfs_map map = {0};
	uint64_t end;
	char permissions[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &map.address, &end, permissions, &map.file_offset, &map.major, &map.minor, &map.inode,
		   &at) != 7 ||
	    at == 0 || end <= map.address)
		return false;
	map.size = end - map.address;
	map.protection = (permissions[2] == 'x' ? (uint32_t)PROT_EXEC : 0) |
			 (permissions[0] == 'r' ? (uint32_t)PROT_READ : 0) |
			 (permissions[1] == 'w' ? (uint32_t)PROT_WRITE : 0);
	map.path = line[at] != '\0' ? line + at : "//anon";
	*ret = map;
	return true;
}

bool ctx_procfs_next_map(char **text, struct ctx_procfs_map *ret)
{
	while (ctx_procfs_next_range(text, ret)) {
		if ((ret->protection & PROT_EXEC) != 0)
			return true;
	}
	return false;
}

bool ctx_procfs_next_range(char **text, struct ctx_procfs_map *ret)
{
	while (*text != NULL && **text != '\0') {
		char *line = strsep(text, "\n");

		if (parse_map(line, ret))
			return true;
	}
	return false;
}

/* The number after a "Key:" in a file of lines; 0 if missing. */
static uint64_t value_of(const char *text, const char *key)
{
	const char *at = text;
	size_t n = strlen(key);

	while (at != NULL) {
		if (strncmp(at, key, n) == 0 && at[n] == ':')
			return strtoull(at + n + 1, NULL, 10);
		at = strchr(at, '\n');
		at = at != NULL ? at + 1 : NULL;
	}
	return 0;
}

enum ctx_status ctx_procfs_text(int64_t pid, const char *file, struct ctx_buf *out, struct ctx_err *err)
{
	char path[PATH_BYTES];
	enum ctx_status status;

	ctx_buf_clear(out);
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/%s", pid, file);
	status = ctx_file_read(path, FILE_MAX_BYTES, out, err);
	if (status != CTX_OK)
		out->n = 0;
	ctx_buf_put_u8(out, 0);
	return status != CTX_OK ? status : ctx_buf_check(out, err);
}

/* The fields of stat after the name, which can hold any character, ')' included. */
static bool parse_stat(const char *text, struct ctx_usage_info *usage)
{
	const char *at = strrchr(text, ')');
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t user, system;

	if (at == NULL || sscanf(at + 1,
				 " %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
				 " %" SCNu64 " %*d %*d %*d %*d %" SCNu64 " %*d %*u %" SCNu64 " %" SCNu64,
				 &usage->minor_faults, &usage->major_faults, &user, &system, &usage->threads,
				 &usage->vsize_bytes, &usage->rss_bytes) != 7)
		return false;
	usage->user_ns = user * tick_ns;
	usage->system_ns = system * tick_ns;
	usage->rss_bytes *= (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

/* Adds the switches of all threads: status has the calling thread's alone. */
static void add_switches(int64_t pid, struct ctx_buf *buf, struct ctx_usage_info *usage)
{
	struct ctx_ids tids = {0};
	char file[PATH_BYTES];

	if (ctx_procfs_tids(pid, &tids, NULL) == CTX_OK) {
		for (size_t i = 0; i < tids.n && i < 64; i++) {
			snprintf(file, sizeof(file), "task/%" PRId64 "/status", tids.items[i]);
			if (ctx_procfs_text(pid, file, buf, NULL) != CTX_OK)
				continue;
			usage->voluntary_switches += value_of((char *)buf->bytes, "voluntary_ctxt_switches");
			usage->involuntary_switches +=
				value_of((char *)buf->bytes, "nonvoluntary_ctxt_switches");
		}
	}
	ctx_ids_deinit(&tids);
}

enum ctx_status ctx_procfs_usage(int64_t pid, struct ctx_usage_info *ret, struct ctx_err *err)
{
	struct ctx_buf buf __attribute__((cleanup(buf_cleanup))) = {0};
	struct ctx_usage_info usage = {0};
	enum ctx_status status = ctx_procfs_text(pid, "stat", &buf, err);

	if (status != CTX_OK)
		return status;
	if (!parse_stat((char *)buf.bytes, &usage))
		return ctx_err_set(err, CTX_E_FORMAT, "/proc/%" PRId64 "/stat is not understood", pid);
	add_switches(pid, &buf, &usage);
	if (ctx_procfs_text(pid, "io", &buf, NULL) == CTX_OK) {
		usage.read_bytes = value_of((char *)buf.bytes, "rchar");
		usage.write_bytes = value_of((char *)buf.bytes, "wchar");
	}
	*ret = usage;
	return CTX_OK;
}
