"""The instructions that random programs draw from.

A row is the weight of the row, a template of the instruction, and the kinds of its
operands. The first operand is written. A template has alternatives in parentheses. The
letters of the operands:

h, r, q     a register of 16, 32 or 64 bits that holds any bits
f, d        a register of 32 or 64 bits that holds a number
p           a predicate
c           a 32-bit register or a small number, for shifts
k, l        a number below 32 or 64, for the positions and lengths of fields
n, m        a positive number of 32 or 64 bits, for divisors: never zero
other       a part of the text, such as a number

Only instructions with one right answer are here. Sums and products name a rounding, so
no assembler fuses them. NVIDIA's assembler 13.0 makes mistakes, which programs avoid:
the guard of testp, and of set with a result of type f32, does not hold back the write;
a minimum or maximum of a number and itself keeps the bits of NaN; sub.sat of a sum and
its addend gives the other addend; bfe of a constant position beyond the register
forgets the sign.
"""

import re

_ROWS = """
8 add.(u32|s32) rrr
4 add.(u16|s16) hhh
4 add.(u64|s64) qqq
2 add.sat.s32 rrr
6 sub.(u32|s32) rrr
2 sub.(u16|s16) hhh
4 sub.(u64|s64) qqq
4 mul.(lo|hi).(u32|s32) rrr
2 mul.(lo|hi).(u16|s16) hhh
2 mul.(lo|hi).(u64|s64) qqq
3 mul.wide.(u32|s32) qrr
2 mul.wide.(u16|s16) rhh
4 mad.(lo|hi).(u32|s32) rrrr
2 mad.lo.(u16|s16) hhhh
2 mad.(lo|hi).(u64|s64) qqqq
1 mad.hi.sat.s32 rrrr
3 mad.wide.(u32|s32) qrrq
2 mad.wide.(u16|s16) rhhr
1 mul24.(lo|hi).(u32|s32) rrr
1 mad24.(lo|hi).(u32|s32) rrrr
1 mad24.hi.sat.s32 rrrr
1 sad.(u32|s32) rrrr
1 sad.(u16|s16) hhhh
1 sad.(u64|s64) qqqq
2 (div|rem).u32 rrn
2 (div|rem).s32 rrn
1 (div|rem).u64 qqm
1 (div|rem).s64 qqm
2 (abs|neg).s32 rr
1 (abs|neg).s16 hh
1 (abs|neg).s64 qq
3 (min|max).(u32|s32) rrr
1 (min|max).(u16|s16) hhh
2 (min|max).(u64|s64) qqq
1 (min|max).relu.s32 rrr
1 (min|max).(u16x2|s16x2) rrr
1 (min|max).relu.s16x2 rrr
1 add.(u16x2|s16x2) rrr
4 (and|or|xor).b32 rrr
2 (and|or|xor).b16 hhh
2 (and|or|xor).b64 qqq
3 (and|or|xor).pred ppp
2 not.b32 rr
1 not.b16 hh
1 not.b64 qq
1 not.pred pp
1 cnot.b32 rr
1 cnot.b16 hh
1 cnot.b64 qq
4 (shl.b32|shr.u32|shr.s32) rrc
2 (shl.b16|shr.u16|shr.s16) hhc
3 (shl.b64|shr.u64|shr.s64) qqc
3 shf.(l|r).(wrap|clamp).b32 rrrc
4 lop3.b32 rrrr,T
2 bfe.(u32|s32) rrkk
2 bfe.(u64|s64) qqll
2 bfi.b32 rrrkk
2 bfi.b64 qqqll
1 bfind.(u32|s32) rr
1 bfind.shiftamt.(u32|s32) rr
1 bfind.(u64|s64) rq
1 (clz|popc).b32 rr
1 (clz|popc).b64 rq
1 brev.b32 rr
1 brev.b64 qq
3 prmt.b32 rrrr
1 prmt.b32.(f4e|b4e|rc8|ecl|ecr|rc16) rrrr
1 bmsk.(clamp|wrap).b32 rcc
1 szext.(clamp|wrap).(u32|s32) rrc
1 fns.b32 rr,B,S
2 dp4a.(u32|s32).(u32|s32) rrrr
2 dp2a.(lo|hi).(u32|s32).(u32|s32) rrrr
4 selp.b32 rrrp
2 selp.b16 hhhp
2 selp.b64 qqqp
2 selp.f32 fffp
2 selp.f64 dddp
1 slct.b32.s32 rrrr
1 slct.b64.s32 qqqr
1 slct.b32.f32 rrrf
1 slct.f32.s32 fffr
5 setp.(eq|ne|lt|le|gt|ge).s32 prr
4 setp.(eq|ne|lt|le|gt|ge|lo|ls|hi|hs).u32 prr
2 setp.(eq|ne|lt|le|gt|ge).(u16|s16) phh
3 setp.(eq|ne|lt|le|gt|ge).(u64|s64) pqq
3 setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).f32 pff
1 setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).ftz.f32 pff
2 setp.(eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan).f64 pdd
2 setp.(eq|lt|gt).(and|or|xor).s32 prrp
1 setp.(eq|ltu|gt).(and|or|xor).f32 pffp
1 setp.(eq|lt|gtu|num).f16 phh
1 setp.(eq|lt|gtu|num).bf16 phh
1 set.(eq|ne|lt|le|gt|ge).(u32|s32).(u32|s32) rrr
1 set.(eq|ltu|gt|nan).(u32|s32).f32 rff
1 set.(eq|lt|ge).f32.(u32|s32) frr
1 set.(eq|ltu|gt).f32.f64 fdd
1 set.(lt|ge).(and|or|xor).u32.s32 rrrp
1 set.(eq|ltu).(f16x2|u32).f16x2 rrr
6 add.(rn|rz|rm|rp).f32 fff
1 add.rn.ftz.f32 fff
1 add.rn.sat.f32 fff
4 sub.(rn|rz|rm|rp).f32 fff
6 mul.(rn|rz|rm|rp).f32 fff
1 mul.rn.(ftz|sat|ftz.sat).f32 fff
6 fma.(rn|rz|rm|rp).f32 ffff
1 fma.rn.(ftz|sat|ftz.sat).f32 ffff
1 mad.(rn|rz|rm|rp).f32 ffff
3 (min|max).f32 fff
1 (min|max).(ftz|NaN|ftz.NaN|xorsign.abs|NaN.xorsign.abs).f32 fff
1 copysign.f32 fff
1 div.rn.f32 fff
1 div.(rz|rm|rp).f32 fff
1 sqrt.(rn|rz|rm|rp).f32 ff
1 rcp.(rn|rz|rm|rp).f32 ff
1 testp.(finite|infinite|number|notanumber|normal|subnormal).f32 pf
4 add.(rn|rz|rm|rp).f64 ddd
3 sub.(rn|rz|rm|rp).f64 ddd
4 mul.(rn|rz|rm|rp).f64 ddd
4 fma.(rn|rz|rm|rp).f64 dddd
2 (min|max).f64 ddd
1 copysign.f64 ddd
1 div.rn.f64 ddd
1 sqrt.rn.f64 dd
1 rcp.rn.f64 dd
1 testp.(finite|infinite|number|notanumber|normal|subnormal).f64 pd
2 (add|sub|mul).rn.f16 hhh
1 (add|sub|mul).rn.sat.f16 hhh
1 (add|sub|mul).rn.ftz.f16 hhh
2 (add|sub|mul).rn.f16x2 rrr
1 (add|sub|mul).rn.bf16 hhh
1 (add|sub|mul).rn.bf16x2 rrr
2 fma.rn.f16 hhhh
1 fma.rn.(ftz|sat|relu|ftz.relu).f16 hhhh
2 fma.rn.f16x2 rrrr
1 fma.rn.(sat|relu).f16x2 rrrr
1 fma.rn.bf16 hhhh
1 fma.rn.relu.bf16 hhhh
1 fma.rn.bf16x2 rrrr
1 (min|max).(f16|bf16) hhh
1 (min|max).(NaN|xorsign.abs|NaN.xorsign.abs).(f16|bf16) hhh
1 (min|max).(f16x2|bf16x2) rrr
1 (min|max).(NaN|xorsign.abs|NaN.xorsign.abs).(f16x2|bf16x2) rrr
2 cvt.(u32|s32).(u16|s16) rh
2 cvt.(u16|s16).(u32|s32) hr
2 cvt.(u64|s64).(u32|s32) qr
2 cvt.(u32|s32).(u64|s64) rq
1 cvt.(u64|s64).(u16|s16) qh
1 cvt.(u16|s16).(u64|s64) hq
1 cvt.sat.(u8|s8|u16|s16).(u32|s32) hr
1 cvt.sat.(u32|s32).(u64|s64) rq
1 cvt.sat.u32.s32 rr
1 cvt.(u32|s32).(u8|s8) rr
2 cvt.(rn|rz|rm|rp).f32.(u32|s32) fr
2 cvt.(rn|rz|rm|rp).f32.(u64|s64) fq
1 cvt.(rn|rz|rm|rp).f32.(u16|s16) fh
2 cvt.(rn|rz|rm|rp).f64.(u64|s64) dq
2 cvt.rn.f64.(u32|s32) dr
2 cvt.(rni|rzi|rmi|rpi).(u32|s32).f32 rf
1 cvt.(rni|rzi|rmi|rpi).ftz.(u32|s32).f32 rf
1 cvt.(rni|rzi|rmi|rpi).(u64|s64).f32 qf
1 cvt.(rni|rzi|rmi|rpi).(u16|s16).f32 hf
2 cvt.(rni|rzi|rmi|rpi).(u32|s32).f64 rd
2 cvt.(rni|rzi|rmi|rpi).(u64|s64).f64 qd
2 cvt.(rni|rzi|rmi|rpi).f32.f32 ff
1 cvt.(rni|rzi|rmi|rpi).f64.f64 dd
1 cvt.sat.f32.f32 ff
2 cvt.(rn|rz|rm|rp).f32.f64 fd
2 cvt.f64.f32 df
2 cvt.(rn|rz|rm|rp).f16.f32 hf
1 cvt.rn.(sat|relu).f16.f32 hf
2 cvt.f32.f16 fh
1 cvt.f64.f16 dh
1 cvt.(rn|rz|rm|rp).f16.f64 hd
1 cvt.(rn|rz).bf16.f32 hf
1 cvt.rn.relu.bf16.f32 hf
1 cvt.f32.bf16 fh
1 cvt.(rn|rz).(f16x2|bf16x2).f32 rff
1 cvt.rn.relu.(f16x2|bf16x2).f32 rff
1 cvt.(rni|rzi|rmi|rpi).(u32|s32).f16 rh
1 cvt.(rn|rz|rm|rp).f16.(u32|s32) hr
1 cvt.(rn|rz|rm|rp).f16.(u16|s16) hh
1 cvt.(rni|rzi|rmi|rpi).f16.f16 hh
1 cvt.rna.tf32.f32 rf
1 cvt.rn.satfinite.(e4m3x2|e5m2x2).f32 hff
1 cvt.rn.satfinite.relu.(e4m3x2|e5m2x2).f32 hff
1 cvt.rn.satfinite.(e4m3x2|e5m2x2).f16x2 hr
1 cvt.rn.f16x2.(e4m3x2|e5m2x2) rh
1 cvt.rn.relu.f16x2.(e4m3x2|e5m2x2) rh
1 cvt.pack.sat.(u16|s16).s32 rrr
1 cvt.pack.sat.(u8|s8|u4|s4|u2|s2).s32.b32 rrrr
1 (vadd|vsub|vabsdiff|vmin|vmax).(u32|s32).(u32|s32).(u32|s32) rrr
1 (vadd|vsub|vabsdiff|vmin|vmax).(u32|s32).(u32|s32).(u32|s32).sat rrr
1 (vadd|vsub|vabsdiff|vmin|vmax).(u32|s32).(u32|s32).(u32|s32).(add|min|max) rrrr
1 (vshl|vshr).(u32|s32).(u32|s32).u32.(clamp|wrap) rrc
1 (vadd2|vsub2|vabsdiff2|vmin2|vmax2|vavrg2).(u32|s32).(u32|s32).(u32|s32) rrrr
1 (vadd4|vsub4|vabsdiff4|vmin4|vmax4|vavrg4).(u32|s32).(u32|s32).(u32|s32) rrrr
1 (vset2|vset4).(u32|s32).(u32|s32).(eq|ne|lt|le|gt|ge) rrrr
6 mov.b32 rr
2 mov.b64 qq
2 mov.b16 hh
1 mov.pred pp
2 mov.b32 rf
2 mov.b64 qd
2 mov.b32 fr
1 mov.b64 dq
"""


