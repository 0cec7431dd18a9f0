#!/bin/sh
# make.sh BUILD_DIR: makes shares.tar.xz anew: Shares.class, and a recording of it; and objects.tar.xz: the classes of Objects.java. It needs javac and java of OpenJDK 17, and xz.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
PATH=$build/bin:$PATH
rm -rf /tmp/java-testdata && mkdir /tmp/java-testdata && cd /tmp/java-testdata
javac -g -d . "$here/Shares.java"
ctxrec --vm java -q --no-archive --states off -F 499 -o shares.er -- java -Xmx64m -XX:+UseSerialGC -Xbatch -cp . Shares 100
tar -c --sort=name --owner=0 --group=0 --mtime=@0 Shares.class shares.er | xz -9e >"$here/shares.tar.xz"
echo "shares: $(stat -c %s "$here/shares.tar.xz") bytes"
javac -g -d . "$here/Objects.java"
tar -c --sort=name --owner=0 --group=0 --mtime=@0 Objects.class 'Objects$Lock.class' | xz -9e >"$here/objects.tar.xz"
