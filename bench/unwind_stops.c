/*
 * Unwinds stopped threads with our unwinder, and compares with what a debugger made of them.
 *
 *	unwind_stops [-v] FILE...
 *
 * A file has lines (tests/flow/unwind_gdb.py writes them; numbers are hexadecimal):
 *	maps				forgets the mappings
 *	map BEGIN END OFFSET PATH	an executable mapping; a PATH without a slash is beside the file
 *	stop CASE			a stopped thread
 *	regs RAX RDX ... RIP		in DWARF's order
 *	stack ADDRESS WORD...		its stack, without gaps
 *	outermost			only the outermost part of the stack is there
 *	frame ADDRESS NAME		the debugger's frames, leaf first, as addresses that are looked up
 *
 * For each case it prints how many stops
 *	same		have the same frames
 *	further		ours goes on to the root; the debugger's stack is the beginning of it, or is so up to a function
 *			without call frame information, from where the debugger guesses
 *	ended		ours is the beginning of the debugger's, which goes on to what is no code, or follows no call
 *	differ		otherwise; -v prints them
 * Of an outermost part, the frames from the root on must be the debugger's. Exit status 1: some differ.
 */
#include "base/mem.h"
#include "formats/experiment/exp_archive.h"
#include "unwind/code_cache.h"
#include "unwind/outer_chain.h"
#include "unwind/return_address.h"
#include "unwind/table_cache.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_FRAMES 4096u
#define STACK_WORDS 16384u
#define REGISTERS 17u
#define CASES_MAX 64u

struct map {
	uint64_t begin, end, offset;
	const struct ctx_cfi_table *table;
	int file; /* -1: its code cannot be read */
};

struct tally {
	char name[64];
	unsigned same, further, ended, differ;
};

struct stops {
	struct ctx_table_cache tables;
	struct ctx_code_cache *code;
	struct map *maps;
	size_t n_maps, maps_cap;
	const char *path; /* of the file that is read */
	char name[64];	  /* "": no stop yet */
	struct ctx_user_state state;
	bool outermost;
	uint64_t words[STACK_WORDS], address; /* of the first */
	size_t n_words;
	uint64_t theirs[MAX_FRAMES];
	char names[MAX_FRAMES][48];
	size_t n_theirs;
	struct ctx_unwind_frame ours[MAX_FRAMES];
	size_t n_ours;
	struct tally tallies[CASES_MAX];
	size_t n_tallies;
	bool verbose;
};

static const struct map *map_of(const struct stops *stops, uint64_t pc)
{
	for (size_t i = 0; i < stops->n_maps; i++) {
		if (pc >= stops->maps[i].begin && pc < stops->maps[i].end)
			return &stops->maps[i];
	}
	return NULL;
}

static bool find(void *context, uint64_t pc, struct ctx_unwind_object *ret)
{
	const struct map *map = map_of(context, pc);
	uint64_t address;

	if (map == NULL)
		return false;
	*ret = (struct ctx_unwind_object){.begin = map->begin, .end = map->end, .code = map->begin};
	if (map->table == NULL ||
	    !ctx_cfi_table_address(map->table, map->offset + (pc - map->begin), &address))
		return true;
	ret->table = map->table;
	ret->bias = pc - address;
	return true;
}

static size_t read_code(void *context, uint64_t address, uint8_t *out, size_t n)
{
	const struct map *map = map_of(context, address);
	ssize_t got;

	if (map == NULL || map->file < 0)
		return 0;
	n = n < map->end - address ? n : map->end - address;
	got = pread(map->file, out, n, (off_t)(map->offset + (address - map->begin)));
	return got > 0 ? (size_t)got : 0;
}

static struct ctx_unwind_space space_of(struct stops *stops)
{
	return (struct ctx_unwind_space){
		.find = find, .read_code = read_code, .context = stops, .cache = stops->code};
}

/* --- comparison --- */

static struct tally *tally_of(struct stops *stops)
{
	for (size_t i = 0; i < stops->n_tallies; i++) {
		if (strcmp(stops->tallies[i].name, stops->name) == 0)
			return &stops->tallies[i];
	}
	if (stops->n_tallies == CASES_MAX)
		return &stops->tallies[CASES_MAX - 1];
	memcpy(stops->tallies[stops->n_tallies].name, stops->name, sizeof(stops->name));
	return &stops->tallies[stops->n_tallies++];
}

static void show(const struct stops *stops, enum ctx_truncation reason)
{
	size_t n = stops->n_ours > stops->n_theirs ? stops->n_ours : stops->n_theirs;

	printf("-- %s: ours %zu (%s), the debugger's %zu\n", stops->name, stops->n_ours,
	       reason == CTX_TRUNCATED_NOT ? "root" : ctx_truncation_text(reason), stops->n_theirs);
	for (size_t i = 0; i < n; i++) {
		uint64_t ours = i < stops->n_ours ? stops->ours[i].address : 0;
		uint64_t theirs = i < stops->n_theirs ? stops->theirs[i] : 0;

		printf("  %016" PRIx64 " %016" PRIx64 " %s %s\n", ours, theirs, ours == theirs ? " " : "*",
		       i < stops->n_theirs ? stops->names[i] : "");
	}
}

