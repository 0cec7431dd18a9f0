#include "formats/gprofng/gp_experiment.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAMAGE_MAX 100u
#define EXPERIMENTS_MAX 65536u
#define GROUP_BYTES_MAX ((size_t)1 << 20)

static const char group_first[] = "#analyzer experiment group";

static void destroy(struct ctx_gp_experiment *experiment)
{
	if (experiment == NULL)
		return;
	ctx_gp_log_deinit(&experiment->log);
	ctx_gp_map_deinit(&experiment->map);
	ctx_gp_overview_deinit(&experiment->overview);
	ctx_gp_frames_deinit(&experiment->frames);
	ctx_gp_code_deinit(&experiment->code);
	free(experiment->path);
	free(experiment->lineage);
	free(experiment);
}

void ctx_gp_experiments_deinit(struct ctx_gp_experiments *experiments)
{
	for (size_t i = 0; i < experiments->n; i++)
		destroy(experiments->items[i]);
	free(experiments->items);
	free(experiments->damage);
	ctx_map64_deinit(&experiments->by_inode);
	ctx_arena_deinit(&experiments->arena);
	*experiments = (struct ctx_gp_experiments){0};
}

enum ctx_status ctx_gp_experiments_damage(struct ctx_gp_experiments *experiments, struct ctx_err *err,
					  const char *fmt, ...)
{
	char text[1024];
	va_list args;
	enum ctx_status status;

	if (experiments->n_damage == DAMAGE_MAX) {
		experiments->n_more_damage++;
		return CTX_OK;
	}
	status = ctx_grow(&experiments->damage, &experiments->damage_cap, experiments->n_damage + 1, err);
	if (status != CTX_OK)
		return status;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	experiments->damage[experiments->n_damage] = ctx_arena_strdup(&experiments->arena, text);
	if (experiments->damage[experiments->n_damage] == NULL)
		return ctx_err_nomem(err);
	experiments->n_damage++;
	return CTX_OK;
}

const char *ctx_gp_experiment_prefix(const struct ctx_gp_experiment *experiment, char out[256])
{
	if (experiment->root_process == 0 && experiment->lineage[0] == '\0')
		out[0] = '\0';
	else
		snprintf(out, 256, "%.200s: ", ctx_path_base(experiment->path));
	return out;
}

/* Recognising formats */

/* The first bytes of a regular file. */
static size_t peek(const char *path, char *out, size_t n)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat info;
	size_t got = 0;

	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
	    ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, out, n, &got, NULL) < 0)
		return 0;
	return got;
}

/*
 * Experiments that ctxan exported have a version without a point in a self-closing element; those
 * of Sun's tools and gprofng have "12.4" and an element with a child.
 */
bool ctx_gp_experiment_is(const char *path)
{
	static const char first[] = "<experiment version=\"";
	char *log CTX_AUTO_FREE = ctx_path_join(path, "log.xml");
	char text[64];
	size_t n = log != NULL ? peek(log, text, sizeof(text) - 1) : 0, digits;

	text[n] = '\0';
	if (strncmp(text, first, sizeof(first) - 1) != 0)
		return false;
	digits = strspn(text + sizeof(first) - 1, "0123456789");
	return digits != 0 && text[sizeof(first) - 1 + digits] == '.';
}

bool ctx_gp_group_is(const char *path)
{
	char text[sizeof(group_first) - 1];

	return peek(path, text, sizeof(text)) == sizeof(text) && memcmp(text, group_first, sizeof(text)) == 0;
}

/* Opening */

static enum ctx_status read_map(struct ctx_gp_experiments *experiments, struct ctx_gp_experiment *experiment,
				struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, "map.xml");
	char prefix[256];
	struct ctx_err why = {0};
	enum ctx_status status = path != NULL ? ctx_gp_map_read(&experiment->map, path, &why) : CTX_E_NOMEM;

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		return ctx_gp_experiments_damage(experiments, err, "%s: no names for addresses", why.msg);
	if (experiment->map.damaged == 0)
		return CTX_OK;
	return ctx_gp_experiments_damage(experiments, err, "%s%s (%llu such places)",
					 ctx_gp_experiment_prefix(experiment, prefix), experiment->map.damage,
					 (unsigned long long)experiment->map.damaged);
}

