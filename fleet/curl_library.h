/*
 * libcurl, loaded when a fleet is asked for: linking it would load it, and the forty libraries that it needs, at each start of ctxan
 * (9 ms more of CPU time), and would make it a condition of installing ctxan.
 *
 * The functions are those of curl/curl.h without their "curl_".
 */
#ifndef CTX_FLEET_CURL_LIBRARY_H
#define CTX_FLEET_CURL_LIBRARY_H

#include "base/err.h"

#include <curl/curl.h>

struct ctx_curl {
	void *handle;
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *curl);
	CURLcode (*easy_setopt)(CURL *curl, CURLoption option, ...);
	CURLcode (*easy_perform)(CURL *curl);
	CURLcode (*easy_getinfo)(CURL *curl, CURLINFO info, ...);
	const char *(*easy_strerror)(CURLcode code);
	CURLU *(*url)(void);
	CURLU *(*url_dup)(const CURLU *url);
	void (*url_cleanup)(CURLU *url);
	CURLUcode (*url_get)(const CURLU *url, CURLUPart part, char **ret, unsigned flags);
	CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned flags);
	void (*free)(void *memory);
	curl_mime *(*mime_init)(CURL *curl);
	void (*mime_free)(curl_mime *mime);
	curl_mimepart *(*mime_addpart)(curl_mime *mime);
	CURLcode (*mime_name)(curl_mimepart *part, const char *name);
	CURLcode (*mime_filename)(curl_mimepart *part, const char *name);
	CURLcode (*mime_data)(curl_mimepart *part, const char *bytes, size_t n);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
};

/* CTX_E_NOTFOUND: libcurl.so.4 is not installed, or is older than 7.62. */
CTX_MUST_CHECK enum ctx_status ctx_curl_load(struct ctx_curl *ret, struct ctx_err *err);

#endif
