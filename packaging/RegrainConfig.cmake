# find_package(Regrain): the runtime that programs with code made by regrain are linked with, and the compilers.
#
#   Regrain::runtime    for programs that another compiler links: target_link_libraries(app PRIVATE Regrain::runtime)
#   Regrain::profiler   the same for code compiled with -fregrain-profile-generate or -fregrain-adaptive
#   Regrain_COMPILER, Regrain_NVCC    regrain and regrain-nvcc
#
# A program has this runtime or NVIDIA's (CUDA::cudart), not both.

get_filename_component(_regrain_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include(CMakeFindDependencyMacro)
find_dependency(Threads)

set(Regrain_COMPILER "${_regrain_prefix}/bin/regrain")
set(Regrain_NVCC "${_regrain_prefix}/bin/regrain-nvcc")

if(NOT TARGET Regrain::runtime)
  add_library(Regrain::runtime STATIC IMPORTED)
  set_target_properties(Regrain::runtime PROPERTIES
    IMPORTED_LOCATION "${_regrain_prefix}/lib/libregrain_rt.a"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
if(NOT TARGET Regrain::profiler)
  add_library(Regrain::profiler STATIC IMPORTED)
  set_target_properties(Regrain::profiler PROPERTIES
    IMPORTED_LOCATION "${_regrain_prefix}/lib/libregrain_profiler.a"
    INTERFACE_LINK_LIBRARIES "Regrain::runtime")
endif()
unset(_regrain_prefix)
