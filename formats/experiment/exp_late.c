/*
 * Archives for a killed recording: the first analysis on the recording host copies the load objects
 * (requirement E4).
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TAIL_BYTES 4096u
#define COMPLETE "archives/complete" /* an empty file: everything available was copied */

/* Does the end of the log have the exit event? Then the recorder has archived. */
static bool was_closed(int dir)
{
	int fd CTX_AUTO_CLOSE = openat(dir, "log.xml", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char tail[TAIL_BYTES];
	struct stat info;
	size_t got = 0;

	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return true;
	if (ctx_file_pread(&(struct ctx_file_place){fd, "log.xml",
						    info.st_size > (off_t)sizeof(tail)
							    ? (uint64_t)info.st_size - sizeof(tail)
							    : 0},
			   tail, sizeof(tail), &got, NULL) < 0)
		return true;
	return memmem(tail, got, "<event kind=\"exit\"", 18) != NULL;
}

static bool is_this_host(const struct ctx_source_info *info)
{
	struct utsname host;

	if (uname(&host) != 0)
		return false;
	for (size_t i = 0; i < info->n_properties; i++) {
		if (strcmp(info->properties[i].key, "host") == 0)
			return strcmp(info->properties[i].value, host.nodename) == 0;
	}
	return false;
}

static enum ctx_status copy_mapped(struct ctx_event_source *source, int dir, uint32_t *ret_copied,
				   struct ctx_err *err)
{
	struct ctx_strtab seen = {0};
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK) {
		struct ctx_event event;
		uint32_t before = (uint32_t)seen.n;
		uint64_t bytes;
		uint32_t id;

		status = source->next(source, &event, err);
		if (status != CTX_OK || event.kind != CTX_EV_MAP)
			continue;
		/* Without a build id the file cannot be verified as the one that ran. */
		if (event.map.build_id[0] == '\0')
			continue;
		status = ctx_strtab_add_text(&seen, event.map.build_id, &id, err);
		if (status != CTX_OK || id < before)
			continue;
		status = ctx_exp_archive_object(&(struct ctx_exp_copies_to){.dir = dir}, event.map.path,
						event.map.build_id, &bytes, err);
		*ret_copied += status == CTX_OK;
		if (status == CTX_E_NOTFOUND || status == CTX_END)
			status = CTX_OK;
	}
	ctx_strtab_deinit(&seen);
	return status == CTX_END ? CTX_OK : status;
}

/* Without the marker the next analysis only tries again. */
static void mark_complete(int dir)
{
	int fd CTX_AUTO_CLOSE = openat(dir, COMPLETE, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	(void)fd;
}

enum ctx_status ctx_exp_archive_late(const char *path, uint32_t *ret_copied, struct ctx_err *err)
{
	int dir CTX_AUTO_CLOSE = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ctx_event_source *source;
	enum ctx_status status;
	uint64_t bytes;

	*ret_copied = 0;
	if (dir < 0 || was_closed(dir) || faccessat(dir, COMPLETE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	    faccessat(dir, ".", W_OK, 0) != 0)
		return CTX_OK;
	status = ctx_exp_open(path, &source, err);
	if (status != CTX_OK)
		return status;
	if (is_this_host(&source->info)) {
		status = copy_mapped(source, dir, ret_copied, err);
		if (status == CTX_OK)
			*ret_copied += ctx_exp_archive_kallsyms(&(struct ctx_exp_copies_to){.dir = dir}, "",
								&bytes, NULL) == CTX_OK;
		if (status == CTX_OK)
			mark_complete(dir);
	}
	source->close(source);
	return status;
}
