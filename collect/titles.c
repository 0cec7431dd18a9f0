/*
 *	sample --> row of its pid: due --read /proc/PID/cmdline--> text, when --records up to then--> log
 */
#include "collect/titles.h"

#include "base/map64.h"
#include "base/mem.h"
#include "collect/procfs.h"

#include <string.h>

#define FIRST_NS UINT64_C(100000000) /* after the first sample */
#define INTERVAL_NS UINT64_C(1000000000)
#define READ_MAX 256u	/* at a time */
#define CUT_BYTES 4096u /* command lines from here on are cut, and no titles */

struct row {
	int64_t pid; /* -1: has ended */
	uint32_t process;
	bool is_sampled; /* since it was read */
	uint64_t due_ns;
	uint64_t read_ns;
	char *text; /* what was read and not written; NULL; owned */
};

struct ctx_titles {
	const struct ctx_proctree *tree; /* borrowed */
	struct ctx_exp_writer *writer;	 /* borrowed */
	struct row *rows;		 /* owned */
	size_t n, cap;
	struct ctx_map64 row_of_pid;
	/*
	 * The command as it was given, and as /proc shows it: of a script it is the interpreter's, with the
	 * script as an argument. That is no title. NULL: not known. Both owned.
	 */
	char *root_command, *root_line;
};

enum ctx_status ctx_titles_create(const struct ctx_proctree *tree, struct ctx_exp_writer *writer,
				  const char *root_command, struct ctx_titles **ret, struct ctx_err *err)
{
	struct ctx_titles *titles = ctx_calloc(1, sizeof(*titles));

	if (titles == NULL)
		return ctx_err_nomem(err);
	titles->root_command = ctx_memdup0(root_command, strlen(root_command));
	if (titles->root_command == NULL) {
		free(titles);
		return ctx_err_nomem(err);
	}
	titles->tree = tree;
	titles->writer = writer;
	*ret = titles;
	return CTX_OK;
}

void ctx_titles_destroy(struct ctx_titles *titles)
{
	if (titles == NULL)
		return;
	for (size_t i = 0; i < titles->n; i++)
		free(titles->rows[i].text);
	ctx_map64_deinit(&titles->row_of_pid);
	free(titles->rows);
	free(titles->root_command);
	free(titles->root_line);
	free(titles);
}

static struct row *add_row(struct ctx_titles *titles, int64_t pid)
{
	uint32_t *place;

	if (ctx_grow(&titles->rows, &titles->cap, titles->n + 1, NULL) != CTX_OK)
		return NULL;
	place = ctx_map64_place(&titles->row_of_pid, (uint64_t)pid);
	if (place == NULL)
		return NULL;
	*place = (uint32_t)titles->n;
	titles->rows[titles->n] = (struct row){.pid = pid, .process = UINT32_MAX};
	return &titles->rows[titles->n++];
}

void ctx_titles_sampled(struct ctx_titles *titles, int64_t pid, uint32_t process, uint64_t time_ns)
{
	uint32_t number = ctx_map64_get(&titles->row_of_pid, (uint64_t)pid);
	struct row *row;

	if (pid <= 0)
		return;
	row = number != CTX_MAP64_NONE ? &titles->rows[number] : add_row(titles, pid);
	if (row == NULL)
		return;
	if (row->process != process) { /* another image */
		free(row->text);
		*row = (struct row){.pid = pid, .process = process, .due_ns = time_ns + FIRST_NS};
	}
	row->is_sampled = true;
}

static void remove_ended(struct ctx_titles *titles)
{
	size_t n = 0;

	for (size_t i = 0; i < titles->n; i++) {
		struct row *row = &titles->rows[i];
		uint32_t *place =
			row->pid >= 0 ? ctx_map64_place(&titles->row_of_pid, (uint64_t)row->pid) : NULL;

		if (place == NULL) {
			free(row->text);
			continue;
		}
		*place = (uint32_t)n;
		titles->rows[n++] = *row;
	}
	titles->n = n;
}

static void read_title(struct row *row, uint64_t now_ns)
{
	struct ctx_buf line = {0};

	row->due_ns = now_ns + INTERVAL_NS;
	row->is_sampled = false;
	/* A zombie has none. */
	if (ctx_procfs_command(row->pid, &line, NULL) == CTX_OK && line.n > 0 && line.n < CUT_BYTES) {
		free(row->text);
		row->text = ctx_memdup0((const char *)line.bytes, line.n);
		row->read_ns = now_ns;
	}
	ctx_buf_deinit(&line);
}

void ctx_titles_read(struct ctx_titles *titles, uint64_t now_ns, bool all)
{
	size_t n = 0;

	remove_ended(titles);
	for (size_t i = 0; i < titles->n && n < READ_MAX; i++) {
		if (!titles->rows[i].is_sampled || (titles->rows[i].due_ns > now_ns && !all))
			continue;
		read_title(&titles->rows[i], now_ns);
		n++;
	}
}

/* Whether a line is the interpreter's of the script that is the command. */
static bool is_script_line(const struct ctx_titles *titles, const char *line)
{
	size_t n = strlen(line), m = strlen(titles->root_command);

	return m != 0 && n > m + 1 && strcmp(line + n - m, titles->root_command) == 0 &&
	       (line[n - m - 1] == ' ' || line[n - m - 1] == '/');
}

/* What a line is in the log: the command is as it was given, for the processes that it forks too. */
static const char *title_of(struct ctx_titles *titles, const char *line, bool is_root)
{
	if (is_root && titles->root_line == NULL && is_script_line(titles, line))
		titles->root_line = ctx_memdup0(line, strlen(line));
	return titles->root_line != NULL && strcmp(titles->root_line, line) == 0 ? titles->root_command
										 : line;
}

/* Writes what was read of a process, if it is still the same. */
static enum ctx_status settle(struct ctx_titles *titles, struct row *row, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint32_t process, thread;

	if (row->pid >= 0 && ctx_proctree_lookup(titles->tree, row->pid, &process, &thread) &&
	    process == row->process) {
		bool is_root = process == ctx_proctree_root_process(titles->tree);

		status = ctx_exp_process_title(titles->writer, process, title_of(titles, row->text, is_root),
					       row->read_ns, err);
	}
	free(row->text);
	row->text = NULL;
	return status;
}

enum ctx_status ctx_titles_settle(struct ctx_titles *titles, uint64_t until_ns, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < titles->n && status == CTX_OK; i++) {
		if (titles->rows[i].text != NULL && titles->rows[i].read_ns < until_ns)
			status = settle(titles, &titles->rows[i], err);
	}
	return status;
}

enum ctx_status ctx_titles_exit(struct ctx_titles *titles, int64_t tid, uint64_t time_ns, struct ctx_err *err)
{
	uint32_t number = ctx_map64_get(&titles->row_of_pid, (uint64_t)tid);
	enum ctx_status status = CTX_OK;
	struct row *row;

	if (number == CTX_MAP64_NONE)
		return CTX_OK;
	row = &titles->rows[number];
	if (row->text != NULL && row->read_ns < time_ns)
		status = settle(titles, row, err);
	row->pid = -1;
	ctx_map64_remove(&titles->row_of_pid, (uint64_t)tid);
	return status;
}
