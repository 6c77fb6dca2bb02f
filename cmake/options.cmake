# Compiler options that every target of the project shares, on one interface target.
add_library(headscope_options INTERFACE)
target_compile_options(headscope_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                                                   -Wold-style-cast -Wnon-virtual-dtor
                                                   # nobody reads errno: roots and logarithms become instructions
                                                   -fno-math-errno
                                                   # designated initialisers leave fields at their defaults on purpose
                                                   -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlapping copies in every "text" + std::string (its bug 105651)
  target_compile_options(headscope_options INTERFACE -Wno-restrict)
endif()
if(HEADSCOPE_WERROR)
  target_compile_options(headscope_options INTERFACE -Werror)
endif()
if(HEADSCOPE_NATIVE)
  target_compile_options(headscope_options INTERFACE -march=native)
endif()
if(HEADSCOPE_SCALAR)
  target_compile_definitions(headscope_options INTERFACE HEADSCOPE_SCALAR)
endif()
if(HEADSCOPE_SANITIZE)
  target_compile_options(headscope_options INTERFACE -fsanitize=${HEADSCOPE_SANITIZE} -fno-omit-frame-pointer
                                                     -fno-sanitize-recover=all)
  target_link_options(headscope_options INTERFACE -fsanitize=${HEADSCOPE_SANITIZE})
endif()
if(HEADSCOPE_FUZZ)  # every branch taken is counted, so that the fuzzer sees what a change of the bytes reaches
  target_compile_options(headscope_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
