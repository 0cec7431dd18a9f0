/*
 * Writes an experiment as gprofng's own collector would (version 12.4, clock profile), from a seed.
 *
 *	gen_gprofng --samples N --threads T --stacks S --depth D --seed K [--object FILE]... [--map FILE]... -o NAME.er
 *
 *	symbols of the objects --> tree of calls --> stacks --data.frameinfo--> uid of each
 *	                                               `------> samples --profile, in blocks of flows-->
 *
 * The first object (this program by default) is the executable; code of the others is called too,
 * objects given with --map are only mapped. A stack is an address in a function below the calls
 * that lead to it: 5 to D frames, a few addresses for each path. Half of the samples are in 25 hot
 * stacks, which change from one twentieth of the run to the next, the other half is spread over all
 * S. Each thread has a sample every 997 microseconds of its own CPU time, more or less, as with
 * `collect app -p hi`. Stacks are numbered by the collector's hash. The collector shortens only
 * stacks that end in another whole stack, whose leaf would have to be a call instruction: none
 * here.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "bench/generated_load.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECTS 64u
#define FRAMES_MIN 5u
#define PLACES 16u /* of a function */
#define DEPTH_MAX 250u
#define BLOCK_BYTES 65536u
#define FLOWS 16u
#define TICK_US 997u
#define TYPE_CLOCK 8u
#define TYPE_FRAME 11u
#define TYPE_EMPTY 0u
#define TYPE_CLOSED 65535u
#define R UINT64_C(801425552975190205) /* of the collector's hash */
#define FIRST_TID 5000u
#define RUN_NS UINT64_C(1396060615583)
#define NONE UINT32_MAX

struct function {
	uint64_t address; /* where it was loaded */
	uint64_t size;
};

struct object {
	char path[4096];
	bool is_called;
	uint64_t base;
};

struct settings {
	struct load load;
	struct object objects[OBJECTS];
	uint32_t n_objects;
};

struct functions {
	struct function *items; /* owned */
	size_t n, cap;
};

/* An active call: the position in its caller, and the called function. */
struct call {
	uint64_t site; /* an address in the caller's function */
	uint32_t caller, function, depth;
};

struct stack {
	uint64_t leaf;
	uint64_t uid; /* of the record; 0: not written yet */
	uint32_t call;
};

struct stacks {
	struct call *calls;   /* owned */
	struct stack *stacks; /* owned */
	uint32_t n_calls, n;
};

/* A file of blocks; each flow fills its own. */
struct block_file {
	FILE *file;
	uint64_t n_blocks;
	struct block {
		uint64_t number;
		uint32_t used; /* 0: none yet */
		uint8_t bytes[BLOCK_BYTES];
	} flows[FLOWS];
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static FILE *create(const char *directory, const char *name)
{
	char path[4200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	if (file == NULL)
		fail(path);
	return file;
}

static void finish(FILE *file)
{
	if (ferror(file) || fclose(file) != 0)
		fail("write");
}

/* Text files are blocks too: the rest of the last one is zeros. */
static void finish_text(FILE *file)
{
	long n = ftell(file);

	while (n++ % BLOCK_BYTES != 0)
		putc(0, file);
	finish(file);
}

/* --- the program --- */

static void add_symbols(struct functions *functions, const struct object *object, Elf *elf, Elf_Scn *section,
			const Elf64_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const Elf64_Sym *symbols = data != NULL ? data->d_buf : NULL;
	size_t n = data != NULL ? data->d_size / sizeof(*symbols) : 0;

	for (size_t i = 0; i < n; i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbols[i].st_name);

		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_size < 16 ||
		    symbols[i].st_shndx == SHN_UNDEF || name == NULL || name[0] == '\0')
			continue;
		if (ctx_grow(&functions->items, &functions->cap, functions->n + 1, NULL) != CTX_OK)
			fail("memory");
		functions->items[functions->n++] = (struct function){
			.address = object->base + symbols[i].st_value, .size = symbols[i].st_size};
	}
}

