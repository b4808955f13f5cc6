"""POSIX access control lists, which let further users and groups use a file or a folder.

Linux keeps the list of a file in the extended attribute ``system.posix_acl_access``: a version,
then one entry of eight bytes for each user or group. The mode of a file that has a list tells less
than it seems to: its bits for the group are the mask of the list, the most that any user or group
of the list may do.

The default list of a folder (``system.posix_acl_default``) gives nobody access to the folder. It is
copied to what is made in it, where the mode, such as 0600, becomes the mask. So it is not read.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

_ATTRIBUTE: Final = "system.posix_acl_access"
_HEAD: Final = struct.Struct("<I")
"""The version."""
_ENTRY: Final = struct.Struct("<HHI")
"""The fields of `_Entry`."""
_VERSION: Final = 2
_WRITE: Final = 2
"""The bit of the right to write."""

# The tags of entries.
_USER: Final = 0x02
_OWNING_GROUP: Final = 0x04
_GROUP: Final = 0x08
_MASK: Final = 0x10


class _Entry(NamedTuple):
    """What one user or group may do, or with the tag `_MASK`, all of them at most."""

    tag: int
    rights: int
    subject_id: int


@dataclass(frozen=True, slots=True)
class Writers:
    """Who may write by an access control list, besides the owner and everybody.

    Attributes:
        users: The ids of users.
        groups: The ids of groups.
        owning_group: Whether the group of the file may write.
    """

    users: tuple[int, ...]
    groups: tuple[int, ...]
    owning_group: bool


def read_writers(path: Path) -> Writers | None:
    """Return who may write to a file or a folder by its list; None if it has no list.

    Only Linux has such an attribute. A list of another version or form counts as none.
    """
    try:
        attribute = os.getxattr(path, _ATTRIBUTE)
        (version,) = _HEAD.unpack_from(attribute)
        entries = [_Entry(*fields) for fields in _ENTRY.iter_unpack(attribute[_HEAD.size :])]
    except (AttributeError, OSError, struct.error):
        return None
    if version != _VERSION:
        return None

    mask = next((entry.rights for entry in entries if entry.tag == _MASK), _WRITE)
    writers = [entry for entry in entries if entry.rights & mask & _WRITE]
    return Writers(
        users=tuple(entry.subject_id for entry in writers if entry.tag == _USER),
        groups=tuple(entry.subject_id for entry in writers if entry.tag == _GROUP),
        owning_group=any(entry.tag == _OWNING_GROUP for entry in writers),
    )
