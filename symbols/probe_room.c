#include "symbols/probe_room.h"

#define JUMP_BYTES 5u
#define LOOK_BYTES 24u
#define SLED_JUMP 9 /* bytes that a sled of XRay jumps over */

void ctx_probe_room_init(struct ctx_probe_room *room, const struct ctx_elf_file *image)
{
	*room = (struct ctx_probe_room){.image = image};
	if (image->machine != EM_X86_64 || !image->is_64 ||
	    cs_open(CS_ARCH_X86, CS_MODE_64, &room->handle) != CS_ERR_OK)
		return;
	cs_option(room->handle, CS_OPT_DETAIL, CS_OPT_ON);
	room->instruction = cs_malloc(room->handle);
	room->has_entries = ctx_elf_named_section(image, "__patchable_function_entries") != NULL;
}

void ctx_probe_room_deinit(struct ctx_probe_room *room)
{
	if (room->instruction != NULL)
		cs_free(room->instruction, 1);
	if (room->handle != 0)
		cs_close(&room->handle);
}

static bool jumps_over_sled(const cs_insn *instruction, uint64_t address)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	return instruction->id == X86_INS_JMP && instruction->size == 2 &&
	       x86->operands[0].type == X86_OP_IMM &&
	       (uint64_t)x86->operands[0].imm == address + instruction->size + SLED_JUMP;
}

bool ctx_probe_room_is_at(struct ctx_probe_room *room, uint64_t address)
{
	struct ctx_buf code CTX_AUTO_BUF = {0};
	const uint8_t *at;
	size_t left, room_bytes = 0;

	if (room->instruction == NULL ||
	    ctx_elf_read_code(room->image, address, LOOK_BYTES, &code, NULL) != CTX_OK)
		return false;
	at = code.bytes;
	left = code.n;
	while (room_bytes < JUMP_BYTES) {
		uint64_t begin = address;

		if (!cs_disasm_iter(room->handle, &at, &left, &address, room->instruction))
			return false;
		if (room->instruction->id == X86_INS_ENDBR64 && room_bytes == 0)
			continue;
		if (room_bytes == 0 && jumps_over_sled(room->instruction, begin))
			return true;
		if (room->instruction->id != X86_INS_NOP || (room_bytes != 0 && !room->has_entries))
			return false;
		room_bytes += room->instruction->size;
	}
	return true;
}
