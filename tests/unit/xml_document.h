/*
 * Documents read again with libxml2: HTML and SVG as this program writes them are XML too.
 */
#ifndef CTX_TESTS_XML_DOCUMENT_H
#define CTX_TESTS_XML_DOCUMENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

static inline xmlDoc *parse(const char *text)
{
	xmlDoc *document = xmlReadMemory(text, (int)strlen(text), "export", NULL, XML_PARSE_NONET);

	assert_non_null(document);
	return document;
}

static inline bool is(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

/* The node behind `node` in the order of the document; NULL at the end. */
static inline xmlNode *next_node(xmlNode *node)
{
	if (node->children != NULL && node->type != XML_ENTITY_REF_NODE)
		return node->children;
	while (node != NULL && node->next == NULL)
		node = node->parent;
	return node != NULL ? node->next : NULL;
}

static inline size_t count(xmlDoc *document, const char *name)
{
	size_t n = 0;

	for (xmlNode *node = xmlDocGetRootElement(document); node != NULL; node = next_node(node))
		n += is(node, name);
	return n;
}

static inline xmlNode *by_id(xmlDoc *document, const char *id)
{
	for (xmlNode *node = xmlDocGetRootElement(document); node != NULL; node = next_node(node)) {
		xmlChar *value = node->type == XML_ELEMENT_NODE ? xmlGetProp(node, BAD_CAST "id") : NULL;
		bool found = value != NULL && strcmp((const char *)value, id) == 0;

		xmlFree(value);
		if (found)
			return node;
	}
	return NULL;
}

/* Every link leads to an id of the page, no id is duplicated, nothing is loaded from elsewhere. */
static inline void check_links(xmlDoc *document)
{
	for (xmlNode *node = xmlDocGetRootElement(document); node != NULL; node = next_node(node)) {
		for (xmlAttr *attr = node->type == XML_ELEMENT_NODE ? node->properties : NULL; attr != NULL;
		     attr = attr->next) {
			const char *name = (const char *)attr->name;
			xmlChar *value = xmlNodeListGetString(document, attr->children, 1);

			assert_true(strncmp(name, "on", 2) != 0 && strcmp(name, "src") != 0);
			if (strcmp(name, "href") == 0) {
				assert_int_equal(*value, '#');
				assert_non_null(by_id(document, (const char *)value + 1));
			}
			if (strcmp(name, "id") == 0)
				assert_ptr_equal(by_id(document, (const char *)value), node);
			xmlFree(value);
		}
	}
}

#endif
