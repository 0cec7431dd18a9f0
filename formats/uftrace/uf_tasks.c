#include "formats/uftrace/uf_tasks.h"

#include "base/digits.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/uftrace/uf_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum line_kind {
	LINE_SESSION,
	LINE_TASK,
	LINE_FORK,
	LINE_LIBRARY,
};

static const char *const line_words[] = {"SESS ", "TASK ", "FORK ", "DLOP "};

struct line {
	uint64_t time_ns;
	uint64_t base;
	int64_t pid, tid; /* FORK: `tid` is the parent's pid */
	size_t number;	  /* in the file, from 1 */
	const char *path; /* in the text */
	char sid[CTX_UF_SID_MAX + 1];
	enum line_kind kind;
};

struct lines {
	struct line *items; /* owned */
	size_t n, cap;
};

void ctx_uf_tasks_deinit(struct ctx_uf_tasks *tasks)
{
	free(tasks->sessions);
	free(tasks->images);
	free(tasks->lives);
	free(tasks->libraries);
	ctx_map64_deinit(&tasks->image_of_pid);
	ctx_map64_deinit(&tasks->life_of_tid);
	ctx_arena_deinit(&tasks->arena);
	*tasks = (struct ctx_uf_tasks){0};
}

/* Lines */

/* Part of the name of a file. */
static bool take_sid(const char *text, char ret[CTX_UF_SID_MAX + 1])
{
	size_t n = text != NULL ? strlen(text) : 0;

	if (n == 0 || n > CTX_UF_SID_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)text[i]) && text[i] != '-')
			return false;
	}
	memcpy(ret, text, n + 1);
	return true;
}

static bool take_pid(char *line, const char *key, int64_t *ret)
{
	const char *text = ctx_uf_text_value(line, key);

	return text != NULL && ctx_uf_text_pid(text, ret);
}

static bool take_base(char *line, uint64_t *ret)
{
	const char *text = ctx_uf_text_value(line, "base");

	return text != NULL && ctx_digits_take(&text, 16, ret) && *text == '\0';
}

/* The keys of a kind but the time, from the last one on. False: one is missing, or has no such value. */
static bool take_keys(char *text, struct line *ret)
{
	switch (ret->kind) {
	case LINE_SESSION:
		ret->path = ctx_uf_text_value(text, "exename");
		if (ret->path == NULL || !take_sid(ctx_uf_text_value(text, "sid"), ret->sid) ||
		    (!take_pid(text, "pid", &ret->pid) && !take_pid(text, "tid", &ret->pid)))
			return false;
		break;
	case LINE_TASK:
		if (!take_pid(text, "pid", &ret->pid) || !take_pid(text, "tid", &ret->tid))
			return false;
		break;
	case LINE_FORK:
		if (!take_pid(text, "ppid", &ret->tid) || !take_pid(text, "pid", &ret->pid))
			return false;
		break;
	case LINE_LIBRARY:
		ret->path = ctx_uf_text_value(text, "libname");
		if (ret->path == NULL || !take_base(text, &ret->base) ||
		    !take_sid(ctx_uf_text_value(text, "sid"), ret->sid))
			return false;
		break;
	}
	return true;
}

static bool take_line(char *text, struct line *ret)
{
	const char *time;

	for (size_t i = 0; i < CTX_COUNT_OF(line_words); i++) {
		if (strncmp(text, line_words[i], strlen(line_words[i])) != 0)
			continue;
		ret->kind = (enum line_kind)i;
		if (!take_keys(text, ret))
			return false;
		time = ctx_uf_text_value(text, "timestamp");
		return time != NULL && ctx_uf_text_time(time, &ret->time_ns);
	}
	return false;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

static enum ctx_status read_lines(struct ctx_uf_text *text, struct lines *lines,
				  struct ctx_source_notes *notes, struct ctx_err *err)
{
	char *line;

	while ((line = ctx_uf_text_line(text)) != NULL) {
		enum ctx_status status = ctx_grow(&lines->items, &lines->cap, lines->n + 1, err);
		struct line *item;

		if (status != CTX_OK)
			return status;
		if (line[0] == '\0')
			continue;
		item = &lines->items[lines->n];
		*item = (struct line){.number = text->line};
		if (take_line(line, item))
			lines->n++;
		else
			status = ctx_source_notes_damage(
				notes, err, "task.txt: line %u: cannot be understood", text->line);
		if (status != CTX_OK)
			return status;
	}
	if (lines->n != 0)
		qsort(lines->items, lines->n, sizeof(*lines->items), compare_lines);
	return CTX_OK;
}

/* Images and lives */

static void end_life(struct ctx_uf_tasks *tasks, uint32_t life, uint64_t time_ns)
{
	if (life != CTX_MAP64_NONE && tasks->lives[life].end_ns == 0)
		tasks->lives[life].end_ns = time_ns;
}

static enum ctx_status start_life(struct ctx_uf_tasks *tasks, int64_t tid, uint32_t image, uint64_t time_ns,
				  struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&tasks->life_of_tid, (uint64_t)tid);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	end_life(tasks, *place, time_ns);
	*place = (uint32_t)tasks->n_lives;
	status = ctx_grow(&tasks->lives, &tasks->lives_cap, tasks->n_lives + 1, err);
	if (status == CTX_OK)
		tasks->lives[tasks->n_lives++] =
			(struct ctx_uf_life){.begin_ns = time_ns, .tid = tid, .image = image};
	return status;
}

