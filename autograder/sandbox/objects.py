"""What a compiled file of kernels asks of the machine, looked at before anything of it is loaded.

A kernel reads and writes memory, calls the runtime and mathematics, and nothing else: an object that wants
more is refused. The sandbox is what holds; this makes an attack an answer instead of an attempt.
Source: System V ABI, chapters 4 and 5; https://github.com/itanium-cxx-abi/cxx-abi for mangled names.
"""

import io
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, SymbolTableSection

# What the C library and the compiler's own give: mathematics and the copying of memory.
_MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc erfinv exp exp10 exp2 expm1
    fabs fdim floor fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan ldexp lgamma llrint llround log
    log10 log1p log2 logb lrint lround modf nan nearbyint nextafter normcdf pow remainder remquo rint round
    scalbn sin sincos sinh sqrt tan tanh tgamma trunc
"""
LIBRARY = frozenset(
    {name + suffix for name in _MATH.split() for suffix in ("", "f")}
    | {"abs", "labs", "llabs", "memcpy", "memmove", "memset", "memcmp"}
    | {"_GLOBAL_OFFSET_TABLE_", "__popcountdi2"}
)
# By the checked mode's instrumentation, whose functions are our runtime's.
INSTRUMENTATION = re.compile(
    r"__tsan_(?:(?:unaligned_|volatile_)?(?:read|write|read_write)\d+|(?:read|write)_range|mem(?:cpy|set|move)"
    r"|func_entry|func_exit|init|vptr_(?:read|update))\Z|__ubsan_handle_\w+\Z"
)
_TSAN_START = "_sub_I_00099_0"  # the one constructor that the instrumentation itself brings

_KINDS = {
    "SHT_NULL", "SHT_PROGBITS", "SHT_NOBITS", "SHT_RELA", "SHT_SYMTAB", "SHT_STRTAB", "SHT_NOTE", "SHT_GROUP",
    "SHT_X86_64_UNWIND",
}  # fmt: skip
_NAMES = re.compile(
    r"(?:\.rela)?\.(?:text|rodata|data|bss|eh_frame|gcc_except_table|debug_\w+)(?:\.|\Z)"
    r"|\.(?:group|comment|note\.GNU-stack|note\.gnu\.property|symtab|strtab|shstrtab|llvm_addrsig)\Z|\Z"
)
_STARTS = ("SHT_INIT_ARRAY", "SHT_FINI_ARRAY", "SHT_PREINIT_ARRAY")
_WRITE, _EXECUTE, _TLS = 0x1, 0x4, 0x400


class Refusal(NamedTuple):
    """Why an object is not linked.

    kind: symbol (asks for one that no kernel needs), defines (a name that is the runtime's), constructor,
    indirect, thread-local, section, or unreadable; name: of the symbol or the section, as C++ writes it.
    """

    kind: str
    name: str


def refusals(content: bytes, runtime: Collection[str], checked: bool) -> list[Refusal]:
    """Everything in an object that keeps it from being linked.

    `runtime`: the names of ours that a kernel may call; `checked`: it is instrumented.
    """
    try:
        elf = ELFFile(io.BytesIO(content))
        if elf["e_type"] != "ET_REL":
            return [Refusal("unreadable", "no object file")]
        sections = list(elf.iter_sections())
        found = [one for section in sections for one in _of_section(elf, section, checked)]
        for section in sections:
            if isinstance(section, SymbolTableSection):
                found += _of_symbols(section, frozenset(runtime))
        return list(dict.fromkeys(found))
    except (ELFError, ValueError, KeyError, IndexError, OverflowError, UnicodeDecodeError) as error:
        return [Refusal("unreadable", str(error))]


def _of_section(elf: ELFFile, section: Section, checked: bool) -> Iterator[Refusal]:
    kind, flags, name = section["sh_type"], section["sh_flags"], section.name
    if kind in _STARTS or re.match(r"(?:\.rela)?\.(?:init|fini|preinit|ctors|dtors)", name):
        if kind != "SHT_RELA" and not (checked and _is_the_instrumentations(elf, section)):
            yield Refusal("constructor", name)
    elif flags & _TLS:
        yield Refusal("thread-local", name)
    elif kind not in _KINDS or not _NAMES.match(name) or (flags & _WRITE and flags & _EXECUTE):
        yield Refusal("section", name)


def _is_the_instrumentations(elf: ELFFile, section: Section) -> bool:
    """Whether a section of start-up functions holds one alone, and that of the checked mode."""
    pointers = elf.get_section_by_name(f".rela{section.name}")
    if not isinstance(pointers, RelocationSection) or pointers.num_relocations() != 1:
        return False
    pointer, symbols = pointers.get_relocation(0), elf.get_section(pointers["sh_link"])
    if not isinstance(symbols, SymbolTableSection):
        return False
    target = symbols.get_symbol(pointer["r_info_sym"])  # the section of the function
    place = target["st_shndx"], target["st_value"] + pointer["r_addend"]
    start = next((one for one in symbols.iter_symbols() if one.name == _TSAN_START), None)
    return start is not None and section["sh_size"] == 8 and (start["st_shndx"], start["st_value"]) == place


def _of_symbols(table: SymbolTableSection, runtime: frozenset[str]) -> Iterator[Refusal]:
    for symbol in table.iter_symbols():
        name, kind = symbol.name, symbol["st_info"]["type"]
        provided = name in LIBRARY or name in runtime or bool(INSTRUMENTATION.match(name))
        if kind in ("STT_GNU_IFUNC", "STT_LOOS"):
            yield Refusal("indirect", plain(name))
        elif kind == "STT_TLS":
            yield Refusal("thread-local", plain(name))
        elif symbol["st_shndx"] == "SHN_UNDEF":
            if name and not provided:
                yield Refusal("symbol", plain(name))
        elif provided:
            yield Refusal("defines", plain(name))


def plain(name: str) -> str:
    """The innermost name of a mangled one, as it stands in the source."""
    if not name.startswith("_Z"):
        return name
    rest, found = re.sub(r"\A_Z[NZKLSTVIt]*", "", name), name
    while match := re.match(r"\d+", rest):
        length = int(match[0])
        found, rest = rest[match.end() : match.end() + length], rest[match.end() + length :]
    return found
