"""The admin listener: `admin_app` serves it, `access` keeps who may use it."""

from proxy.admin.access import (
    ADDRESS_FILE,
    TOKEN_FILE,
    AdminFileError,
    Persons,
    first_owner,
    read_token,
    remove_address,
    write_address,
)
from proxy.admin.app import Collaborators, admin_app

__all__ = [
    "ADDRESS_FILE",
    "TOKEN_FILE",
    "AdminFileError",
    "Collaborators",
    "Persons",
    "admin_app",
    "first_owner",
    "read_token",
    "remove_address",
    "write_address",
]
