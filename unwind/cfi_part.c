/*
 *	rows	0: [NONE of the base |] 1 = f: rule | f+4: rule | ... | end of f: NONE | g: rule ...
 *
 * Where functions overlap, the first one has the addresses; damage of one costs that one.
 */
#include "unwind/cfi_part.h"

#include "base/mem.h"
#include "unwind/cfi_program.h"

#include <pthread.h>

/*
 * Bytes of programs that are run, as a multiple of the sections'. A function is run in its part, and as the one behind
 * the part before. More are those of descriptions that overlap in a damaged file: n of them would cost n^2.
 */
#define RUN_MAX 3u

struct ctx_cfi_reader {
	struct ctx_cfi_sections sections;
	struct ctx_elf_file file; /* owned: has the sections' bytes; closed: `copies` has them */
	uint8_t *copies[2];	  /* owned */
	pthread_mutex_t lock;	  /* for reading a part: all below */
	struct ctx_cfi_machine machine;
	struct ctx_cfi_sink sink;
	struct ctx_cfi_part *part; /* that is being read */
	uint64_t left;		   /* bytes of programs that may be run still */
	struct ctx_cfi_cie cie;	   /* the last one, which functions side by side have in common */
	struct ctx_cfi_state initial;
	const struct ctx_cfi_section *cie_section; /* NULL: there is none */
	size_t cie_offset;
};

static enum ctx_status add_row(void *context, const struct ctx_cfi_state *state, uint64_t begin, uint64_t end,
			       struct ctx_err *err)
{
	struct ctx_cfi_part *part = ((struct ctx_cfi_reader *)context)->part;
	uint32_t rule;
	enum ctx_status status = ctx_cfi_rules_add(&part->rules, state, &rule, err);

	(void)end;
	return status == CTX_OK ? ctx_cfi_rows_add(&part->rows, begin, rule, err) : status;
}

static enum ctx_status add_expression(void *context, const uint8_t *bytes, size_t n, int64_t *ret,
				      struct ctx_err *err)
{
	return ctx_cfi_rules_add_expression(&((struct ctx_cfi_reader *)context)->part->rules, bytes, n, ret,
					    err);
}

static enum ctx_status copy_sections(struct ctx_cfi_reader *reader, struct ctx_err *err)
{
	for (size_t i = 0; i < reader->sections.n; i++) {
		struct ctx_cfi_section *section = &reader->sections.items[i];

		reader->copies[i] = (uint8_t *)ctx_memdup0((const char *)section->bytes, section->n);
		if (reader->copies[i] == NULL)
			return ctx_err_nomem(err);
		section->bytes = reader->copies[i];
	}
	return CTX_OK;
}

enum ctx_status ctx_cfi_reader_create(const struct ctx_cfi_sections *sections, struct ctx_elf_file *file,
				      struct ctx_cfi_reader **ret, struct ctx_err *err)
{
	struct ctx_cfi_reader *reader = ctx_calloc(1, sizeof(*reader));

	if (reader == NULL)
		return ctx_err_nomem(err);
	pthread_mutex_init(&reader->lock, NULL);
	reader->sections = *sections;
	for (size_t i = 0; i < sections->n; i++)
		reader->left += RUN_MAX * (uint64_t)sections->items[i].n;
	reader->sink = (struct ctx_cfi_sink){reader, add_row, add_expression};
	reader->machine.sink = &reader->sink;
	reader->file.fd = -1;
	if (file == NULL && copy_sections(reader, err) != CTX_OK) {
		ctx_cfi_reader_destroy(reader);
		return CTX_E_NOMEM;
	}
	if (file != NULL)
		ctx_elf_move(file, &reader->file);
	*ret = reader;
	return CTX_OK;
}

void ctx_cfi_reader_destroy(struct ctx_cfi_reader *reader)
{
	if (reader == NULL)
		return;
	pthread_mutex_destroy(&reader->lock);
	ctx_elf_close(&reader->file);
	free(reader->copies[0]);
	free(reader->copies[1]);
	free(reader);
}