/* The functions of .symtab, or of .dynsym if there is none. */
static void read_object(struct functions *functions, const struct object *object)
{
	int fd CTX_AUTO_CLOSE = open(object->path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL, *found = NULL;
	Elf64_Shdr found_header = {0};

	while (elf != NULL && (section = elf_nextscn(elf, section)) != NULL) {
		const Elf64_Shdr *header = elf64_getshdr(section);

		if (header == NULL)
			break;
		if (header->sh_type == SHT_SYMTAB || (header->sh_type == SHT_DYNSYM && found == NULL)) {
			found = section;
			found_header = *header;
		}
	}
	if (found == NULL) {
		fprintf(stderr, "gen_gprofng: %s: no symbols\n", object->path);
		exit(1);
	}
	add_symbols(functions, object, elf, found, &found_header);
	elf_end(elf);
}

/* The segments as the loader maps them. */
static void map_object(FILE *file, const struct object *object)
{
	int fd CTX_AUTO_CLOSE = open(object->path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	const Elf64_Phdr *headers = elf != NULL ? elf64_getphdr(elf) : NULL;
	size_t n = 0;

	if (headers == NULL || elf_getphdrnum(elf, &n) != 0) {
		fprintf(stderr, "gen_gprofng: %s: no segments\n", object->path);
		exit(1);
	}
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *header = &headers[i];
		uint64_t in_page = header->p_vaddr % 4096;
		bool writable = (header->p_flags & PF_W) != 0;
		unsigned modes = 1u | (writable ? 2u : 0u) | ((header->p_flags & PF_X) != 0 ? 4u : 0u);

		if (header->p_type != PT_LOAD)
			continue;
		fprintf(file,
			"<event kind=\"map\" object=\"segment\" tstamp=\"0.000444369\" vaddr=\"0x%016" PRIX64
			"\" size=\"%" PRIu64 "\" pagesz=\"4096\" foffset=\"+0x%08" PRIX64
			"\" modes=\"0x%03X\" chksum=\"%s\" name=\"%s\"/>\n",
			object->base + header->p_vaddr - in_page,
			(in_page + header->p_filesz + 4095) / 4096 * 4096, header->p_offset - in_page, modes,
			writable ? "0x0" : "0xFFFFFFFF", object->path);
	}
	elf_end(elf);
}

/* --- stacks --- */

/* Calls and samples are at a few fixed places of a function. */
static uint64_t address_in(const struct functions *functions, uint32_t function, uint64_t *random)
{
	const struct function *item = &functions->items[function];

	return item->address + next_random(random) % PLACES * (item->size / PLACES);
}

/*
 * A new call is mostly made from the last one, so that stacks are deep, else from any other. Every
 * second of the latter calls the same function as the other call, from another place of the same
 * caller.
 */
static void make_call(const struct settings *settings, const struct functions *functions, uint64_t *random,
		      struct stacks *stacks)
{
	uint32_t number = stacks->n_calls++, caller = number != 0 ? number - 1 : NONE;
	struct call *call = &stacks->calls[number];

	call->function = (uint32_t)(next_random(random) % functions->n);
	if (number > FRAMES_MIN && next_random(random) % 10 < 4) {
		caller = (uint32_t)(next_random(random) % number);
		if (next_random(random) % 2 == 0 && stacks->calls[caller].depth > FRAMES_MIN) {
			call->function = stacks->calls[caller].function;
			caller = stacks->calls[caller].caller;
		}
	}
	while (caller != NONE && stacks->calls[caller].depth >= settings->load.depth)
		caller = stacks->calls[caller].caller;
	call->caller = caller;
	call->depth = caller != NONE ? stacks->calls[caller].depth + 1 : 1;
	if (caller != NONE)
		call->site = address_in(functions, stacks->calls[caller].function, random);
}

static void make_stacks(const struct settings *settings, const struct functions *functions, uint64_t *random,
			struct stacks *ret)
{
	uint32_t n = (uint32_t)settings->load.stacks, n_calls = n / 3 + FRAMES_MIN + 1;

	ret->calls = ctx_calloc(n_calls, sizeof(*ret->calls));
	ret->stacks = ctx_calloc(n, sizeof(*ret->stacks));
	if (ret->calls == NULL || ret->stacks == NULL)
		fail("memory");
	while (ret->n_calls < n_calls)
		make_call(settings, functions, random, ret);
	while (ret->n < n) {
		uint32_t call = (uint32_t)(next_random(random) % n_calls);

		if (ret->calls[call].depth < FRAMES_MIN)
			continue;
		ret->stacks[ret->n++] = (struct stack){
			.call = call, .leaf = address_in(functions, ret->calls[call].function, random)};
	}
}

/* --- blocks --- */

static void put_u16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

static void put_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void put_u64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void write_block(struct block_file *to, const struct block *block)
{
	if (fseek(to->file, (long)(block->number * BLOCK_BYTES), SEEK_SET) != 0 ||
	    fwrite(block->bytes, BLOCK_BYTES, 1, to->file) != 1)
		fail("write");
}

/* A header for the rest of a block. */
static void put_rest(struct block *block, uint32_t type)
{
	if (block->used == BLOCK_BYTES)
		return;
	put_u16(block->bytes + block->used, BLOCK_BYTES - block->used);
	put_u16(block->bytes + block->used + 2, type);
}

/* Room for a record of `n` bytes, including its header. */
static uint8_t *put_record(struct block_file *to, uint32_t flow, uint32_t type, size_t n)
{
	struct block *block = &to->flows[flow];
	uint8_t *at;

	if (block->used != 0 && block->used + n > BLOCK_BYTES) {
		put_rest(block, TYPE_CLOSED);
		write_block(to, block);
		block->used = 0;
	}
	if (block->used == 0) {
		memset(block->bytes, 0, sizeof(block->bytes));
		block->number = to->n_blocks++;
	}
	at = block->bytes + block->used;
	block->used += (uint32_t)n;
	put_u16(at, n);
	put_u16(at + 2, type);
	put_rest(block, TYPE_EMPTY);
	return at;
}

static void finish_blocks(struct block_file *to)
{
	for (uint32_t i = 0; i < FLOWS; i++) {
		if (to->flows[i].used != 0)
			write_block(to, &to->flows[i]);
	}
	finish(to->file);
}

static uint64_t hash(const uint64_t *frames, uint32_t n, uint64_t seed)
{
	while (n != 0)
		seed = (seed + frames[--n]) * R;
	return seed;
}

/*
 * A record with one info: the native stack. Each has its own number, by the same hash with another
 * seed.
 */
static void store_stack(const struct stacks *stacks, struct stack *stack, struct block_file *to,
			uint32_t flow)
{
	uint64_t frames[DEPTH_MAX] = {stack->leaf};
	uint32_t n = 1, bytes;
	uint8_t *record;

	for (uint32_t i = stack->call; stacks->calls[i].caller != NONE; i = stacks->calls[i].caller)
		frames[n++] = stacks->calls[i].site;
	stack->uid = hash(frames, n, R);
	bytes = 32 + n * 8u;
	record = put_record(to, flow, TYPE_FRAME, bytes);
	put_u32(record + 4, 16);
	put_u64(record + 8, stack->uid);
	put_u32(record + 16, bytes - 16);
	put_u32(record + 20, 1);
	put_u64(record + 24, hash(frames, n, 1));
	memcpy(record + 32, frames, n * sizeof(*frames));
}

/* --- samples --- */

/* Returns the time of the last one, relative to the run. */
static uint64_t write_samples(const struct settings *settings, struct stacks *stacks, uint64_t *random)
{
	struct block_file *profile = ctx_calloc(1, sizeof(*profile));
	struct block_file *frames = ctx_calloc(1, sizeof(*frames));
	uint64_t last_ns = 0;

	if (profile == NULL || frames == NULL)
		fail("memory");
	profile->file = create(settings->load.path, "profile");
	frames->file = create(settings->load.path, "data.frameinfo");
	for (uint64_t i = 0; i < settings->load.samples; i++) {
		uint32_t thread = (uint32_t)(i % settings->load.threads), tid = FIRST_TID + thread;
		uint32_t flow = tid % FLOWS;
		struct stack *stack = &stacks->stacks[pick_stack(&settings->load, i, random)];
		uint64_t time_ns = (i / settings->load.threads + 1) * TICK_US * 1000 + thread * 13000u +
				   next_random(random) % 400000;
		uint8_t *record;

		if (stack->uid == 0)
			store_stack(stacks, stack, frames, flow);
		record = put_record(profile, flow, TYPE_CLOCK, 56);
		put_u64(record + 8, tid);
		put_u64(record + 16, tid);
		put_u32(record + 24, thread % 2);
		put_u64(record + 28, RUN_NS + time_ns);
		put_u64(record + 36, stack->uid);
		put_u32(record + 44, 10);
		put_u32(record + 48, 1);
		if (time_ns > last_ns)
			last_ns = time_ns;
	}
	finish_blocks(profile);
	finish_blocks(frames);
	free(profile);
	free(frames);
	return last_ns;
}

/* --- the other files --- */

/*
 * Resources at the start and once a second: records of 504 bytes with a time, and CPU time so far.
 */
static uint32_t write_overview(const struct settings *settings, uint64_t end_ns)
{
	FILE *file = create(settings->load.path, "overview");
	uint32_t n = (uint32_t)(end_ns / 1000000000) + 2;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t at_ns = i + 1 < n ? i * UINT64_C(1000000000) : end_ns;
		uint64_t now_ns = RUN_NS + at_ns, used_ns = at_ns * settings->load.threads;
		uint8_t record[504] = {0};

		put_u32(record, FIRST_TID);
		put_u32(record + 4, 1);
		put_u64(record + 8, now_ns / 1000000000);
		put_u64(record + 16, now_ns % 1000000000);
		put_u64(record + 24, RUN_NS / 1000000000);
		put_u64(record + 32, RUN_NS % 1000000000);
		put_u64(record + 56, at_ns / 1000000000);
		put_u64(record + 64, at_ns % 1000000000);
		put_u64(record + 72, used_ns / 1000000000);
		put_u64(record + 80, used_ns % 1000000000);
		if (fwrite(record, sizeof(record), 1, file) != 1)
			fail("overview");
	}
	finish(file);
	return n;
}

