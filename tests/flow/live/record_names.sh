# Names are data: functions, paths and processes with tags, escapes, quotes, newlines do no harm anywhere.
. "$(dirname "$0")/../common.sh" "$@"
need jq cc objcopy xmllint
need_perf

esc=$(printf '\033')
cat >hostile.c <<'END'
__attribute__((noinline)) unsigned long spin(void)
{
	volatile unsigned long n = 0;
	while (n < 300000000ul)
		n++;
	return n;
}
__attribute__((noinline)) unsigned long red(void)
{
	unsigned long n = spin();
	__asm__ volatile("" : "+r"(n));
	return n;
}
int main(void)
{
	unsigned long n = red();
	__asm__ volatile("" : "+r"(n));
	return 0;
}
END
dir="a b'c\"d
e&<f>..g"
mkdir "$dir"
cc -O1 -fno-omit-frame-pointer -c hostile.c
objcopy --redefine-sym spin='<script>alert(1)</script>' --redefine-sym red="\"$esc[31mred&amp;\\x41
next line\"" hostile.o named.o
cc -o "$dir/ho\\stile$esc[31m" named.o
ctxrec -q -o run.er -- "./$dir/ho\\stile$esc[31m" || fail "recording"
# The recording ends with its last thread, not when the recorder is ready.
last=$(sed -n 's/.*kind="thread-exit" tstamp="\([0-9.]*\)".*/\1/p' run.er/log.xml)
grep -q "kind=\"exit\" tstamp=\"$last\"" run.er/log.xml || fail "the thread ended at $last: $(grep exit run.er/log.xml)"

for file in run.er/log.xml run.er/map.xml; do
	[ "$(tr -d '\11\12\40-\176\200-\377' <$file | wc -c)" = 0 ] || fail "$file holds control characters"
	{ echo '<x>'; cat $file; echo '</x>'; } | xmllint --noout --nonet - || fail "$file is not XML"
done
for kind in header functions tree callers-callees stacks threads processes timeline; do
	ctxan -q run.er -r $kind >out.txt || fail "$kind"
	grep -q "$esc" out.txt && fail "$kind: an escape character in the text"
	ctxan -q run.er -r $kind --format json >out.json && jq -e . out.json >/dev/null || fail "$kind: JSON"
	ctxan -q run.er -r $kind --format csv | grep -q "$esc.*$esc.*$esc.*$esc" && fail "$kind: CSV"
done
ctxan -q run.er -r functions --format json | jq -e '[.rows[].function] | index("<script>alert(1)</script>") != null' >/dev/null || fail "the hostile name is not shown as it is"
[ -z "$(find . -newer run.er -name 'f>*')" ] || fail "a file outside the experiment"
[ "$(ls run.er/archives | grep -c '[^0-9A-Za-z._-]')" = 0 ] || fail "archive names: $(ls run.er/archives)"

# Titles that processes set, as the log shows them: each process ends when its title has got there. Another one is that of its child; a script is called as it was given.
cat >titles.c <<'END'
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

static char *room;
static size_t n_room;

static void be(const char *title)
{
	char wanted[100], line[1000];
	int seen = 0;

	memset(room, 0, n_room);
	strncpy(room, title, n_room - 1);
	snprintf(wanted, sizeof(wanted), "command=\"%s\"", title);
	for (clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;)
		;
	for (int i = 0; i < 2000 && !seen; i++) {
		FILE *log = fopen("titles.er/log.xml", "r");

		while (log != NULL && fgets(line, sizeof(line), log) != NULL)
			seen |= strstr(line, wanted) != NULL;
		if (log != NULL)
			fclose(log);
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	room = argv[0];
	n_room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]) + 1;
	if (fork() == 0) {
		be("titles: the child");
		return 0;
	}
	be("titles: two");
	wait(NULL);
	return 0;
}
END
cc -O1 -o titles titles.c || fail "titles.c"
printf '#!/bin/sh\n./titles "a long argument that leaves room for a title"\n' >script
chmod +x script
ctxrec -q --no-archive -o titles.er -- ./script || fail "titles"
commands=$(ctxan -q titles.er -r processes --format json | jq -c '[.rows[] | .images[-1].command] | sort')
[ "$commands" = '["./script","titles: the child","titles: two"]' ] || fail "titles: $commands"
ctxan -q titles.er -r index --by command | grep -q 'titles: the child' || fail "titles: $(ctxan -q titles.er -r index --by command | head -n 20)"
finish
