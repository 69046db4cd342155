#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the CUDA program that asks a GPU what PTX instructions compute.

The inline-PTX tests compare our lowering with what a GPU gave:

    utils/ptx-golden.py > golden.cu
    nvcc -arch=sm_90 -Iunittests/frontend/ptx golden.cu -o golden
    ./golden > unittests/frontend/ptx/Inputs/golden.txt

A case is a line "how | constraints | asm". `how` says how results compare: bit
by bit, or as floats of a format, where all NaNs are equal. `<a,b>` in the asm
stands for each of its alternatives in turn, with all combinations of several
(`t<2>` declares registers). The golden file holds a case in two lines: the case
itself, and the results of its input tuples (Vectors.h) in hexadecimal.
"""
import itertools
import re

CASES = r"""
bits | =r,r,r | <add,sub,min,max>.<u32,s32> $0, $1, $2;
bits | =r,r,r | <add,sub>.sat.s32 $0, $1, $2;
bits | =l,l,l | <add,sub,min,max>.<u64,s64> $0, $1, $2;
bits | =h,h,h | <add,sub,min,max>.<u16,s16> $0, $1, $2;
bits | =r,r,r | <add,min,max>.<u16x2,s16x2> $0, $1, $2;
bits | =r,r,r | <min,max>.relu.<s32,s16x2> $0, $1, $2;
bits | =r,r,r | mul.<lo,hi>.<u32,s32> $0, $1, $2;
bits | =l,l,l | mul.<lo,hi>.<u64,s64> $0, $1, $2;
bits | =h,h,h | mul.<lo,hi>.<u16,s16> $0, $1, $2;
bits | =r,h,h | mul.wide.<u16,s16> $0, $1, $2;
bits | =l,r,r | mul.wide.<u32,s32> $0, $1, $2;
bits | =r,r,r,r | mad.<lo,hi>.<u32,s32> $0, $1, $2, $3;
bits | =l,l,l,l | mad.<lo,hi>.<u64,s64> $0, $1, $2, $3;
bits | =r,h,h,r | mad.wide.<u16,s16> $0, $1, $2, $3;
bits | =l,r,r,l | mad.wide.<u32,s32> $0, $1, $2, $3;
bits | =r,r,r,r | mad.hi.sat.s32 $0, $1, $2, $3;
bits | =r,r,r | mul24.<lo,hi>.<u32,s32> $0, $1, $2;
bits | =r,r,r,r | mad24.<lo,hi>.<u32,s32> $0, $1, $2, $3;
bits | =r,r,r,r | mad24.hi.sat.s32 $0, $1, $2, $3;
bits | =r,=r,r,r,r,r | add.cc.<u32,s32> $0, $2, $3; addc.u32 $1, $4, $5;
bits | =r,=r,r,r,r,r | sub.cc.<u32,s32> $0, $2, $3; subc.u32 $1, $4, $5;
bits | =l,=l,l,l,l,l | add.cc.u64 $0, $2, $3; addc.u64 $1, $4, $5;
bits | =l,=l,l,l,l,l | sub.cc.u64 $0, $2, $3; subc.u64 $1, $4, $5;
bits | =r,=r,=r,r,r,r,r,r | add.cc.u32 $0, $3, $4; addc.cc.u32 $1, $5, $6; addc.u32 $2, $7, 0;
bits | =r,=r,=r,r,r,r,r,r | sub.cc.u32 $0, $3, $4; subc.cc.u32 $1, $5, $6; subc.u32 $2, $7, 0;
bits | =r,=r,r,r,r | mad.lo.cc.u32 $0, $2, $3, $4; madc.hi.u32 $1, $2, $3, 0;
bits | =r,=r,=r,r,r,r,r | mad.lo.cc.u32 $0, $3, $4, $5; madc.hi.cc.u32 $1, $3, $4, $6; addc.u32 $2, $5, 0;
bits | =r,=r,=r,r,r,r,r | mad.hi.cc.s32 $0, $3, $4, $5; madc.lo.cc.s32 $1, $3, $4, $6; madc.lo.u32 $2, $5, 3, $3;
bits | =l,=l,=l,l,l,l,l | mad.lo.cc.u64 $0, $3, $4, $5; madc.hi.cc.u64 $1, $3, $4, $6; addc.u64 $2, $5, 0;
bits | =r,r,r,r | sad.<u32,s32> $0, $1, $2, $3;
bits | =l,l,l,l | sad.<u64,s64> $0, $1, $2, $3;
bits | =h,h,h,h | sad.<u16,s16> $0, $1, $2, $3;
bits | =r,r,r | <div,rem>.<u32,s32> $0, $1, $2;
bits | =l,l,l | <div,rem>.<u64,s64> $0, $1, $2;
bits | =h,h,h | <div,rem>.<u16,s16> $0, $1, $2;
bits | =r,r,r | cvt.pack.sat.<u16,s16>.s32 $0, $1, $2;
bits | =r,r,r,r | cvt.pack.sat.<u8,s8>.s32.b32 $0, $1, $2, $3;
bits | =r,r | <abs,neg>.s32 $0, $1;
bits | =l,l | <abs,neg>.s64 $0, $1;
bits | =h,h | <abs,neg>.s16 $0, $1;
bits | =r,r,r,r | dp4a.<u32,s32>.<u32,s32> $0, $1, $2, $3;
bits | =r,r,r,r | dp2a.<lo,hi>.<u32,s32>.<u32,s32> $0, $1, $2, $3;
bits | =r,r,r | <and,or,xor>.b32 $0, $1, $2;
bits | =l,l,l | <and,or,xor>.b64 $0, $1, $2;
bits | =h,h,h | <and,or,xor>.b16 $0, $1, $2;
bits | =r,r | <not,cnot>.b32 $0, $1;
bits | =l,l | <not,cnot>.b64 $0, $1;
bits | =h,h | <not,cnot>.b16 $0, $1;
bits | =r,r,r | { .reg .pred p, q; setp.lt.s32 p, $1, $2; setp.gt.u32 q, $1, 9; <and,or,xor>.pred p, p, q; not.pred p, p; selp.b32 $0, 5, 7, p; }
bits | =r,r,r,r | lop3.b32 $0, $1, $2, $3, <0x00,0x01,0x0e,0x1b,0x2a,0x3c,0x47,0x55,0x69,0x7f,0x80,0x96,0xaa,0xca,0xd8,0xe8,0xf0,0xfe,0xff>;
bits | =r,r,r | <shl.b32,shr.b32,shr.u32,shr.s32> $0, $1, $2;
bits | =l,l,r | <shl.b64,shr.b64,shr.u64,shr.s64> $0, $1, $2;
bits | =h,h,r | <shl.b16,shr.b16,shr.u16,shr.s16> $0, $1, $2;
bits | =r,r | <shl.b32,shr.u32,shr.s32> $0, $1, <0,7,31,32,100>;
bits | =r,r,r,r | shf.<l,r>.<wrap,clamp>.b32 $0, $1, $2, $3;
bits | =r,r | <popc,clz,brev>.b32 $0, $1;
bits | =r,l | <popc,clz>.b64 $0, $1;
bits | =l,l | brev.b64 $0, $1;
bits | =r,r | bfind.<u32,s32> $0, $1;
bits | =r,r | bfind.shiftamt.<u32,s32> $0, $1;
bits | =r,l | bfind.<u64,s64> $0, $1;
bits | =r,l | bfind.shiftamt.<u64,s64> $0, $1;
bits | =r,r,r,r | bfe.<u32,s32> $0, $1, $2, $3;
bits | =l,l,r,r | bfe.<u64,s64> $0, $1, $2, $3;
bits | =r,r | bfe.<u32,s32> $0, $1, <0,5,24,31>, <0,1,8,32>;
bits | =r,r,r,r,r | bfi.b32 $0, $1, $2, $3, $4;
bits | =l,l,l,r,r | bfi.b64 $0, $1, $2, $3, $4;
bits | =r,r,r | bmsk.<clamp,wrap>.b32 $0, $1, $2;
bits | =r,r,r | szext.<clamp,wrap>.<u32,s32> $0, $1, $2;
bits | =r,r,r,r | prmt.b32 $0, $1, $2, $3;
bits | =r,r,r,r | prmt.b32.<f4e,b4e,rc8,ecl,ecr,rc16> $0, $1, $2, $3;
bits | =r,r,r | prmt.b32 $0, $1, $2, <0x5410,0x7632,0x9ba8,0x4321,0xffff>;
bits | =r,r,r,r | <vadd,vsub,vavrg,vabsdiff,vmin,vmax><2,4>.<u32.u32.u32,s32.s32.s32,u32.u32.s32,s32.s32.u32> $0, $1, $2, $3;
bits | =r,r,r,r | <vadd,vsub,vavrg,vabsdiff,vmin,vmax><2,4>.<u32.u32.u32,s32.s32.s32,u32.s32.s32,s32.u32.s32>.<sat,add> $0, $1, $2, $3;
bits | =r,r,r,r | vset<2,4>.<u32.u32,s32.s32,u32.s32>.<eq,ne,lt,le,gt,ge> $0, $1, $2, $3;
bits | =r,r,r,r | vset<2,4>.<u32.u32,s32.s32>.<eq,lt>.add $0, $1, $2, $3;
bits | =r,r,r | { .reg .pred p; setp.<eq,ne,lt,le,gt,ge>.<u32,s32> p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,r,r | { .reg .pred p; setp.<lo,ls,hi,hs>.u32 p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,r,r | { .reg .pred p; setp.<eq,ne>.b32 p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,l,l | { .reg .pred p; setp.<eq,lt,le>.<u64,s64> p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,h,h | { .reg .pred p; setp.<ne,gt,ge>.<u16,s16> p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,f,f | { .reg .pred p; setp.<eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan>.f32 p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,f,f | { .reg .pred p; setp.<eq,ltu,ge>.ftz.f32 p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,d,d | { .reg .pred p; setp.<eq,ne,lt,geu,num,nan>.f64 p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,h,h | { .reg .pred p; setp.<eq,ne,lt,le,gt,ge,equ,neu,ltu,num,nan>.<f16,bf16> p, $1, $2; selp.u32 $0, 1, 0, p; }
bits | =r,=r,r,r | { .reg .pred p, q; setp.<eq,lt,geu>.<f16x2,bf16x2> p|q, $2, $3; selp.u32 $0, 1, 0, p; selp.u32 $1, 1, 0, q; }
bits | =r,=r,r,r,r | { .reg .pred p, q, c; setp.ne.s32 c, $4, 0; setp.lt.<and,or,xor>.s32 p|q, $2, $3, <c,!c>; selp.u32 $0, 1, 0, p; selp.u32 $1, 1, 0, q; }
bits | =r,r,r | set.<eq,lt,ge>.<u32,s32>.<u32,s32> $0, $1, $2;
f32 | =f,r,r | set.<ne,gt>.f32.<u32,s32> $0, $1, $2;
bits | =r,f,f | set.<eq,ltu,nan>.<u32,s32>.f32 $0, $1, $2;
f32 | =f,f,f | set.<eq,ltu,nan>.f32.f32 $0, $1, $2;
bits | =r,d,d | set.<lt,neu>.u32.f64 $0, $1, $2;
f16 | =h,h,h | set.<eq,ne,leu,nan>.f16.f16 $0, $1, $2;
bf16 | =h,h,h | set.<eq,ne,leu,nan>.bf16.bf16 $0, $1, $2;
bits | =h,h,h | set.<eq,gt>.u16.<f16,bf16> $0, $1, $2;
f16x2 | =r,r,r | set.<eq,ne,gtu>.f16x2.f16x2 $0, $1, $2;
bf16x2 | =r,r,r | set.<eq,ne,gtu>.bf16x2.bf16x2 $0, $1, $2;
bits | =r,r,r | set.<eq,ltu>.u32.<f16x2,bf16x2> $0, $1, $2;
bits | =r,r,r,r | { .reg .pred c; setp.ne.s32 c, $3, 0; set.lt.<and,or,xor>.u32.s32 $0, $1, $2, c; }
bits | =r,r,r,r | slct.<u32,b32>.s32 $0, $1, $2, $3;
bits | =r,r,r,f | slct.u32.f32 $0, $1, $2, $3;
bits | =r,r,r,f | slct.ftz.u32.f32 $0, $1, $2, $3;
bits | =l,l,l,r | slct.s64.s32 $0, $1, $2, $3;
bits | =r,f | { .reg .pred p; testp.<finite,infinite,number,notanumber,normal,subnormal>.f32 p, $1; selp.u32 $0, 1, 0, p; }
bits | =r,d | { .reg .pred p; testp.<finite,infinite,number,notanumber,normal,subnormal>.f64 p, $1; selp.u32 $0, 1, 0, p; }
f32 | =f,f,f | copysign.f32 $0, $1, $2;
f64 | =d,d,d | copysign.f64 $0, $1, $2;
bits | =l,l | cvt.<u8,s8,u16,s16,u32,s32,u64,s64>.<u8,s8,u16,s16,u32,s32,u64,s64> $0, $1;
bits | =l,l | cvt.sat.<u8,u16,u32,u64>.<s8,s16,s32,s64> $0, $1;
bits | =l,l | cvt.sat.<u8,s8,u16,s16,u32,s32,s64>.u64 $0, $1;
bits | =l,l | cvt.sat.<s8,s16,s32>.<s64,u32> $0, $1;
bits | =l,l | cvt.sat.<u8,s8,s16>.u16 $0, $1;
bits | =l,l | cvt.sat.s8.<u8,s16,s32> $0, $1;
f16 | =h,l | cvt.<rn,rz,rm,rp>.f16.<u8,s8,u16,s16,u32,s32,u64,s64> $0, $1;
bf16 | =h,h | cvt.<rn,rz,rm,rp>.bf16.<u16,s16> $0, $1;
bf16 | =h,r | cvt.<rn,rz,rm,rp>.bf16.<u32,s32> $0, $1;
bf16 | =h,l | cvt.<rn,rz,rm,rp>.bf16.<u64,s64> $0, $1;
f32 | =f,l | cvt.<rn,rz,rm,rp>.f32.<u8,s8,u16,s16,u32,s32,u64,s64> $0, $1;
f64 | =d,l | cvt.<rn,rz,rm,rp>.f64.<u8,s8,u16,s16,u32,s32,u64,s64> $0, $1;
f32 | =f,l | cvt.rn.sat.f32.<s32,u64> $0, $1;
bits | =l,h | cvt.<rni,rzi,rmi,rpi>.<u8,s8,u16,s16,u32,s32,u64,s64>.f16 $0, $1;
bits | =h,h | { .reg .b8 t; cvt.<rni,rzi,rmi,rpi>.<u8,s8>.bf16 t, $1; mov.b16 $0, {t, 0}; }
bits | =h,h | cvt.<rni,rzi,rmi,rpi>.<u16,s16>.bf16 $0, $1;
bits | =r,h | cvt.<rni,rzi,rmi,rpi>.<u32,s32>.bf16 $0, $1;
bits | =l,h | cvt.<rni,rzi,rmi,rpi>.<u64,s64>.bf16 $0, $1;
bits | =l,f | cvt.<rni,rzi,rmi,rpi>.<u8,s8,u16,s16,u32,s32,u64,s64>.f32 $0, $1;
bits | =l,f | cvt.<rni,rpi>.ftz.<s32,u32,s64,u64>.f32 $0, $1;
bits | =l,d | cvt.<rni,rzi,rmi,rpi>.<u8,s8,u16,s16,u32,s32,u64,s64>.f64 $0, $1;
f16 | =h,f | cvt.<rn,rz,rm,rp>.f16.f32 $0, $1;
bf16 | =h,f | cvt.<rn,rz,rm,rp>.bf16.f32 $0, $1;
f16 | =h,d | cvt.<rn,rz,rm,rp>.f16.f64 $0, $1;
bf16 | =h,d | cvt.<rn,rz,rm,rp>.bf16.f64 $0, $1;
f32 | =f,d | cvt.<rn,rz,rm,rp>.f32.f64 $0, $1;
f32 | =f,d | cvt.<rn,rz,rm,rp>.ftz.f32.f64 $0, $1;
f32 | =f,h | cvt.f32.<f16,bf16> $0, $1;
f64 | =d,h | cvt.f64.<f16,bf16> $0, $1;
f64 | =d,f | cvt.f64.f32 $0, $1;
f64 | =d,f | cvt.ftz.f64.f32 $0, $1;
f16 | =h,h | cvt.<rni,rzi,rmi,rpi>.f16.f16 $0, $1;
bf16 | =h,h | cvt.<rni,rzi,rmi,rpi>.bf16.bf16 $0, $1;
f32 | =f,f | cvt.<rni,rzi,rmi,rpi>.f32.f32 $0, $1;
f32 | =f,f | cvt.<rni,rzi>.ftz.f32.f32 $0, $1;
f64 | =d,d | cvt.<rni,rzi,rmi,rpi>.f64.f64 $0, $1;
f32 | =f,f | cvt.sat.f32.f32 $0, $1;
f32 | =f,f | cvt.ftz.f32.f32 $0, $1;
f32 | =f,d | cvt.rn.sat.f32.f64 $0, $1;
f64 | =d,d | cvt.sat.f64.f64 $0, $1;
f16 | =h,f | cvt.<rn,rz>.relu.f16.f32 $0, $1;
bf16 | =h,f | cvt.<rn,rz>.relu.bf16.f32 $0, $1;
f16x2 | =r,f,f | cvt.<rn,rz>.f16x2.f32 $0, $1, $2;
bf16x2 | =r,f,f | cvt.<rn,rz>.bf16x2.f32 $0, $1, $2;
f16x2 | =r,f,f | cvt.rn.relu.f16x2.f32 $0, $1, $2;
bf16x2 | =r,f,f | cvt.rz.relu.bf16x2.f32 $0, $1, $2;
f32 | =f,f,f | <add,sub,mul>.f32 $0, $1, $2;
f32 | =f,f,f | <add,sub,mul>.<rn,rz,rm,rp>.f32 $0, $1, $2;
f32 | =f,f,f | <add,sub,mul>.<rn,rz,rm,rp>.ftz.f32 $0, $1, $2;
f32 | =f,f,f | <add,sub,mul>.<ftz,sat>.f32 $0, $1, $2;
f32 | =f,f,f | <add,sub,mul>.rn.ftz.sat.f32 $0, $1, $2;
f64 | =d,d,d | <add,sub,mul>.f64 $0, $1, $2;
f64 | =d,d,d | <add,sub,mul>.<rn,rz,rm,rp>.f64 $0, $1, $2;
f32 | =f,f,f,f | <fma,mad>.<rn,rz,rm,rp>.f32 $0, $1, $2, $3;
f32 | =f,f,f,f | fma.<rn,rz,rm,rp>.ftz.f32 $0, $1, $2, $3;
f32 | =f,f,f,f | fma.rn.sat.f32 $0, $1, $2, $3;
f64 | =d,d,d,d | fma.<rn,rz,rm,rp>.f64 $0, $1, $2, $3;
f32 | =f,f,f | div.<rn,rz,rm,rp>.f32 $0, $1, $2;
f32 | =f,f,f | div.rn.ftz.f32 $0, $1, $2;
f64 | =d,d,d | div.<rn,rz,rm,rp>.f64 $0, $1, $2;
f32 | =f,f | <sqrt,rcp>.<rn,rz,rm,rp>.f32 $0, $1;
f32 | =f,f | <sqrt,rcp>.rn.ftz.f32 $0, $1;
f64 | =d,d | <sqrt,rcp>.<rn,rz,rm,rp>.f64 $0, $1;
f32 | =f,f,f | <min,max>.f32 $0, $1, $2;
f32 | =f,f,f | <min,max>.<ftz,NaN>.f32 $0, $1, $2;
f32 | =f,f,f | <min,max>.<xorsign,NaN.xorsign,ftz.xorsign>.abs.f32 $0, $1, $2;
f64 | =d,d,d | <min,max>.f64 $0, $1, $2;
f32 | =f,f | <abs,neg>.f32 $0, $1;
f32 | =f,f | <abs,neg>.ftz.f32 $0, $1;
f64 | =d,d | <abs,neg>.f64 $0, $1;
f16 | =h,h,h | <add,sub,mul>.f16 $0, $1, $2;
f16 | =h,h,h | <add,sub,mul>.<rn,sat,ftz,rn.ftz.sat>.f16 $0, $1, $2;
f16x2 | =r,r,r | <add,sub,mul>.f16x2 $0, $1, $2;
f16x2 | =r,r,r | <add,sub,mul>.<rn,sat,ftz>.f16x2 $0, $1, $2;
bf16 | =h,h,h | <add,sub,mul>.bf16 $0, $1, $2;
bf16 | =h,h,h | <add,sub,mul>.rn.bf16 $0, $1, $2;
bf16x2 | =r,r,r | <add,sub,mul>.bf16x2 $0, $1, $2;
f16 | =h,h,h,h | fma.rn.f16 $0, $1, $2, $3;
f16 | =h,h,h,h | fma.rn.<ftz,sat,relu>.f16 $0, $1, $2, $3;
f16x2 | =r,r,r,r | fma.rn.f16x2 $0, $1, $2, $3;
f16x2 | =r,r,r,r | fma.rn.<ftz,sat,relu>.f16x2 $0, $1, $2, $3;
bf16 | =h,h,h,h | fma.rn.bf16 $0, $1, $2, $3;
bf16x2 | =r,r,r,r | fma.rn.bf16x2 $0, $1, $2, $3;
bf16x2 | =r,r,r,r | fma.rn.relu.bf16x2 $0, $1, $2, $3;
f16 | =h,h,h | <min,max>.f16 $0, $1, $2;
f16 | =h,h,h | <min,max>.<ftz,NaN>.f16 $0, $1, $2;
f16x2 | =r,r,r | <min,max>.f16x2 $0, $1, $2;
f16x2 | =r,r,r | <min,max>.NaN.f16x2 $0, $1, $2;
f16x2 | =r,r,r | <min,max>.<xorsign,NaN.xorsign>.abs.f16x2 $0, $1, $2;
bf16x2 | =r,r,r | <min,max>.<xorsign,NaN.xorsign>.abs.bf16x2 $0, $1, $2;
bf16 | =h,h,h | <min,max>.bf16 $0, $1, $2;
bf16 | =h,h,h | <min,max>.NaN.bf16 $0, $1, $2;
bf16x2 | =r,r,r | <min,max>.bf16x2 $0, $1, $2;
f16 | =h,h | <abs,neg>.f16 $0, $1;
f16 | =h,h | <abs,neg>.ftz.f16 $0, $1;
f16x2 | =r,r | <abs,neg>.f16x2 $0, $1;
bf16 | =h,h | <abs,neg>.bf16 $0, $1;
bf16x2 | =r,r | <abs,neg>.bf16x2 $0, $1;
bits | =l,r,r | mov.b64 $0, {$1, $2};
bits | =r,=r,l | mov.b64 {$0, $1}, $2;
bits | =r,h,h | mov.b32 $0, {$1, $2};
bits | =h,r | mov.b32 {_, $0}, $1;
bits | =l,h,h,h,h | mov.b64 $0, {$1, $2, $3, $4};
bits | =f,h | mov.b32 $0, {0, $1};
bits | =f,r | mov.b32 $0, $1;
bits | =r,r,r | { .reg .pred p; .reg .u32 t<2>; setp.lt.u32 p, $1, $2; mov.u32 t0, $1; mov.u32 t1, 0x10; @p mov.u32 t0, $2; @!p add.u32 t0, t0, t1; mov.u32 $0, t0; }
bits | =r,r,r | { .reg .u32 t; mov.u32 t, $1; { .reg .u32 t; mov.u32 t, $2; add.u32 t, t, 1; } sub.u32 $0, t, $2; }
f16 | =h,h | { .reg .b32 f; cvt.f32.f16 f, $1; fma.rn.f32 f, f, 0f3FB8AA3B, 0f80000000; cvt.rn.f16.f32 $0, f; }
f16x2 | =r,r,r | { .reg .b16 a, b, c, d; mov.b32 {a, b}, $1; mov.b32 {c, d}, $2; add.f16 a, a, d; fma.rn.f16 b, b, c, a; mov.b32 $0, {a, b}; }
"""

WIDTH = {"h": 16, "r": 32, "f": 32, "l": 64, "d": 64}
CTYPE = {"h": "unsigned short", "r": "unsigned", "f": "float",
         "l": "unsigned long long", "d": "double"}


def cases():
    for line in CASES.strip().splitlines():
        how, constraints, asm = [part.strip() for part in line.split("|", 2)]
        pieces = re.split(r"(?<! t)<([^<>]*)>", asm)
        texts, groups = pieces[0::2], [g.split(",") for g in pieces[1::2]]
        for choice in itertools.product(*groups):
            text = texts[0]
            for alternative, rest in zip(choice, texts[1:]):
                text += alternative + rest
            yield how, constraints, text


def main():
    print('#include "Vectors.h"\n#include <cstdio>\n')
    print("static void report(const char *Case, const unsigned long long *Out,"
          " unsigned Outputs) {")
    print('  printf("%s\\n", Case);')
    print("  for (unsigned I = 0; I != vectors::Tuples * Outputs; ++I)")
    print('    printf("%s%llx", I ? " " : "", Out[I]);')
    print('  printf("\\n");\n}\n')
    calls = []
    for number, (how, constraints, asm) in enumerate(cases()):
        codes = constraints.split(",")
        outs = [c[1:] for c in codes if c.startswith("=")]
        ins = [c for c in codes if not c.startswith("=")]
        print(f"__global__ void k{number}(const unsigned long long *In,"
              " unsigned long long *Out) {")
        print("  unsigned T = threadIdx.x;")
        for n, code in enumerate(ins):
            print(f"  unsigned long long b{n} = In[T * {len(ins)} + {n}];"
                  f" {CTYPE[code]} i{n}; memcpy(&i{n}, &b{n}, {WIDTH[code] // 8});")
        for n, code in enumerate(outs):
            print(f"  {CTYPE[code]} o{n};")
        text = re.sub(r"\$(\d+)", r"%\1", asm)
        out_list = ", ".join(f'"={c}"(o{n})' for n, c in enumerate(outs))
        in_list = ", ".join(f'"{c}"(i{n})' for n, c in enumerate(ins))
        print(f'  asm("{text}" : {out_list} : {in_list});')
        for n, code in enumerate(outs):
            print(f"  unsigned long long r{n} = 0; memcpy(&r{n}, &o{n},"
                  f" {WIDTH[code] // 8}); Out[T * {len(outs)} + {n}] = r{n};")
        print("}")
        widths = ", ".join(str(WIDTH[c]) for c in ins)
        calls.append(f'  {{ const char *Case = "{how} | {constraints} | {asm}";\n'
                     f'    unsigned Widths[] = {{{widths}}};\n'
                     f'    uint64_t Seed = vectors::hash("{asm}");\n'
                     f"    for (unsigned T = 0; T != vectors::Tuples; ++T)\n"
                     f"      for (unsigned N = 0; N != {len(ins)}; ++N)\n"
                     f"        In[T * {len(ins)} + N] = vectors::input(Seed, N, T, Widths[N]);\n"
                     f"    k{number}<<<1, vectors::Tuples>>>(In, Out);\n"
                     f"    if (cudaError_t E = cudaDeviceSynchronize()) {{\n"
                     f'      fprintf(stderr, "%s: %s\\n", Case, cudaGetErrorString(E));\n'
                     f"      return 1;\n    }}\n"
                     f"    report(Case, Out, {len(outs)}); }}")
    print("int main() {\n  unsigned long long *In, *Out;")
    print("  cudaMallocManaged(&In, 4096); cudaMallocManaged(&Out, 4096);")
    print("\n".join(calls))
    print("  return 0;\n}")


main()
