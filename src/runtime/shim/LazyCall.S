/*===- runtime/shim/LazyCall.S - The first call through a slot ------------===
  SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

  A slot that has no function yet leads here, with the function's number in
  %r11. The shim does not know the function's type, so every register that can
  carry an argument in the System V ABI for x86-64 is kept: the six integer
  ones, %rax (the count of vector arguments of a variadic call; it is kept
  although cudart has none), and %xmm0-7. Arguments on the stack are not
  touched, because the function found is jumped to, not called. No function of
  cudart takes or returns vectors wider than 16 bytes.

  reconverge_shim_resolve(number, first argument) returns the function.
===------------------------------------------------------------------------===*/
	.text
	.globl reconverge_shim_lazy
	.hidden reconverge_shim_lazy
	.type reconverge_shim_lazy,@function
	.p2align 4
reconverge_shim_lazy:
	.cfi_startproc
	endbr64
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	/* 7 registers of 8 bytes, 8 of 16; the ABI wants %rsp at 16 here. */
	subq $192, %rsp
	movq %rdi, 0(%rsp)
	movq %rsi, 8(%rsp)
	movq %rdx, 16(%rsp)
	movq %rcx, 24(%rsp)
	movq %r8, 32(%rsp)
	movq %r9, 40(%rsp)
	movq %rax, 48(%rsp)
	movaps %xmm0, 64(%rsp)
	movaps %xmm1, 80(%rsp)
	movaps %xmm2, 96(%rsp)
	movaps %xmm3, 112(%rsp)
	movaps %xmm4, 128(%rsp)
	movaps %xmm5, 144(%rsp)
	movaps %xmm6, 160(%rsp)
	movaps %xmm7, 176(%rsp)
	movq %rdi, %rsi
	movl %r11d, %edi
	callq reconverge_shim_resolve
	movq %rax, %r11
	movq 0(%rsp), %rdi
	movq 8(%rsp), %rsi
	movq 16(%rsp), %rdx
	movq 24(%rsp), %rcx
	movq 32(%rsp), %r8
	movq 40(%rsp), %r9
	movq 48(%rsp), %rax
	movaps 64(%rsp), %xmm0
	movaps 80(%rsp), %xmm1
	movaps 96(%rsp), %xmm2
	movaps 112(%rsp), %xmm3
	movaps 128(%rsp), %xmm4
	movaps 144(%rsp), %xmm5
	movaps 160(%rsp), %xmm6
	movaps 176(%rsp), %xmm7
	movq %rbp, %rsp
	popq %rbp
	.cfi_def_cfa %rsp, 8
	jmpq *%r11
	.cfi_endproc
	.size reconverge_shim_lazy, .-reconverge_shim_lazy
	.section .note.GNU-stack,"",@progbits
