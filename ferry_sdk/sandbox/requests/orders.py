"""An order given to the local service that it cannot carry out, and which field is why."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

ModelT = TypeVar("ModelT", bound=BaseModel)


class InvalidOrderError(ValueError):
    """An order that names something unknown or impossible.

    Attributes:
        field: What is wrong: the name of an argument.
        message: What is wrong with it.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)
        self.field = field
        self.message = message

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def read_order(model: type[ModelT], fields: Mapping[str, object]) -> ModelT:
    """The order that the fields make.

    Raises:
        InvalidOrderError: A field is unknown or its value is; the first such field is named.
    """
    try:
        return model.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(step) for step in first["loc"])
        raise InvalidOrderError(path, first["msg"]) from None
