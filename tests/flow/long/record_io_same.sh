# ctxrec --io against strace: how often real programs read, write, open, close, ask for and synchronise their files, and the bytes.
. "$(dirname "$0")/../common.sh" "$@"
need strace python3 sqlite3 git
need_runtime

# compare NAME BELOW COMMAND...: run twice, in an empty directory each; files below BELOW, or the directory itself
compare() {
	name=$1 below=$2
	shift 2
	for how in bare recorded traced; do
		rm -rf here strace.*
		mkdir here
		cd here || exit 1
		case $how in
		bare) "$@" >../bare.txt 2>&1 ;;
		recorded) ctxrec -q --no-archive -o ../"$name.er" -O --io --trace-full wait -- "$@" >../out.txt 2>&1 ;;
		traced) strace -ff -y -s 0 -o ../strace -e trace=%desc,%file,%network "$@" >../out.txt 2>&1 ;;
		esac
		cd ..
		[ $how != recorded ] || cmp bare.txt out.txt || fail "$name: output"
	done
	ctxan "$name.er" --sql "select call, size, error, (select name from traced_file f where f.id = t.file) from traced t" >operations.txt || fail "$name: --sql"
	printf '%s: ' "$name"
	python3 "$source_dir/tests/flow/strace_said.py" operations.txt "$below" strace.* || fail "$name: another number than strace's"
}

head -c 3000000 /dev/urandom >random
seq 200000 >lines
here=$work/here
compare cat "$here:$work" cat ../random ../lines ../random
compare cp "$here:$work" cp ../random ../lines .
compare sort "$here:$work" sort -S 1M -r ../lines
# The C library's threads do what is asynchronous by the same system calls.
cat >asynchronous.c <<'END'
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
static char buffer[8][70000];
int main(void)
{
	int fd = open("a", O_RDWR | O_CREAT, 0600);
	struct aiocb blocks[8], *list[8];
	long sum = 0;
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 8; i++) {
			blocks[i] = (struct aiocb){.aio_fildes = fd, .aio_buf = buffer[i], .aio_nbytes = 1000u * (unsigned)(i + 1) + (unsigned)round,
						   .aio_offset = 70000 * i, .aio_lio_opcode = round % 2 == 0 ? LIO_WRITE : LIO_READ};
			list[i] = &blocks[i];
		}
		if (lio_listio(LIO_WAIT, list, 8, NULL) != 0)
			return 1;
		for (int i = 0; i < 8; i++)
			sum += aio_return(&blocks[i]);
	}
	return sum == 0;
}
END
cc -O1 -o asynchronous asynchronous.c || fail "asynchronous.c"
compare aio "$here" ../asynchronous
sql="create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) insert into t select x, x * 7 % 1000 from c;
	create index i on t(b); delete from t where a % 3 = 0; vacuum; select count(*) from t;"
compare sqlite3 "$here" sqlite3 a.db "$sql"
# Times of the files in the past: git reads a file again that is as old as its index.
compare git "$here" sh -c 'git init -q . && cp ../lines a && touch -d @1 a && git -c user.name=a -c user.email=a@b add a && GIT_AUTHOR_DATE=1 git -c user.name=a -c user.email=a@b commit -qm one &&
	echo x >>a && touch -d @2 a && git -c user.name=a -c user.email=a@b commit -qam two && git gc -q && git log --format=%s && git status --short'
script='import os, json, subprocess, sys
rows = [str(i) for i in range(20000)]
with open("a.json", "w") as file: json.dump(rows, file)
with open("a.json") as file: print(len(json.load(file)))
fd = os.open("b", os.O_RDWR | os.O_CREAT)
os.writev(fd, [b"abc", b"defg"]); os.pwrite(fd, b"x", 3); os.fsync(fd); os.lseek(fd, 0, 0); print(os.readv(fd, [bytearray(2), bytearray(9)]))
copy = os.dup(fd); os.close(fd); print(os.fstat(copy).st_size); os.close(copy)
try: os.open("missing", os.O_RDONLY)
except OSError as error: print(error.errno)
print(subprocess.run([sys.executable, "-S", "-c", "print(open(\"b\").read())"], capture_output=True, text=True).stdout)
print(sorted(os.listdir(".")))'
python=$(python3 -c 'import sys; print(sys.executable)')
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
compare python3 "$here:$(dirname "$("$python" -c 'import os; print(os.__file__)')")" "$python" -S -c "$script"

# A server does not do the same twice: strace stands outside of ctxrec in the same run. The start of the program (the recorder's byte, by a pipe) and what the runtime and the recorder say to each other, a byte each, are strace's alone.
if command -v nginx >/dev/null 2>&1; then
	rm -rf here strace.*
	mkdir here
	head -c 20000 /dev/zero >here/a
	cat >nginx.conf <<-END
		worker_processes 2; daemon off; pid $here/nginx.pid; error_log $here/nginx.err; user $(id -un);
		events { worker_connections 64; }
		http { access_log $here/nginx.log; client_body_temp_path $here/n1; proxy_temp_path $here/n2; fastcgi_temp_path $here/n3; uwsgi_temp_path $here/n4; scgi_temp_path $here/n5;
			sendfile on; server { listen unix:$here/socket; root $here; } }
	END
	(
		ask_server here/socket a missing
		kill -QUIT "$(cat here/nginx.pid)"
	) &
	strace -ff -y -s 1 -o strace -e trace=%desc,%file,%network ctxrec -q --no-archive -o nginx.er -O --io --trace-full wait -- nginx -c "$work/nginx.conf" -e "$here/nginx.err" >out.txt 2>&1 ||
		fail "nginx: $(cat out.txt)"
	wait
	ctxan nginx.er --sql "select call, size, error, (select name from traced_file f where f.id = t.file) from traced t" >operations.txt || fail "nginx: --sql"
	for pid in $(ctxan nginx.er --sql "select distinct pid from process" | tail -n +2); do
		sed -i -e '/^\(send\|recv\)msg(.*iov_len=1}/d' -e '1,/^execve/{/^read(.*<pipe:/d}' "strace.$pid"
		traced="${traced:-} strace.$pid"
	done
	printf 'nginx: '
	python3 "$source_dir/tests/flow/strace_said.py" operations.txt "$here" $traced || fail "nginx: another number than strace's"
else
	leave_out "no nginx"
fi
finish