/* The image of a pid ends, and its threads. */
static void end_image(struct ctx_uf_tasks *tasks, uint32_t image, uint64_t time_ns)
{
	if (image == CTX_MAP64_NONE)
		return;
	tasks->images[image].end_ns = time_ns;
	for (size_t i = tasks->n_lives; i-- > 0;) {
		if (tasks->lives[i].image == image)
			end_life(tasks, (uint32_t)i, time_ns);
	}
}

/* The lineage of an image that came from `from`: by fork ('f') or exec ('x'); of the first images "". */
static enum ctx_status name_lineage(struct ctx_uf_tasks *tasks, uint32_t from, char kind,
				    struct ctx_uf_image *ret, struct ctx_err *err)
{
	struct ctx_uf_image *before = from < tasks->n_images ? &tasks->images[from] : NULL;
	char text[256] = "";

	ret->lineage = "";
	if (before == NULL)
		return CTX_OK;
	if ((size_t)snprintf(text, sizeof(text), "%s_%c%u", before->lineage, kind,
			     kind == 'f' ? ++before->n_forks : ++before->n_execs) >= sizeof(text))
		snprintf(text, sizeof(text), "%s", before->lineage); /* too deep to be of use */
	ret->lineage = ctx_arena_strdup(&tasks->arena, text);
	return ret->lineage != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* Starts an image of a pid, and the life of its first thread. */
static enum ctx_status start_image(struct ctx_uf_tasks *tasks, const struct ctx_uf_image *image,
				   struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&tasks->image_of_pid, (uint64_t)image->pid);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	end_image(tasks, *place, image->begin_ns);
	*place = (uint32_t)tasks->n_images;
	status = ctx_grow(&tasks->images, &tasks->images_cap, tasks->n_images + 1, err);
	if (status != CTX_OK)
		return status;
	tasks->images[tasks->n_images++] = *image;
	return start_life(tasks, image->pid, (uint32_t)tasks->n_images - 1, image->begin_ns, err);
}

static enum ctx_status add_session(struct ctx_uf_tasks *tasks, const struct line *line, struct ctx_err *err)
{
	uint32_t before = ctx_map64_get(&tasks->image_of_pid, (uint64_t)line->pid);
	struct ctx_uf_image image = {.begin_ns = line->time_ns, .pid = line->pid};
	struct ctx_uf_session *session;
	enum ctx_status status = ctx_grow(&tasks->sessions, &tasks->sessions_cap, tasks->n_sessions + 1, err);

	if (status != CTX_OK)
		return status;
	session = &tasks->sessions[tasks->n_sessions];
	*session = (struct ctx_uf_session){.exe = ctx_arena_strdup(&tasks->arena, line->path)};
	if (session->exe == NULL)
		return ctx_err_nomem(err);
	memcpy(session->sid, line->sid, sizeof(session->sid));
	image.session = (uint32_t)tasks->n_sessions++;
	image.parent = before != CTX_MAP64_NONE ? tasks->images[before].parent : CTX_NONE;
	status = name_lineage(tasks, before, 'x', &image, err);
	return status == CTX_OK ? start_image(tasks, &image, err) : status;
}

static uint32_t first_session(const struct ctx_uf_tasks *tasks)
{
	return tasks->n_sessions != 0 ? 0 : CTX_NONE;
}

