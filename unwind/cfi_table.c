#include "unwind/cfi_table.h"

#include "base/bisect.h"
#include "elf/elf_file.h"
#include "unwind/cfi_build.h"

/* `file` is moved into the table if `moves`. */
static enum ctx_status build(struct ctx_elf_file *file, bool moves, struct ctx_cfi_table **ret,
			     struct ctx_err *err)
{
	struct ctx_cfi_source source = {.machine = ctx_machine_of_elf(file->machine),
					.build_id = file->build_id,
					.segments = file->segments,
					.n_segments = file->n_segments,
					.file = moves ? file : NULL};
	struct ctx_cfi_sections *sections = &source.sections;

	if (source.machine == CTX_MACHINE_UNKNOWN || !file->is_64 || file->big_endian)
		return ctx_err_set(err, CTX_E_FORMAT, "of a machine whose stacks are not known");
	sections->n += ctx_cfi_section_open(file, CTX_CFI_EH_FRAME, &sections->items[sections->n]);
	sections->n += ctx_cfi_section_open(file, CTX_CFI_DEBUG_FRAME, &sections->items[sections->n]);
	(void)ctx_cfi_section_open(file, CTX_CFI_EH_FRAME_HDR, &source.header);
	return ctx_cfi_build(&source, ret, err);
}

enum ctx_status ctx_cfi_table_open(const char *path, struct ctx_cfi_table **ret, struct ctx_err *err)
{
	struct ctx_elf_file file;
	enum ctx_status status = ctx_elf_open_path(&file, path, err);

	if (status == CTX_OK) {
		status = build(&file, true, ret, err);
		if (status != CTX_OK)
			status = ctx_err_prefix(err, status, "%s", path);
	}
	ctx_elf_close(&file);
	return status;
}

enum ctx_status ctx_cfi_table_open_bytes(const void *bytes, size_t n, struct ctx_cfi_table **ret,
					 struct ctx_err *err)
{
	struct ctx_elf_file file;
	enum ctx_status status = ctx_elf_open_bytes(&file, bytes, n, err);

	if (status == CTX_OK)
		status = build(&file, false, ret, err);
	ctx_elf_close(&file);
	return status;
}

void ctx_cfi_table_close(struct ctx_cfi_table *table)
{
	ctx_cfi_build_free(table);
}

const char *ctx_cfi_table_build_id(const struct ctx_cfi_table *table)
{
	return table->build_id;
}

bool ctx_cfi_table_address(const struct ctx_cfi_table *table, uint64_t file_offset, uint64_t *ret_address)
{
	return ctx_elf_address(table->segments, table->n_segments, file_offset, ret_address);
}

struct ctx_cfi_stats ctx_cfi_table_stats(const struct ctx_cfi_table *table)
{
	struct ctx_cfi_stats stats = {.damaged = table->damaged};

	for (size_t i = 0; i * CTX_CFI_PART < table->n_listed; i++) {
		const struct ctx_cfi_part *part = ctx_cfi_table_read(table, i);

		stats.functions += part->n_functions;
		stats.damaged += part->damaged;
		stats.rows += part->rows.n;
		stats.full_rules += part->rules.n_full;
		stats.bytes += sizeof(*part) + part->rows.n * sizeof(*part->rows.items) +
			       ctx_cfi_rules_bytes(&part->rules);
	}
	stats.bytes += sizeof(*table) + table->n_index * sizeof(*table->index) +
		       table->n_listed * sizeof(*table->listed);
	return stats;
}

bool ctx_cfi_table_function(const struct ctx_cfi_table *table, uint64_t address, uint64_t *ret_begin,
			    uint64_t *ret_end)
{
	const struct ctx_cfi_part *part = ctx_cfi_table_part(table, address);
	uint64_t pc = address - table->base;
	size_t n = ctx_count_up_to(part->functions, part->n_functions, begin, pc);

	if (n == 0 || pc >= part->functions[n - 1].end)
		return false;
	*ret_begin = table->base + part->functions[n - 1].begin;
	*ret_end = table->base + part->functions[n - 1].end;
	return true;
}
