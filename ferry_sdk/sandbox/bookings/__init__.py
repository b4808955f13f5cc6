"""Bookings and tickets: sale, payment, issue, cancellation and vouchers."""