static enum ctx_status read_overview(struct ctx_gp_experiments *experiments,
				     struct ctx_gp_experiment *experiment, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, "overview");
	char prefix[256];
	struct ctx_err why = {0};
	enum ctx_status status;

	if (path == NULL)
		return ctx_err_nomem(err);
	status = ctx_gp_overview_read(&experiment->overview, path, experiment->log.machine.is_32bit,
				      experiment->log.machine.big_endian, &why);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		return ctx_gp_experiments_damage(experiments, err, "%s: no usage of resources", why.msg);
	if (!experiment->overview.is_cut)
		return CTX_OK;
	return ctx_gp_experiments_damage(experiments, err,
					 "%soverview: a record is cut or empty: left out from there on",
					 ctx_gp_experiment_prefix(experiment, prefix));
}

/* Messages in the file next to the log. If that file is damaged, only its messages are lost. */
static enum ctx_status read_warnings(struct ctx_gp_experiment *experiment, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, "warnings.xml");
	struct ctx_gp_xml xml = {0};
	enum ctx_status status = path != NULL ? ctx_gp_xml_open(&xml, path, NULL) : CTX_E_NOMEM;

	if (status == CTX_OK)
		status = ctx_gp_log_add_messages(&experiment->log, &xml, NULL);
	ctx_gp_xml_deinit(&xml);
	return status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
}

static enum ctx_status read_log(struct ctx_gp_experiments *experiments, struct ctx_gp_experiment *experiment,
				struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, "log.xml");
	char prefix[256];
	enum ctx_status status =
		path != NULL ? ctx_gp_log_read(&experiment->log, path, err) : ctx_err_nomem(err);

	if (status != CTX_OK)
		return status;
	if (!experiment->log.times.has_run)
		return ctx_err_set(err, CTX_E_FORMAT,
				   "%s: log.xml does not record that the target was started",
				   experiment->path);
	status = read_warnings(experiment, err);
	if (status != CTX_OK || experiment->log.damaged == 0)
		return status;
	return ctx_gp_experiments_damage(experiments, err, "%s%s (%llu such places)",
					 ctx_gp_experiment_prefix(experiment, prefix), experiment->log.damage,
					 (unsigned long long)experiment->log.damaged);
}

/*
 * Links in an experiment may lead to a directory that is open already; it counts once. A group may
 * list a root process twice.
 */
static enum ctx_status note_directory(struct ctx_gp_experiments *experiments,
				      const struct ctx_gp_experiment *experiment, struct ctx_err *err)
{
	struct stat info;
	uint32_t *place;

	if (stat(experiment->path, &info) != 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s",
				     experiment->path);
	place = ctx_map64_place(&experiments->by_inode, info.st_dev * UINT64_C(0x9e3779b97f4a7c15) ^
								info.st_ino ^
								(uint64_t)experiment->root_process << 40);
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place != CTX_MAP64_NONE)
		return ctx_err_set(err, CTX_E_FORMAT, "it is the same directory as %.200s",
				   ctx_path_base(experiments->items[*place]->path));
	*place = experiment->number;
	return CTX_OK;
}

/* "_f1_x1" of "_f1_x1.er". */
static char *lineage_of(const char *name)
{
	size_t n = strlen(name);

	return strndup(name, n > 3 ? n - 3 : n);
}