static const char log_head[] = "<experiment version=\"12.4\">\n"
			       "<collector>2.40.00</collector>\n"
			       "</experiment>\n"
			       "<system hostname=\"generated\" arch=\"x86_64\" os=\"Linux 6.1\" "
			       "pagesz=\"4096\" npages=\"4096000\">\n"
			       "  <cpu id=\"0\" clk=\"2499\"/>\n"
			       "  <cpu id=\"1\" clk=\"2499\"/>\n"
			       "</system>\n"
			       "<process pid=\"5000\"></process>\n"
			       "<process ppid=\"4999\"></process>\n"
			       "<process cwd=\"/\"></process>\n"
			       "<process wsize=\"64\"></process>\n"
			       "<process stackbase=\"0x0\"></process>\n";

static const char log_profile[] =
	"  <profdata fname=\"profile\"/>\n"
	"  <profpckt kind=\"8\" uname=\"Clock profiling data\">\n"
	"    <field name=\"LWPID\" uname=\"Lightweight process id\" offset=\"8\" type=\"INT64\"/>\n"
	"    <field name=\"THRID\" uname=\"Thread number\" offset=\"16\" type=\"INT64\"/>\n"
	"    <field name=\"CPUID\" uname=\"CPU id\" offset=\"24\" type=\"INT32\"/>\n"
	"    <field name=\"TSTAMP\" uname=\"High resolution timestamp\" offset=\"28\" type=\"INT64\"/>\n"
	"    <field name=\"FRINFO\" offset=\"36\" type=\"INT64\"/>\n"
	"    <field name=\"MSTATE\" uname=\"Thread state\" offset=\"44\" type=\"INT32\"/>\n"
	"    <field name=\"NTICK\" uname=\"Duration\" offset=\"48\" type=\"INT32\"/>\n"
	"  </profpckt>\n"
	"</profile>\n";

