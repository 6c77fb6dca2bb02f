# For WebAssembly: the libraries under the names that a build for this machine finds them by. Headers are this
# machine's own; what is compiled is built here from the distribution's sources (scripts/web_sources.sh).
set(HEADSCOPE_WEB_SOURCES ${PROJECT_SOURCE_DIR}/build/sources CACHE PATH "Where md4c's and utf8proc's sources lie")
foreach(library md4c utf8proc)
  if(NOT EXISTS ${HEADSCOPE_WEB_SOURCES}/${library})
    message(FATAL_ERROR "${library}'s sources are not in ${HEADSCOPE_WEB_SOURCES}; "
                        "scripts/web_sources.sh ${HEADSCOPE_WEB_SOURCES} fetches them")
  endif()
endforeach()

# Libraries of headers alone, by links: the whole of /usr/include would hide Emscripten's own C library.
set(headers ${PROJECT_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${headers})
foreach(folder catch2 nlohmann toml++)
  if(NOT EXISTS /usr/include/${folder})
    message(FATAL_ERROR "/usr/include/${folder} is missing; see scripts/packages.txt")
  endif()
  file(CREATE_LINK /usr/include/${folder} ${headers}/${folder} SYMBOLIC)
endforeach()
foreach(name nlohmann_json::nlohmann_json PkgConfig::TOMLPP Catch2::Catch2)
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} INTERFACE ${headers})
endforeach()
target_compile_definitions(PkgConfig::TOMLPP INTERFACE TOML_HEADER_ONLY=1)
target_compile_definitions(Catch2::Catch2 INTERFACE CATCH_CONFIG_NO_POSIX_SIGNALS)  # a page has none

add_compile_options(-fwasm-exceptions -msimd128)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-include$<SEMICOLON>${CMAKE_CURRENT_LIST_DIR}/web_library.h>)

add_library(web_md4c STATIC ${HEADSCOPE_WEB_SOURCES}/md4c/src/md4c.c)
target_include_directories(web_md4c SYSTEM INTERFACE ${HEADSCOPE_WEB_SOURCES}/md4c/src)
add_library(PkgConfig::MD4C ALIAS web_md4c)
add_library(web_utf8proc STATIC ${HEADSCOPE_WEB_SOURCES}/utf8proc/utf8proc.c)
target_include_directories(web_utf8proc SYSTEM INTERFACE ${HEADSCOPE_WEB_SOURCES}/utf8proc)
target_compile_definitions(web_utf8proc PUBLIC UTF8PROC_STATIC)
add_library(PkgConfig::UTF8PROC ALIAS web_utf8proc)

add_link_options(-fwasm-exceptions -sALLOW_MEMORY_GROWTH=1)
# em++ runs JavaScript of its own, which looks for Debian's modules where a Node from elsewhere does not
set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
# Tests read the project's files and hand their result to ctest: Node's own file system, and a real exit.
set(HEADSCOPE_WEB_TEST_OPTIONS -sNODERAWFS=1 -sEXIT_RUNTIME=1 -sWASM_ASYNC_COMPILATION=0)
# What a page without threads, or Node's view of the disk, cannot do. Everything else must pass.
file(WRITE ${PROJECT_BINARY_DIR}/CTestCustom.cmake [=[
set(CTEST_CUSTOM_TESTS_IGNORE
  # start a thread themselves, or count those of a pool (which has the caller's alone here, with the same results)
  "a pipe is read to its end"
  "a reader sees the old bytes or the new ones while a file is rewritten"
  "a viewer on another thread sees whole snapshots, in order"
  "threads share every item once"
  # limit a process, or make a file that is larger than the disk
  "a full disk leaves the old file and no temporary one"
  "a huge sparse file is refused by its size")
]=])
