// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The switch between two stacks for the System V ABI of x86-64. context.cpp says what each symbol promises.
//
// Only what a callee must keep is saved: six registers and the return address, in the order of `start_frame`. The
// control words of the floating-point units stay as they are: no kernel changes them.

#if defined(__x86_64__)

    .text

    .globl warpheap_switch_stack
    .hidden warpheap_switch_stack
    .type warpheap_switch_stack, @function
    .balign 16
warpheap_switch_stack:  // rdi: where to save the stack pointer, rsi: the stack pointer to go on with
    .cfi_startproc
    endbr64
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rdx
    jmpq *%rdx  // not `ret`: the processor would predict the place that the other stack came from
    .cfi_endproc
    .size warpheap_switch_stack, . - warpheap_switch_stack

    .globl warpheap_start_stack
    .hidden warpheap_start_stack
    .type warpheap_start_stack, @function
    .balign 16
warpheap_start_stack:  // r12: the function to call, r13: its argument; the stack pointer is a multiple of 16
    .cfi_startproc
    .cfi_undefined rip  // no caller: unwinders and debuggers stop here
    endbr64
    movq %r13, %rdi
    callq *%r12
    ud2
    .cfi_endproc
    .size warpheap_start_stack, . - warpheap_start_stack

#endif

    .section .note.GNU-stack, "", %progbits
