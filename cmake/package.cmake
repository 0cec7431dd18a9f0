# Read by cpack. The library for programs of 32 bits is used by those alone, so the package does not depend on their C library.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(SHLIBDEPS_EXECUTABLE ${CMAKE_CURRENT_LIST_DIR}/shlibdeps.sh CACHE FILEPATH "dpkg-shlibdeps without libraries of 32 bits")
endif()
