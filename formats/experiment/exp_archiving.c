/*
 * Archiving at the end of a recording: each load object with samples is copied to archives/, and
 * gets a line in log.xml.
 */
#include "base/fileio.h"
#include "formats/experiment/exp_archive.h"
#include "formats/experiment/exp_state.h"
#include "formats/experiment/exp_xml.h"
#include "model/jit_code.h"

#include <string.h>

/* Result of copying a load object. */
struct outcome {
	const char *path, *build_id;
	const char *file; /* in archives/ */
	uint64_t bytes;
	struct ctx_err reason; /* why there is no copy */
	enum ctx_status status;
};

static void put_line(struct ctx_buf *out, const struct outcome *outcome)
{
	ctx_buf_put_text(out, "<archive");
	ctx_exp_xml_attribute(out, "path", outcome->path);
	ctx_exp_xml_attribute(out, "build_id", outcome->build_id);
	if (outcome->status == CTX_OK || outcome->status == CTX_END) {
		ctx_exp_xml_attribute(out, "file", outcome->file);
		ctx_exp_xml_number(out, "bytes", outcome->bytes);
	} else {
		ctx_exp_xml_attribute(out, "missing", outcome->reason.msg);
	}
	ctx_buf_put_text(out, "/>\n");
}

/* Running out of disk or memory ends the archiving; any other result is a line in the log. */
static enum ctx_status note(struct ctx_exp_writer *writer, const struct outcome *outcome, struct ctx_err *err)
{
	put_line(&writer->log, outcome);
	if (outcome->status == CTX_E_IO || outcome->status == CTX_E_NOMEM)
		return ctx_err_set(err, outcome->status, "%s/%s", writer->path, outcome->reason.msg);
	return CTX_OK;
}

/*
 * A list of JIT code grows until the end, so it is opened again; anything else was opened at its
 * first sample and may be gone.
 */
static enum ctx_status copy_object(const struct ctx_exp_copies_to *to, const struct ctx_exp_objects *objects,
				   uint32_t number, struct outcome *outcome)
{
	struct ctx_exp_opened opened = {objects->files[number] - 1, outcome->path, outcome->build_id};
	int fresh CTX_AUTO_CLOSE = -1;

	if (strcmp(outcome->path, "[vdso]") == 0)
		return ctx_exp_archive_object(to, outcome->path, outcome->build_id, &outcome->bytes,
					      &outcome->reason);
	if (opened.file < 0 || ctx_jit_code_is(outcome->path))
		opened.file = fresh = ctx_exp_objects_open(objects, number, &outcome->reason);
	if (opened.file < 0)
		return CTX_E_NOTFOUND;
	return ctx_exp_archive_opened(to, &opened, &outcome->bytes, &outcome->reason);
}

static enum ctx_status archive_object(struct ctx_exp_writer *writer, const struct ctx_exp_copies_to *to,
				      uint32_t number, struct ctx_err *err)
{
	const struct ctx_exp_objects *objects = &writer->objects;
	struct outcome outcome = {.path = ctx_exp_objects_path(objects, number),
				  .build_id = ctx_exp_objects_build_id(objects, number)};
	char name[CTX_EXP_ARCHIVE_NAME_MAX];

	ctx_exp_archive_name(outcome.path, outcome.build_id, name);
	outcome.file = name;
	outcome.status = copy_object(to, objects, number, &outcome);
	return note(writer, &outcome, err);
}

static enum ctx_status archive_kernel(struct ctx_exp_writer *writer, const struct ctx_exp_copies_to *to,
				      struct ctx_err *err)
{
	const struct ctx_exp_kernel_texts texts = ctx_exp_kernel_texts_default();
	char key[CTX_EXP_STORE_KEY];
	struct outcome outcome = {.path = "[kernel]", .build_id = "", .file = CTX_EXP_ARCHIVE_KALLSYMS};

	ctx_exp_kernel_key(&writer->copying.kernel, &texts, key);
	outcome.status = ctx_exp_archive_kallsyms(to, key, &outcome.bytes, &outcome.reason);
	return note(writer, &outcome, err);
}

#define STORE_BYTES ((uint64_t)1 << 30)

enum ctx_status ctx_exp_archive(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check(writer, err);
	struct ctx_exp_store store = {.dir = -1};
	const struct ctx_exp_copies_to to = {.dir = writer->dir, .store = &store};

	/* Without a store everything is compressed here, which takes longer and is no failure. */
	if (writer->copying.store != NULL)
		(void)!ctx_exp_store_open(writer->copying.store[0] != '\0' ? writer->copying.store : NULL,
					  &store, NULL);
	for (uint32_t i = 0; i < writer->objects.names.n && status == CTX_OK; i++) {
		if (writer->objects.sampled[i])
			status = archive_object(writer, &to, i, err);
	}
	if (status == CTX_OK && writer->copying.kernel.is_seen)
		status = archive_kernel(writer, &to, err);
	ctx_exp_store_close(&store, STORE_BYTES);
	return status == CTX_OK ? ctx_exp_flush_log(writer, err) : status;
}
