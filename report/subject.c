#include "report/subject.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/strtab.h"
#include "report/part_cells.h"

#include <string.h>

void ctx_subject_deinit(struct ctx_subject *subject)
{
	free(subject->owner_of);
	free(subject->owners);
	*subject = (struct ctx_subject){0};
}

/* Whether two functions have the same name and object, inlined or not. */
static bool is_same(const struct ctx_profile *profile, uint32_t a, uint32_t b)
{
	const struct ctx_function_info *left = &profile->functions[a], *right = &profile->functions[b];
	size_t n = ctx_function_plain_length(left);

	return left->object == right->object && n == ctx_function_plain_length(right) &&
	       strncmp(left->name, right->name, n) == 0;
}

/*
 * Static functions of one name are distinguished by their ids; inlined instances go with the first
 * of their name.
 */
static uint32_t find_owner(const struct ctx_profile *profile, const struct ctx_subject *subject,
			   uint32_t function)
{
	for (uint32_t i = 0; i < subject->n; i++) {
		uint32_t owner = subject->owners[i];

		if ((profile->functions[owner].inlined || profile->functions[function].inlined) &&
		    is_same(profile, owner, function))
			return i;
	}
	return CTX_NONE;
}

static enum ctx_status make(size_t n, bool is_file, struct ctx_subject *ret, struct ctx_err *err)
{
	*ret = (struct ctx_subject){.owner_of = ctx_calloc(n + 1, sizeof(uint32_t)),
				    .owners = ctx_calloc(n + 1, sizeof(uint32_t)),
				    .is_file = is_file};
	if (ret->owner_of == NULL || ret->owners == NULL) {
		ctx_subject_deinit(ret);
		return ctx_err_nomem(err);
	}
	memset(ret->owner_of, 0xff, (n + 1) * sizeof(uint32_t));
	return CTX_OK;
}

static void add(struct ctx_subject *subject, uint32_t id, uint32_t owner)
{
	if (owner == CTX_NONE) {
		owner = subject->n++;
		subject->owners[owner] = id;
	}
	subject->owner_of[id] = owner;
}

/* Functions that are not inlined come first, so that they are the owners. */
static void add_functions(const struct ctx_code_view *view, const char *name, uint32_t like,
			  struct ctx_subject *subject)
{
	const struct ctx_profile *profile = view->profile;

	for (int inlined = 0; inlined < 2; inlined++) {
		for (uint32_t i = 0; i < profile->n_functions; i++) {
			bool meant = name != NULL ? ctx_function_matches(profile, i, name)
						  : i == like || (profile->functions[i].inlined !=
									  profile->functions[like].inlined &&
								  is_same(profile, i, like));

			if (meant && profile->functions[i].inlined == (inlined != 0))
				add(subject, i, find_owner(profile, subject, i));
		}
	}
}

static bool file_matches(const char *path, const char *text)
{
	size_t n = strlen(path), want = strlen(text);

	return want != 0 && n >= want && strcmp(path + n - want, text) == 0 &&
	       (n == want || text[0] == '/' || path[n - want - 1] == '/');
}

static void add_files(const struct ctx_code *code, const char *text, struct ctx_subject *subject)
{
	for (uint32_t i = 0; i < code->n_files; i++) {
		if (file_matches(code->files[i].path, text))
			add(subject, i, CTX_NONE);
	}
}

static enum ctx_status refuse(const struct ctx_code_view *view, const char *text, bool allow_files,
			      struct ctx_err *err)
{
	struct ctx_near near = {0};
	char names[640];

	for (uint32_t i = 0; i < view->profile->n_functions; i++)
		ctx_near_consider(&near, view->profile->functions[i].name,
				  ctx_function_plain_length(&view->profile->functions[i]), text,
				  strlen(text));
	for (size_t i = 0; allow_files && i < view->code->n_files; i++) {
		const char *path = view->code->files[i].path, *slash = strrchr(path, '/');
		const char *base = slash != NULL ? slash + 1 : path;

		ctx_near_consider(&near, base, strlen(base), text, strlen(text));
	}
	ctx_near_list(&near, names, sizeof(names));
	/* Names may contain commas, so a subject extends to the end of the argument. */
	return ctx_err_set(err, CTX_E_NOTFOUND, "no function%s '%.200s' in the experiment%s%s%s",
			   allow_files ? " and no source file" : "", text,
			   near.n == 0 && strchr(text, ',') != NULL
				   ? " (a subject reaches to the end of its --report: give the next report "
				     "one of its own)"
				   : "",
			   near.n != 0 ? "; like it: " : "", names);
}

