/*
 * Instructions: machine code decoded by capstone: x86-64 and i386 in AT&T syntax, aarch64.
 *
 * Bytes that are not an instruction become an entry of one byte (x86) or one word (aarch64), and
 * decoding continues after it: such bytes are data.
 */
#ifndef CTX_REPORT_INSTRUCTIONS_H
#define CTX_REPORT_INSTRUCTIONS_H

#include "base/buf.h"
#include "model/code.h"

enum ctx_instruction_kind {
	CTX_INSTRUCTION_OTHER,
	CTX_INSTRUCTION_JUMP, /* conditional or not */
	CTX_INSTRUCTION_CALL,
	CTX_INSTRUCTION_DATA, /* undecodable */
};

struct ctx_instruction {
	uint64_t address;
	uint64_t target; /* of a direct jump or call */
	uint8_t size;	 /* bytes */
	uint8_t kind;	 /* enum ctx_instruction_kind */
	bool has_target;
	bool is_target; /* target of a jump in the same list */
};

struct ctx_instructions {
	struct ctx_instruction *list; /* owned; by address, without gaps */
	size_t n, cap;
};

struct ctx_disassembler;

/* CTX_E_NOTFOUND: unknown machine (`machine` is ELF's e_machine). Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_disassembler_open(uint16_t machine, struct ctx_disassembler **ret,
						     struct ctx_err *err);
void ctx_disassembler_close(struct ctx_disassembler *disassembler);

CTX_MUST_CHECK enum ctx_status ctx_instructions_decode(struct ctx_disassembler *disassembler,
						       const struct ctx_function_code *code,
						       struct ctx_instructions *ret, struct ctx_err *err);
void ctx_instructions_deinit(struct ctx_instructions *instructions);

/*
 * Appends mnemonic and operands of an instruction of `code`; the mnemonic is padded to `pad`
 * columns.
 */
void ctx_instruction_put(struct ctx_disassembler *disassembler, const struct ctx_function_code *code,
			 const struct ctx_instruction *instruction, int pad, struct ctx_buf *buf);

/* The number of the instruction that contains the address; SIZE_MAX: none. O(log). */
size_t ctx_instructions_find(const struct ctx_instructions *instructions, uint64_t address);

#endif
