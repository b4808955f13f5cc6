"""The OpenAPI document of the service, and the page that shows it."""
