// A whole journey over the types of the OpenAPI document: search, book, pay, confirm, download the
// voucher, preview the fee, cancel.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./ferry.js";

type Schemas = components["schemas"];

const baseUrl = process.env["FERRY_BASE_URL"] ?? "";
const headers = {
  authorization: `Bearer ${process.env["FERRY_ORGANISATION_TOKEN"]}`,
  accept: "application/json",
};
const ferry = createClient<paths>({ baseUrl, headers });

/** Return the data of a reply, or throw the service's error. */
function dataOf<T>(reply: { data?: T; error?: unknown }): T {
  if (reply.data === undefined) throw new Error(JSON.stringify(reply.error));
  return reply.data;
}

const { journeys } = dataOf(await ferry.POST("/api/journey", {}));
const journey = journeys.find((each) => each.companies.includes("CTN"));
assert(journey);

/** Return the sailings of the first day that has some. */
async function search(journey: Schemas["RouteJourney"]): Promise<Schemas["Availability"][]> {
  const adult = { order: 1, type: "Adult", param: "A", gender: "Female", age: 35 } as const;
  for (let days = 60; days < 90; days++) {
    const day = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const { data, error } = await ferry.POST("/api/availability", {
      body: {
        request: {
          company: "CTN",
          depart_code: journey.depart_code,
          arrive_code: journey.arrive_code,
          out_journey_id: journey.journey_id,
          out_at: day,
          out_time: "00:00",
          ret_at: "",
        },
        passengers: [adult],
      },
    });
    if (data) return data;
    assert.equal(error.code, "AVAILABILITY_ERROR");
  }
  throw new Error("nothing sails for a month");
}

const [sailing] = await search(journey);
const tariff = sailing?.tariffs.find((each) => each.type === "Ticket");
const place = sailing?.places[0];
assert(sailing && tariff && place);

async function book(): Promise<Schemas["BookingCreated"]> {
  assert(sailing && tariff && place);
  return dataOf(
    await ferry.POST("/api/booking", {
      body: {
        availabilities: [
          { availability_id: sailing.id, tariff_id: tariff.id, place_id: place.id },
        ],
        passengers: [{ type: "Adult", first_name: "Ada", last_name: "Byron" }],
      },
    }),
  );
}

const created = await book();
assert.equal(created.stage satisfies Schemas["Stage"], "payment_due");
assert(created.possible_actions["Pay"]);
const id = created.booking_id;

const booking = dataOf(await ferry.GET("/api/booking/{id}", { params: { path: { id } } }));
const [unpaid] = booking.tickets;
assert(unpaid);
const path = { id: unpaid.id };
const payment = { external_payment_ref: "pi_1", paid_at: new Date().toISOString() };
const paid = dataOf(
  await ferry.POST("/api/ticket/{id}/mark-paid", { params: { path }, body: payment }),
);
assert.equal(paid.payment_status, "paid");

const confirmed = dataOf(await ferry.POST("/api/booking/confirm", { body: { id } }));
assert.equal(confirmed.ticket_id, unpaid.id);

const ticket = dataOf(await ferry.GET("/api/ticket/{id}", { params: { path } }));
assert.equal(ticket.status, "Issued");
assert.equal(ticket.availability.outward?.journey?.depart_at, sailing.depart_at);

const { url } = dataOf(await ferry.GET("/api/ticket/{id}/pdf", { params: { path } }));
assert(url);
const voucher = await fetch(url);
assert.equal(voucher.headers.get("content-type"), "application/pdf");

const fee = dataOf(await ferry.POST("/api/booking/cancel-fee", { body: { id } }));
const cents = Math.round((fee.penalty_amount + fee.refund_amount) * 100);
assert.equal(cents, Math.round(created.total_price * 100));

const cancelled = dataOf(await ferry.POST("/api/booking/cancel", { body: { booking_id: id } }));
assert.equal(cancelled.refund_amount, fee.refund_amount);

const again = await ferry.POST("/api/booking/cancel", { body: { booking_id: id } });
assert.equal(again.response.status, 409);
assert.equal(again.error?.code, "CONFLICT");

const clock = dataOf(await ferry.POST("/_sandbox/clock", { body: { advance: 7200, frozen: true } }));
assert(clock.frozen);

console.log(`booked, paid, confirmed and cancelled: ${created.booking_reference}`);
