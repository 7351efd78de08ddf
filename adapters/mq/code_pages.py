"""CodedCharSetId: which Python codec reads the text, and which byte order the numbers have (MQENC)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from adapters.mq.codec_error import CodecError

UTF_8: Final = 1208
INHERIT: Final = -2  # MQCCSI_INHERIT: that of the structure before
QUEUE_MANAGER: Final = 0  # MQCCSI_Q_MGR: only a sloppy writer leaves it in a message
UTF_16: Final = frozenset({1200, 13488, 17584})
NAME_VALUE_CODE_PAGES: Final = frozenset({UTF_8, *UTF_16})
"""What MQRFH2 allows for its folders."""

NATIVE_ENCODING: Final = 546  # MQENC_NATIVE on x86 and ARM: everything reversed, IEEE floating point
_INTEGER_MASK: Final = 0xF
_INTEGER_NORMAL: Final = 1

_CODECS: Final = MappingProxyType({
    37: "cp037", 273: "cp273", 367: "ascii", 424: "cp424", 437: "cp437", 500: "cp500", 720: "cp720", 737: "cp737",
    775: "cp775", 813: "iso8859-7", 819: "latin-1", 850: "cp850", 852: "cp852", 855: "cp855", 856: "cp856", 857: "cp857",
    858: "cp858", 860: "cp860", 861: "cp861", 862: "cp862", 863: "cp863", 864: "cp864", 865: "cp865", 866: "cp866",
    869: "cp869", 874: "cp874", 875: "cp875", 878: "koi8-r", 912: "iso8859-2", 914: "iso8859-4", 915: "iso8859-5",
    916: "iso8859-8", 920: "iso8859-9", 921: "iso8859-13", 923: "iso8859-15", 932: "cp932", 943: "cp932", 949: "cp949",
    950: "cp950", 954: "euc_jp", 970: "euc_kr", 1006: "cp1006", 1026: "cp1026", 1051: "hp_roman8", 1089: "iso8859-6",
    1125: "cp1125", 1140: "cp1140", 1168: "koi8-u", 1202: "utf-16-le", 1204: "utf-16", 1208: "utf-8", 1250: "cp1250",
    1251: "cp1251", 1252: "cp1252", 1253: "cp1253", 1254: "cp1254", 1255: "cp1255", 1256: "cp1256", 1257: "cp1257",
    1258: "cp1258", 1363: "cp949", 1381: "gbk", 1383: "gb2312", 1386: "gbk", 1392: "gb18030", 5050: "euc_jp",
    5348: "cp1252", 5488: "gb18030", 33722: "euc_jp",
})  # fmt: skip


def byte_order(encoding: int) -> str:
    """`struct`'s sign for the integers of a structure after one with this Encoding."""
    return ">" if encoding & _INTEGER_MASK == _INTEGER_NORMAL else "<"


def codec(ccsid: int, encoding: int) -> str:
    """The name of the Python codec; UTF-16 is in the byte order of the Encoding. Raises CodecError."""
    if ccsid in UTF_16:
        return "utf-16-be" if byte_order(encoding) == ">" else "utf-16-le"
    try:
        return _CODECS[ccsid]
    except KeyError:
        raise CodecError(f"text in code page {ccsid}, which is not known here") from None
