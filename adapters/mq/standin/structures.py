"""The structures of the MQI, as a C compiler lays them out on 64-bit Linux, each with the lengths of its versions."""

from __future__ import annotations

import struct
from typing import Any, Final


class Layout:
    """A structure of the MQI. `lengths` are by Version: a caller of an older version passes fewer bytes."""

    def __init__(self, struc_id: bytes, fields: str, lengths: dict[int, int]) -> None:
        self._struc_id = struc_id
        self._lengths = lengths
        pairs = [field.split(":") for field in fields.split()]
        self.names = [name for name, _ in pairs]
        self._whole = struct.Struct("@" + "".join(code for _, code in pairs))
        self._places: dict[str, tuple[int, struct.Struct]] = {}
        codes = ""
        for name, code in pairs:
            codes += code
            single = struct.Struct("@" + code)
            self._places[name] = struct.calcsize("@" + codes) - single.size, single

    def is_valid(self, data: bytes) -> bool:
        return len(data) >= 8 and data[:4] == self._struc_id and 0 < self.length(data) <= len(data)

    def length(self, data: bytes) -> int:
        """As its Version says; 0 where there is no such version."""
        return self._lengths.get(struct.unpack_from("i", data, 4)[0], 0)

    def unpack(self, data: bytes) -> dict[str, Any]:
        """Fields that the version lacks are zero."""
        present = data[: self.length(data)]
        return dict(
            zip(self.names, self._whole.unpack(present.ljust(self._whole.size, b"\0")[: self._whole.size]), strict=True)
        )

    def patch(self, data: bytes, **fields: Any) -> bytes:
        """The same with some fields changed, as far as its version has them."""
        changed = bytearray(data)
        limit = self.length(data) or len(changed)
        for name, value in fields.items():
            offset, single = self._places[name]
            if offset + single.size <= min(limit, len(changed)):
                single.pack_into(changed, offset, value)
        return bytes(changed)


def _variable(name: str) -> str:
    """An MQCHARV."""
    return f"{name}Ptr:P {name}Offset:i {name}BufSize:i {name}Length:i {name}CCSID:i"


MD: Final = Layout(
    b"MD  ",
    "StrucId:4s Version:i Report:i MsgType:i Expiry:i Feedback:i Encoding:i CodedCharSetId:i Format:8s Priority:i Persistence:i "
    "MsgId:24s CorrelId:24s BackoutCount:i ReplyToQ:48s ReplyToQMgr:48s UserIdentifier:12s AccountingToken:32s "
    "ApplIdentityData:32s PutApplType:i PutApplName:28s PutDate:8s PutTime:8s ApplOriginData:4s GroupId:24s MsgSeqNumber:i "
    "Offset:i MsgFlags:i OriginalLength:i",
    {1: 324, 2: 364},
)
PMO: Final = Layout(
    b"PMO ",
    "StrucId:4s Version:i Options:i Timeout:i Context:i KnownDestCount:i UnknownDestCount:i InvalidDestCount:i ResolvedQName:48s "
    "ResolvedQMgrName:48s RecsPresent:i PutMsgRecFields:i PutMsgRecOffset:i ResponseRecOffset:i PutMsgRecPtr:P ResponseRecPtr:P "
    "OriginalMsgHandle:q NewMsgHandle:q Action:i PubLevel:i",
    {1: 128, 2: 160, 3: 184},
)
GMO: Final = Layout(
    b"GMO ",
    "StrucId:4s Version:i Options:i WaitInterval:i Signal1:i Signal2:i ResolvedQName:48s MatchOptions:i GroupStatus:c "
    "SegmentStatus:c Segmentation:c Reserved1:c MsgToken:16s ReturnedLength:i Reserved2:i MsgHandle:q",
    {1: 72, 2: 80, 3: 100, 4: 112},
)
OD: Final = Layout(
    b"OD  ",
    "StrucId:4s Version:i ObjectType:i ObjectName:48s ObjectQMgrName:48s DynamicQName:48s AlternateUserId:12s RecsPresent:i "
    "KnownDestCount:i UnknownDestCount:i InvalidDestCount:i ObjectRecOffset:i ResponseRecOffset:i ObjectRecPtr:P ResponseRecPtr:P "
    f"AlternateSecurityId:40s ResolvedQName:48s ResolvedQMgrName:48s {_variable('ObjectString')} {_variable('SelectionString')} "
    f"{_variable('ResObjectString')} ResolvedType:i Pad:4s",
    {1: 168, 2: 208, 3: 344, 4: 424},
)
SD: Final = Layout(
    b"SD  ",
    "StrucId:4s Version:i Options:i ObjectName:48s AlternateUserId:12s AlternateSecurityId:40s SubExpiry:i "
    f"{_variable('ObjectString')} {_variable('SubName')} {_variable('SubUserData')} SubCorrelId:24s PubPriority:i "
    f"PubAccountingToken:32s PubApplIdentityData:32s {_variable('SelectionString')} SubLevel:i {_variable('ResObjectString')}",
    {1: 344},
)


def name(field: bytes) -> str:
    """A character field without its padding."""
    return field.split(b"\0")[0].rstrip(b" ").decode("latin-1")


def padded(text: str, size: int) -> bytes:
    return text.encode("latin-1")[:size].ljust(size)
