/*
 * Table of call frame information of one load object: for each pc how to find the caller's
 * registers.
 *
 *	.eh_frame_hdr, .eh_frame, .debug_frame --cfi_build.c--> functions
 *	an address --> two functions --cfi_reader.c--> CIE, FDE --cfi_program.c--> rows --cfi_part.c--> part
 *
 * Opening a table lists the functions; rows are read when an address is first looked up near them, which
 * changes the table under a lock: any number of threads may use it. A row says which rule applies from its
 * pc to the next row's. Rows take 8 bytes and are sorted by pc; equal rules of a part are stored once. A
 * rule's summary of 8 bytes says where the canonical frame address (CFA) is, and where the caller's frame
 * pointer and return address were saved, as offsets
 * from it; so a step is a short search and two loads. Rules that do not fit (DWARF expressions,
 * other registers that the CFA depends on, signal frames, offsets beyond 16 bits) use the full rule
 * beside it. Gaps between functions have rows without information.
 *
 * Everything in the file is untrusted: lengths and offsets are checked, programs run with a limit
 * on their steps; damage affects only the rows of one function. Sources: DWARF 5, 6.4; LSB 5.0,
 * 10.6 (.eh_frame).
 */
#ifndef CTX_UNWIND_CFI_TABLE_H
#define CTX_UNWIND_CFI_TABLE_H

#include "base/err.h"
#include "model/user_regs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_cfi_table;

/*
 * Reads the table of an ELF file: .eh_frame and .debug_frame (also compressed) are merged, the
 * former takes precedence. Fails with CTX_E_NOTFOUND (no file, or no frame information in it),
 * CTX_E_PERM, CTX_E_IO, CTX_E_FORMAT (not an ELF file of a supported machine), CTX_E_LIMIT,
 * CTX_E_NOMEM. O(functions): about 1 ms for 75,000 that the linker has listed in .eh_frame_hdr, ten times
 * as much where it has not. The table keeps the sections in memory, the file is closed.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_table_open(const char *path, struct ctx_cfi_table **ret,
						  struct ctx_err *err);

/*
 * The same for a file in memory ([vdso], a decompressed archive); the bytes are not needed
 * afterwards.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_table_open_bytes(const void *bytes, size_t n,
							struct ctx_cfi_table **ret, struct ctx_err *err);

void ctx_cfi_table_close(struct ctx_cfi_table *table);

/* Lower-case hex, "" none. Borrowed. */
const char *ctx_cfi_table_build_id(const struct ctx_cfi_table *table);

/*
 * Converts a file offset to the object's virtual address (program headers). False: not in an
 * executable segment.
 */
bool ctx_cfi_table_address(const struct ctx_cfi_table *table, uint64_t file_offset, uint64_t *ret_address);

struct ctx_cfi_stats {
	size_t functions;   /* FDEs that could be read */
	size_t damaged;	    /* damaged FDEs and CIEs */
	size_t rows, bytes; /* of memory */
	size_t full_rules;  /* rules that did not fit into a summary */
};

/* Reads the whole table: O(instructions of the call frame programs), about 0.03 s for 500,000 rows. */
struct ctx_cfi_stats ctx_cfi_table_stats(const struct ctx_cfi_table *table);

/*
 * The function (FDE) that covers an address: [*ret_begin, *ret_end). False: none. O(log functions), and what reading
 * a part costs.
 */
bool ctx_cfi_table_function(const struct ctx_cfi_table *table, uint64_t address, uint64_t *ret_begin,
			    uint64_t *ret_end);

#endif
