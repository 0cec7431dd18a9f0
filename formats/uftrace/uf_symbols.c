#include "formats/uftrace/uf_symbols.h"

#include "base/bisect.h"
#include "base/digits.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "formats/uftrace/uf_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILD_ID "build-id:"

void ctx_uf_symbols_deinit(struct ctx_uf_symbols *symbols)
{
	for (size_t i = 0; i < symbols->n_spaces; i++) {
		free(symbols->spaces[i].maps);
		ctx_map64_deinit(&symbols->spaces[i].known);
	}
	free(symbols->spaces);
	for (size_t i = 0; i < symbols->n_tables; i++)
		free(symbols->tables[i].items);
	free(symbols->tables);
	ctx_map64_deinit(&symbols->table_of);
	ctx_arena_deinit(&symbols->arena);
	*symbols = (struct ctx_uf_symbols){0};
}

/* Maps */

/* The table of an object, not read yet. */
static enum ctx_status find_table(struct ctx_uf_symbols *symbols, const char *path, const char *build_id,
				  uint32_t *ret, struct ctx_err *err)
{
	uint64_t key = ctx_xxh3(path, strlen(path)) * 31 + ctx_xxh3(build_id, strlen(build_id));
	uint32_t *place = ctx_map64_place(&symbols->table_of, key);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		struct ctx_uf_table table = {.path = ctx_arena_strdup(&symbols->arena, path),
					     .build_id = ctx_arena_strdup(&symbols->arena, build_id)};

		*place = (uint32_t)symbols->n_tables;
		if (table.path == NULL || table.build_id == NULL)
			return ctx_err_nomem(err);
		status = ctx_grow(&symbols->tables, &symbols->tables_cap, symbols->n_tables + 1, err);
		if (status != CTX_OK)
			return status;
		symbols->tables[symbols->n_tables++] = table;
	}
	*ret = *place;
	return CTX_OK;
}

/* The next word of a line, which ends there from then on; NULL: none. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " ");
	size_t n = strcspn(word, " ");

	if (n == 0)
		return NULL;
	*at = word + n + (word[n] != '\0');
	word[n] = '\0';
	return word;
}

struct map_line {
	uint64_t begin, end;
	const char *path, *build_id;
};

/* False: not a line of a mapped file. */
static bool take_map(char *line, struct map_line *ret)
{
	const char *range;
	char *path, *build_id;

	for (unsigned i = 0; i < 5; i++) { /* range, protection, offset, device, inode */
		const char *word = next_word(&line);

		if (word == NULL)
			return false;
		if (i != 0)
			continue;
		range = word;
		if (!ctx_digits_take(&range, 16, &ret->begin) || *range++ != '-' ||
		    !ctx_digits_take(&range, 16, &ret->end) || *range != '\0' || ret->end <= ret->begin)
			return false;
	}
	path = line + strspn(line, " ");
	build_id = strstr(path, " " BUILD_ID);
	ret->build_id = "";
	if (build_id != NULL) {
		*build_id = '\0';
		ret->build_id = build_id + strlen(" " BUILD_ID);
	}
	ret->path = path;
	return path[0] == '/';
}

static int compare_maps(const void *a, const void *b)
{
	const struct ctx_uf_map *one = a, *other = b;

	return one->begin < other->begin ? -1 : one->begin > other->begin;
}

/* Lines of a file that follow each other are one map. */
static enum ctx_status add_map(struct ctx_uf_symbols *symbols, struct ctx_uf_space *space,
			       const struct map_line *line, struct ctx_err *err)
{
	struct ctx_uf_map map = {line->begin, line->end, 0};
	struct ctx_uf_map *last = space->n != 0 ? &space->maps[space->n - 1] : NULL;
	enum ctx_status status = CTX_OK;

	if (last != NULL && strcmp(symbols->tables[last->table].path, line->path) == 0 &&
	    last->end <= line->begin) {
		last->end = line->end;
		return CTX_OK;
	}
	status = find_table(symbols, line->path, line->build_id, &map.table, err);
	if (status == CTX_OK)
		status = ctx_grow(&space->maps, &space->cap, space->n + 1, err);
	if (status == CTX_OK)
		space->maps[space->n++] = map;
	return status;
}

static enum ctx_status read_space(struct ctx_uf_symbols *symbols, size_t session,
				  struct ctx_source_notes *notes, struct ctx_err *err)
{
	struct ctx_uf_space *space = &symbols->spaces[session];
	struct ctx_uf_text text CTX_CLEANUP(ctx_uf_text_deinit) = {0};
	char name[32 + CTX_UF_SID_MAX];
	char *path CTX_AUTO_FREE = NULL, *line;
	enum ctx_status status;

	snprintf(name, sizeof(name), "sid-%s.map", symbols->tasks->sessions[session].sid);
	path = ctx_path_join(symbols->directory, name);
	status = path != NULL ? ctx_uf_text_read(&text, path, err) : ctx_err_nomem(err);
	if (status == CTX_E_NOTFOUND)
		return ctx_source_notes_damage(notes, err, "%s is missing: its functions have no names",
					       name);
	while (status == CTX_OK && (line = ctx_uf_text_line(&text)) != NULL) {
		struct map_line map;

		if (take_map(line, &map))
			status = add_map(symbols, space, &map, err);
	}
	if (status == CTX_OK && space->n != 0)
		qsort(space->maps, space->n, sizeof(*space->maps), compare_maps);
	return status;
}

