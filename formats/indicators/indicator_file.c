#include "formats/indicators/indicator_file.h"

#include "base/digits.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "elf/elf_buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1

static const struct {
	const char *word;
	unsigned flag;
} flags[] = {{"count", CTX_INDICATOR_FLAG_COUNT},
	     {"raise", CTX_INDICATOR_FLAG_RAISE},
	     {"start", CTX_INDICATOR_FLAG_START},
	     {"stop", CTX_INDICATOR_FLAG_STOP}};

static const char *const accesses[] = {"execute", "write", "access"};

void ctx_indicator_rows_deinit(struct ctx_indicator_rows *rows)
{
	free(rows->items);
	ctx_arena_deinit(&rows->arena);
	*rows = (struct ctx_indicator_rows){0};
}

void ctx_indicator_flags_put(unsigned bits, struct ctx_buf *out)
{
	const char *before = "";

	for (size_t i = 0; i < CTX_COUNT_OF(flags); i++) {
		if ((bits & flags[i].flag) == 0)
			continue;
		ctx_buf_printf(out, "%s%s", before, flags[i].word);
		before = " ";
	}
}

enum ctx_status ctx_indicator_object_build(const char *path, char id[CTX_INDICATOR_BUILD_ID_MAX],
					   struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	(void)ctx_buildid_of_fd(fd, id);
	return CTX_OK;
}

static enum ctx_status damage(const xmlNode *node, const char *what, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "line %ld: %s", xmlGetLineNo(node), what);
}

struct attribute {
	const char *name;
	const char *otherwise; /* where it is missing; NULL: it is required */
};

