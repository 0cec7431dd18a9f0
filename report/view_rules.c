#include "report/view_rules.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "model/code_kind_of.h"

#include <stdlib.h>
#include <string.h>

enum naming {
	ITSELF,
	MERGED,	 /* functions of the same name and load object are one */
	SYMBOL,	 /* the name that its code has in the load object */
	LABELED, /* `label` */
};

enum language {
	ANY, /* the rule holds in every profile */
	JAVA,
	PYTHON,
};

struct kind_rule {
	enum ctx_view_action action;
	bool drops, absorbs, strong;
	enum naming naming;
	enum language only; /* with functions of this language; else the frame stays */
	const char *label;  /* of LABELED */
};

/* Kinds without a row stay as they are. */
static const struct kind_rule user_rules[CTX_CODE_N] = {
	[CTX_CODE_JAVA] = {.action = CTX_VIEW_METHOD, .drops = true, .absorbs = true, .naming = MERGED},
	[CTX_CODE_JAVA_INTERPRETED] = {.action = CTX_VIEW_METHOD,
				       .drops = true,
				       .absorbs = true,
				       .naming = MERGED},
	[CTX_CODE_JAVA_COMPILED] = {.action = CTX_VIEW_METHOD,
				    .drops = true,
				    .absorbs = true,
				    .naming = MERGED},
	[CTX_CODE_JAVA_INLINED] = {.action = CTX_VIEW_METHOD,
				   .drops = true,
				   .absorbs = true,
				   .naming = MERGED},
	[CTX_CODE_JAVA_NATIVE] = {.action = CTX_VIEW_METHOD,
				  .drops = true,
				  .absorbs = true,
				  .naming = MERGED},
	[CTX_CODE_JVM] = {.action = CTX_VIEW_LEAF,
			  .drops = true,
			  .naming = LABELED,
			  .only = JAVA,
			  .label = "<JVM-System>"},
	[CTX_CODE_JVM_MISSING] = {.action = CTX_VIEW_LEAF,
				  .drops = true,
				  .strong = true,
				  .naming = LABELED,
				  .label = "<no Java callstack recorded>"},
	[CTX_CODE_PYTHON] = {.action = CTX_VIEW_METHOD, .drops = true, .absorbs = true},
	[CTX_CODE_PYTHON_VM] = {.action = CTX_VIEW_LEAF,
				.drops = true,
				.naming = LABELED,
				.only = PYTHON,
				.label = "<Python-System>"},
	[CTX_CODE_PYTHON_EVAL] = {.action = CTX_VIEW_LEAF,
				  .drops = true,
				  .strong = true,
				  .naming = LABELED,
				  .only = PYTHON,
				  .label = "<no Python callstack recorded>"},
	[CTX_CODE_OMP_RUNTIME] = {.action = CTX_VIEW_LEAF, .naming = LABELED, .label = "<OMP-overhead>"},
	[CTX_CODE_OMP_OUTLINED] = {.action = CTX_VIEW_METHOD},
	[CTX_CODE_OMP_SHARE] = {.naming = MERGED},
	[CTX_CODE_OMP_STATE] = {.action = CTX_VIEW_LEAF, .strong = true, .naming = MERGED},
	[CTX_CODE_OMP_SPAN] = {.action = CTX_VIEW_LEAF, .strong = true, .naming = MERGED},
	[CTX_CODE_GRAFT] = {.action = CTX_VIEW_GRAFT},
};

static const struct kind_rule expert_rules[CTX_CODE_N] = {
	[CTX_CODE_JAVA] = {.naming = MERGED},
	[CTX_CODE_JAVA_INTERPRETED] = {.naming = MERGED},
	[CTX_CODE_JAVA_COMPILED] = {.naming = MERGED},
	[CTX_CODE_JAVA_INLINED] = {.naming = MERGED},
	[CTX_CODE_JAVA_NATIVE] = {.naming = MERGED},
	[CTX_CODE_JVM_MISSING] = {.naming = LABELED, .label = "<no Java callstack recorded>"},
	[CTX_CODE_OMP_SHARE] = {.naming = MERGED},
	[CTX_CODE_OMP_STATE] = {.action = CTX_VIEW_HIDE},
	[CTX_CODE_GRAFT] = {.action = CTX_VIEW_HIDE},
};

