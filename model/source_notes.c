#include "model/source_notes.h"

#include "base/mem.h"

#include <stdio.h>

void ctx_source_notes_deinit(struct ctx_source_notes *notes)
{
	free(notes->items);
	free(notes->properties);
	ctx_arena_deinit(&notes->arena);
	*notes = (struct ctx_source_notes){0};
}

enum ctx_status ctx_source_notes_property(struct ctx_source_notes *notes, const char *key, const char *text,
					  struct ctx_err *err)
{
	struct ctx_property property;
	enum ctx_status status;

	if (text[0] == '\0')
		return CTX_OK;
	status = ctx_grow(&notes->properties, &notes->properties_cap, notes->n_properties + 1, err);
	if (status != CTX_OK)
		return status;
	property.key = ctx_arena_strdup(&notes->arena, key);
	property.value = ctx_arena_strdup(&notes->arena, text);
	if (property.key == NULL || property.value == NULL)
		return ctx_err_nomem(err);
	notes->properties[notes->n_properties++] = property;
	return CTX_OK;
}

static enum ctx_status add(struct ctx_source_notes *notes, enum ctx_event_kind kind, const char *text,
			   struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&notes->items, &notes->cap, notes->n + 1, err);
	const char *copy;

	if (status != CTX_OK)
		return status;
	copy = ctx_arena_strdup(&notes->arena, text);
	if (copy == NULL)
		return ctx_err_nomem(err);
	notes->items[notes->n++] = (struct ctx_source_note){kind, copy};
	return CTX_OK;
}

enum ctx_status ctx_source_notes_warn(struct ctx_source_notes *notes, struct ctx_err *err, const char *fmt,
				      ...)
{
	char text[CTX_ERR_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return add(notes, CTX_EV_WARNING, text, err);
}

enum ctx_status ctx_source_notes_damage(struct ctx_source_notes *notes, struct ctx_err *err, const char *fmt,
					...)
{
	char text[CTX_ERR_MAX];
	va_list args;

	if (notes->n_damage++ >= CTX_SOURCE_DAMAGE_MAX)
		return CTX_OK;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return add(notes, CTX_EV_DAMAGE, text, err);
}

enum ctx_status ctx_source_notes_end(struct ctx_source_notes *notes, struct ctx_err *err)
{
	char text[64];

	if (notes->n_damage <= CTX_SOURCE_DAMAGE_MAX)
		return CTX_OK;
	snprintf(text, sizeof(text), "and %llu more such places",
		 (unsigned long long)(notes->n_damage - CTX_SOURCE_DAMAGE_MAX));
	return add(notes, CTX_EV_DAMAGE, text, err);
}

bool ctx_source_notes_take(struct ctx_source_notes *notes, struct ctx_event *ret)
{
	if (notes->at == notes->n)
		return false;
	*ret = (struct ctx_event){.kind = notes->items[notes->at].kind, .text = notes->items[notes->at].text};
	notes->at++;
	return true;
}
