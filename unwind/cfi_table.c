#include "unwind/cfi_table.h"

#include "base/bisect.h"
#include "elf/elf_file.h"
#include "unwind/cfi_build.h"

static enum ctx_status build(const struct ctx_elf_file *file, struct ctx_cfi_table **ret, struct ctx_err *err)
{
	struct ctx_cfi_source source = {.machine = ctx_machine_of_elf(file->machine),
					.build_id = file->build_id,
					.segments = file->segments,
					.n_segments = file->n_segments};

	if (source.machine == CTX_MACHINE_UNKNOWN || !file->is_64 || file->big_endian)
		return ctx_err_set(err, CTX_E_FORMAT, "of a machine whose stacks are not known");
	source.n_sections += ctx_cfi_section_open(file, true, &source.sections[source.n_sections]);
	source.n_sections += ctx_cfi_section_open(file, false, &source.sections[source.n_sections]);
	return ctx_cfi_build(&source, ret, err);
}

enum ctx_status ctx_cfi_table_open(const char *path, struct ctx_cfi_table **ret, struct ctx_err *err)
{
	struct ctx_elf_file file;
	enum ctx_status status = ctx_elf_open_path(&file, path, err);

	if (status == CTX_OK) {
		status = build(&file, ret, err);
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
		status = build(&file, ret, err);
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
	return (struct ctx_cfi_stats){
		.functions = table->n_functions,
		.damaged = table->damaged,
		.rows = table->rows.n,
		.full_rules = table->rules.n_full,
		.bytes = sizeof(*table) + table->rows.n * sizeof(*table->rows.items) +
			 table->n_index * sizeof(*table->index) +
			 table->n_functions * sizeof(*table->functions) + ctx_cfi_rules_bytes(&table->rules),
	};
}

bool ctx_cfi_table_function(const struct ctx_cfi_table *table, uint64_t address, uint64_t *ret_begin,
			    uint64_t *ret_end)
{
	uint64_t pc = address - table->rows.base;
	size_t n = ctx_count_up_to(table->functions, table->n_functions, begin, pc);

	if (n == 0 || pc >= table->functions[n - 1].end)
		return false;
	*ret_begin = table->rows.base + table->functions[n - 1].begin;
	*ret_end = table->rows.base + table->functions[n - 1].end;
	return true;
}