static const struct kind_rule machine_rules[CTX_CODE_N] = {
	[CTX_CODE_JAVA] = {.naming = SYMBOL},
	[CTX_CODE_JAVA_INTERPRETED] = {.naming = LABELED, .label = "Interpreter"},
	[CTX_CODE_JAVA_COMPILED] = {.naming = SYMBOL},
	[CTX_CODE_JAVA_INLINED] = {.action = CTX_VIEW_HIDE},
	[CTX_CODE_JAVA_NATIVE] = {.naming = SYMBOL},
	[CTX_CODE_JVM_MISSING] = {.action = CTX_VIEW_HIDE},
	[CTX_CODE_PYTHON] = {.action = CTX_VIEW_HIDE},
	[CTX_CODE_OMP_OUTLINED] = {.naming = SYMBOL},
	[CTX_CODE_OMP_STATE] = {.action = CTX_VIEW_HIDE},
	[CTX_CODE_OMP_SHARE] = {.action = CTX_VIEW_HIDE},
	[CTX_CODE_GRAFT] = {.action = CTX_VIEW_RESTART},
};

static const struct kind_rule *rules_of(enum ctx_view view)
{
	return view == CTX_VIEW_USER ? user_rules : view == CTX_VIEW_MACHINE ? machine_rules : expert_rules;
}

enum ctx_view ctx_view_of(const struct ctx_profile *profile, enum ctx_view asked)
{
	bool java = false, machine = false;

	if (asked != CTX_VIEW_DEFAULT)
		return asked;
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		if (profile->functions[i].code_kind == CTX_CODE_PYTHON ||
		    profile->functions[i].code_kind == CTX_CODE_OMP_SPAN)
			return CTX_VIEW_USER;
		java |= ctx_code_is_java(profile->functions[i].code_kind);
		machine |=
			profile->functions[i].code_kind == CTX_CODE_NATIVE && profile->functions[i].size != 0;
	}
	return java && machine ? CTX_VIEW_USER : CTX_VIEW_EXPERT;
}

/* What is being made. */
struct making {
	struct ctx_view_rules *rules;
	const struct ctx_profile *profile;
	enum ctx_code_kind *kinds; /* by function */
	bool has[PYTHON + 1];	   /* by language */
	struct ctx_strtab merged;  /* names with objects; `first` is by id */
	uint32_t *first;	   /* function */
	size_t first_cap, functions_cap;
	struct ctx_strtab labels;
	uint32_t *label_of; /* by id of a label: its function */
	size_t label_cap;
};

static void making_deinit(struct making *making)
{
	free(making->kinds);
	ctx_strtab_deinit(&making->merged);
	free(making->first);
	ctx_strtab_deinit(&making->labels);
	free(making->label_of);
}

static enum ctx_status find_kinds(struct making *making, struct ctx_err *err)
{
	making->kinds = ctx_calloc((size_t)making->profile->n_functions + 1, sizeof(*making->kinds));
	if (making->kinds == NULL)
		return ctx_err_nomem(err);
	making->has[ANY] = true;
	for (uint32_t i = 0; i < making->profile->n_functions; i++) {
		making->kinds[i] = ctx_code_kind_of(making->profile, i);
		making->has[JAVA] |= ctx_code_is_java(making->kinds[i]);
		making->has[PYTHON] |= making->kinds[i] == CTX_CODE_PYTHON;
	}
	return CTX_OK;
}

/* The number of a name in a load object; a new one if the table has grown. */
static enum ctx_status number_name(struct ctx_strtab *names, uint32_t object, const char *name, uint32_t *ret,
				   struct ctx_err *err)
{
	struct ctx_buf key CTX_AUTO_BUF = {0};
	enum ctx_status status;

	ctx_buf_put_u32(&key, object);
	ctx_buf_put_text(&key, name);
	status = ctx_buf_check(&key, err);
	return status == CTX_OK ? ctx_strtab_add(names, (const char *)key.bytes, key.n, ret, err) : status;
}

/* The function that stands for all of the name: compiled, if one is, since it has code. */
static enum ctx_status merge(struct making *making, uint32_t function, uint32_t *ret, struct ctx_err *err)
{
	const struct ctx_function_info *info = &making->profile->functions[function];
	size_t n = making->merged.n;
	uint32_t id;
	enum ctx_status status = number_name(&making->merged, info->object, info->name, &id, err);

	if (status == CTX_OK)
		status = ctx_grow(&making->first, &making->first_cap, making->merged.n, err);
	if (status != CTX_OK)
		return status;
	if (making->merged.n > n || (making->kinds[function] == CTX_CODE_JAVA_COMPILED &&
				     making->kinds[making->first[id]] != CTX_CODE_JAVA_COMPILED))
		making->first[id] = function;
	*ret = id;
	return CTX_OK;
}

