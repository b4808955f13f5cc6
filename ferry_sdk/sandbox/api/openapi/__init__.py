"""The OpenAPI document of the service, and the pages of the service."""
