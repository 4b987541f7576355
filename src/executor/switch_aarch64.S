// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The switch between two stacks for the procedure call standard of AArch64. context.cpp says what each symbol promises.
//
// Only what a callee must keep is saved: x19 to x28, the frame pointer, the link register and the low halves of v8 to
// v15, in the order of `start_frame`. The floating-point control register stays as it is: no kernel changes it.

#if defined(__aarch64__)

    .text

    .globl warpheap_switch_stack
    .hidden warpheap_switch_stack
    .type warpheap_switch_stack, %function
    .balign 16
warpheap_switch_stack:  // x0: where to save the stack pointer, x1: the stack pointer to go on with
    .cfi_startproc
    hint #34  // a landing pad for indirect branches where the processor checks them
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .cfi_endproc
    .size warpheap_switch_stack, . - warpheap_switch_stack

    .globl warpheap_start_stack
    .hidden warpheap_start_stack
    .type warpheap_start_stack, %function
    .balign 16
warpheap_start_stack:  // x19: the function to call, x20: its argument
    .cfi_startproc
    .cfi_undefined x30  // no caller: unwinders and debuggers stop here
    hint #34
    mov x0, x20
    blr x19
    brk #0
    .cfi_endproc
    .size warpheap_start_stack, . - warpheap_start_stack

#endif

    .section .note.GNU-stack, "", %progbits
