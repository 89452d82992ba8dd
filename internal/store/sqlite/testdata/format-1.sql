BEGIN TRANSACTION;
CREATE TABLE leases (
	name       TEXT    PRIMARY KEY,
	token      TEXT    NOT NULL, -- tells two acquisitions of one holder apart
	holder     TEXT    NOT NULL,
	acquired_at INTEGER NOT NULL,
	renewed_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "leases" VALUES('instance/instance-1','4ZXROHSETYJZAP75YTSFZLWWSG','somebody elsewhere',1795495759518325219,1795495759518325219,1795495774518325219);
CREATE TABLE records (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	kind       TEXT    NOT NULL,
	id         TEXT    NOT NULL,
	key        TEXT,
	owner      TEXT    NOT NULL,
	revision   INTEGER NOT NULL,
	data       BLOB    NOT NULL,
	sealed     BLOB    NOT NULL,
	created_at INTEGER NOT NULL, -- nanoseconds since 1970
	updated_at INTEGER NOT NULL,
	UNIQUE (kind, id),
	UNIQUE (kind, key)
) STRICT;
INSERT INTO "records" VALUES(1,'vim','vim-1',NULL,'',1,X'7B226964223A202276696D2D31227D',X'7365616C6564',1795495759509321523,1795495759509321523);
INSERT INTO "records" VALUES(2,'instance','instance-1','vim-1/default/core','vim-1',1,X'7B226964223A2022696E7374616E63652D31227D',X'',1795495759515063211,1795495759515063211);
CREATE TABLE schema_version (version INTEGER NOT NULL) STRICT;
INSERT INTO "schema_version" VALUES(1);
CREATE INDEX records_by_owner ON records (kind, owner);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('records',2);
COMMIT;