static void put_time(FILE *file, const char *before, uint64_t ns, const char *behind)
{
	fprintf(file, "%s%" PRIu64 ".%09" PRIu64 "%s", before, ns / 1000000000, ns % 1000000000, behind);
}

static void write_log(const struct settings *settings, uint64_t end_ns, uint32_t n_usage)
{
	FILE *file = create(settings->load.path, "log.xml");

	fputs(log_head, file);
	fprintf(file, "<process>%s</process>\n", settings->objects[0].path);
	fputs("<dataptr name=\"frameinfo\" format=\"binary\"/>\n<setting sample_period=\"1\"/>\n", file);
	put_time(file, "<event kind=\"run\" tstamp=\"", RUN_NS, "\" time=\"1795229706\" tm_zone=\"0\"/>\n");
	fprintf(file, "<profile name=\"profile\" ptimer=\"%u\" numstates=\"1\">\n%s", TICK_US, log_profile);
	for (uint32_t i = 0; i < n_usage; i++) {
		put_time(file, "<event kind=\"sample\" tstamp=\"",
			 i + 1 < n_usage ? i * UINT64_C(1000000000) : end_ns, "\"");
		fprintf(file, " id=\"%u\" label=\"periodic\"/>\n", i);
	}
	put_time(file, "<event kind=\"run\" tstamp=\"", RUN_NS, "\" time=\"1795229706\" tm_zone=\"0\"/>\n");
	put_time(file, "<event kind=\"exit\" tstamp=\"", end_ns, "\"/>\n");
	finish_text(file);
}

