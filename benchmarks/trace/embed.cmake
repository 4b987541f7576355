# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# warpheap_embed_traces(<variable> <file>...)
#
# Sets <variable> to a C++ source that holds the traces, each under the name of its file.
function(warpheap_embed_traces variable)
  set(TEXTS "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" text)
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    string(APPEND TEXTS "if (name == \"${name}\") {\nreturn \"${text}\";\n}\n")
  endforeach()
  set(${variable} "${CMAKE_CURRENT_BINARY_DIR}/trace/shipped_texts.cpp")
  configure_file(trace/shipped_texts.cpp.in "${${variable}}" @ONLY)
  return(PROPAGATE ${variable})
endfunction()
