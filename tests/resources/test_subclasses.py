"""A subclass of a client keeps what it added in the views of `with_options`."""

from functools import cached_property

import pytest

from ferry_sdk import AsyncFerry, Ferry

SETTINGS = {"base_url": "https://ferry.example", "deadline": 30}


class Added:
    """What a shop adds to a client."""

    def __init__(self, token, *, shop, **settings):
        super().__init__(token, **settings)
        self.shop = shop
        self.till = "till 4"

    @cached_property
    def label(self):
        return f"{self.shop}, {self._transport.settings.deadline} s"

    def greet(self):
        return f"{self.shop} greets"


class ShopFerry(Added, Ferry):
    pass


class AsyncShopFerry(Added, AsyncFerry):
    pass


@pytest.fixture(params=[ShopFerry, AsyncShopFerry])
def shop_ferry(request):
    return request.param("t", shop="Harbour Shop", **SETTINGS)


def test_a_view_has_what_a_subclass_adds(shop_ferry):
    view = shop_ferry.with_options(deadline=5).with_options(language="fr")
    assert (view.shop, view.till, view.greet()) == ("Harbour Shop", "till 4", "Harbour Shop greets")
    assert type(view) is type(shop_ferry)


def test_a_view_makes_cached_properties_anew(shop_ferry):
    assert shop_ferry.label == "Harbour Shop, 30 s"
    assert shop_ferry.with_options(deadline=5).label == "Harbour Shop, 5 s"


@pytest.mark.parametrize("group", ["bookings", "trips", "with_raw_response"])
def test_a_view_binds_its_groups_anew(shop_ferry, group):
    first = getattr(shop_ferry, group)
    view = shop_ferry.with_options(deadline=5)
    assert getattr(view, group) is not first
    assert getattr(view, group) is getattr(view, group)


def test_raw_calls_have_the_options_of_their_view():
    view = ShopFerry("t", shop="Harbour Shop", **SETTINGS).with_options(read_only=True)
    assert view.with_raw_response._transport.settings.read_only


def test_closing_a_view_closes_no_connections():
    with ShopFerry("t", shop="Harbour Shop", **SETTINGS) as ferry:
        ferry.with_options(deadline=5).close()
        assert not ferry._transport.shared.is_closed


def test_an_attribute_set_on_a_view_stays_there(shop_ferry):
    view = shop_ferry.with_options(deadline=5)
    view.shop = "Quay Shop"
    assert shop_ferry.shop == "Harbour Shop"
