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
    changed_at timestamp with time zone NOT NULL
);
CREATE TABLE ferry_journal_about (
    id integer NOT NULL,
    schema_version integer NOT NULL,
    key_check character varying(64) NOT NULL,
    own_key bytea,
    CONSTRAINT ferry_journal_about_id_check CHECK ((id = 1))
);
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('cb715d3ab8234d728338c95d01e860e5', 'bookings.create', 'POST', '/api/booking', '{}', '4c24bdc7-1d72-43d3-a928-95ac708ceffc', '8fcf5eea3d7bafe293b13a5723e81e394fdc6338b487e113f8e602c2d011e471', 'done', '2026-11-22 12:00:42.218857+00', '2026-11-22 12:00:42.228235+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('9eefd7c568604551aa9bf54806375cdb', 'bookings.create', 'POST', '/api/booking', '{}', '50dd5371-a500-4b75-a67b-c125fe7f96e4', 'b41a45620bc98f9b69197dd7cab01c12d5dd9f17b9d2e4acfc1d92060ffcd915', 'done', '2026-11-22 12:00:42.240944+00', '2026-11-22 12:00:42.248081+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('e64c12abc56646a4986cedc5378b25d5', 'bookings.confirm', 'POST', '/api/booking/confirm', '{"booking_id": "2c06685c-dd5c-42dc-97ab-a7ad23f3b5c2"}', 'd0eaba45-c1e9-49e7-abea-3b3ca5c19217', '0b42e86e5ff3f50095f999129466891a6a2aeed3a249f4b7d824e90a0bb94f8e', 'done', '2026-11-22 12:00:42.252365+00', '2026-11-22 12:00:42.258438+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('eda8e403fcc34ea2b56921cba3fadffc', 'mcp.cancel_ticket', 'POST', '/mcp tools/call cancel_ticket', '{"ticket_id": "c3f9d370-bbd8-4681-ad7a-68125d4f458f"}', 'd938fedc-a298-4c2a-a492-14790f3c2da5', '8297d333e43ecfad577a348e05b84587d411ca6fbb66651b0658d2cd8c32e98e', 'done', '2026-11-22 12:00:42.273024+00', '2026-11-22 12:00:42.288345+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('f4ea87e5134845bca8749d366f5e0cd8', 'bookings.confirm', 'POST', '/api/booking/confirm', '{"booking_id": "2c06685c-dd5c-42dc-97ab-a7ad23f3b5c2"}', '8e74c3db-7d3d-42ae-aad1-a595394fe54c', '0b42e86e5ff3f50095f999129466891a6a2aeed3a249f4b7d824e90a0bb94f8e', 'rejected', '2026-11-22 12:00:42.296864+00', '2026-11-22 12:00:42.30398+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('a6f5a46076614020af5bd0872b8b4fb9', 'mcp.confirm_booking', 'POST', '/mcp tools/call confirm_booking', '{"booking_id": "b-0"}', 'ab1cf379-aa31-43cf-a8cd-b130c3cee265', 'a86bc2446ae8dd64de4465f9fa7e3bdfaf913e330aa2588dd8f20c40470b55ab', 'rejected', '2026-11-22 12:00:42.30817+00', '2026-11-22 12:00:42.31263+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('cdb05a5524ba42b381d6a0d1540f185b', 'bookings.create', 'POST', '/api/booking', '{}', '5282d620-cfb7-4113-a469-6f64a26e8e2c', 'c9f1579952daeef9c05acb82b828210a6a11e0a05b6e9b9a0e96b5ef2b2840c0', 'unknown', '2026-11-22 12:00:42.320303+00', '2026-11-22 12:00:42.328067+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('4390b04541d54bb291937da135d5876f', 'bookings.confirm', 'POST', '/api/booking/confirm', '{"booking_id": "2c97d8b6-4416-4fcd-8d66-732becbd9318"}', 'b30330ea-b090-4973-adf5-d39d8fddf7fd', 'a078d27925413b616d782e37157ca764a3dde79ddb85313c7251769a02430ee2', 'unknown', '2026-11-22 12:00:42.332566+00', '2026-11-22 12:00:44.086566+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('abcf3d42fb304dfda846f70551a44623', 'bookings.create', 'POST', '/api/booking', '{}', '03ee7579-7083-4663-ad66-f970003aa19f', 'ae7bfe1e1dacdace2e4d1eb557971d7a03ea10c4f6f1b2550202cc3ad096a0a8', 'done', '2026-11-22 12:00:44.096596+00', '2026-11-22 12:00:44.102325+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('d0895bc6725a4d41b1485729f96b560a', 'bookings.confirm', 'POST', '/api/booking/confirm', '{"booking_id": "aa4fdba6-faf2-4b4b-9507-9d5fe4996709"}', '4fa2ac37-a6ae-4462-aad9-aa651781e978', 'ec2edf5beb9a2cf52244247221856d77393ec500eaaf360a258cf3ae30cfd9ba', 'open', '2026-11-22 12:00:44.106544+00', '2026-11-22 12:00:44.106544+00');
INSERT INTO ferry_journal (id, operation, method, path, subject, correlation_id, fingerprint, state, created_at, changed_at) VALUES ('b8821b19eccf4764bdaba93e7daec9b5', 'bookings.cancel', 'POST', '/api/booking/cancel', '{"booking_id": "b-1"}', '0862d9ec-be0d-4227-a92e-505aa15df999', '2ec0311809a97c470e19ec906efc94cfba884f540d55224f4a341e58f077253b', 'not_sent', '2026-11-22 12:00:44.114394+00', '2026-11-22 12:00:44.117543+00');
INSERT INTO ferry_journal_about (id, schema_version, key_check, own_key) VALUES (1, 1, '7e0dd2973ab17957d03298e9c87c53f094b21afd6137afe3aab3ee28ff9431a6', '\x605e64c582fbfeb85296a73a249d4979547f67b86efa9fd4345f4ffaabad9571');
ALTER TABLE ONLY ferry_journal_about
    ADD CONSTRAINT ferry_journal_about_pkey PRIMARY KEY (id);
ALTER TABLE ONLY ferry_journal
    ADD CONSTRAINT ferry_journal_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX ferry_journal_unresolved ON ferry_journal USING btree (fingerprint) WHERE ((state)::text <> ALL ((ARRAY['done'::character varying, 'rejected'::character varying, 'not_sent'::character varying])::text[]));
