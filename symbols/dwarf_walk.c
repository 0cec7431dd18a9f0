#include "symbols/dwarf_walk.h"

#include <string.h>

/* A unit ends where the next one begins. */
static bool find_end(struct ctx_dwarf_walk *walk)
{
	Dwarf_Off at = dwarf_dieoffset(&walk->die);
	Dwarf_Off unit = at - dwarf_cuoffset(&walk->die);
	Dwarf_Off next;
	size_t header;

	if (dwarf_next_unit(dwarf_cu_getdwarf(walk->die.cu), unit, &next, &header, NULL, NULL, NULL, NULL,
			    NULL, NULL) != 0 ||
	    next <= at)
		return false;
	walk->end = (const uint8_t *)walk->die.addr + (next - at);
	return true;
}

bool ctx_dwarf_walk_begin(struct ctx_dwarf_walk *walk, const Dwarf_Die *unit)
{
	*walk = (struct ctx_dwarf_walk){.die = *unit};
	return find_end(walk);
}

/* `at` is the zero byte that ends the list in which `walk->die` was the last one. */
static bool leave_lists(struct ctx_dwarf_walk *walk, const uint8_t *at)
{
	struct Dwarf_CU *unit = walk->die.cu;

	for (; at < walk->end && *at == 0; at++) {
		if (walk->depth <= 1)
			return false;
		walk->depth--;
	}
	if (at >= walk->end) {
		walk->damaged = true;
		return false;
	}
	memset(&walk->die, 0, sizeof(walk->die));
	walk->die.addr = (void *)(uintptr_t)at;
	walk->die.cu = unit;
	return true;
}

bool ctx_dwarf_walk_next(struct ctx_dwarf_walk *walk, bool into)
{
	Dwarf_Die next;
	int result;

	if ((into || walk->depth == 0) && walk->depth + 1 < CTX_DWARF_DEPTH_MAX) {
		result = dwarf_child(&walk->die, &next);
		if (result == 0) {
			walk->die = next;
			walk->depth++;
			return true;
		}
		if (result < 0 || walk->depth == 0) {
			walk->damaged = result < 0;
			return false;
		}
	}
	result = dwarf_siblingof(&walk->die, &next);
	if (result == 0) {
		walk->die = next;
		return true;
	}
	walk->damaged = result < 0 || next.addr == NULL;
	return result > 0 && next.addr != NULL && leave_lists(walk, next.addr);
}