/* A function of the view alone, without code; `like` NULL: of no load object. */
static enum ctx_status add_label(struct making *making, const char *name,
				 const struct ctx_function_info *like, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_view_rules *rules = making->rules;
	size_t n = making->labels.n;
	const char *text;
	uint32_t id;
	enum ctx_status status =
		number_name(&making->labels, like != NULL ? like->object : CTX_NONE, name, &id, err);

	if (status == CTX_OK)
		status = ctx_grow(&making->label_of, &making->label_cap, making->labels.n, err);
	if (status == CTX_OK)
		status = ctx_grow(&rules->functions, &making->functions_cap, rules->n_functions + 1, err);
	if (status != CTX_OK)
		return status;
	if (making->labels.n > n) {
		text = ctx_arena_strdup(&rules->arena, name);
		if (text == NULL)
			return ctx_err_nomem(err);
		making->label_of[id] = rules->n_functions;
		rules->functions[rules->n_functions++] = (struct ctx_function_info){
			.name = text,
			.linkage_name = text,
			.aliases = "",
			.parts = "",
			.object = like != NULL ? like->object : CTX_NONE,
			.offset = like != NULL ? like->offset : 0,
			.size = like != NULL ? like->size : 0,
			.kind = name[0] == '<' ? CTX_FUNCTION_ARTIFICIAL : CTX_FUNCTION_ORDINARY,
		};
	}
	*ret = making->label_of[id];
	return CTX_OK;
}

static enum ctx_status name_it(struct making *making, const struct kind_rule *from, uint32_t function,
			       uint32_t *ret_key, struct ctx_err *err)
{
	const struct ctx_function_info *info = &making->profile->functions[function];

	if (from->naming == LABELED)
		return add_label(making, from->label, NULL, ret_key, err);
	if (from->naming == SYMBOL && strcmp(info->name, info->linkage_name) != 0)
		return add_label(making, info->linkage_name, info, ret_key, err);
	return from->naming == MERGED ? merge(making, function, ret_key, err) : CTX_OK;
}

static enum ctx_status make_rules(struct making *making, const struct kind_rule *table, struct ctx_err *err)
{
	struct ctx_view_rule *rules = making->rules->of_function;
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < making->profile->n_functions && status == CTX_OK; i++) {
		const struct kind_rule *from = &table[making->kinds[i]];
		enum ctx_function_kind kind = making->profile->functions[i].kind;

		rules[i] = (struct ctx_view_rule){.key = i};
		if (making->kinds[i] == CTX_CODE_NATIVE &&
		    (kind == CTX_FUNCTION_TRUNCATED || kind == CTX_FUNCTION_ARTIFICIAL))
			rules[i].action = CTX_VIEW_MARK;
		if (making->kinds[i] == CTX_CODE_NATIVE || !making->has[from->only])
			continue;
		rules[i] = (struct ctx_view_rule){.key = i,
						  .action = from->action,
						  .drops = from->drops,
						  .absorbs = from->absorbs,
						  .strong = from->strong};
		status = name_it(making, from, i, &rules[i].key, err);
	}
	/* Which function stands for a name is known when all were seen. */
	for (uint32_t i = 0; i < making->profile->n_functions && status == CTX_OK; i++) {
		const struct kind_rule *from = &table[making->kinds[i]];

		if (from->naming == MERGED)
			rules[i].key = making->first[rules[i].key];
		making->rules->changes |= rules[i].key != i || (rules[i].action != CTX_VIEW_KEEP &&
								rules[i].action != CTX_VIEW_MARK);
	}
	return status;
}

enum ctx_status ctx_view_rules_make(struct ctx_view_rules *rules, const struct ctx_profile *profile,
				    enum ctx_view view, struct ctx_err *err)
{
	struct making making CTX_CLEANUP(making_deinit) = {.rules = rules, .profile = profile};
	enum ctx_status status = CTX_OK;

	*rules =
		(struct ctx_view_rules){.n_given = profile->n_functions, .n_functions = profile->n_functions};
	rules->of_function = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*rules->of_function));
	if (rules->of_function == NULL)
		return ctx_err_nomem(err);
	status = ctx_grow(&rules->functions, &making.functions_cap, (size_t)profile->n_functions + 1, err);
	if (status == CTX_OK && profile->n_functions != 0)
		memcpy(rules->functions, profile->functions,
		       profile->n_functions * sizeof(*rules->functions));
	if (status == CTX_OK)
		status = find_kinds(&making, err);
	return status == CTX_OK ? make_rules(&making, rules_of(view), err) : status;
}

void ctx_view_rules_deinit(struct ctx_view_rules *rules)
{
	free(rules->of_function);
	free(rules->functions);
	ctx_arena_deinit(&rules->arena);
	*rules = (struct ctx_view_rules){0};
}
