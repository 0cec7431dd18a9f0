#include "model/data_source.h"

#include "base/mem.h"

/* The parts of the word: first bit, and number of bits. */
enum part { OPERATION, LEVEL, SNOOP, LOCK, TLB, LEVEL_NUMBER, REMOTE, MORE_SNOOP, PARTS };

static const struct {
	unsigned shift, bits;
} parts[PARTS] = {
	[OPERATION] = {0, 5}, [LEVEL] = {5, 14},	[SNOOP] = {19, 5},  [LOCK] = {24, 2},
	[TLB] = {26, 7},      [LEVEL_NUMBER] = {33, 4}, [REMOTE] = {37, 1}, [MORE_SNOOP] = {38, 2},
};

enum { OP_LOAD = 2, OP_STORE = 4, OP_PREFETCH = 8, OP_EXECUTE = 16 };
enum { LEVEL_MISS = 4 };
enum { SNOOP_NONE = 2, SNOOP_HIT = 4, SNOOP_MISS = 8, SNOOP_HITM = 16 };
enum { MORE_SNOOP_FORWARD = 1, MORE_SNOOP_PEER = 2 };
enum { TLB_HIT = 2, TLB_MISS = 4, TLB_L1 = 8, TLB_L2 = 16, TLB_WALKER = 32, TLB_OS = 64 };
enum { LOCKED = 2 };

static unsigned part_of(uint64_t word, enum part part)
{
	return (unsigned)(word >> parts[part].shift) & ((1u << parts[part].bits) - 1);
}

enum ctx_memory_operation ctx_data_operation_of(uint64_t data_source)
{
	unsigned bits = part_of(data_source, OPERATION);

	if ((bits & OP_PREFETCH) != 0)
		return CTX_MEMORY_PREFETCH;
	if ((bits & OP_EXECUTE) != 0)
		return CTX_MEMORY_EXECUTE;
	if ((bits & OP_LOAD) != 0)
		return (bits & OP_STORE) != 0 ? CTX_MEMORY_LOAD_STORE : CTX_MEMORY_LOAD;
	return (bits & OP_STORE) != 0 ? CTX_MEMORY_STORE : CTX_MEMORY_UNKNOWN;
}

/* By the bits of older kernels: the nearest that is named. */
static enum ctx_data_level level_of_bits(unsigned bits)
{
	static const struct {
		unsigned bit;
		enum ctx_data_level level;
	} levels[] = {
		{0x8, CTX_DATA_L1},    {0x10, CTX_DATA_FILL_BUFFER},   {0x20, CTX_DATA_L2},
		{0x40, CTX_DATA_L3},   {0x400, CTX_DATA_REMOTE_CACHE}, {0x800, CTX_DATA_REMOTE_CACHE},
		{0x80, CTX_DATA_RAM},  {0x100, CTX_DATA_REMOTE_RAM},   {0x200, CTX_DATA_REMOTE_RAM},
		{0x1000, CTX_DATA_IO}, {0x2000, CTX_DATA_UNCACHED},
	};

	for (size_t i = 0; i < CTX_COUNT_OF(levels); i++) {
		if ((bits & levels[i].bit) != 0)
			return levels[i].level;
	}
	return CTX_DATA_UNKNOWN;
}

enum ctx_data_level ctx_data_level_of(uint64_t data_source)
{
	static const enum ctx_data_level numbers[] = {
		[0x1] = CTX_DATA_L1,	     [0x2] = CTX_DATA_L2,	   [0x3] = CTX_DATA_L3,
		[0x4] = CTX_DATA_L4,	     [0x9] = CTX_DATA_CXL,	   [0xa] = CTX_DATA_IO,
		[0xb] = CTX_DATA_ANY_CACHE,  [0xc] = CTX_DATA_FILL_BUFFER, [0xd] = CTX_DATA_RAM,
		[0xe] = CTX_DATA_PERSISTENT, [0xf] = CTX_DATA_UNKNOWN,
	};
	enum ctx_data_level level = numbers[part_of(data_source, LEVEL_NUMBER)];

	if (level == CTX_DATA_UNKNOWN)
		level = level_of_bits(part_of(data_source, LEVEL));
	if (part_of(data_source, REMOTE) == 0)
		return level;
	return level == CTX_DATA_RAM				     ? CTX_DATA_REMOTE_RAM
	       : level >= CTX_DATA_L1 && level <= CTX_DATA_ANY_CACHE ? CTX_DATA_REMOTE_CACHE
								     : level;
}

bool ctx_data_is_miss(uint64_t data_source)
{
	return (part_of(data_source, LEVEL) & LEVEL_MISS) != 0;
}

bool ctx_data_is_locked(uint64_t data_source)
{
	return (part_of(data_source, LOCK) & LOCKED) != 0;
}

enum ctx_data_snoop ctx_data_snoop_of(uint64_t data_source)
{
	unsigned bits = part_of(data_source, SNOOP), more = part_of(data_source, MORE_SNOOP);

	if ((bits & SNOOP_HITM) != 0)
		return CTX_SNOOP_HITM;
	if ((more & MORE_SNOOP_FORWARD) != 0)
		return CTX_SNOOP_FORWARD;
	if ((more & MORE_SNOOP_PEER) != 0)
		return CTX_SNOOP_PEER;
	return (bits & SNOOP_HIT) != 0	  ? CTX_SNOOP_HIT
	       : (bits & SNOOP_MISS) != 0 ? CTX_SNOOP_MISS
	       : (bits & SNOOP_NONE) != 0 ? CTX_SNOOP_NONE
					  : CTX_SNOOP_UNKNOWN;
}

enum ctx_data_tlb ctx_data_tlb_of(uint64_t data_source)
{
	unsigned bits = part_of(data_source, TLB);

	if ((bits & TLB_OS) != 0)
		return CTX_TLB_FAULT;
	if ((bits & TLB_WALKER) != 0)
		return CTX_TLB_WALK;
	if ((bits & TLB_MISS) != 0)
		return CTX_TLB_MISS;
	if ((bits & TLB_HIT) == 0)
		return CTX_TLB_UNKNOWN;
	if ((bits & TLB_L1) != 0)
		return (bits & TLB_L2) != 0 ? CTX_TLB_L1_OR_L2 : CTX_TLB_L1;
	return (bits & TLB_L2) != 0 ? CTX_TLB_L2 : CTX_TLB_UNKNOWN;
}

const char *ctx_data_level_name(enum ctx_data_level level)
{
	static const char *const names[CTX_DATA_LEVEL_N] = {
		"?",   "L1",	     "fill buffer", "L2",  "L3",  "L4",	     "a cache", "remote cache",
		"RAM", "remote RAM", "persistent",  "CXL", "I/O", "uncached"};

	return (unsigned)level < CTX_DATA_LEVEL_N ? names[level] : "?";
}

const char *ctx_data_snoop_name(enum ctx_data_snoop snoop)
{
	static const char *const names[CTX_SNOOP_N] = {"?",	  "none", "hit", "miss", "hit modified",
						       "forward", "peer"};

	return (unsigned)snoop < CTX_SNOOP_N ? names[snoop] : "?";
}

const char *ctx_data_tlb_name(enum ctx_data_tlb tlb)
{
	static const char *const names[CTX_TLB_N] = {"?", "L1", "L1 or L2", "L2", "miss", "walk", "fault"};

	return (unsigned)tlb < CTX_TLB_N ? names[tlb] : "?";
}
