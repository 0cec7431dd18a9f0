/*
 *	last.xml ------------------> horizon
 *	what is new (exp_scan.c) --> log, index --> exp_reader.c returns what is before the horizon
 */
#include "formats/experiment/exp_follow.h"

#include "base/fileio.h"
#include "formats/experiment/exp_reader.h"
#include "formats/experiment/exp_reader_state.h"
#include "formats/experiment/exp_state.h"
#include "formats/experiment/exp_text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The recorder's last sign of life; 0: there is none. */
static enum ctx_status read_alive(const struct ctx_exp_reader *reader, uint64_t *ret_ns, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = ctx_exp_open_file(reader->dir, CTX_EXP_LAST_FILE);
	struct ctx_exp_lines *lines;
	struct ctx_exp_line line;
	enum ctx_status status;

	*ret_ns = 0;
	if (fd < 0)
		return CTX_OK;
	status = ctx_exp_lines_open(
		&(struct ctx_exp_text){.fd = fd, .name = CTX_EXP_LAST_FILE, .grows = true}, &lines, err);
	if (status != CTX_OK)
		return status;
	do {
		const char *kind;

		status = ctx_exp_lines_next(lines, &line, err);
		kind = status == CTX_OK ? ctx_exp_line_text(&line, "kind") : NULL;
		if (kind != NULL && strcmp(kind, "alive") == 0)
			(void)ctx_exp_line_time(&line, "tstamp", ret_ns);
	} while (status == CTX_OK || status == CTX_E_FORMAT);
	ctx_exp_lines_close(lines);
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status move_horizon(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	uint64_t alive_ns;
	enum ctx_status status = read_alive(reader, &alive_ns, err);

	if (status == CTX_OK && alive_ns > reader->scan.horizon_ns + CTX_EXP_FOLLOW_LAG_NS)
		reader->scan.horizon_ns = alive_ns - CTX_EXP_FOLLOW_LAG_NS;
	return status;
}

static bool is_set_to(const struct ctx_exp_log *log, const char *key, const char *value)
{
	for (size_t i = 0; i < log->n_properties; i++) {
		if (strcmp(log->properties[i].key, key) == 0)
			return strcmp(log->properties[i].value, value) == 0;
	}
	return false;
}

/* The recorder copies kallsyms at its end; until then the running kernel has them, if it is that one. */
static void set_info(struct ctx_exp_reader *reader)
{
	struct ctx_source_info *info = &reader->source.info;
	struct ctx_source_metric *metrics = info->metrics;
	uint32_t n_metrics = info->n_metrics;
	struct utsname host;

	ctx_exp_reader_fill_info(reader);
	/* Those of the log and of traced operations, as they were at the beginning. */
	info->metrics = metrics;
	info->n_metrics = n_metrics;
	if (reader->scan.grows && info->kallsyms[0] == '\0' && uname(&host) == 0 &&
	    is_set_to(&reader->log, "host", host.nodename) && is_set_to(&reader->log, "kernel", host.release))
		info->kallsyms = "/proc/kallsyms";
}

/* Whether its first lines may be missing still. */
static bool is_beginning(const char *path)
{
	int fd CTX_AUTO_CLOSE = ctx_exp_open_log(path);
	struct stat info;

	return fd < 0 || fstat(fd, &info) != 0 || info.st_size == 0;
}

enum ctx_status ctx_exp_follow_open(const char *path, struct ctx_event_source **ret, struct ctx_err *err)
{
	struct ctx_exp_reader *reader;
	struct stat info;
	bool recorded;
	enum ctx_status status;

	if (stat(path, &info) != 0)
		return errno == ENOENT ? CTX_END : ctx_err_errno(err, CTX_E_IO, "%s", path);
	recorded = ctx_exp_is_recorded(path);
	if (S_ISDIR(info.st_mode) && is_beginning(path))
		return CTX_END;
	status = ctx_exp_reader_open(path, recorded, &reader, err);
	if ((status == CTX_E_FORMAT && recorded) || status == CTX_E_NOTFOUND)
		return CTX_END;
	if (status != CTX_OK)
		return status;
	set_info(reader);
	*ret = &reader->source;
	return CTX_OK;
}

/* Whether the path leads elsewhere now. */
static bool is_gone(const struct ctx_exp_reader *reader, struct ctx_exp_follow_state *ret)
{
	struct stat here, there;

	if (fstat(reader->dir, &here) != 0 || stat(reader->path, &there) != 0) {
		ret->is = CTX_EXP_REMOVED;
		return true;
	}
	ret->is = CTX_EXP_REPLACED;
	return here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

enum ctx_status ctx_exp_follow_update(struct ctx_event_source *source, struct ctx_exp_follow_state *ret,
				      struct ctx_err *err)
{
	struct ctx_exp_reader *reader = source->impl;
	bool recorded = ctx_exp_is_recorded(reader->path);
	enum ctx_status status = CTX_OK;

	ret->until_ns = source->info.duration_ns;
	if (is_gone(reader, ret))
		return CTX_OK;
	if (reader->scan.grows) {
		ctx_exp_log_drop(&reader->log, reader->next_entry);
		ctx_exp_index_drop(&reader->index, reader->next_block);
		reader->next_entry = reader->next_block = 0;
		status = move_horizon(reader, err);
		reader->scan.grows = recorded;
		if (status == CTX_OK)
			status = ctx_exp_reader_scan(reader, err);
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "%s", ctx_path_base(reader->path));
		set_info(reader);
	}
	ret->is = reader->scan.grows ? CTX_EXP_RECORDED : reader->log.closed ? CTX_EXP_ENDED : CTX_EXP_KILLED;
	ret->until_ns = source->info.duration_ns;
	return CTX_OK;
}