void ctx_cfi_part_destroy(struct ctx_cfi_part *part)
{
	if (part == NULL)
		return;
	ctx_cfi_rules_deinit(&part->rules);
	free(part->rows.items);
	free(part);
}

/* An empty one whose first row, at a pc, has no information. */
static enum ctx_status create_part(const struct ctx_cfi_table *table, uint64_t pc, struct ctx_cfi_part **ret,
				   struct ctx_err *err)
{
	struct ctx_cfi_part *part = ctx_calloc(1, sizeof(*part));
	enum ctx_status status;

	if (part == NULL)
		return ctx_err_nomem(err);
	part->rows.base = table->base;
	status = ctx_cfi_rules_init(&part->rules, table->machine, err);
	if (status == CTX_OK)
		status = ctx_cfi_rows_add(&part->rows, table->base + pc, CTX_CFI_RULE_NONE, err);
	if (status != CTX_OK) {
		ctx_cfi_part_destroy(part);
		return status;
	}
	*ret = part;
	return CTX_OK;
}

enum ctx_status ctx_cfi_part_none(const struct ctx_cfi_table *table, struct ctx_cfi_part **ret,
				  struct ctx_err *err)
{
	return create_part(table, 0, ret, err);
}

bool ctx_cfi_is_code(const struct ctx_elf_segment *segments, size_t n, const struct ctx_cfi_fde *fde)
{
	for (size_t i = 0; i < n; i++) {
		if (fde->begin >= segments[i].address &&
		    fde->end - segments[i].address <= segments[i].memory_size)
			return true;
	}
	return n == 0;
}

/* Makes the CIE of an offset the reader's. */
static enum ctx_status read_cie(struct ctx_cfi_reader *reader, const struct ctx_cfi_section *section,
				size_t offset, struct ctx_err *err)
{
	struct ctx_cfi_entry entry;
	enum ctx_status status;
	size_t at = offset;

	if (reader->cie_section == section && reader->cie_offset == offset)
		return CTX_OK;
	reader->cie_section = NULL;
	if (ctx_cfi_entry_next(section, &at, &entry) != CTX_OK || entry.offset != offset ||
	    entry.kind != CTX_CFI_ENTRY_CIE || !ctx_cfi_cie_read(section, &entry, &reader->cie))
		return ctx_err_set(err, CTX_E_FORMAT, "damaged");
	status = ctx_cfi_run_cie(&reader->machine, &reader->cie, err);
	if (status != CTX_OK)
		return status;
	reader->initial = reader->machine.state;
	reader->cie_section = section;
	reader->cie_offset = offset;
	return CTX_OK;
}

/* The description of a listed function, and its CIE. CTX_END: it is not of code. */
static enum ctx_status read_fde(const struct ctx_cfi_table *table, size_t i, struct ctx_cfi_fde *ret,
				struct ctx_err *err)
{
	struct ctx_cfi_reader *reader = table->reader;
	const struct ctx_cfi_listed *listed = &table->listed[i];
	const struct ctx_cfi_section *section = &reader->sections.items[(listed->at & CTX_CFI_SECOND) != 0];
	size_t offset = listed->at & ~CTX_CFI_SECOND, at = offset;
	struct ctx_cfi_entry entry;
	enum ctx_status status;

	if (ctx_cfi_entry_next(section, &at, &entry) != CTX_OK || entry.offset != offset ||
	    entry.kind != CTX_CFI_ENTRY_FDE || entry.cie_offset >= section->n)
		return ctx_err_set(err, CTX_E_FORMAT, "damaged");
	reader->machine.section = section;
	status = read_cie(reader, section, entry.cie_offset, err);
	if (status != CTX_OK)
		return status;
	if (!ctx_cfi_fde_read(section, &entry, &reader->cie, ret) ||
	    ret->begin - table->base != listed->begin || ret->end - table->base >= UINT32_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "damaged");
	return ret->begin != ret->end && ctx_cfi_is_code(table->segments, table->n_segments, ret) ? CTX_OK
												  : CTX_END;
}

static enum ctx_status add_rows(struct ctx_cfi_reader *reader, const struct ctx_cfi_fde *fde,
				struct ctx_err *err)
{
	struct ctx_cfi_rows *rows = &reader->part->rows;
	size_t n = rows->n;
	enum ctx_status status;