enum ctx_status ctx_uf_symbols_read(struct ctx_uf_symbols *symbols, const char *directory,
				    const struct ctx_uf_tasks *tasks, struct ctx_source_notes *notes,
				    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	symbols->directory = directory;
	symbols->tasks = tasks;
	symbols->spaces = ctx_calloc(tasks->n_sessions + 1, sizeof(*symbols->spaces));
	if (symbols->spaces == NULL)
		return ctx_err_nomem(err);
	symbols->n_spaces = tasks->n_sessions;
	for (size_t i = 0; i < symbols->n_spaces && status == CTX_OK; i++)
		status = read_space(symbols, i, notes, err);
	return status;
}

void ctx_uf_symbols_open_library(struct ctx_uf_symbols *symbols, uint32_t library)
{
	struct ctx_uf_space *space = &symbols->spaces[symbols->tasks->libraries[library].session];

	space->n_libraries = library + 1;
	ctx_map64_clear(&space->known);
}

/* Tables */

/* "ADDRESS [SIZE] TYPE NAME". False: none. */
static bool take_symbol(const char *line, struct ctx_uf_symbol *ret)
{
	uint64_t size = 0;

	if (!ctx_digits_take(&line, 16, &ret->begin) || *line++ != ' ')
		return false;
	if (*line >= '0' && *line <= '9' && (!ctx_digits_take(&line, 16, &size) || *line++ != ' '))
		return false;
	if (*line == '\0' || line[1] != ' ' || line[2] == '\0')
		return false;
	ret->type = line[0];
	ret->end = ret->begin + size;
	ret->name = line + 2;
	return ret->end >= ret->begin && strchr("?TtwPKDdvu", ret->type) != NULL;
}

static bool is_end(const struct ctx_uf_symbol *symbol)
{
	return symbol->type == '?' || strcmp(symbol->name, "__sym_end") == 0 ||
	       strcmp(symbol->name, "__dynsym_end") == 0 || strcmp(symbol->name, "__func_end") == 0;
}

/* Appends it, unless it is another name of the one before, and ends that one. */
static enum ctx_status add_symbol(struct ctx_uf_symbols *symbols, struct ctx_uf_table *table,
				  struct ctx_uf_symbol *symbol, struct ctx_err *err)
{
	struct ctx_uf_symbol *last = table->n != 0 ? &table->items[table->n - 1] : NULL;
	enum ctx_status status;

	if (last != NULL && last->begin == symbol->begin && last->type == symbol->type)
		return CTX_OK;
	if (last != NULL && last->end == last->begin && symbol->begin > last->begin)
		last->end = symbol->begin;
	if (is_end(symbol))
		return CTX_OK;
	status = ctx_grow(&table->items, &table->cap, table->n + 1, err);
	if (status != CTX_OK)
		return status;
	symbol->name = ctx_arena_strdup(&symbols->arena, symbol->name);
	if (symbol->name == NULL)
		return ctx_err_nomem(err);
	symbol->function = CTX_NONE;
	table->items[table->n++] = *symbol;
	return CTX_OK;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct ctx_uf_symbol *one = a, *other = b;

	return one->begin < other->begin ? -1 : one->begin > other->begin;
}

/* Is the text one of this object's symbols, by its comments? Without them it is. */
static bool is_of(const struct ctx_buf *bytes, const struct ctx_uf_table *table)
{
	static const char path_key[] = "# path name: ", id_key[] = "# build-id: ";
	const char *at = (const char *)bytes->bytes, *end = at + bytes->n;
	bool is_path = true, is_id = true;

	while (at < end && *at == '#') {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)(line_end - at);

		if (n > strlen(path_key) && strncmp(at, path_key, strlen(path_key)) == 0)
			is_path = strlen(table->path) == n - strlen(path_key) &&
				  strncmp(at + strlen(path_key), table->path, n - strlen(path_key)) == 0;
		if (n > strlen(id_key) && strncmp(at, id_key, strlen(id_key)) == 0 &&
		    table->build_id[0] != '\0')
			is_id = strncmp(at + strlen(id_key), table->build_id, n - strlen(id_key)) == 0;
		at = line_end + 1;
	}
	return is_path && is_id;
}

/* Of several objects of the same name the others' files have four digits in theirs: of the build id, or of the path. */
static void other_name(const struct ctx_uf_table *table, char *ret, size_t size)
{
	uint16_t sum = 0;

	for (const char *at = table->path; *at != '\0'; at++)
		sum = (uint16_t)(sum + (unsigned char)*at);
	if (table->build_id[0] != '\0')
		snprintf(ret, size, "%s-%.4s.sym", ctx_path_base(table->path), table->build_id);
	else
		snprintf(ret, size, "%s-%04x.sym", ctx_path_base(table->path), sum);
}