static bool follows_call(struct stops *stops, uint64_t pc)
{
	struct ctx_unwind_space space = space_of(stops);

	return ctx_unwind_follows_call(&space, pc);
}

/* A pc that nothing has called is not looked up in front of it by ours. */
static bool is_same(struct stops *stops, size_t i)
{
	uint64_t ours = stops->ours[i].address;

	return ours == stops->theirs[i] ||
	       (i > 0 && ours == stops->theirs[i] + 1 && !follows_call(stops, ours));
}

/* Whether the debugger goes on with what is none: no code, or behind no call, at the latest at its end. */
static bool goes_astray(struct stops *stops)
{
	for (size_t i = stops->n_ours; i < stops->n_theirs; i++) {
		uint64_t next = stops->theirs[i] + 1;

		if (map_of(stops, next - 1) == NULL || !follows_call(stops, next))
			return true;
	}
	return false;
}

/* How many frames are the same, from the leaf on. */
static size_t count_same(struct stops *stops)
{
	size_t n = 0;

	while (n < stops->n_ours && n < stops->n_theirs && is_same(stops, n))
		n++;
	return n;
}

/*
 * Whether the debugger guesses from the last of the first `n` frames on: nothing describes it, as code of a
 * JIT compiler.
 */
static bool guesses(struct stops *stops, size_t n)
{
	struct ctx_unwind_space space = space_of(stops);
	uint64_t begin, end;

	return n != 0 && !ctx_outer_chain_function(&space, stops->theirs[n - 1], &begin, &end);
}

static void compare_whole(struct stops *stops)
{
	struct ctx_unwind_space space = space_of(stops);
	struct tally *tally = tally_of(stops);
	enum ctx_truncation reason =
		ctx_unwind(&space, &stops->state, stops->ours, MAX_FRAMES, &stops->n_ours);
	size_t same = count_same(stops);
	bool root = reason == CTX_TRUNCATED_NOT;

	if (same == stops->n_ours && same == stops->n_theirs) {
		tally->same++;
	} else if (same == stops->n_ours && goes_astray(stops)) {
		tally->ended++;
	} else if (root && (same == stops->n_theirs || guesses(stops, same))) {
		tally->further++;
	} else {
		tally->differ++;
		if (stops->verbose)
			show(stops, reason);
	}
}

static void compare_outermost(struct stops *stops)
{
	struct ctx_unwind_space space = space_of(stops);
	struct ctx_outer_window window = {
		.bytes = (const uint8_t *)stops->words, .n = stops->n_words * 8, .address = stops->address};
	struct tally *tally = tally_of(stops);
	size_t n = ctx_outer_chain_find(&space, &window, stops->ours, MAX_FRAMES), less;

	stops->n_ours = n;
	if (n >= 3 && n <= stops->n_theirs) {
		less = stops->n_theirs - n;
		memmove(stops->theirs, stops->theirs + less, n * sizeof(*stops->theirs));
		memmove(stops->names, stops->names + less, n * sizeof(*stops->names));
		stops->n_theirs = n;
		if (count_same(stops) == n) {
			tally->same++;
			return;
		}
	}
	tally->differ++;
	if (stops->verbose)
		show(stops, CTX_TRUNCATED_NOT);
}

static void finish(struct stops *stops)
{
	if (stops->name[0] == '\0')
		return;
	stops->state.stack = (const uint8_t *)stops->words;
	stops->state.stack_bytes = stops->n_words * 8;
	if (stops->outermost)
		compare_outermost(stops);
	else
		compare_whole(stops);
	stops->name[0] = '\0';
}

/* --- reading --- */

static void forget_maps(struct stops *stops)
{
	for (size_t i = 0; i < stops->n_maps; i++) {
		if (stops->maps[i].file >= 0)
			close(stops->maps[i].file);
	}
	stops->n_maps = 0;
}

static bool take_vdso(struct stops *stops, struct map *map)
{
	struct ctx_table_image image = {.key = "[vdso]"};
	char build_id[CTX_BUILDID_TEXT];
	const uint8_t *bytes;

	map->file = -1;
	if (!ctx_exp_own_vdso(&bytes, &image.n, build_id))
		return false;
	image.bytes = bytes;
	return ctx_table_cache_get_image(&stops->tables, &image, &map->table, NULL) == CTX_OK;
}

