#include "symbols/dwarf_unit.h"

#include "base/bisect.h"
#include "base/mem.h"

void ctx_dwarf_unit_deinit(struct ctx_dwarf_unit *unit)
{
	free(unit->nodes);
	free(unit->rows);
	ctx_rangemap_deinit(&unit->places);
	*unit = (struct ctx_dwarf_unit){0};
}

size_t ctx_dwarf_unit_rows_until(const struct ctx_dwarf_unit *unit, uint64_t address)
{
	return ctx_count_up_to(unit->rows, unit->row_n, address, address);
}
