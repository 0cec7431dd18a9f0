#include "collect/load_objects.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "collect/captured.h"
#include "collect/child.h"
#include "collect/procfs.h"
#include "elf/elf_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADER_SECONDS 20
#define SCRIPTS_MAX 4
#define FIRST_LINE_MAX 256u

void ctx_load_objects_deinit(struct ctx_load_objects *objects)
{
	for (size_t i = 0; i < objects->n; i++)
		free(objects->paths[i]);
	free(objects->paths);
	*objects = (struct ctx_load_objects){0};
}

static enum ctx_status add(struct ctx_load_objects *objects, const char *path, size_t n, struct ctx_err *err)
{
	enum ctx_status status;

	for (size_t i = 0; i < objects->n; i++) {
		if (strlen(objects->paths[i]) == n && strncmp(objects->paths[i], path, n) == 0)
			return CTX_OK;
	}
	status = ctx_grow(&objects->paths, &objects->cap, objects->n + 1, err);
	if (status != CTX_OK)
		return status;
	objects->paths[objects->n] = ctx_memdup0(path, n);
	if (objects->paths[objects->n] == NULL)
		return ctx_err_nomem(err);
	objects->n++;
	return CTX_OK;
}

enum ctx_status ctx_load_objects_parse(struct ctx_load_objects *objects, const char *text,
				       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (*text != '\0' && status == CTX_OK) {
		size_t n = strcspn(text, "\n");
		const char *end = text + n, *path = memchr(text, '/', n), *arrow = strstr(text, "=> /");

		if (arrow != NULL && arrow < end)
			path = arrow + 3;
		while (end > text && *end != '(')
			end--;
		if (path != NULL && end > path && end[-1] == ' ' && (path == text || path[-1] <= ' '))
			status = add(objects, path, (size_t)(end - path) - 1, err);
		text += n + (text[n] == '\n');
	}
	return status;
}

bool ctx_load_object_is(const char *path, const char *name)
{
	const char *base = ctx_path_base(path);
	size_t n = strlen(name);

	return strcmp(path, name) == 0 || strcmp(base, name) == 0 ||
	       (strncmp(base, name, n) == 0 && n > 3 && strcmp(name + n - 3, ".so") == 0 && base[n] == '.');
}

/* The file that execvp executes, without symbolic links. Fails with CTX_E_NOTFOUND, CTX_E_PERM. */
static enum ctx_status find_program(const char *command, char path[PATH_MAX], struct ctx_err *err)
{
	char found[PATH_MAX];
	enum ctx_status status = ctx_command_find(command, found, err);

	if (status != CTX_OK)
		return status;
	return realpath(found, path) != NULL ? CTX_OK : ctx_err_errno(err, CTX_E_NOTFOUND, "%s", command);
}

/* The interpreter of a script, in place of it. False: it is none. */
static bool follow_script(char path[PATH_MAX])
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC);
	char line[FIRST_LINE_MAX + 1], next[PATH_MAX];
	ssize_t n = fd >= 0 ? read(fd, line, FIRST_LINE_MAX) : -1;
	char *at = line + 2;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	at += strspn(at, " \t");
	at[strcspn(at, " \t\n")] = '\0';
	/* env looks for the program that is named behind it. */
	if (strcmp(ctx_path_base(at), "env") == 0) {
		char *name = at + strlen(at) + 1;

		if (name >= line + n)
			return false;
		name += strspn(name, " \t");
		name[strcspn(name, " \t\n")] = '\0';
		if (find_program(name, next, NULL) != CTX_OK)
			return false;
	} else if (realpath(at, next) == NULL) {
		return false;
	}
	strcpy(path, next);
	return true;
}

/* The loader that a program asks for; "" for a static one. */
static enum ctx_status loader_of(const char *path, char loader[PATH_MAX], struct ctx_err *err)
{
	struct ctx_elf_file file = {.fd = -1};
	enum ctx_status status = ctx_elf_open_path(&file, path, err);
	size_t n = 0;

	loader[0] = '\0';
	if (status == CTX_OK)
		(void)elf_getphdrnum(file.elf, &n);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_file_place place = {.fd = file.fd, .name = path};
		GElf_Phdr header;
		size_t got;

