CREATE TABLE ferry_journal (
    id character varying(32) NOT NULL,
    operation text NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    subject json NOT NULL,
    correlation_id text NOT NULL,
    fingerprint character varying(64) NOT NULL,
    state character varying(16) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    booking_id text,
    ticket_ids json,
    status_code integer,
    code text
);
CREATE TABLE ferry_journal_about (
    id integer NOT NULL,
    schema_version integer NOT NULL,
    key_check character varying(64) NOT NULL,
    own_key bytea,
    CONSTRAINT ferry_journal_about_id_check CHECK ((id = 1))
);
CREATE TABLE ferry_journal_orders (
    id character varying(32) NOT NULL,
    kind character varying(16) NOT NULL,
    content text NOT NULL,
    entry_id character varying(32),
    is_finished boolean NOT NULL,
    revision integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL
);
CREATE TABLE ferry_journal_snapshots (
    booking_id text NOT NULL,
    content text NOT NULL,
    saved_at timestamp with time zone NOT NULL
);
INSERT INTO ferry_journal VALUES ('af2832bfb6034184ba93385a0bc353ab', 'bookings.create', 'POST', 'booking', '{}', 'order-1', 'afff255eded1e0c75e6fa8ab3ca05ff3fbd12144529afeeccfff71d0c69c0b5d', 'done', '2025-01-05 10:00:00+00', '2025-01-05 10:00:01+00', 'b-ß-1', NULL, NULL, NULL);
INSERT INTO ferry_journal VALUES ('a1da713136c042d48b96f4296a5bd930', 'bookings.confirm', 'POST', 'booking/confirm', '{"booking_id": "b-\u00df-1"}', 'order-1', '5eb5f7f14099d0b7fcb3ea44f37bc3e75d1699bb4c9a5ac0d132f7085fa77964', 'done', '2025-01-05 10:00:02+00', '2025-01-05 10:00:03+00', 'b-ß-1', '["t-1", "t-2"]', NULL, NULL);
INSERT INTO ferry_journal VALUES ('dfe04dcccfce43bb991cc1e5140c5551', 'bookings.confirm', 'POST', 'booking/confirm', '{"booking_id": "b-2"}', 'order-2', 'd3e244bf4b3f95a24c0303fd98abbab188d95891a04ae758c563cbe3d36a4563', 'rejected', '2025-01-05 10:00:04+00', '2025-01-05 10:00:05+00', 'b-2', NULL, 409, 'BOOKING_EXPIRED');
INSERT INTO ferry_journal VALUES ('c97d6cf76dc44720b1e921008f9edf52', 'bookings.confirm', 'POST', 'booking/confirm', '{"booking_id": "b-3"}', 'c-1', '5c695bbdda753a25d8b4ed562864f68b744f9dab51943434e7a745162c82ac6f', 'not_sent', '2025-01-05 10:00:06+00', '2025-01-05 10:00:07+00', 'b-3', NULL, NULL, NULL);
INSERT INTO ferry_journal VALUES ('f3a5d317a8614d4095ebcebc90fbddfd', 'bookings.confirm', 'POST', 'booking/confirm', '{"booking_id": "b-4"}', 'c-1', '9ceddec156c15bbfd0ad342bb08dc72346811ee2130e7cb478c4dbbf7849a8f2', 'unknown', '2025-01-05 10:00:08+00', '2025-01-05 10:00:09+00', 'b-4', NULL, NULL, NULL);
INSERT INTO ferry_journal VALUES ('1d8a6e85b2164e02bfedace14fd8041e', 'bookings.create', 'POST', 'booking', '{}', 'c-1', 'efea938126abacbe4461068b79186c349d990070621cbfaab1171596b84a06f9', 'done', '2025-01-05 10:00:10+00', '2025-01-05 10:00:11+00', 'b-5', NULL, NULL, 'SETTLED');
INSERT INTO ferry_journal VALUES ('bc2c966ed0c5483a8d4f5f44c24faf80', 'bookings.create', 'POST', 'booking', '{}', 'order-6', '4395f57a589bf45b63d7f760e1c4a1e2c389809381807a9101c99af5941d83cc', 'open', '2025-01-05 10:00:12+00', '2025-01-05 10:00:12+00', NULL, NULL, NULL, NULL);
INSERT INTO ferry_journal_about VALUES (1, 2, '2284699a2aa4247064ef837736f1e3619d9ec6922dea0daf3f07f3db5c6c4839', '\xf801db52890cf801efc3a25ad2fd16295f19056987965e993005609d652cab83');
INSERT INTO ferry_journal_orders VALUES ('11111111111111111111111111111111', 'hold', '{}', NULL, false, 1, '2025-01-05 10:00:00+00', '2025-01-05 10:00:00+00');
INSERT INTO ferry_journal_snapshots VALUES ('b-ß-1', '{}', '2025-01-05 10:00:13+00');
ALTER TABLE ONLY ferry_journal_about
    ADD CONSTRAINT ferry_journal_about_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ferry_journal_orders
    ADD CONSTRAINT ferry_journal_orders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ferry_journal
    ADD CONSTRAINT ferry_journal_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ferry_journal_snapshots
    ADD CONSTRAINT ferry_journal_snapshots_pkey PRIMARY KEY (booking_id);
CREATE INDEX ferry_journal_began ON ferry_journal USING btree (created_at, id);
CREATE INDEX ferry_journal_booking ON ferry_journal USING btree (booking_id);
CREATE UNIQUE INDEX ferry_journal_unresolved ON ferry_journal USING btree (fingerprint) WHERE ((state)::text <> ALL ((ARRAY['done'::character varying, 'rejected'::character varying, 'not_sent'::character varying])::text[]));
