#include "symbols/clones.h"

#include "base/mem.h"
#include "base/xxh.h"
#include "symbols/demangle.h"

#include <string.h>

/* Compilers add two or three suffixes; more occur only in damaged files. */
#define SUFFIXES_MAX 8

/* Limit of functions of one name in one object: with more the owner of a part is ambiguous. */
#define CANDIDATES_MAX 1000

struct ctx_clones_name {
	uint32_t text;	/* offset in the set's text */
	uint32_t entry; /* entry with this name or alias */
	uint32_t next;	/* of the same hash; index + 1, 0 none */
};

enum suffix { NO_SUFFIX, CLONE, RENAMED };

void ctx_clones_deinit(struct ctx_clones *clones)
{
	free(clones->names);
	free(clones->heads);
	*clones = (struct ctx_clones){0};
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(text, word, n) == 0;
}

static const char *last_dot(const char *name, size_t n)
{
	return memrchr(name, '.', n);
}

/*
 * The kind of the last suffix of a name of `n` bytes; `*ret_base` is the length of the name before
 * it, never 0.
 */
static enum suffix last_suffix(const char *name, size_t n, size_t *ret_base)
{
	static const char *const clones[] = {"cold", "part", "isra", "constprop", "clone"};
	const char *end = name + n;
	const char *dot = last_dot(name, n);
	const char *word;

	if (dot == NULL || dot == name)
		return NO_SUFFIX;
	*ret_base = (size_t)(dot - name);
	if (is_word(dot + 1, (size_t)(end - dot - 1), "cold"))
		return CLONE;
	if (dot + 1 == end || strspn(dot + 1, "0123456789") < (size_t)(end - dot - 1))
		return NO_SUFFIX;
	word = last_dot(name, *ret_base);
	if (word == NULL || word == name)
		return NO_SUFFIX;
	*ret_base = (size_t)(word - name);
	for (size_t i = 0; i < CTX_COUNT_OF(clones); i++) {
		if (is_word(word + 1, (size_t)(dot - word - 1), clones[i]))
			return CLONE;
	}
	return is_word(word + 1, (size_t)(dot - word - 1), "lto_priv") ||
			       is_word(word + 1, (size_t)(dot - word - 1), "llvm")
		       ? RENAMED
		       : NO_SUFFIX;
}

static uint32_t *head_of(const struct ctx_clones *clones, const char *name, size_t n)
{
	return &clones->heads[ctx_xxh3(name, n) & (clones->head_n - 1)];
}

static void add_name(struct ctx_clones *clones, const struct ctx_symset *set, uint32_t text, uint32_t entry,
		     uint32_t *n)
{
	uint32_t *head = head_of(clones, set->text + text, strlen(set->text + text));

	clones->names[*n] = (struct ctx_clones_name){.text = text, .entry = entry, .next = *head};
	*head = ++*n;
}

static enum ctx_status index_names(struct ctx_clones *clones, const struct ctx_symset *set,
				   struct ctx_err *err)
{
	size_t count = 0;
	size_t head_n = 1;
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->n; i++)
		count += 1 + (size_t)set->entries[i].alias_count;
	while (head_n < count)
		head_n *= 2;
	clones->names = ctx_calloc(count, sizeof(*clones->names));
	clones->heads = ctx_calloc(head_n, sizeof(*clones->heads));
	if (clones->names == NULL || clones->heads == NULL) {
		ctx_clones_deinit(clones);
		return ctx_err_nomem(err);
	}
	clones->head_n = head_n;
	for (uint32_t i = 0; i < set->n; i++) {
		const struct ctx_symset_entry *entry = &set->entries[i];
		uint32_t alias = entry->aliases;

		if (entry->name != 0)
			add_name(clones, set, entry->name, i, &n);
		for (uint32_t k = 0; k < entry->alias_count; k++) {
			add_name(clones, set, alias, i, &n);
			alias += (uint32_t)strlen(set->text + alias) + 1;
		}
	}
	return CTX_OK;
}

