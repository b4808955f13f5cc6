BEGIN TRANSACTION;
CREATE TABLE ferry_journal (
	id VARCHAR(32) NOT NULL, 
	operation TEXT NOT NULL, 
	method TEXT NOT NULL, 
	path TEXT NOT NULL, 
	subject JSON NOT NULL, 
	correlation_id TEXT NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	created_at DATETIME NOT NULL, 
	changed_at DATETIME NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "ferry_journal" VALUES('881b5cf0e99041c08d9bc7496f8fd17d','bookings.create','POST','/api/booking','{}','2f090fbe-bae4-4758-a09b-28c08e8d0d39','a114686055c5b8cb29e579e7054725076ae7624ef7e13f32ce114f8502ccca64','done','2026-11-22 12:00:39.105409','2026-11-22 12:00:39.127770');
INSERT INTO "ferry_journal" VALUES('790658fbe1354123ad056e42a7eb7a69','bookings.create','POST','/api/booking','{}','2a8423b6-ec0f-4ae5-a475-8593e44dedc1','6c5f664994975a9dba442e8c9dd195ba8180b4cf8c83824f192a6e4cd1e466e6','done','2026-11-22 12:00:39.138878','2026-11-22 12:00:39.143566');
INSERT INTO "ferry_journal" VALUES('d49d965497ae4e6595ddec8ad936de3c','bookings.confirm','POST','/api/booking/confirm','{"booking_id": "6187d575-c34f-41a7-b237-8c76500ecd79"}','4209f654-b67d-48fd-a6ba-a214498be3ab','990155c2403adc887da0d7841ed2d70daca1d9f8a57805b0c74daad4d7e1c544','done','2026-11-22 12:00:39.147988','2026-11-22 12:00:39.159790');
INSERT INTO "ferry_journal" VALUES('61a6a64ab42644d39ddfef9170dd5362','mcp.cancel_ticket','POST','/mcp tools/call cancel_ticket','{"ticket_id": "4646b5a9-2da1-48cd-80dd-48d5f9fffd20"}','de7eec0f-8fdd-4178-ac10-0c34128b7c60','a7ac9312c57e9f8a5323018d4c5d82fdb463a7991988b68a1ba512946593c7dd','done','2026-11-22 12:00:39.183757','2026-11-22 12:00:39.201768');
INSERT INTO "ferry_journal" VALUES('1a42b577ce7041658ee89341d65593a2','bookings.confirm','POST','/api/booking/confirm','{"booking_id": "6187d575-c34f-41a7-b237-8c76500ecd79"}','1a7e1d21-3594-4cbe-a656-9fde503bfc6c','990155c2403adc887da0d7841ed2d70daca1d9f8a57805b0c74daad4d7e1c544','rejected','2026-11-22 12:00:39.204176','2026-11-22 12:00:39.211437');
INSERT INTO "ferry_journal" VALUES('31ff0a76c7ed4953aa63731e07b3a771','mcp.confirm_booking','POST','/mcp tools/call confirm_booking','{"booking_id": "b-0"}','b23b153b-e0b9-4b51-aff2-96afbe05f2bf','cae10088ae5a0301dfd083be993476f039d71a192f4741af93bb0db7a3d6db99','rejected','2026-11-22 12:00:39.213751','2026-11-22 12:00:39.217202');
INSERT INTO "ferry_journal" VALUES('1360dad1d6564e88a6f14d64027390db','bookings.create','POST','/api/booking','{}','895b4782-5748-48f3-a8d5-258bd739a16f','becca847ff62f0d1253ca962333b11512ebeb87042c17f1c4fec40e1bed1c704','unknown','2026-11-22 12:00:39.224204','2026-11-22 12:00:39.231632');
INSERT INTO "ferry_journal" VALUES('4fb8058ef968406faaab092eaf157d56','bookings.confirm','POST','/api/booking/confirm','{"booking_id": "f56790f2-d666-4097-a478-1d2d4e162b1e"}','25815eb3-a112-427b-a04a-cc262d7fd107','919af337a0d6a4c5753556fc67483a13c261de42b7e076a0d82346e0f8292a65','unknown','2026-11-22 12:00:39.234645','2026-11-22 12:00:40.988139');
INSERT INTO "ferry_journal" VALUES('4d4a76102fbb4a66b1ca8193d19422cd','bookings.create','POST','/api/booking','{}','269ed7dd-6b35-4900-a439-7babad434523','1500e4f5458c521f5f9269de05e6719cfe29e1f12130bc808e2d3f077023f498','done','2026-11-22 12:00:40.995475','2026-11-22 12:00:41.000581');
INSERT INTO "ferry_journal" VALUES('57b19292c4544cfb9ff4535463e21820','bookings.confirm','POST','/api/booking/confirm','{"booking_id": "47d3309e-bd96-466b-9885-03e02831c5e4"}','f8cda1bb-03a6-469d-afcf-4ac133d4b85e','8d334491c94fc504a1c281f9b05cbfc885e7c80e540e9dc4afa3897f39df226f','open','2026-11-22 12:00:41.003352','2026-11-22 12:00:41.003352');
INSERT INTO "ferry_journal" VALUES('1f2e070c18f4452d98c0ac21985a2c64','bookings.cancel','POST','/api/booking/cancel','{"booking_id": "b-1"}','c313418f-2b5c-42f4-a7c8-6641db6978f9','e007920a717021d128530da4df43423f2c36e898396670be24f180496af31c0d','not_sent','2026-11-22 12:00:41.012805','2026-11-22 12:00:41.017231');
CREATE TABLE ferry_journal_about (
	id INTEGER NOT NULL CHECK (id = 1), 
	schema_version INTEGER NOT NULL, 
	key_check VARCHAR(64) NOT NULL, 
	own_key BLOB, 
	PRIMARY KEY (id)
);
INSERT INTO "ferry_journal_about" VALUES(1,1,'7cc8a41002b0b39b295b22aa761a94e385d0bd8232989671281ee3de20b428e4',X'45A2C9881A4657156F8FD06A0AE1BB6706F2B61D52FED5E6FC1CCDBC34130221');
CREATE UNIQUE INDEX ferry_journal_unresolved ON ferry_journal (fingerprint) WHERE (state NOT IN ('done', 'rejected', 'not_sent'));
COMMIT;
