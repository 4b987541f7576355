# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DTEXT=<file> -P footprint_text.cmake -- <command>...
#
# Runs the command, by which ptxas compiles footprint.cu.in, and keeps what it says in the file, which is there only if
# the command ended well and a call of malloc or free takes no more stack than the design's capabilities promise.

cmake_minimum_required(VERSION 3.25)

set(command "")
set(behind FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(behind)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(behind TRUE)
  endif()
endforeach()

file(REMOVE "${TEXT}")
execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${text}")
endif()

# stack_of(<kernel> <variable>): the bytes of stack that ptxas counts for a kernel with all that it calls.
function(stack_of kernel variable)
  # What is said of a kernel begins with its name, and the next one's name ends it.
  string(REGEX MATCH "Compiling entry function '${kernel}'.*" about "${text}")
  string(REGEX REPLACE "^(Compiling[^\n]*\n)" "" about "${about}")
  string(REGEX REPLACE "Compiling entry function.*" "" about "${about}")
  if(about MATCHES "([0-9]+) bytes cumulative stack size")
    set(${variable} ${CMAKE_MATCH_1})
  elseif(about MATCHES "Used [0-9]+ registers")
    set(${variable} 0) # it has none
  else()
    message(FATAL_ERROR "ptxas says nothing of ${kernel}:\n${text}")
  endif()
  return(PROPAGATE ${variable})
endfunction()

stack_of(warpheap_footprint_promise promised)
foreach(operation IN ITEMS malloc free)
  stack_of(warpheap_footprint_${operation} taken)
  if(taken GREATER promised)
    message(
      FATAL_ERROR
      "${TEXT}: ${operation} takes ${taken} bytes of stack and the design's capabilities promise ${promised} at most; "
      "raise their `stack_bytes`."
    )
  endif()
endforeach()
file(WRITE "${TEXT}" "${text}")