/* The unique entry that a clone's base name refers to, UINT32_MAX none or ambiguous. */
static uint32_t find_base(const struct ctx_clones *clones, const struct ctx_symset *set,
			  const struct ctx_symset_entry *clone, const char *name, size_t n)
{
	uint32_t found = UINT32_MAX, in_file = UINT32_MAX;
	size_t found_n = 0, in_file_n = 0;
	uint32_t next;

	for (uint32_t at = *head_of(clones, name, n); at != 0; at = next) {
		const struct ctx_clones_name *candidate = &clones->names[at - 1];
		const struct ctx_symset_entry *entry = &set->entries[candidate->entry];
		const char *text = set->text + candidate->text;

		next = candidate->next;
		if (strncmp(text, name, n) != 0 || text[n] != '\0' ||
		    strcmp(set->text + entry->module, set->text + clone->module) != 0)
			continue;
		found = candidate->entry;
		if (++found_n > CANDIDATES_MAX)
			return UINT32_MAX;
		if (entry->file != 0 && entry->file == clone->file) {
			in_file = candidate->entry;
			in_file_n++;
		}
	}
	if (in_file_n == 1)
		return in_file;
	/* The only one, unless it is local to another file. */
	if (found_n == 1 && (set->entries[found].file == 0 || clone->file == 0))
		return found;
	return UINT32_MAX;
}

/*
 * The nearest entry that an entry is a part of: for foo.isra.0.cold it is foo.isra.0, or foo if
 * there is no such function. UINT32_MAX none.
 */
static uint32_t find_parent(const struct ctx_clones *clones, const struct ctx_symset *set, uint32_t index)
{
	const struct ctx_symset_entry *entry = &set->entries[index];
	const char *name = set->text + entry->name;
	uint32_t found = UINT32_MAX;
	size_t n = strlen(name);

	for (int i = 0; i < SUFFIXES_MAX && found == UINT32_MAX && last_suffix(name, n, &n) == CLONE; i++)
		found = find_base(clones, set, entry, name, n);
	return found;
}

enum ctx_status ctx_clones_find(struct ctx_clones *clones, const struct ctx_symset *set, uint32_t index,
				uint32_t *ret_whole, struct ctx_err *err)
{
	const char *name = set->text + set->entries[index].name;
	enum ctx_status status;
	uint32_t at = index;
	size_t ignored;

	*ret_whole = index;
	if (last_suffix(name, strlen(name), &ignored) != CLONE)
		return CTX_OK;
	if (clones->head_n == 0) {
		status = index_names(clones, set, err);
		if (status != CTX_OK)
			return status;
	}
	/* Aliases can make two clones parts of each other: then neither is. */
	for (int i = 0; i < SUFFIXES_MAX; i++) {
		uint32_t parent = find_parent(clones, set, at);

		if (parent == UINT32_MAX || parent == at) {
			*ret_whole = at;
			return CTX_OK;
		}
		at = parent;
	}
	return CTX_OK;
}

bool ctx_clones_readable(const char *name, struct ctx_buf *out)
{
	size_t base = strlen(name);
	size_t ends[SUFFIXES_MAX];
	enum suffix kinds[SUFFIXES_MAX];
	char *linkage CTX_AUTO_FREE = NULL;
	const char *between = " [";
	size_t n = 0;

	while (n < SUFFIXES_MAX) {
		ends[n] = base;
		kinds[n] = last_suffix(name, base, &base);
		if (kinds[n] == NO_SUFFIX)
			break;
		n++;
	}
	if (n == 0)
		return false;
	base = n < SUFFIXES_MAX ? ends[n] : base;
	linkage = ctx_memdup0(name, base);
	if (linkage == NULL) {
		out->failed = true;
		return true;
	}
	if (!ctx_demangle(linkage, out))
		ctx_buf_put_text(out, linkage);
	while (n-- > 0) {
		/* The hash in foo.llvm.1234 is of no use to readers. */
		if (strncmp(name + base, ".llvm.", 6) != 0) {
			ctx_buf_put_text(out, between);
			ctx_buf_put(out, name + base + 1, ends[n] - base - 1);
			between = ".";
		}
		base = ends[n];
	}
	if (between[0] == '.')
		ctx_buf_put_u8(out, ']');
	return true;
}
