#include "formats/experiment/exp_io_names.h"

#include "base/mem.h"
#include "model/io_call.h"
#include "model/profile.h"

#include <errno.h>
#include <string.h>

#define NAME_MAX_BYTES ((size_t)4096)	    /* of a directory and a name in it together */
#define TEXTS_MAX_BYTES ((size_t)256 << 20) /* of all; then further ones are left out */

void ctx_exp_io_descriptors_deinit(struct ctx_exp_io_descriptors *descriptors)
{
	ctx_map64_deinit(&descriptors->numbers);
	free(descriptors->bindings);
}

void ctx_exp_io_names_deinit(struct ctx_exp_io_names *names)
{
	ctx_strtab_deinit(&names->texts);
}

/* *ret: CTX_NONE where there are too many. */
static enum ctx_status intern(struct ctx_exp_io_names *names, const char *text, size_t n, uint32_t *ret,
			      struct ctx_err *err)
{
	size_t before = names->texts.n;
	enum ctx_status status;

	*ret = ctx_strtab_find(&names->texts, text, n);
	if (*ret != UINT32_MAX || names->bytes + n > TEXTS_MAX_BYTES)
		return CTX_OK; /* UINT32_MAX is CTX_NONE */
	status = ctx_strtab_add(&names->texts, text, n, ret, err);
	if (status == CTX_OK && names->texts.n != before)
		names->bytes += n + 64;
	return status;
}

static struct ctx_exp_io_binding *find(const struct ctx_exp_io_descriptors *descriptors, int64_t descriptor)
{
	uint32_t at =
		descriptor >= 0 ? ctx_map64_get(&descriptors->numbers, (uint64_t)descriptor) : CTX_MAP64_NONE;

	return at != CTX_MAP64_NONE ? &descriptors->bindings[at] : NULL;
}

static uint32_t name_of(const struct ctx_exp_io_descriptors *descriptors, int64_t descriptor)
{
	const struct ctx_exp_io_binding *binding = find(descriptors, descriptor);

	return binding != NULL ? binding->name : CTX_NONE;
}

static enum ctx_status bind(struct ctx_exp_io_descriptors *descriptors, int32_t descriptor,
			    struct ctx_exp_io_binding next, struct ctx_err *err)
{
	struct ctx_exp_io_binding *binding = find(descriptors, descriptor);
	uint32_t *place;

	if (binding != NULL) {
		next.before = binding->name;
		*binding = next;
		return CTX_OK;
	}
	if (ctx_grow(&descriptors->bindings, &descriptors->cap, descriptors->n + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	place = ctx_map64_place(&descriptors->numbers, (uint64_t)descriptor);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = (uint32_t)descriptors->n;
	next.before = CTX_NONE;
	descriptors->bindings[descriptors->n++] = next;
	return CTX_OK;
}

/* Does the name say where a file is? */
static bool is_path(enum ctx_io_call call)
{
	switch (call) {
	case CTX_CALL_OPEN:
	case CTX_CALL_OPENAT:
	case CTX_CALL_CREAT:
	case CTX_CALL_STREAM_OPEN:
	case CTX_CALL_STAT:
	case CTX_CALL_LSTAT:
	case CTX_CALL_FSTATAT:
	case CTX_CALL_STATX:
	case CTX_CALL_CHDIR:
	case CTX_CALL_OPENDIR:
		return true;
	default:
		return false;
	}
}

/* "./a/.//b" -> "a/.//b": what a shell puts in front. */
static const char *without_dots(const char *name)
{
	while (name[0] == '.' && (name[1] == '/' || name[1] == '\0')) {
		name++;
		name += strspn(name, "/");
	}
	return name;
}

/* The name that came with the operation, with the directory that it is relative to. */
static enum ctx_status resolve(struct ctx_exp_io_names *names,
			       const struct ctx_exp_io_descriptors *descriptors,
			       const struct ctx_exp_io_step *step, uint32_t *ret, struct ctx_err *err)
{
	uint32_t base = step->size != 0 && step->size <= INT32_MAX
				? name_of(descriptors, (int64_t)step->size - 1)
				: descriptors->directory - 1; /* CTX_NONE: not known */
	char joined[NAME_MAX_BYTES + 2];
	const char *directory, *name = step->name;
	size_t n, more;

	if (!is_path((enum ctx_io_call)step->call) || name[0] == '/' || base == CTX_NONE)
		return intern(names, name, strlen(name), ret, err);
	directory = ctx_strtab_get(&names->texts, base);
	name = without_dots(name);
	n = strlen(directory);
	more = strlen(name);
	if (n + more > NAME_MAX_BYTES)
		return intern(names, step->name, strlen(step->name), ret, err);
	memcpy(joined, directory, n);
	if (more != 0 && n != 0 && directory[n - 1] != '/')
		joined[n++] = '/';
	memcpy(joined + n, name, more);
	return intern(names, joined, n + more, ret, err);
}

/* The file of an operation without a name of its own. */
static uint32_t known_name(const struct ctx_exp_io_descriptors *descriptors,
			   const struct ctx_exp_io_step *step)
{
	enum ctx_io_operation operation = ctx_io_call_operation(step->call);
	const struct ctx_exp_io_binding *binding = find(descriptors, step->descriptor);

	if (operation == CTX_IO_OPEN)
		return step->size != 0 && step->size <= INT32_MAX
			       ? name_of(descriptors, (int64_t)step->size - 1)
			       : CTX_NONE;
	if (binding == NULL)
		return CTX_NONE;
	return operation == CTX_IO_CLOSE && binding->since_ns > step->begin_ns ? binding->before
									       : binding->name;
}

static void unbind(struct ctx_exp_io_descriptors *descriptors, const struct ctx_exp_io_step *step)
{
	struct ctx_exp_io_binding *binding = find(descriptors, step->descriptor);

	if (binding != NULL && binding->since_ns <= step->begin_ns)
		binding->name = CTX_NONE;
}

enum ctx_status ctx_exp_io_names_step(struct ctx_exp_io_names *names,
				      struct ctx_exp_io_descriptors *descriptors,
				      const struct ctx_exp_io_step *step, const char **ret,
				      struct ctx_err *err)
{
	enum ctx_io_operation operation = ctx_io_call_operation(step->call);
	bool connects = step->call == CTX_CALL_CONNECT && step->error == EINPROGRESS;
	bool done = step->error == 0 || connects;
	uint32_t name = CTX_NONE;
	enum ctx_status status = CTX_OK;

	if (step->name != NULL)
		status = resolve(names, descriptors, step, &name, err);
	else
		name = known_name(descriptors, step);
	if (status != CTX_OK)
		return status;
	*ret = name != CTX_NONE ? ctx_strtab_get(&names->texts, name) : NULL;
	if (!done)
		return CTX_OK;
	if (step->call == CTX_CALL_CHDIR || step->call == CTX_CALL_FCHDIR ||
	    (step->call == CTX_CALL_NAME && step->descriptor < 0))
		descriptors->directory = name + 1;
	else if (operation == CTX_IO_CLOSE)
		unbind(descriptors, step);
	else if (step->descriptor >= 0 && (operation == CTX_IO_OPEN || step->name != NULL))
		return bind(descriptors, step->descriptor,
			    (struct ctx_exp_io_binding){.since_ns = step->end_ns, .name = name}, err);
	return CTX_OK;
}
