/*
 * BUILD_ID: records up to the end, each { u32 type, u16 misc, u16 size, s32 pid, 24 bytes, path }.
 * The 24 bytes are 20 of build id, its length (valid if a bit of misc is set), and 3 of padding.
 */
#include "base/buildid.h"
#include "base/mem.h"
#include "formats/perfdata/pd_facts_read.h"
#include "formats/perfdata/pd_record.h"

#include <string.h>

#define RECORD_HEADER_BYTES 8u
#define MISC_CPUMODE_MASK 7u
#define MISC_KERNEL 1u
#define MISC_GUEST_KERNEL 4u
#define MISC_BUILD_ID_SIZE (1u << 15)
#define BUILD_ID_FIELD_BYTES 24u /* build id, its length, padding */
#define PID_HOST (-1)

/* Room is made before the path is added: every path in the table has a build id. */
static enum ctx_status add_build_id(struct ctx_pd_facts *facts, const struct ctx_pd_build_id *found,
				    struct ctx_err *err)
{
	size_t n_paths = facts->build_ids.paths.n;
	struct ctx_pd_build_id build_id = *found;
	const struct ctx_pd_build_id *known = NULL;
	uint32_t path = ctx_strtab_find(&facts->build_ids.paths, found->path, strlen(found->path));
	enum ctx_status status;

	if (path != UINT32_MAX) {
		known = &facts->build_ids.items[facts->build_ids.of_path[path]];
		if (known->pid == found->pid && known->kernel == found->kernel &&
		    strcmp(known->hex, found->hex) == 0)
			return CTX_OK;
	}
	if (facts->build_ids.n == UINT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "too many");
	status = ctx_grow(&facts->build_ids.items, &facts->build_ids.cap, facts->build_ids.n + 1, err);
	if (status == CTX_OK)
		status = ctx_grow(&facts->build_ids.of_path, &facts->build_ids.of_path_cap, n_paths + 1, err);
	if (status == CTX_OK)
		status = ctx_pd_fact_keep(facts, found->hex, &build_id.hex, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(&facts->build_ids.paths, found->path, &path, err);
	if (status != CTX_OK)
		return status;
	if (path < n_paths)
		known = &facts->build_ids.items[facts->build_ids.of_path[path]]; /* may have moved */
	build_id.path = ctx_strtab_get(&facts->build_ids.paths, path);
	facts->build_ids.items[facts->build_ids.n] = build_id;
	/* Samples are from the host; a guest's file of the same path is a different file. */
	if (known == NULL || build_id.pid == PID_HOST || known->pid != PID_HOST)
		facts->build_ids.of_path[path] = (uint32_t)facts->build_ids.n;
	facts->build_ids.n++;
	return CTX_OK;
}

static enum ctx_status read_build_id(struct ctx_pd_facts *facts, uint16_t misc, struct ctx_pe_wire *wire,
				     struct ctx_err *err)
{
	uint32_t mode = misc & MISC_CPUMODE_MASK;
	int32_t pid = (int32_t)ctx_pe_wire_u32(wire);
	const uint8_t *bytes = ctx_pe_wire_bytes(wire, BUILD_ID_FIELD_BYTES);
	const char *path = ctx_pe_wire_text(wire, ctx_pe_wire_left(wire));
	char hex[CTX_BUILDID_TEXT];
	size_t n;

	if (wire->failed)
		return ctx_pd_fact_cut_short(err);
	if (*path == '\0')
		return ctx_err_set(err, CTX_E_FORMAT, "one without a path");
	n = (misc & MISC_BUILD_ID_SIZE) != 0 ? bytes[CTX_PE_BUILD_ID_BYTES] : CTX_PE_BUILD_ID_BYTES;
	if (n > CTX_PE_BUILD_ID_BYTES)
		return ctx_err_set(err, CTX_E_FORMAT, "one of %zu bytes, of %s", n, path);
	/* perf writes zeros for an object without a build id. */
	ctx_pe_build_id_text(bytes, n, hex);
	if (hex[0] == '\0')
		return CTX_OK;
	return add_build_id(
		facts,
		&(struct ctx_pd_build_id){.path = path,
					  .hex = hex,
					  .pid = pid,
					  .kernel = mode == MISC_KERNEL || mode == MISC_GUEST_KERNEL},
		err);
}

enum ctx_status ctx_pd_facts_add_build_id(struct ctx_pd_facts *facts, uint16_t misc, struct ctx_pe_wire wire,
					  struct ctx_err *err)
{
	struct ctx_err reason = {0};
	enum ctx_status status = read_build_id(facts, misc, &wire, &reason);

	return ctx_pd_fact_settle(facts, CTX_PD_FEATURE_BUILD_ID, status, &reason, err);
}

enum ctx_status ctx_pd_facts_read_build_ids(struct ctx_pd_facts *facts, struct ctx_pe_wire *wire,
					    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && ctx_pe_wire_left(wire) != 0) {
		const uint8_t *bytes;
		uint16_t misc, size;

		ctx_pe_wire_u32(wire); /* type: 0 or HEADER_BUILD_ID, depending on the version of perf */
		misc = ctx_pe_wire_u16(wire);
		size = ctx_pe_wire_u16(wire);
		if (wire->failed || size < RECORD_HEADER_BYTES)
			return ctx_pd_fact_cut_short(err);
		bytes = ctx_pe_wire_bytes(wire, size - RECORD_HEADER_BYTES);
		if (bytes == NULL)
			return ctx_pd_fact_cut_short(err);
		status = ctx_pd_facts_add_build_id(
			facts, misc, ctx_pe_wire_make(bytes, size - RECORD_HEADER_BYTES, wire->swap), err);
	}
	return status;
}

const char *ctx_pd_facts_build_id(const struct ctx_pd_facts *facts, const char *path)
{
	uint32_t number = ctx_strtab_find(&facts->build_ids.paths, path, strlen(path));

	return number != UINT32_MAX ? facts->build_ids.items[facts->build_ids.of_path[number]].hex : "";
}