#: Opcodes that are not run under a guard.
UNGUARDED = r"testp\.|set\.\w+\.(\w+\.)?f32\."

#: Opcodes whose sources are different registers.
DISTINCT = r"(min|max)\.(\w+\.)*[bf]"

#: Opcodes that have no numbers as sources.
NUMBERLESS = r".*(f16|x2)|v[a-z]+[24]|add\.sat|(min|max)\.f64"


def _read(rows):
    found = []
    for line in rows.strip().split("\n"):
        weight, template, kinds = line.split(" ")
        parts = re.findall(r"\([^)]*\)|[^()]+", template)
        alternatives = [p.strip("()").split("|") for p in parts]
        operands, *rest = kinds.split(",")
        found.append((int(weight), alternatives, [*operands, *rest]))
    return found


#: (weight, alternatives of each part of the opcode, kinds of the operands)
ROWS = _read(_ROWS)

WEIGHT = sum(row[0] for row in ROWS)

#: Instructions between the lanes of a warp. All lanes must run them.
WARP_ROWS = _read("""
4 shfl.sync.(up|down|bfly|idx).b32 rr,L,C,-1
2 vote.sync.(all|any|uni).pred pp,-1
2 vote.sync.ballot.b32 rp,-1
1 match.any.sync.b32 rr,-1
1 match.any.sync.b64 rq,-1
3 redux.sync.(add|min|max).(u32|s32) rr,-1
2 redux.sync.(and|or|xor).b32 rr,-1
""")

WARP_WEIGHT = sum(row[0] for row in WARP_ROWS)
