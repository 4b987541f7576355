# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DTEXT=<file> -P footprint_text.cmake -- <command>...
#
# Runs the command, by which ptxas compiles footprint.cu.in, and keeps what it says in the file, which is there only if
# the command ended well and two promises hold. Calls of malloc and free take no more stack than the design's
# capabilities say: one call below a recursion of depth 10 with a block at each level, beside what the recursion takes
# with the toolkit's malloc. And on compute capability 9.0 and later a kernel that only calls malloc or free can start
# in blocks of 1,024 threads. (For 8.0 ptxas 13.0 takes up to 90 registers for the same sources.)

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

# said_of(<kernel> <variable>): what ptxas says of a kernel and the functions that it calls.
function(said_of kernel variable)
  # It begins with the kernel's name, and the next one's name ends it.
  string(REGEX MATCH "Compiling entry function '${kernel}'.*" said "${text}")
  string(REGEX REPLACE "^(Compiling[^\n]*\n)" "" said "${said}")
  string(REGEX REPLACE "Compiling entry function.*" "" ${variable} "${said}")
  return(PROPAGATE ${variable})
endfunction()

# stack_of(<kernel> <variable>): the bytes of stack that ptxas counts for a kernel with all that it calls.
function(stack_of kernel variable)
  said_of(${kernel} said)
  if(said MATCHES "([0-9]+) bytes cumulative stack size")
    set(${variable} ${CMAKE_MATCH_1})
  elseif(said MATCHES "Used [0-9]+ registers")
    set(${variable} 0) # it has none
  else()
    message(FATAL_ERROR "ptxas says nothing of ${kernel}:\n${text}")
  endif()
  return(PROPAGATE ${variable})
endfunction()

# registers_of(<kernel> <variable>): the registers of a thread of a kernel with all that it calls.
function(registers_of kernel variable)
  said_of(${kernel} said)
  if(NOT said MATCHES "Used ([0-9]+) registers")
    message(FATAL_ERROR "ptxas says nothing of ${kernel}:\n${text}")
  endif()
  set(${variable} ${CMAKE_MATCH_1})
  return(PROPAGATE ${variable})
endfunction()

# frame_of(<kernel> <variable>): the bytes of stack of one level of the recursion that a kernel begins.
function(frame_of kernel variable)
  said_of(${kernel} said)
  if(NOT said MATCHES "Function properties for [^\n]*footprint_level[^\n]*\n *([0-9]+) bytes stack frame")
    message(FATAL_ERROR "ptxas says nothing of the recursion of ${kernel}:\n${text}")
  endif()
  set(${variable} ${CMAKE_MATCH_1})
  return(PROPAGATE ${variable})
endfunction()

stack_of(warpheap_footprint_promise promised)
if(promised GREATER 0)
  math(EXPR promised "${promised} - 8") # the frame is one byte more than promised, which is a multiple of 8
endif()
frame_of(warpheap_footprint_recursion level)
frame_of(warpheap_footprint_plain_recursion plain_level)
set(deepest 0)
set(most_registers 64) # a multiprocessor has 65,536 for the 1,024 threads of a block
foreach(operation IN ITEMS malloc free)
  registers_of(warpheap_footprint_${operation} registers)
  if(registers GREATER most_registers AND NOT command MATCHES "-arch=sm_[78]")
    message(
      FATAL_ERROR
      "${TEXT}: a kernel that only calls ${operation} takes ${registers} registers, so it cannot start in blocks of "
      "1,024 threads; ${most_registers} are the most. `nvdisasm -c` of the cubin shows which cold function takes them; "
      "part it in two."
    )
  endif()
  stack_of(warpheap_footprint_${operation} taken)
  if(taken GREATER deepest)
    set(deepest ${taken})
  endif()
endforeach()
if(deepest GREATER 0) # else a call has no stack below its caller's frame
  math(EXPR deepest "${deepest} + 11 * (${level} - ${plain_level})")
endif()
if(deepest GREATER promised)
  message(
    FATAL_ERROR
    "${TEXT}: a recursion of depth 10 takes ${deepest} bytes of stack more with the heap's malloc and free than with "
    "the toolkit's, and the design's capabilities promise ${promised} at most; raise their `stack_bytes`."
  )
endif()
file(WRITE "${TEXT}" "${text}")
