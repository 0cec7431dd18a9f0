# Every library that we link, each an imported target. All are Debian packages; tools/build.sh names them.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(LIBXML2 REQUIRED IMPORTED_TARGET libxml-2.0)
pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(YAJL REQUIRED IMPORTED_TARGET yajl)
pkg_check_modules(LIBARCHIVE REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
pkg_check_modules(LIBCURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)

# Makes C of formats/export/profile.proto.
find_program(PROTOC_C protoc-c REQUIRED)

# The demangler has no pkg-config file.
find_library(IBERTY_LIBRARY iberty REQUIRED)
find_path(IBERTY_INCLUDE libiberty/demangle.h REQUIRED)
add_library(iberty INTERFACE)
target_link_libraries(iberty INTERFACE ${IBERTY_LIBRARY})
target_include_directories(iberty SYSTEM INTERFACE ${IBERTY_INCLUDE})

# xxhash is used as a header (XXH_INLINE_ALL), so that the recorder links nothing for it.
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)

# ncurses with wide characters, for ctxan --browse.
set(CURSES_NEED_WIDE TRUE)
set(CURSES_NEED_NCURSES TRUE)
find_package(Curses REQUIRED)
add_library(ncursesw INTERFACE)
target_link_libraries(ncursesw INTERFACE ${CURSES_LIBRARIES})
target_include_directories(ncursesw SYSTEM INTERFACE ${CURSES_INCLUDE_DIRS})
