"""Every record of the interface's tables, whole, as it stands on the wire."""

TARIFF = {
    "id": "tar-1",
    "type": "Ticket",
    "amount": 148.18,
    "balance_amount": 48.1,
    "currency": "Eur",
    "date": 1777636800,
    "expiration_date": 1777638600,
    "roundtrip_locked": True,
}
IN_BOARD = {
    "adults": 2,
    "childs": 1,
    "babies": 1,
    "has_shower": True,
    "has_toilet": True,
    "has_window": False,
    "passengers": [{"order": 1}],
}
PLACE = {
    "id": "pl-1",
    "index": 1,
    "code": "INSIDE_2",
    "count": 22,
    "type": "Cabin",
    "gender": "Any",
    "capacity": 2,
    "use": "Exclusive",
    "name": "Inside cabin",
    "in_board": IN_BOARD,
}
AVAILABILITY = {
    "id": "av-1",
    "group_id": 1,
    "direction": "Outward",
    "journey_id": "2d4d5912-3514-5011-94ec-f909e50895ac",
    "sailing_id": "CTN-FRMRS-TNLGN-20260713-2020",
    "depart_name": "Marseille",
    "arrive_name": "Tunis",
    "depart_code": "FRMRS",
    "arrive_code": "TNLGN",
    "is_open": False,
    "depart_at": "2026-07-13T20:20:00+02:00",
    "arrive_at": "2026-07-14T16:20:00+01:00",
    "company": {"id": "co-1", "name": "CTN", "logo": "https://static.example/ctn.svg"},
    "provider": {"id": "pr-1", "name": "CTN"},
    "gateway": {"id": "ga-1", "code": "CTN", "provider": "CTN"},
    "tariffs": [TARIFF],
    "places": [PLACE],
    "passenger_count": 2,
    "vehicle": [{"code": "ABARTH__595"}],
    "meals": [{"code": "DINNER"}],
    "animals": None,
    "stops": ["ESPMI"],
    "ship_name": "Tanit",
    "duration": 21,
}
JOURNEY_ON_TICKET = {
    "depart_at": "2026-07-13T20:20:00+02:00",
    "arrive_at": "2026-07-14T16:20:00+01:00",
    "depart_port_name": "Marseille",
    "arrive_port_name": "Tunis",
    "duration_minutes": 1260,
}
TICKET_VEHICLE = {
    "code": "CAR",
    "vehicule_code": "ABARTH__595",
    "brand_name": "Abarth",
    "model": "595",
    "type": "Car",
}
TICKET_PASSENGER = {
    "first_name": "Marguerite",
    "last_name": "Okonkwo",
    "birth_date": "1992-02-29",
    "nationality": "FR",
    "doc_type": "Passport",
    "doc_number": "AB1234567",
    "doc_expiration": "2031-12-31",
}
TICKET = {
    "id": "t-1",
    "status": "Issued",
    "ticket_number": "CTN-0001",
    "pdf_url": "https://service.example/voucher/ti-1.pdf",
    "direction": "OUTWARD+RETURN",
    "vehicle": TICKET_VEHICLE,
    "passengers": [TICKET_PASSENGER],
    "availability": {
        "outward": {"journey": JOURNEY_ON_TICKET},
        "return": {"journey": JOURNEY_ON_TICKET},
    },
    "qr_code": "data:image/png;base64,iVBORw0=",
    "boarding_time": "2026-07-13T18:50:00+02:00",
}
POSSIBLE_ACTION = {
    "type": "mandatory",
    "timeLimit": "2026-05-01T13:00:00Z",
    "requestedItems": {"payment": True},
}
PRICING = {
    "viewer_role": "agency",
    "currency": "EUR",
    "received": {
        "amount": 148.18,
        "currency": "EUR",
        "from_label": "Marguerite Okonkwo",
        "from_kind": "customer",
    },
    "kept": {
        "total": 7.41,
        "lines": [{"key": "commission", "label": "Commission", "amount": 7.41}],
    },
    "reverse": {"amount": 140.77, "currency": "EUR", "to_label": "CTN", "to_kind": "carrier"},
    "balance": {"mutated": True, "before": 148.18, "after": 0},
}
BOOKING_CREATED = {
    "booking_id": "b-1",
    "booking_reference": "Q25XLLFM",
    "stage": "payment_due",
    "possible_actions": {"Pay": POSSIBLE_ACTION},
    "status": "Blocked",
    "total_price": 148.18,
    "currency": "eur",
}
BOOKING = {
    **BOOKING_CREATED,
    "payment_status": "partially_paid",
    "all_tickets_paid": False,
    "ticket_count": 1,
    "expire_at": "2026-05-01T13:00:00Z",
    "pricing": PRICING,
    "tickets": [TICKET],
    "journey_details": {"outward": {"ticket_id": "t-1"}},
}
BOOKING_CONFIRMATION = {
    "booking_id": "b-1",
    "status": "confirmed",
    "ticket_id": "t-1",
    "ticket_number": "CTN-0001",
}
BOOKING_CANCELLATION = {"booking_id": "b-1", "status": "cancelled", "refund_amount": 100.05}
CANCELLATION_FEE = {
    "penalty_amount": 48.13,
    "refund_amount": 100.05,
    "currency": "EUR",
    "ticket_status": "Issued",
}
TICKET_CANCELLATION = {"ticket_id": "t-1", "status": "cancelled"}
VOUCHER = {"url": "https://service.example/voucher/ti-1.pdf"}
PAYMENT_RECORDED = {"ticket_id": "t-1", "payment_status": "paid"}
JOURNEY = {"journey_id": "jo-1", "route": "Marseille → Tunis", "duration_minutes": 1260}
DEPARTURE = {"journey_id": "jo-1", "departure_times": ["08:30", "20:20"]}
PORT = {"code": "FRMRS", "name": "Marseille", "country": "France"}
VEHICLE_BRAND = {"id": "ABARTH", "name": "Abarth"}
VEHICLE_TYPE = {"code": "CAR", "name": "Car", "max_length": 5.0, "max_height": 1.9}