/* A copy of an attribute. Control characters are refused: rows become lines. */
static enum ctx_status text(struct ctx_indicator_rows *rows, xmlNode *node, struct attribute attribute,
			    const char **ret, struct ctx_err *err)
{
	xmlChar *value = xmlGetProp(node, (const xmlChar *)attribute.name);
	const char *from = value != NULL ? (const char *)value : attribute.otherwise;
	bool is_clean = true;

	for (const char *at = from; at != NULL && *at != '\0'; at++)
		is_clean = is_clean && (unsigned char)*at >= ' ';
	*ret = from != NULL && is_clean ? ctx_arena_strdup(&rows->arena, from) : NULL;
	xmlFree(value);
	if (from == NULL || !is_clean)
		return ctx_err_set(err, CTX_E_FORMAT, "line %ld: <%s> has no usable %s", xmlGetLineNo(node),
				   (const char *)node->name, attribute.name);
	return *ret != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status number(xmlNode *node, const char *name, const char *otherwise, uint64_t *ret,
			      struct ctx_err *err)
{
	xmlChar *value = xmlGetProp(node, (const xmlChar *)name);
	const char *from = value != NULL ? (const char *)value : otherwise;
	bool is_hex = from != NULL && from[0] == '0' && (from[1] | 0x20) == 'x';
	const char *at = is_hex ? from + 2 : from;
	bool is = at != NULL && ctx_digits_take(&at, is_hex ? 16 : 10, ret) && *at == '\0';

	xmlFree(value);
	return is ? CTX_OK
		  : ctx_err_set(err, CTX_E_FORMAT, "line %ld: <%s> has no number %s", xmlGetLineNo(node),
				(const char *)node->name, name);
}

static bool parse_flags(const char *at, unsigned *ret)
{
	*ret = 0;
	for (;;) {
		size_t n, i = 0;

		at += strspn(at, " ,");
		n = strcspn(at, " ,");
		if (n == 0)
			return *ret != 0;
		while (i < CTX_COUNT_OF(flags) &&
		       (strlen(flags[i].word) != n || strncmp(flags[i].word, at, n) != 0))
			i++;
		if (i == CTX_COUNT_OF(flags))
			return false;
		*ret |= flags[i].flag;
		at += n;
	}
}

static enum ctx_status check(const struct ctx_indicator_row *row, const xmlNode *node, struct ctx_err *err)
{
	bool raises = (row->flags & CTX_INDICATOR_FLAG_RAISE) != 0;

	if (raises != (row->threshold != 0) || row->threshold > INT64_MAX)
		return damage(node, "raise and a threshold above 0 belong together", err);
	if ((row->flags & CTX_INDICATOR_FLAG_START) != 0 && (row->flags & CTX_INDICATOR_FLAG_STOP) != 0)
		return damage(node, "it both starts and stops", err);
	if (row->access != CTX_INDICATOR_FILE_EXECUTE && row->length_bytes == 0)
		return damage(node, "data has no length", err);
	if (row->length_bytes > UINT64_MAX - row->offset)
		return damage(node, "it reaches beyond the last address", err);
	return CTX_OK;
}

static enum ctx_status parse_indicator(struct ctx_indicator_rows *rows, xmlNode *node,
				       const struct ctx_indicator_row *object, struct ctx_err *err)
{
	struct ctx_indicator_row row = *object;
	const char *words, *access;
	size_t kind = 0;
	enum ctx_status status = number(node, "offset", NULL, &row.offset, err);

	if (status == CTX_OK)
		status = number(node, "length", "0", &row.length_bytes, err);
	if (status == CTX_OK)
		status = number(node, "threshold", "0", &row.threshold, err);
	if (status == CTX_OK)
		status = text(rows, node, (struct attribute){"name", ""}, &row.name, err);
	if (status == CTX_OK)
		status = text(rows, node, (struct attribute){"flags", "count"}, &words, err);
	if (status == CTX_OK)
		status = text(rows, node, (struct attribute){"access", accesses[0]}, &access, err);
	if (status != CTX_OK)
		return status;
	while (kind < CTX_COUNT_OF(accesses) && strcmp(accesses[kind], access) != 0)
		kind++;
	if (kind == CTX_COUNT_OF(accesses))
		return damage(node, "access is execute, write or access", err);
	row.access = (enum ctx_indicator_file_access)kind;
	if (!parse_flags(words, &row.flags))
		return damage(node, "flags are count, raise, start and stop", err);
	status = check(&row, node, err);
	if (status == CTX_OK)
		status = ctx_grow(&rows->items, &rows->cap, rows->n + 1, err);
	if (status == CTX_OK)
		rows->items[rows->n++] = row;
	return status;
}

static bool is_element(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static enum ctx_status parse_object(struct ctx_indicator_rows *rows, xmlNode *node, struct ctx_err *err)
{
	struct ctx_indicator_row object = {0};
	enum ctx_status status = text(rows, node, (struct attribute){"path", NULL}, &object.path, err);

	if (status == CTX_OK && object.path[0] != '/')
		return damage(node, "the path of an object begins with a slash", err);
	if (status == CTX_OK)
		status = text(rows, node, (struct attribute){"build_id", ""}, &object.build_id, err);
	if (status == CTX_OK && strspn(object.build_id, "0123456789abcdef") != strlen(object.build_id))
		return damage(node, "a build id is lower-case hexadecimal", err);
	for (xmlNode *child = node->children; child != NULL && status == CTX_OK; child = child->next) {
		if (is_element(child, "indicator"))
			status = parse_indicator(rows, child, &object, err);
	}
	return status;
}

static enum ctx_status parse_root(struct ctx_indicator_rows *rows, xmlNode *root, struct ctx_err *err)
{
	uint64_t version;
	enum ctx_status status;

	if (root == NULL || !is_element(root, "indicators"))
		return ctx_err_set(err, CTX_E_FORMAT, "no file of indicators: <indicators> is missing");
	status = number(root, "version", "1", &version, err);
	if (status == CTX_OK && version > VERSION)
		return ctx_err_set(err, CTX_E_VERSION, "made by a newer version (this program reads %d)",
				   VERSION);
	for (xmlNode *child = root->children; child != NULL && status == CTX_OK; child = child->next) {
		if (is_element(child, "object"))
			status = parse_object(rows, child, err);
	}
	return status;
}

enum ctx_status ctx_indicator_file_parse(struct ctx_indicator_rows *rows, const void *bytes, size_t n,
					 struct ctx_err *err)
{
	xmlParserCtxt *parser;
	xmlDoc *document;
	enum ctx_status status;

	if (n > CTX_INDICATOR_FILE_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %zu MiB", CTX_INDICATOR_FILE_MAX >> 20);
	parser = xmlNewParserCtxt();
	if (parser == NULL)
		return ctx_err_nomem(err);
	document = xmlCtxtReadMemory(parser, bytes, (int)n, NULL, NULL,
				     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (document != NULL) {
		status = parse_root(rows, xmlDocGetRootElement(document), err);
	} else {
		const xmlError *error = xmlCtxtGetLastError(parser);
		int n_message =
			error != NULL && error->message != NULL ? (int)strcspn(error->message, "\n") : 0;

		status = ctx_err_set(err, CTX_E_FORMAT, "line %d: %.*s", error != NULL ? error->line : 0,
				     n_message, n_message != 0 ? error->message : "");
	}
	xmlFreeDoc(document);
	xmlFreeParserCtxt(parser);
	return status;
}
