#!/bin/sh
# dpkg-shlibdeps for cpack (package.cmake).
exec dpkg-shlibdeps -xlibc6-i386 -xlibc6:i386 "$@"
