# Tells the QuickJS build where SIMDe's headers are; without it CMake would clone them.
#
# The crate v8x builds WAMR, which asks CMake's FetchContent for SIMDe. `.cargo/config.toml` names
# this file in CMAKE_TOOLCHAIN_FILE, the one setting that reaches that build. Run by hand,
# `cmake -P simde.cmake` says whether the headers are there.
foreach(dir IN ITEMS "$ENV{HOMEBREW_PREFIX}/include" /opt/homebrew/include /usr/local/include /usr/include)
  if(EXISTS "${dir}/simde/wasm/simd128.h")
    set(FETCHCONTENT_SOURCE_DIR_SIMDE "${dir}" CACHE PATH "where SIMDe's headers are")
    return()
  endif()
endforeach()

set(missing "SIMDe's headers are missing: `apt-get install libsimde-dev` or `brew install simde`")
if(CMAKE_SCRIPT_MODE_FILE)
  message(FATAL_ERROR "${missing}")
else()
  message(WARNING "${missing}")
endif()
