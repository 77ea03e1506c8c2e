/* The switch between the host's stack and the game's.
 *
 * Nothing of the host may reach the game's memory: its stack pointer lies outside
 * the image, and what a call may leave in registers is cleared on the way in. */
#include "contract.h"

    .text
    .globl stack_resume, stack_yield, stack_abandon

    .macro push_saved
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    sub $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    .endm

    .macro pop_saved
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    add $8, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    .endm

/* Host to game; returns when the game yields. */
stack_resume:
    push_saved
    mov %rsp, host_stack_pointer
    mov mailbox + MAILBOX_STACK_POINTER, %rsp
    xor %eax, %eax
    xor %ecx, %ecx
    xor %edx, %edx
    xor %esi, %esi
    xor %edi, %edi
    xor %r8d, %r8d
    xor %r9d, %r9d
    xor %r10d, %r10d
    xor %r11d, %r11d
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    pxor %xmm\n, %xmm\n
    .endr
    cld
    pop_saved
    ret

/* Game to host; returns when the host resumes. The word with the control words is
 * written whole, so that no host byte is left in its upper half. */
stack_yield:
    push_saved
    movw $0, 6(%rsp)
    mov %rsp, mailbox + MAILBOX_STACK_POINTER
/* Where a signal handler sends a game that is given up: back to the host. */
stack_abandon:
    mov host_stack_pointer, %rsp
    pop_saved
    ret

    .section .outside, "aw", @progbits
    .balign 16
    .globl host_stack_pointer
host_stack_pointer:
    .quad 0

    .section .note.GNU-stack, "", @progbits