static void write_maps(const struct settings *settings)
{
	FILE *file = create(settings->load.path, "map.xml");

	for (uint32_t i = 0; i < settings->n_objects; i++)
		map_object(file, &settings->objects[i]);
	finish_text(file);
}

static void generate(struct settings *settings)
{
	uint64_t random = settings->load.seed * 2 + 1, end_ns;
	struct functions functions = {0};
	struct stacks stacks = {0};
	char archives[4200];

	for (uint32_t i = 0; i < settings->n_objects; i++) {
		struct object *object = &settings->objects[i];

		object->base = i == 0 ? UINT64_C(0x555555554000)
				      : UINT64_C(0x7ffff0000000) + i * UINT64_C(0x8000000);
		if (object->is_called)
			read_object(&functions, object);
	}
	make_stacks(settings, &functions, &random, &stacks);
	snprintf(archives, sizeof(archives), "%s/archives", settings->load.path);
	if (mkdir(settings->load.path, 0777) != 0 || mkdir(archives, 0777) != 0)
		fail(settings->load.path);
	end_ns = write_samples(settings, &stacks, &random) + 1000000;
	write_log(settings, end_ns, write_overview(settings, end_ns));
	write_maps(settings);
	free(functions.items);
	free(stacks.calls);
	free(stacks.stacks);
}

static bool add_object(struct settings *settings, const char *path, bool is_called)
{
	struct object *object = &settings->objects[settings->n_objects];

	if (settings->n_objects == OBJECTS || realpath(path, object->path) == NULL)
		return false;
	object->is_called = is_called;
	settings->n_objects++;
	return true;
}

static bool parse(int argc, char **argv, struct settings *settings)
{
	static const struct option options[] = {
		LOAD_OPTIONS,
		{"object", required_argument, NULL, 'f'},
		{"map", required_argument, NULL, 'm'},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		if (take_load_option(&settings->load, option, optarg))
			continue;
		if ((option != 'f' && option != 'm') || !add_object(settings, optarg, option == 'f'))
			return false;
	}
	if (settings->n_objects == 0 && !add_object(settings, "/proc/self/exe", true))
		return false;
	return settings->load.samples != 0 && settings->load.threads != 0 && settings->load.stacks != 0 &&
	       settings->load.stacks <= UINT32_MAX / 4 && settings->load.depth >= FRAMES_MIN &&
	       settings->load.depth <= DEPTH_MAX;
}

int main(int argc, char **argv)
{
	static struct settings settings = {.load = {.samples = 100000,
						    .stacks = 5000,
						    .seed = 1,
						    .threads = 4,
						    .depth = 60,
						    .path = "generated.er"}};

	elf_version(EV_CURRENT);
	if (!parse(argc, argv, &settings)) {
		fprintf(stderr, "gen_gprofng: a file that cannot be read, or a number out of range\n");
		return 1;
	}
	generate(&settings);
	return 0;
}
