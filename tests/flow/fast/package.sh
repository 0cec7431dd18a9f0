# The Debian package: what it depends on and where its files are; both programs run from it, unpacked into an empty root.
. "$(dirname "$0")/../common.sh" "$@"
need cpack dpkg-deb dpkg-shlibdeps readelf jq
ctxan -V >/dev/null && ctxrec -V >/dev/null || fail "the programs are not built"

cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/made" >cpack.txt 2>&1 || { cat cpack.txt; fail "cpack"; finish; }
package=$(ls made/*.deb)
field() { dpkg-deb -f "$package" "$1"; }
[ "$(field Package)" = ctxan ] || fail "Package: $(field Package)"
[ "$(field Section)" = devel ] || fail "Section: $(field Section)"
case $(field Maintainer) in *@*) ;; *) fail "Maintainer: $(field Maintainer)" ;; esac
[ -n "$(field Description)" ] || fail "no description"

dpkg-deb -x "$package" root || fail "dpkg-deb -x"
usr=$work/root/usr

# Every library that a program is linked with is in a package that this one depends on (several may have one of its name).
field Depends | sed 's/([^)]*)//g' | tr -d ' ' | tr ',' '\n' | sort -u >depends.txt
for program in bin/ctxan bin/ctxrec libexec/ctxrec/ctxrec-sources $(cd "$bin" && [ -e libctxrt.so ] && echo libexec/ctxrec/libctxrt.so); do
	for library in $(readelf -d "$usr/$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		dpkg-query -S "*/$library" 2>/dev/null | sed 's/:.*//' | sort -u >owners.txt
		[ ! -s owners.txt ] || [ -n "$(comm -12 owners.txt depends.txt)" ] || fail "$program needs $library of $(cat owners.txt): not among the dependencies"
	done
done
# The library for programs of 32 bits is with the links by which loaders find both, and asks for nothing.
if [ -e "$bin/runtime/i386/libctxrt.so" ]; then
	for link in $(cd "$bin/runtime" && ls -d */libctxrt.so */*/libctxrt.so); do
		readelf -h "$usr/libexec/ctxrec/runtime/$link" >/dev/null 2>&1 || fail "runtime/$link leads nowhere"
	done
	grep -q i386 depends.txt && fail "the package depends on a C library of 32 bits"
fi
[ "$(wc -l <depends.txt)" -ge 5 ] || fail "Depends: $(field Depends)"
readelf -d "$usr/bin/ctxan" "$usr/bin/ctxrec" "$usr/libexec/ctxrec/ctxrec-sources" | grep -E 'RPATH|RUNPATH' && fail "a program looks for libraries in the build folder"

# Man pages and completion are there, and the documents that they, --help and the README name.
for page in ctxan ctxrec; do
	for file in man/man1/$page.1 bash-completion/completions/$page zsh/site-functions/_$page fish/vendor_completions.d/$page.fish; do
		[ -s "$usr/share/$file" ] || fail "no $file"
	done
done
documents=$usr/share/doc/ctxan
grep -q "^License: Apache-2.0" "$documents/copyright" || fail "no copyright as Debian wants it"
"$usr/bin/ctxan" --help >help.txt && "$usr/bin/ctxrec" --help >>help.txt || fail "--help"
cat help.txt "$usr"/share/man/man1/*.1 "$documents/README.md" | grep -oE 'docs/[a-zA-Z-]+\.(md|png)|HACKING\.md' | sort -u >named.txt
[ "$(wc -l <named.txt)" -ge 12 ] || fail "only $(wc -l <named.txt) documents are named"
while read -r name; do
	[ -s "$documents/$name" ] || fail "$name is named and not in the package"
done <named.txt

# Both programs from there, and none of the build folder.
PATH=$usr/bin:/usr/bin:/bin
[ "$(ctxrec --version | head -n 1)" = "ctxrec $(field Version)" ] || fail "ctxrec --version: $(ctxrec --version)"
case $(ctxan --version) in "ctxan $(field Version) "*) ;; *) fail "ctxan --version: $(ctxan --version)" ;; esac
unpack recordings/phases
ctxan -q phases.er -r functions --format json >functions.json || fail "ctxan from the package"
jq -e '[.rows[].function] | index("work_a")' functions.json >/dev/null || fail "ctxan from the package finds no work_a"
ctxan -q phases.er --export html -o page.html && grep -q '</html>' page.html || fail "the page from the package"
finish
