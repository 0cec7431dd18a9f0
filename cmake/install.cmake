# Packages are made of what is built: neither cpack nor an installation builds anything by itself.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# What `cmake --install` puts where, and the packages that CPack makes of it: cd build && cpack -G DEB (or TGZ).
# The programs are installed where they are built (collect/, ctxan/).
install(FILES docs/man/ctxan.1 docs/man/ctxrec.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# Man pages and --help name files in docs/; README.md shows the picture and links to them.
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/ctxan)
install(FILES README.md HACKING.md LICENSE DESTINATION ${documents})
file(GLOB pages CONFIGURE_DEPENDS docs/*.md docs/*.png)
install(FILES ${pages} DESTINATION ${documents}/docs)

set(CPACK_PACKAGE_NAME ctxan)
set(CPACK_PACKAGE_VENDOR "ctxan")
set(CPACK_PACKAGE_CONTACT "Seed b3b4f076 maintainers <maintainers@users.noreply.a-seed-b3b4f076.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler that answers for any interval of a recording")
set(CPACK_PACKAGE_DESCRIPTION "ctxrec records what a program does, with whole call stacks and what its threads wait for.
ctxan prints call trees, functions, source lines, waits and time lines of the recording, for the whole run or any
interval of it, and exports to HTML, pprof, flame graphs and other formats. It reads recordings of perf record and of
gprofng collect app too.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
