# Packages are made of what is built: neither cpack nor an installation builds anything by itself.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# What `cmake --install` puts where, and the packages that CPack makes of it: cd build && cpack -G DEB (or TGZ).
# The programs are installed where they are built (collect/, ctxan/).

# Man pages and shell completion are made from the programs' options and manuals (base/option_table.h, base/manual.h).
set(made ${CMAKE_BINARY_DIR}/share)
file(MAKE_DIRECTORY ${made})
set(made_files "")
# make_file(TOOL ARGUMENTS FILE FOLDER): the output of TOOL is FILE, which is installed in FOLDER.
function(make_file tool arguments file folder)
  add_custom_command(OUTPUT ${made}/${file} COMMAND ${tool} ${arguments} > ${made}/${file} DEPENDS ${tool} VERBATIM)
  install(FILES ${made}/${file} DESTINATION ${folder})
  set(made_files ${made_files} ${made}/${file} PARENT_SCOPE)
endfunction()
foreach(tool make_manual make_completion)
  add_executable(${tool} tools/${tool}.c)
  target_link_libraries(${tool} PRIVATE ctx_ctxan ctx_collect)
endforeach()
foreach(program ctxan ctxrec)
  make_file(make_manual ${program} ${program}.1 ${CMAKE_INSTALL_MANDIR}/man1)
  make_file(make_completion "bash;${program}" ${program} ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
  make_file(make_completion "zsh;${program}" _${program} ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)
  make_file(make_completion "fish;${program}" ${program}.fish ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
endforeach()
add_custom_target(share ALL DEPENDS ${made_files})

# Man pages and --help name files in docs/; README.md shows the picture and links to them.
set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/ctxan)
install(FILES README.md HACKING.md LICENSE cmake/copyright DESTINATION ${documents})
file(GLOB pages CONFIGURE_DEPENDS docs/*.md docs/*.png)
install(FILES ${pages} DESTINATION ${documents}/docs)
install(PROGRAMS docs/ci/performance.sh DESTINATION ${documents}/docs/ci)
install(FILES docs/ci/performance.rules DESTINATION ${documents}/docs/ci)

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
set(CPACK_DEBIAN_PACKAGE_SUGGESTS libc6-i386)
# Loaded by ctxan fleet and ctxan push.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libcurl4)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/package.cmake)
include(CPack)