/* CTX_END: the directory has none. */
static enum ctx_status open_table(const struct ctx_uf_symbols *symbols, const struct ctx_uf_table *table,
				  struct ctx_uf_text *ret, struct ctx_err *err)
{
	char name[512];

	for (int i = 0; i < 2; i++) {
		char *path CTX_AUTO_FREE = NULL;
		enum ctx_status status;

		if (i == 0)
			snprintf(name, sizeof(name), "%s.sym", ctx_path_base(table->path));
		else
			other_name(table, name, sizeof(name));
		path = ctx_path_join(symbols->directory, name);
		if (path == NULL)
			return ctx_err_nomem(err);
		ctx_uf_text_deinit(ret);
		status = ctx_uf_text_read(ret, path, err);
		if (status == CTX_OK && is_of(&ret->bytes, table))
			return CTX_OK;
		if (status != CTX_OK && status != CTX_E_NOTFOUND)
			return status;
	}
	return CTX_END;
}

static enum ctx_status read_table(struct ctx_uf_symbols *symbols, struct ctx_uf_table *table,
				  struct ctx_err *err)
{
	struct ctx_uf_text text CTX_CLEANUP(ctx_uf_text_deinit) = {0};
	char *line;
	enum ctx_status status = open_table(symbols, table, &text, err);

	table->is_read = true;
	while (status == CTX_OK && (line = ctx_uf_text_line(&text)) != NULL) {
		struct ctx_uf_symbol symbol;

		line[strcspn(line, "\t")] = '\0'; /* a kernel module follows */
		if (line[0] != '#' && take_symbol(line, &symbol))
			status = add_symbol(symbols, table, &symbol, err);
	}
	if (table->n != 0)
		qsort(table->items, table->n, sizeof(*table->items), compare_symbols);
	return status < 0 ? status : CTX_OK;
}

/* What is found at an address. */
struct found {
	struct ctx_uf_symbol *symbol; /* NULL: none */
	uint32_t table;
};

/* Finds the symbol at an address of an object that begins at `base`; `found->table` is given. */
static enum ctx_status find_symbol(struct ctx_uf_symbols *symbols, uint64_t base, uint64_t address,
				   struct found *found, struct ctx_err *err)
{
	struct ctx_uf_table *table = &symbols->tables[found->table];
	size_t i;

	if (!table->is_read) {
		enum ctx_status status = read_table(symbols, table, err);

		if (status != CTX_OK)
			return status;
	}
	if (table->n == 0)
		return CTX_OK;
	if (table->items[0].begin < base) /* else they are addresses in memory */
		address -= base;
	i = ctx_count_up_to(table->items, table->n, begin, address);
	if (i != 0 && address < table->items[i - 1].end)
		found->symbol = &table->items[i - 1];
	return CTX_OK;
}

/* In the session's maps, else in its libraries, the last one first. */
static enum ctx_status look_up(struct ctx_uf_symbols *symbols, uint32_t session, uint64_t address,
			       struct found *ret, struct ctx_err *err)
{
	struct ctx_uf_space *space = &symbols->spaces[session];
	size_t i = ctx_count_up_to(space->maps, space->n, begin, address);

	*ret = (struct found){0};
	if (i != 0 && address < space->maps[i - 1].end) {
		ret->table = space->maps[i - 1].table;
		return find_symbol(symbols, space->maps[i - 1].begin, address, ret, err);
	}
	for (size_t k = space->n_libraries; k-- > 0 && ret->symbol == NULL;) {
		const struct ctx_uf_library *library = &symbols->tasks->libraries[k];
		enum ctx_status status;

		if (library->session != session || library->base > address)
			continue;
		status = find_table(symbols, library->path, "", &ret->table, err);
		if (status == CTX_OK)
			status = find_symbol(symbols, library->base, address, ret, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

enum ctx_status ctx_uf_symbols_find(struct ctx_uf_symbols *symbols, uint32_t session, uint64_t address,
				    struct ctx_uf_place *ret, struct ctx_err *err)
{
	struct found found;
	struct ctx_uf_symbol *symbol;
	uint32_t *place;
	enum ctx_status status;

	*ret = (struct ctx_uf_place){.function = CTX_UF_NAMELESS};
	if (session >= symbols->n_spaces)
		return CTX_OK;
	place = ctx_map64_place(&symbols->spaces[session].known, address);
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place != CTX_MAP64_NONE) {
		ret->function = *place;
		return CTX_OK;
	}
	*place = CTX_UF_NAMELESS;
	status = look_up(symbols, session, address, &found, err);
	symbol = found.symbol;
	if (status != CTX_OK || symbol == NULL)
		return status;
	if (symbol->function == CTX_NONE) {
		if (symbols->n_functions >= CTX_UF_NAMELESS - 1)
			return ctx_err_set(err, CTX_E_LIMIT, "more than 4 G functions");
		symbol->function = symbols->n_functions++;
		ret->is_new = symbol;
		ret->module = symbols->tables[found.table].path;
	}
	*place = ret->function = symbol->function;
	return CTX_OK;
}