		if (gelf_getphdr(file.elf, (int)i, &header) == NULL || header.p_type != PT_INTERP ||
		    header.p_filesz == 0 || header.p_filesz >= PATH_MAX)
			continue;
		place.offset = header.p_offset;
		status = ctx_file_pread(&place, loader, (size_t)header.p_filesz, &got, err);
		if (status == CTX_END)
			status = ctx_err_set(err, CTX_E_FORMAT, "%s ends early", path);
		loader[header.p_filesz] = '\0';
	}
	ctx_elf_close(&file);
	return status;
}

/* As the kernel names them: without symbolic links. */
static enum ctx_status resolve_all(struct ctx_load_objects *objects, struct ctx_err *err)
{
	for (size_t i = 0; i < objects->n; i++) {
		char path[PATH_MAX];
		char *resolved = realpath(objects->paths[i], path) != NULL ? ctx_memdup0(path, strlen(path))
									   : objects->paths[i];

		if (resolved == NULL)
			return ctx_err_nomem(err);
		if (resolved != objects->paths[i])
			free(objects->paths[i]);
		objects->paths[i] = resolved;
	}
	return CTX_OK;
}

enum ctx_status ctx_load_objects_of_command(struct ctx_load_objects *objects, const char *command,
					    struct ctx_err *err)
{
	struct ctx_captured captured CTX_CLEANUP(ctx_captured_deinit) = {0};
	char path[PATH_MAX], loader[PATH_MAX];
	char *argv[] = {loader, (char[]){"--list"}, path, NULL};
	enum ctx_status status = find_program(command, path, err);

	for (int i = 0; i < SCRIPTS_MAX && status == CTX_OK && follow_script(path); i++)
		;
	if (status == CTX_OK)
		status = loader_of(path, loader, err);
	if (status == CTX_OK)
		status = add(objects, path, strlen(path), err);
	/* A loader that does not list has none: the program's own functions are found all the same. */
	if (status != CTX_OK || loader[0] == '\0' ||
	    ctx_captured_run(argv, LOADER_SECONDS, &captured, NULL) != CTX_OK || captured.status != 0)
		return status;
	status = ctx_load_objects_parse(objects, (const char *)captured.out.bytes, err);
	return status == CTX_OK ? resolve_all(objects, err) : status;
}

enum ctx_status ctx_load_objects_find(const char *library, char ret[PATH_MAX], struct ctx_err *err)
{
	struct ctx_captured captured CTX_CLEANUP(ctx_captured_deinit) = {0};
	struct ctx_load_objects objects CTX_CLEANUP(ctx_load_objects_deinit) = {0};
	char name[NAME_MAX + 1], self[PATH_MAX], loader[PATH_MAX];
	char *argv[] = {loader, (char[]){"--preload"}, name, (char[]){"--list"}, self, NULL};
	enum ctx_status status;
	size_t i = 0;

	if (realpath("/proc/self/exe", self) == NULL)
		return ctx_err_errno(err, CTX_E_NOTFOUND, "/proc/self/exe");
	status = loader_of(self, loader, err);
	snprintf(name, sizeof(name), "%s", library);
	if (status == CTX_OK && loader[0] != '\0' &&
	    ctx_captured_run(argv, LOADER_SECONDS, &captured, NULL) == CTX_OK && captured.status == 0)
		status = ctx_load_objects_parse(&objects, (const char *)captured.out.bytes, err);
	if (status != CTX_OK)
		return status;
	while (i < objects.n &&
	       (!ctx_load_object_is(objects.paths[i], library) || objects.paths[i][0] != '/'))
		i++;
	if (i == objects.n)
		return ctx_err_set(err, CTX_E_NOTFOUND,
				   "the loader does not find %s; LD_LIBRARY_PATH may have its folder",
				   library);
	snprintf(ret, PATH_MAX, "%s", objects.paths[i]);
	return CTX_OK;
}

enum ctx_status ctx_load_objects_of_process(struct ctx_load_objects *objects, int64_t pid,
					    struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	char name[64], program[PATH_MAX];
	struct ctx_procfs_map map;
	enum ctx_status status = CTX_OK, listed = ctx_procfs_maps(pid, &text, err);
	char *rest = (char *)text.bytes;
	ssize_t n;

	if (listed < CTX_OK)
		return listed;
	snprintf(name, sizeof(name), "/proc/%lld/exe", (long long)pid);
	n = readlink(name, program, sizeof(program) - 1);
	if (n > 0)
		status = add(objects, program, (size_t)n, err);
	while (status == CTX_OK && ctx_procfs_next_map(&rest, &map)) {
		if (map.inode != 0)
			status = add(objects, map.path, strlen(map.path), err);
	}
	return status;
}