static enum ctx_status open_one(struct ctx_gp_experiments *experiments, const char *path,
				uint32_t root_process, struct ctx_err *err)
{
	struct ctx_gp_experiment *experiment = ctx_calloc(1, sizeof(*experiment));
	bool is_root_process = root_process == UINT32_MAX;
	enum ctx_status status;

	if (experiment == NULL)
		return ctx_err_nomem(err);
	experiment->path = strdup(path);
	experiment->lineage = is_root_process ? strdup("") : lineage_of(ctx_path_base(path));
	experiment->number = (uint32_t)experiments->n;
	experiment->root_process = is_root_process ? experiment->number : root_process;
	status = experiment->path != NULL && experiment->lineage != NULL ? CTX_OK : ctx_err_nomem(err);
	if (status == CTX_OK && experiments->n >= EXPERIMENTS_MAX)
		status = ctx_err_set(err, CTX_E_LIMIT, "more than %u experiments", EXPERIMENTS_MAX);
	if (status == CTX_OK)
		status = read_log(experiments, experiment, err);
	if (status == CTX_OK)
		status = read_map(experiments, experiment, err);
	if (status == CTX_OK)
		status = read_overview(experiments, experiment, err);
	if (status == CTX_OK)
		status = ctx_grow(&experiments->items, &experiments->cap, experiments->n + 1, err);
	if (status == CTX_OK)
		status = note_directory(experiments, experiment, err);
	if (status != CTX_OK) {
		destroy(experiment);
		return status;
	}
	experiments->items[experiments->n++] = experiment;
	return CTX_OK;
}

static int is_descendant(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return entry->d_name[0] == '_' && n > 4 && strcmp(entry->d_name + n - 3, ".er") == 0;
}

/* A descendant that cannot be opened is skipped. */
static enum ctx_status open_descendants(struct ctx_gp_experiments *experiments, const char *path,
					uint32_t root_process, struct ctx_err *err)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_descendant, alphasort);
	enum ctx_status status = CTX_OK;

	if (n < 0)
		return errno == ENOMEM ? ctx_err_nomem(err) : ctx_err_errno(err, CTX_E_IO, "%s", path);
	for (int i = 0; i < n; i++) {
		char *inside CTX_AUTO_FREE = ctx_path_join(path, entries[i]->d_name);
		struct ctx_err why = {0};

		if (status == CTX_OK)
			status = inside != NULL ? open_one(experiments, inside, root_process, &why)
						: CTX_E_NOMEM;
		if (status == CTX_E_NOMEM)
			ctx_err_nomem(err);
		else if (status < 0)
			status = ctx_gp_experiments_damage(experiments, err, "%s: not used: %.600s",
							   entries[i]->d_name, why.msg);
		free(entries[i]);
	}
	free(entries);
	return status;
}

static enum ctx_status open_root_process(struct ctx_gp_experiments *experiments, const char *path,
					 struct ctx_err *err)
{
	uint32_t root_process = (uint32_t)experiments->n;
	enum ctx_status status = open_one(experiments, path, UINT32_MAX, err);

	return status == CTX_OK ? open_descendants(experiments, path, root_process, err) : status;
}

/* The next line of a text. Zero bytes also end a line. NULL: no more lines. */
static char *next_line(struct ctx_buf *text, size_t *at)
{
	char *line = (char *)text->bytes + *at;

	if (*at >= text->n)
		return NULL;
	while (*at < text->n && strchr("\r\n", (char)text->bytes[*at]) == NULL)
		++*at;
	text->bytes[(*at)++] = 0;
	return line;
}

/*
 * The path of a member: relative to the group's directory, otherwise to the working directory, as
 * in gprofng. NULL: no memory.
 */
static char *member_path(const char *directory, const char *line)
{
	char *beside;

	if (line[0] == '/')
		return strdup(line);
	beside = ctx_path_join(directory, line);
	if (beside == NULL || access(beside, F_OK) == 0 || access(line, F_OK) != 0)
		return beside;
	free(beside);
	return strdup(line);
}

