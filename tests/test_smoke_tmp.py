from tests.support.trip import booked
def test_it(both):
    b=booked(both)
    assert both.bookings.confirm(b.booking_id).ticket_id