	/*
	 * The row that ends the previous function is about to be replaced, and may have to be
	 * restored.
	 */
	if (rows->items[n - 1].pc == fde->begin - rows->base && n > 1)
		n--;
	status = ctx_cfi_run_fde(&reader->machine, &reader->cie, &reader->initial, fde, err);
	if (status == CTX_OK)
		return ctx_cfi_rows_add(rows, fde->end, CTX_CFI_RULE_NONE, err);
	if (status == CTX_E_NOMEM)
		return status;
	reader->part->damaged++;
	rows->n = n;
	return ctx_cfi_rows_add(rows, fde->begin, CTX_CFI_RULE_NONE, err);
}

/* Adds a listed function; `last`: the end of the one before it. */
static enum ctx_status add_function(const struct ctx_cfi_table *table, size_t i, uint64_t *last,
				    struct ctx_err *err)
{
	struct ctx_cfi_part *part = table->reader->part;
	struct ctx_cfi_fde fde;
	enum ctx_status status = read_fde(table, i, &fde, err);

	if (status != CTX_OK) {
		part->damaged += status != CTX_E_NOMEM && status != CTX_END;
		return status == CTX_E_NOMEM ? status : CTX_OK;
	}
	if (fde.begin < *last)
		return CTX_OK;
	if (ctx_cursor_left(&fde.program) > table->reader->left) {
		part->damaged++;
		return CTX_OK;
	}
	table->reader->left -= ctx_cursor_left(&fde.program);
	*last = fde.end;
	status = add_rows(table->reader, &fde, err);
	if (status == CTX_OK && part->n_functions < CTX_CFI_PART)
		part->functions[part->n_functions++] = (struct ctx_cfi_function){
			(uint32_t)(fde.begin - table->base), (uint32_t)(fde.end - table->base)};
	return status;
}

/* Rows and functions of [first, end), and the rows of the function behind. */
static enum ctx_status add_functions(const struct ctx_cfi_table *table, size_t first, size_t end,
				     struct ctx_err *err)
{
	struct ctx_cfi_part *part = table->reader->part;
	enum ctx_status status = CTX_OK;
	uint32_t n, damaged;
	struct ctx_cfi_fde before;
	uint64_t last = 0;

	if (first != 0 && read_fde(table, first - 1, &before, NULL) == CTX_OK)
		last = before.end;
	for (size_t i = first; i < end && status == CTX_OK; i++)
		status = add_function(table, i, &last, err);
	n = part->n_functions;
	damaged = part->damaged;
	if (status == CTX_OK && end < table->n_listed)
		status = add_function(table, end, &last, err);
	part->n_functions = n;
	part->damaged = damaged;
	return status;
}

/* To be called with the lock held. NULL: no memory. */
static struct ctx_cfi_part *read_part(const struct ctx_cfi_table *table, size_t i)
{
	struct ctx_cfi_reader *reader = table->reader;
	size_t first = i * CTX_CFI_PART;
	size_t end = first + CTX_CFI_PART < table->n_listed ? first + CTX_CFI_PART : table->n_listed;
	struct ctx_cfi_part *part;

	if (create_part(table, first != 0 ? table->listed[first].begin : 0, &part, NULL) != CTX_OK)
		return NULL;
	reader->part = part;
	reader->cie_section = NULL; /* its expressions are the last part's */
	if (add_functions(table, first, end, NULL) != CTX_OK) {
		ctx_cfi_part_destroy(part);
		return NULL;
	}
	ctx_cfi_rules_freeze(&part->rules);
	return part;
}

const struct ctx_cfi_part *ctx_cfi_table_read(const struct ctx_cfi_table *table, size_t i)
{
	struct ctx_cfi_part *part;

	pthread_mutex_lock(&table->reader->lock);
	part = table->parts[i];
	if (part == NULL) {
		part = read_part(table, i);
		__atomic_store_n(&table->parts[i], part, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&table->reader->lock);
	return part != NULL ? part : table->none;
}