/* Without surrounding blanks. */
static char *trimmed(char *line)
{
	size_t n;

	line += strspn(line, " \t");
	for (n = strlen(line); n != 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'); n--)
		line[n - 1] = '\0';
	return line;
}

/* One path per line; lines with # are comments. */
static enum ctx_status open_group(struct ctx_gp_experiments *experiments, const char *path,
				  struct ctx_err *err)
{
	char *directory CTX_AUTO_FREE = ctx_path_dir(path), *line;
	struct ctx_buf text = {0};
	size_t at = 0;
	enum ctx_status status =
		directory != NULL ? ctx_file_read(path, GROUP_BYTES_MAX, &text, err) : ctx_err_nomem(err);

	ctx_buf_put_u8(&text, 0);
	if (status == CTX_OK)
		status = ctx_buf_check(&text, err);
	while (status == CTX_OK && (line = next_line(&text, &at)) != NULL) {
		char *inside CTX_AUTO_FREE = NULL;
		struct ctx_err why = {0};

		line = trimmed(line);
		if (line[0] == '#' || line[0] == '\0')
			continue;
		inside = member_path(directory, line);
		status = inside != NULL ? open_root_process(experiments, inside, &why) : CTX_E_NOMEM;
		if (status == CTX_E_NOMEM)
			ctx_err_nomem(err);
		else if (status < 0)
			status = ctx_gp_experiments_damage(experiments, err, "%.300s: not used: %.600s", line,
							   why.msg);
	}
	ctx_buf_deinit(&text);
	if (status == CTX_OK && experiments->n == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: no experiment of this group can be opened%s%s",
				   path, experiments->n_damage != 0 ? ": " : "",
				   experiments->n_damage != 0 ? experiments->damage[0] : "");
	return status;
}

enum ctx_status ctx_gp_experiments_open(struct ctx_gp_experiments *experiments, const char *path,
					struct ctx_err *err)
{
	return ctx_gp_group_is(path) ? open_group(experiments, path, err)
				     : open_root_process(experiments, path, err);
}

/* Stacks */

enum ctx_status ctx_gp_experiment_read_frames(struct ctx_gp_experiments *experiments,
					      struct ctx_gp_experiment *experiment, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, "data.frameinfo");
	int fd CTX_AUTO_CLOSE = path != NULL ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	struct ctx_gp_blocks blocks = {0};
	char prefix[256];
	struct stat info;
	uint64_t invalid;
	enum ctx_status status;

	if (experiment->has_frames)
		return CTX_OK;
	experiment->has_frames = true;
	ctx_gp_experiment_prefix(experiment, prefix);
	if (path == NULL)
		return ctx_err_nomem(err);
	if (fd < 0)
		return ctx_gp_experiments_damage(experiments, err, "%sdata.frameinfo: %s: no call stacks",
						 prefix, strerror(errno));
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return ctx_gp_experiments_damage(experiments, err,
						 "%sdata.frameinfo is no plain file: no call stacks", prefix);
	status = ctx_gp_blocks_init(&blocks, fd, path, experiment->log.machine.big_endian, err);
	if (status == CTX_OK)
		status = ctx_gp_frames_read(&experiment->frames, &blocks, experiment->log.machine.is_32bit,
					    err);
	invalid = blocks.invalid + experiment->frames.damaged;
	ctx_gp_blocks_deinit(&blocks);
	if (status == CTX_OK && invalid != 0)
		status = ctx_gp_experiments_damage(experiments, err,
						   "%sdata.frameinfo: %llu records that make no sense",
						   prefix, (unsigned long long)invalid);
	return status;
}

/* Code */

enum ctx_status ctx_gp_experiment_read_code(struct ctx_gp_experiments *experiments,
					    struct ctx_gp_experiment *experiment, struct ctx_err *err)
{
	char *path CTX_AUTO_FREE = ctx_path_join(experiment->path, "dyntext");
	struct ctx_err why = {0};
	char prefix[256];
	enum ctx_status status;

	if (experiment->has_code)
		return CTX_OK;
	experiment->has_code = true;
	if (path == NULL)
		return ctx_err_nomem(err);
	status = ctx_gp_code_read(&experiment->code, path, experiment->log.machine.big_endian, &why);
	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status == CTX_E_NOTFOUND || (status == CTX_OK && !experiment->code.damaged))
		return CTX_OK;
	ctx_gp_experiment_prefix(experiment, prefix);
	if (status != CTX_OK)
		return ctx_gp_experiments_damage(experiments, err,
						 "no instructions of code made at run time: %.600s", why.msg);
	return ctx_gp_experiments_damage(experiments, err, "%sdyntext: records that make no sense", prefix);
}
