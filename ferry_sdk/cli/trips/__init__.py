"""Search trips, choose one, and make a booking request of it; the files that say so."""
