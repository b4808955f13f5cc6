"""The arguments of an operation: what all of them have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.config import JsonDict
from pydantic_core import CoreSchema

from ferry_sdk.models.docstrings import describe_properties, split_docstring
from ferry_sdk.sandbox.requests.errors import MalformedError, Problem, problem_of


class Body(BaseModel):
    """The arguments of an operation; unknown fields are refused, to detect misspelt ones."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonDict:
        record = handler.resolve_ref_schema(handler(schema))
        record["description"] = split_docstring(cls)[0].strip()
        describe_properties(record, cls)
        return record

    @classmethod
    def read(cls, arguments: Mapping[str, object]) -> Self:
        """Return the validated arguments.

        Raises:
            MalformedError: The arguments are invalid; it has every invalid field by its path.
        """
        try:
            body = cls.model_validate(dict(arguments))
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False)
            raise MalformedError(422, *[problem_of(details) for details in errors]) from None
        if problems := tuple(body.problems()):
            raise MalformedError(422, *problems)
        return body

    def problems(self) -> Iterator[Problem]:
        """Yield the problems between fields that are valid on their own."""
        yield from ()


class Nothing(Body):
    """No arguments."""
