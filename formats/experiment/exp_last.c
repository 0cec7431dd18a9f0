/*
 * Last words: last.xml, a page that is written in full when the experiment is created and written
 * over in place afterwards, so that there is room for them on a full disk, and below any limit of
 * file sizes. It says how far the recorder has come, and why it stopped; an experiment that is
 * closed in order has none.
 *
 *	<experiment version="3"/>
 *	<event kind="alive" tstamp="4.100000000"/>
 *	<event kind="failed" tstamp="4.180000000" text="x.er/profile: No space left on device"/>
 *	newlines up to 4096 bytes
 */
#include "formats/experiment/exp_state.h"

#include "formats/experiment/exp_xml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LAST_BYTES 4096u
#define REASON_MAX 512u /* escaped, it fits */
#define ALIVE_NS CTX_EXP_SECOND_NS

/* The page, filled up with empty lines. */
static void compose(const struct ctx_exp_writer *writer, struct ctx_buf *out)
{
	ctx_buf_printf(out, "<experiment version=\"%d\"/>\n<event kind=\"alive\"", CTX_EXP_VERSION);
	ctx_exp_xml_time(out, "tstamp", writer->last.alive_ns);
	ctx_buf_put_text(out, "/>\n");
	if (writer->last.has_failed) {
		char reason[REASON_MAX];

		snprintf(reason, sizeof(reason), "%.*s", (int)sizeof(reason) - 1, writer->last.reason);
		ctx_buf_put_text(out, "<event kind=\"failed\"");
		ctx_exp_xml_time(out, "tstamp", writer->last.alive_ns);
		ctx_exp_xml_attribute(out, "text", reason);
		ctx_buf_put_text(out, "/>\n");
	}
	while (out->n < LAST_BYTES && !out->failed)
		ctx_buf_put_u8(out, '\n');
}

static bool put(const struct ctx_exp_writer *writer)
{
	struct ctx_buf page = {0};
	bool is_put = false;

	compose(writer, &page);
	if (!page.failed && page.n == LAST_BYTES)
		is_put = pwrite(writer->last.fd, page.bytes, page.n, 0) == (ssize_t)page.n;
	ctx_buf_deinit(&page);
	return is_put;
}

enum ctx_status ctx_exp_last_begin(struct ctx_exp_writer *writer, struct ctx_err *err)
{
	errno = 0;
	writer->last.fd = openat(writer->dir, CTX_EXP_LAST_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				 CTX_EXP_FILE_MODE(writer));
	if (writer->last.fd < 0 || !put(writer))
		return ctx_err_errno(err, CTX_E_IO, "%s/%s", writer->path, CTX_EXP_LAST_FILE);
	return CTX_OK;
}

void ctx_exp_last_alive(struct ctx_exp_writer *writer, uint64_t now_ns)
{
	uint64_t time_ns = ctx_exp_relative(writer, now_ns);

	if (writer->last.has_failed || time_ns < writer->last.alive_ns)
		return;
	writer->last.alive_ns = time_ns;
}

void ctx_exp_last_tick(struct ctx_exp_writer *writer)
{
	if (writer->last.has_failed || writer->last.fd < 0 ||
	    writer->last.alive_ns < writer->last.put_ns + ALIVE_NS)
		return;
	writer->last.put_ns = writer->last.alive_ns;
	(void)put(writer);
}

void ctx_exp_fail(struct ctx_exp_writer *writer, const char *reason)
{
	if (writer->last.has_failed)
		return;
	writer->last.has_failed = true;
	snprintf(writer->last.reason, sizeof(writer->last.reason), "%s", reason);
	if (writer->last.fd >= 0)
		(void)put(writer);
}

void ctx_exp_last_end(struct ctx_exp_writer *writer)
{
	if (writer->last.fd < 0)
		return;
	close(writer->last.fd);
	writer->last.fd = -1;
	if (!writer->last.has_failed)
		(void)unlinkat(writer->dir, CTX_EXP_LAST_FILE, 0);
}
