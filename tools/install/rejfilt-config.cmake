# find_package(rejfilt): the targets rejfilt::rejfilt_static and rejfilt::rejfilt_shared.
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/rejfilt-targets.cmake)
