/*
 * Functions of one ELF file for a symbol set: its symbol tables, and its PLT slots.
 */
#ifndef CTX_SYMBOLS_ELF_FUNCTIONS_H
#define CTX_SYMBOLS_ELF_FUNCTIONS_H

#include "elf/elf_file.h"
#include "symbols/symset.h"

/*
 * Adds the functions of the tables of one type (SHT_SYMTAB or SHT_DYNSYM). Names are borrowed from
 * `file`: freeze the set before it is closed. `*ret_count`: number of functions added. Damaged
 * symbols are skipped. Fails with CTX_E_FORMAT (nothing readable), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_elf_functions_add(const struct ctx_elf_file *file, uint32_t type,
						     struct ctx_symset *set, size_t *ret_count,
						     struct ctx_err *err);

/*
 * Adds SYMBOL@plt for the slots of .plt, .plt.sec and .plt.got; "@plt" if no relocation names the
 * function. As above. (plt.c)
 */
CTX_MUST_CHECK enum ctx_status ctx_elf_functions_add_plt(const struct ctx_elf_file *file,
							 struct ctx_symset *set, struct ctx_err *err);

#endif