enum ctx_status ctx_subject_find(const struct ctx_code_view *view, const char *text, bool allow_files,
				 struct ctx_subject *ret, struct ctx_err *err)
{
	enum ctx_status status = make(view->profile->n_functions, false, ret, err);

	if (status != CTX_OK)
		return status;
	add_functions(view, text, CTX_NONE, ret);
	if (ret->n == 0 && allow_files) {
		ctx_subject_deinit(ret);
		status = make(view->code->n_files, true, ret, err);
		if (status != CTX_OK)
			return status;
		add_files(view->code, text, ret);
	}
	if (ret->n != 0)
		return CTX_OK;
	ctx_subject_deinit(ret);
	return refuse(view, text, allow_files, err);
}

enum ctx_status ctx_subject_function(const struct ctx_code_view *view, uint32_t function,
				     struct ctx_subject *ret, struct ctx_err *err)
{
	enum ctx_status status = make(view->profile->n_functions, false, ret, err);

	if (status == CTX_OK)
		add_functions(view, NULL, function, ret);
	return status;
}

/* Functions of one object and plain name: the first of them that owns the inlined ones. */
struct namesakes {
	const struct ctx_profile *profile;
	struct ctx_strtab keys;
	uint32_t *key_of, *owner_of_key; /* owned; by function; by key: CTX_NONE none yet */
};

static void namesakes_cleanup(struct namesakes *namesakes)
{
	ctx_strtab_deinit(&namesakes->keys);
	free(namesakes->key_of);
	free(namesakes->owner_of_key);
}

static enum ctx_status find_namesakes(struct namesakes *namesakes, struct ctx_err *err)
{
	const struct ctx_profile *profile = namesakes->profile;
	struct ctx_buf key = {0};
	enum ctx_status status = CTX_OK;

	namesakes->key_of = ctx_calloc(profile->n_functions + 1, sizeof(uint32_t));
	namesakes->owner_of_key = ctx_calloc(profile->n_functions + 1, sizeof(uint32_t));
	if (namesakes->key_of == NULL || namesakes->owner_of_key == NULL)
		return ctx_err_nomem(err);
	memset(namesakes->owner_of_key, 0xff, (profile->n_functions + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < profile->n_functions && status == CTX_OK; i++) {
		const struct ctx_function_info *function = &profile->functions[i];

		ctx_buf_clear(&key);
		ctx_buf_put_u32(&key, function->object);
		ctx_buf_put(&key, function->name, ctx_function_plain_length(function));
		status = ctx_buf_check(&key, err);
		if (status == CTX_OK)
			status = ctx_strtab_add(&namesakes->keys, (const char *)key.bytes, key.n,
						&namesakes->key_of[i], err);
	}
	ctx_buf_deinit(&key);
	return status;
}

/*
 * Functions that are not inlined come first: each is an owner, and the first one of a name also
 * owns the inlined ones.
 */
static void add_lined(struct namesakes *namesakes, const bool *lined, struct ctx_subject *subject)
{
	const struct ctx_profile *profile = namesakes->profile;

	for (uint32_t i = 0; i < profile->n_functions; i++) {
		uint32_t *owner = &namesakes->owner_of_key[namesakes->key_of[i]];

		if (profile->functions[i].inlined || !lined[namesakes->key_of[i]])
			continue;
		add(subject, i, CTX_NONE);
		if (*owner == CTX_NONE)
			*owner = subject->owner_of[i];
	}
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		uint32_t *owner = &namesakes->owner_of_key[namesakes->key_of[i]];

		if (!profile->functions[i].inlined || !lined[namesakes->key_of[i]])
			continue;
		add(subject, i, *owner);
		*owner = subject->owner_of[i];
	}
}

enum ctx_status ctx_subject_lined(const struct ctx_code_view *view, struct ctx_subject *ret,
				  struct ctx_err *err)
{
	struct namesakes namesakes __attribute__((cleanup(namesakes_cleanup))) = {.profile = view->profile};
	bool *lined CTX_AUTO_FREE = ctx_calloc(view->profile->n_functions + 1, sizeof(*lined));
	enum ctx_status status = lined != NULL ? find_namesakes(&namesakes, err) : ctx_err_nomem(err);

	if (status == CTX_OK)
		status = make(view->profile->n_functions, false, ret, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < view->code->n_sites; i++) {
		const struct ctx_site *site = &view->code->sites[i];

		if (site->file != CTX_NONE && site->line != 0)
			lined[namesakes.key_of[site->function]] = true;
	}
	add_lined(&namesakes, lined, ret);
	return CTX_OK;
}