static enum ctx_status add_fork(struct ctx_uf_tasks *tasks, const struct line *line, struct ctx_err *err)
{
	uint32_t parent = ctx_map64_get(&tasks->image_of_pid, (uint64_t)line->tid);
	struct ctx_uf_image image = {.begin_ns = line->time_ns,
				     .pid = line->pid,
				     .session = first_session(tasks),
				     .parent = CTX_NONE,
				     .is_fork = true};
	enum ctx_status status = name_lineage(tasks, parent, 'f', &image, err);

	if (parent != CTX_MAP64_NONE) {
		image.parent = parent;
		image.session = tasks->images[parent].session;
	}
	return status == CTX_OK ? start_image(tasks, &image, err) : status;
}

static enum ctx_status add_task(struct ctx_uf_tasks *tasks, const struct line *line, struct ctx_err *err)
{
	uint32_t image = ctx_map64_get(&tasks->image_of_pid, (uint64_t)line->pid), life;
	enum ctx_status status = CTX_OK;

	if (image == CTX_MAP64_NONE) {
		status = ctx_uf_tasks_add_unknown(tasks, line->pid, line->time_ns, err);
		image = (uint32_t)tasks->n_images - 1;
	}
	if (status != CTX_OK)
		return status;
	life = ctx_map64_get(&tasks->life_of_tid, (uint64_t)line->tid);
	if (life == CTX_MAP64_NONE || tasks->lives[life].image != image || tasks->lives[life].is_announced) {
		status = start_life(tasks, line->tid, image, line->time_ns, err);
		life = (uint32_t)tasks->n_lives - 1;
	}
	if (status == CTX_OK)
		tasks->lives[life].is_announced = true;
	return status;
}

static enum ctx_status add_library(struct ctx_uf_tasks *tasks, const struct line *line, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&tasks->libraries, &tasks->libraries_cap, tasks->n_libraries + 1, err);
	struct ctx_uf_library library = {line->time_ns, line->base,
					 ctx_arena_strdup(&tasks->arena, line->path), CTX_NONE};

	if (library.path == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < tasks->n_sessions; i++) {
		if (strcmp(tasks->sessions[i].sid, line->sid) == 0)
			library.session = (uint32_t)i;
	}
	if (status == CTX_OK && library.session != CTX_NONE)
		tasks->libraries[tasks->n_libraries++] = library;
	return status;
}

enum ctx_status ctx_uf_tasks_add_unknown(struct ctx_uf_tasks *tasks, int64_t tid, uint64_t begin_ns,
					 struct ctx_err *err)
{
	return start_image(tasks,
			   &(struct ctx_uf_image){.begin_ns = begin_ns,
						  .pid = tid,
						  .session = first_session(tasks),
						  .parent = CTX_NONE,
						  .lineage = ""},
			   err);
}

void ctx_uf_tasks_extend(struct ctx_uf_tasks *tasks, uint32_t life, uint64_t time_ns)
{
	struct ctx_uf_life *item = &tasks->lives[life];
	struct ctx_uf_image *image = &tasks->images[item->image];

	if (item->begin_ns > time_ns)
		item->begin_ns = time_ns;
	if (image->begin_ns > time_ns)
		image->begin_ns = time_ns;
	if (item->end_ns < time_ns)
		item->end_ns = time_ns;
	if (image->end_ns < time_ns)
		image->end_ns = time_ns;
}

enum ctx_status ctx_uf_tasks_read(struct ctx_uf_tasks *tasks, const char *directory,
				  struct ctx_source_notes *notes, struct ctx_err *err)
{
	static enum ctx_status (*const add[])(struct ctx_uf_tasks *, const struct line *,
					      struct ctx_err *) = {
		[LINE_SESSION] = add_session,
		[LINE_TASK] = add_task,
		[LINE_FORK] = add_fork,
		[LINE_LIBRARY] = add_library,
	};
	char *path CTX_AUTO_FREE = ctx_path_join(directory, "task.txt");
	struct ctx_uf_text text CTX_CLEANUP(ctx_uf_text_deinit) = {0};
	struct lines lines = {0};
	enum ctx_status status = path != NULL ? ctx_uf_text_read(&text, path, err) : ctx_err_nomem(err);

	if (status == CTX_OK)
		status = read_lines(&text, &lines, notes, err);
	for (size_t i = 0; i < lines.n && status == CTX_OK; i++)
		status = add[lines.items[i].kind](tasks, &lines.items[i], err);
	free(lines.items);
	return status;
}
