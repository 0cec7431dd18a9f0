/*
 * The members that `perf archive` packs, and their unpacked paths (ID: xx and rest together):
 *
 *	.build-id/xx/rest -> ../../usr/lib/libz.so/ID	passed over
 *	usr/lib/libz.so/ID/elf				.build-id/xx/rest/elf		debug, vdso: likewise
 *	usr/lib/libz.so/ID				.build-id/xx/rest/elf		as old versions of perf made it
 *	.build-id/xx/rest/elf				.build-id/xx/rest/elf		links were followed when it was packed
 *	.build-id/xx/rest				.build-id/xx/rest/elf
 *	[kernel.kallsyms]/ID/kallsyms			[kernel.kallsyms]/ID/kallsyms
 */
#include "ingest/symbol_tarball.h"

#include "base/buildid.h"
#include "base/fileio.h"
#include "base/mem.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)1 << 18)
#define MEMBERS_MAX 1000000u /* each costs at least a header and at most a file */
#define LINKS_DIR ".build-id"
#define KERNEL_DIR "[kernel.kallsyms]"

struct unpacking {
	struct archive *archive;
	const char *path;
	int into; /* the directory */
	char *chunk;
	uint64_t bytes, bytes_max;
};

/* A file to unpack. */
struct wanted {
	char id[CTX_BUILDID_TEXT];
	const char *file; /* "elf", "debug", "vdso", "kallsyms" */
};

static void unpacking_cleanup(struct unpacking *unpacking)
{
	if (unpacking->archive != NULL)
		archive_read_free(unpacking->archive);
	ctx_close_cleanup(&unpacking->into);
	free(unpacking->chunk);
}

/* Maps libarchive's error to a status. */
static enum ctx_status complain(const struct unpacking *unpacking, struct ctx_err *err)
{
	const char *text = archive_error_string(unpacking->archive);

	if (archive_errno(unpacking->archive) == ENOMEM)
		return ctx_err_nomem(err);
	return ctx_err_set(err, CTX_E_FORMAT, "%s: no usable tarball: %s", unpacking->path,
			   text != NULL ? text : "damaged");
}

/* The last components of a name, the last one first; missing ones are "". */
#define PARTS 4

struct parts {
	const char *text[PARTS];
	size_t n[PARTS];
};

static struct parts split(const char *name)
{
	struct parts parts = {.text = {"", "", "", ""}};
	size_t end = strlen(name);

	for (size_t i = 0; i < PARTS && end != 0; i++) {
		size_t begin = end;

		while (begin != 0 && name[begin - 1] != '/')
			begin--;
		parts.text[i] = name + begin;
		parts.n[i] = end - begin;
		end = begin;
		while (end != 0 && name[end - 1] == '/')
			end--;
	}
	return parts;
}

static bool part_is(const struct parts *parts, size_t i, const char *text)
{
	return parts->n[i] == strlen(text) && memcmp(parts->text[i], text, parts->n[i]) == 0;
}

/* Part `i` as a build id, or parts `i` + 1 and `i` below .build-id. */
static bool take_id(const struct parts *parts, size_t i, char id[CTX_BUILDID_TEXT])
{
	bool is_split = i + 2 < PARTS && part_is(parts, i + 2, LINKS_DIR) && parts->n[i + 1] == 2;
	size_t first = is_split ? 2 : 0;

	if (first + parts->n[i] < 3 || first + parts->n[i] >= CTX_BUILDID_TEXT)
		return false;
	if (is_split)
		memcpy(id, parts->text[i + 1], 2);
	memcpy(id + first, parts->text[i], parts->n[i]);
	id[first + parts->n[i]] = '\0';
	return ctx_buildid_is_plain(id);
}

static bool is_wanted(const char *name, struct wanted *ret)
{
	static const char *const files[] = {"elf", "debug", "vdso", "kallsyms"};
	struct parts parts = split(name);

	for (size_t i = 0; i < CTX_COUNT_OF(files); i++) {
		if (!part_is(&parts, 0, files[i]))
			continue;
		ret->file = files[i];
		return take_id(&parts, 1, ret->id);
	}
	ret->file = part_is(&parts, 1, KERNEL_DIR) ? "kallsyms" : "elf";
	return take_id(&parts, 0, ret->id);
}

/* Makes the directories and the file of `wanted`. `*ret_fd` is -1 when the file exists already. */
static enum ctx_status create(const struct unpacking *unpacking, const struct wanted *wanted, int *ret_fd,
			      struct ctx_err *err)
{
	bool is_kernel = strcmp(wanted->file, "kallsyms") == 0;
	char path[2 * CTX_BUILDID_TEXT];
	char *slash;