static bool take_map(struct stops *stops, const char *text)
{
	char path[4096], full[8192];
	struct map map = {.file = -1};
	const char *slash = strrchr(stops->path, '/');

	if (sscanf(text, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %4095[^\n]", &map.begin, &map.end, &map.offset,
		   path) != 4)
		return false;
	if (strcmp(path, "[vdso]") == 0) {
		if (!take_vdso(stops, &map))
			return true;
	} else {
		if (strchr(path, '/') == NULL && slash != NULL)
			snprintf(full, sizeof(full), "%.*s/%s", (int)(slash - stops->path), stops->path,
				 path);
		else
			snprintf(full, sizeof(full), "%s", path);
		if (ctx_table_cache_get(&stops->tables, &(struct ctx_table_file){full, full, ""}, &map.table,
					NULL) != CTX_OK)
			map.table = NULL;
		map.file = open(full, O_RDONLY | O_CLOEXEC);
	}
	if (ctx_grow(&stops->maps, &stops->maps_cap, stops->n_maps + 1, NULL) != CTX_OK)
		return false;
	stops->maps[stops->n_maps++] = map;
	return true;
}

static bool take_regs(struct stops *stops, char *text)
{
	stops->state.regs = (struct ctx_user_regs){.machine = CTX_MACHINE_X86_64,
						   .valid = (UINT64_C(1) << REGISTERS) - 1};
	for (unsigned i = 0; i < REGISTERS; i++) {
		char *end;

		stops->state.regs.value[i] = strtoull(text, &end, 16);
		if (end == text)
			return false;
		text = end;
	}
	return true;
}

static bool take_stack(struct stops *stops, char *text)
{
	uint64_t address = strtoull(text, &text, 16);

	if (stops->n_words == 0)
		stops->address = address;
	if (address != stops->address + 8 * stops->n_words)
		return false;
	for (char *end; stops->n_words < STACK_WORDS; text = end) {
		uint64_t word = strtoull(text, &end, 16);

		if (end == text)
			break;
		stops->words[stops->n_words++] = word;
	}
	return true;
}

static bool take_frame(struct stops *stops, char *text)
{
	char *name;

	if (stops->n_theirs == MAX_FRAMES)
		return true;
	stops->theirs[stops->n_theirs] = strtoull(text, &name, 16);
	snprintf(stops->names[stops->n_theirs], sizeof(stops->names[0]), "%.47s", name);
	stops->names[stops->n_theirs][strcspn(stops->names[stops->n_theirs], "\n")] = '\0';
	stops->n_theirs++;
	return true;
}

static bool take_line(struct stops *stops, char *line)
{
	char *rest = line + strcspn(line, " \n");

	if (strncmp(line, "map ", 4) == 0)
		return take_map(stops, rest);
	if (strncmp(line, "regs ", 5) == 0)
		return take_regs(stops, rest);
	if (strncmp(line, "stack ", 6) == 0)
		return take_stack(stops, rest);
	if (strncmp(line, "frame ", 6) == 0)
		return take_frame(stops, rest);
	if (strcmp(line, "outermost\n") == 0) {
		stops->outermost = true;
		return true;
	}
	finish(stops);
	if (strcmp(line, "maps\n") == 0) {
		forget_maps(stops);
		return true;
	}
	stops->n_words = stops->n_theirs = 0;
	stops->outermost = false;
	return sscanf(line, "stop %63s", stops->name) == 1;
}

static bool read_file(struct stops *stops, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0, number = 0;
	bool good = file != NULL;

	stops->path = path;
	while (good && getline(&line, &size, file) >= 0) {
		number++;
		good = take_line(stops, line);
	}
	if (!good)
		fprintf(stderr, "unwind_stops: %s: line %zu is not understood\n", path, number);
	else
		finish(stops);
	free(line);
	if (file != NULL)
		fclose(file);
	return good;
}

static int print(const struct stops *stops)
{
	struct tally all = {.name = "all"};

	for (size_t i = 0; i < stops->n_tallies; i++) {
		const struct tally *one = &stops->tallies[i];

		printf("%s: same %u, further %u, ended %u, differ %u\n", one->name, one->same, one->further,
		       one->ended, one->differ);
		all.same += one->same;
		all.further += one->further;
		all.ended += one->ended;
		all.differ += one->differ;
	}
	printf("all: same %u, further %u, ended %u, differ %u\n", all.same, all.further, all.ended,
	       all.differ);
	return all.differ != 0 || stops->n_tallies == 0;
}

int main(int argc, char **argv)
{
	static struct stops stops;
	int first = argc > 1 && strcmp(argv[1], "-v") == 0 ? 2 : 1;
	bool good = ctx_code_cache_create(&stops.code, NULL) == CTX_OK;
	int status;

	if (argc <= first) {
		fprintf(stderr, "usage: %s [-v] FILE...\n", argv[0]);
		return 2;
	}
	stops.verbose = first == 2;
	for (int i = first; i < argc && good; i++)
		good = read_file(&stops, argv[i]);
	status = good ? print(&stops) : 2;
	forget_maps(&stops);
	free(stops.maps);
	ctx_code_cache_destroy(stops.code);
	ctx_table_cache_deinit(&stops.tables);
	return status;
}