	if (is_kernel)
		snprintf(path, sizeof(path), KERNEL_DIR "/%s/%s", wanted->id, wanted->file);
	else
		snprintf(path, sizeof(path), LINKS_DIR "/%.2s/%s/%s", wanted->id, wanted->id + 2,
			 wanted->file);
	for (slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(unpacking->into, path, 0700) != 0 && errno != EEXIST)
			return ctx_err_errno(err, CTX_E_IO, "%s: unpacking", unpacking->path);
		*slash = '/';
	}
	*ret_fd = openat(unpacking->into, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*ret_fd < 0 && errno != EEXIST)
		return ctx_err_errno(err, CTX_E_IO, "%s: unpacking", unpacking->path);
	return CTX_OK;
}

static enum ctx_status too_large(const struct unpacking *unpacking, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_LIMIT, "%s: more than %llu bytes are packed in it", unpacking->path,
			   (unsigned long long)unpacking->bytes_max);
}

/*
 * Reads a member's bytes to their end and writes them to `fd`. The size in the header is not relied
 * on.
 */
static enum ctx_status copy(struct unpacking *unpacking, int fd, struct ctx_err *err)
{
	enum ctx_status status;
	la_ssize_t got;

	while ((got = archive_read_data(unpacking->archive, unpacking->chunk, CHUNK_BYTES)) > 0) {
		if ((uint64_t)got > unpacking->bytes_max - unpacking->bytes)
			return too_large(unpacking, err);
		unpacking->bytes += (uint64_t)got;
		status = ctx_file_write(fd, unpacking->path, unpacking->chunk, (size_t)got, err);
		if (status != CTX_OK)
			return ctx_err_prefix(err, status, "unpacking");
	}
	return got == 0 ? CTX_OK : complain(unpacking, err);
}

static enum ctx_status take_member(struct unpacking *unpacking, struct archive_entry *entry,
				   struct ctx_err *err)
{
	const char *name = archive_entry_pathname(entry);
	int64_t size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;
	int fd CTX_AUTO_CLOSE = -1;
	struct wanted wanted;
	enum ctx_status status;

	if (name == NULL) /* in letters that this locale does not have */
		name = archive_entry_pathname_utf8(entry);
	/* Skipped members must be read all the same. */
	if (size < 0 || (uint64_t)size > unpacking->bytes_max - unpacking->bytes)
		return too_large(unpacking, err);
	if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL ||
	    name == NULL || !is_wanted(name, &wanted)) {
		unpacking->bytes += (uint64_t)size;
		return CTX_OK;
	}
	status = create(unpacking, &wanted, &fd, err);
	if (status != CTX_OK || fd < 0) {
		unpacking->bytes += (uint64_t)size;
		return status;
	}
	return copy(unpacking, fd, err);
}

static enum ctx_status start(struct unpacking *unpacking, const char *into, struct ctx_err *err)
{
	struct archive *archive = archive_read_new();

	unpacking->archive = archive;
	unpacking->chunk = malloc(CHUNK_BYTES);
	if (archive == NULL || unpacking->chunk == NULL)
		return ctx_err_nomem(err);
	unpacking->into = open(into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (unpacking->into < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", into);
	/*
	 * A filter that libarchive was built without is a program that it starts: still not a
	 * failure.
	 */
	if (archive_read_support_format_tar(archive) < ARCHIVE_WARN ||
	    archive_read_support_filter_gzip(archive) < ARCHIVE_WARN ||
	    archive_read_support_filter_bzip2(archive) < ARCHIVE_WARN ||
	    archive_read_support_filter_xz(archive) < ARCHIVE_WARN ||
	    archive_read_support_filter_zstd(archive) < ARCHIVE_WARN)
		return complain(unpacking, err);
	if (archive_read_open_filename(archive, unpacking->path, CHUNK_BYTES) != ARCHIVE_OK)
		return complain(unpacking, err);
	return CTX_OK;
}

enum ctx_status ctx_symbol_tarball_unpack(const char *path, const char *into, uint64_t bytes_max,
					  struct ctx_err *err)
{
	struct unpacking unpacking __attribute__((cleanup(unpacking_cleanup))) = {
		.path = path, .into = -1, .bytes_max = bytes_max};
	enum ctx_status status = start(&unpacking, into, err);

	for (uint32_t members = 0; status == CTX_OK; members++) {
		struct archive_entry *entry;
		int result = archive_read_next_header(unpacking.archive, &entry);

		if (result == ARCHIVE_EOF)
			return CTX_OK;
		if (result < ARCHIVE_WARN || result == ARCHIVE_RETRY)
			return complain(&unpacking, err);
		if (members == MEMBERS_MAX)
			return ctx_err_set(err, CTX_E_LIMIT, "%s: more than %u members", path, MEMBERS_MAX);
		status = take_member(&unpacking, entry, err);
	}
	return status;
}
