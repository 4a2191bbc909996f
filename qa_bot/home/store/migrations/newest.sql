CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

INSERT INTO "alembic_version" VALUES('0007');

CREATE TABLE collections (
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	CONSTRAINT pk_collections PRIMARY KEY (id),
	CONSTRAINT uq_collections_name UNIQUE (name)
);

CREATE TABLE commits (
	id INTEGER NOT NULL,
	token VARCHAR(32) NOT NULL,
	committed DOUBLE NOT NULL,
	CONSTRAINT pk_commits PRIMARY KEY (id)
);

INSERT INTO "commits" VALUES(1,'',0.0);

CREATE TABLE conversations (
	id VARCHAR(64) NOT NULL,
	title TEXT NOT NULL,
	persona TEXT NOT NULL,
	created DOUBLE NOT NULL,
	updated DOUBLE NOT NULL, checksum VARCHAR(32),
	CONSTRAINT pk_conversations PRIMARY KEY (id)
);

CREATE TABLE counters (
	name VARCHAR(32) NOT NULL,
	next BIGINT NOT NULL,
	CONSTRAINT pk_counters PRIMARY KEY (name)
);

INSERT INTO "counters" VALUES('documents',1);

INSERT INTO "counters" VALUES('passages',1);

CREATE TABLE deleted_conversations (
	"key" VARCHAR(32) NOT NULL,
	deleted DOUBLE NOT NULL,
	CONSTRAINT pk_deleted_conversations PRIMARY KEY ("key")
);

CREATE TABLE departed_files (
	collection TEXT NOT NULL,
	hash VARCHAR(64) NOT NULL,
	stem TEXT NOT NULL,
	size BIGINT NOT NULL,
	ids JSON NOT NULL,
	departed DOUBLE NOT NULL,
	CONSTRAINT pk_departed_files PRIMARY KEY (collection, hash, stem)
)
 WITHOUT ROWID
;

CREATE TABLE document_aliases (
	collection_id INTEGER NOT NULL,
	old TEXT NOT NULL,
	until DOUBLE NOT NULL,
	new TEXT NOT NULL,
	since DOUBLE NOT NULL,
	CONSTRAINT pk_document_aliases PRIMARY KEY (collection_id, old, until),
	CONSTRAINT fk_document_aliases_collection_id FOREIGN KEY(collection_id) REFERENCES collections (id) ON DELETE CASCADE
)
 WITHOUT ROWID
;

CREATE TABLE documents (
	id INTEGER NOT NULL,
	collection_id INTEGER NOT NULL,
	external_id TEXT NOT NULL,
	title TEXT NOT NULL,
	body TEXT NOT NULL,
	url TEXT NOT NULL,
	hash VARCHAR(64) NOT NULL,
	origin TEXT NOT NULL,
	born INTEGER NOT NULL,
	retired INTEGER, details JSON DEFAULT '{}' NOT NULL, source_id BIGINT, file TEXT DEFAULT '' NOT NULL, checksum VARCHAR(32),
	CONSTRAINT pk_documents PRIMARY KEY (id),
	CONSTRAINT fk_documents_collection_id FOREIGN KEY(collection_id) REFERENCES collections (id) ON DELETE CASCADE
);

CREATE TABLE feedback (
	id INTEGER NOT NULL,
	turn_id VARCHAR(64) NOT NULL,
	vote VARCHAR(8) NOT NULL,
	comment TEXT NOT NULL,
	created DOUBLE NOT NULL, checksum VARCHAR(32),
	CONSTRAINT pk_feedback PRIMARY KEY (id),
	CONSTRAINT ck_feedback_ck_feedback_vote CHECK (vote IN ('up', 'down')),
	CONSTRAINT fk_feedback_turn_id FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);

CREATE TABLE gaps (
	turn_id VARCHAR(64) NOT NULL,
	"key" VARCHAR(32) NOT NULL,
	created DOUBLE NOT NULL,
	unanswered BOOLEAN NOT NULL,
	downvoted BOOLEAN NOT NULL,
	CONSTRAINT pk_gaps PRIMARY KEY (turn_id),
	CONSTRAINT fk_gaps_turn_id FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);

CREATE TABLE generations (
	number INTEGER NOT NULL,
	encoder TEXT NOT NULL,
	state VARCHAR(16) NOT NULL,
	created DOUBLE NOT NULL,
	counts JSON NOT NULL,
	CONSTRAINT pk_generations PRIMARY KEY (number),
	CONSTRAINT ck_generations_ck_generations_state CHECK (state IN ('building', 'current', 'old'))
);

CREATE TABLE passages (
	id INTEGER NOT NULL,
	document_id INTEGER NOT NULL,
	position INTEGER NOT NULL,
	text TEXT NOT NULL,
	start INTEGER NOT NULL,
	"end" INTEGER NOT NULL,
	duplicate_of INTEGER, place JSON DEFAULT '{}' NOT NULL, units JSON DEFAULT '[]' NOT NULL,
	CONSTRAINT pk_passages PRIMARY KEY (id),
	CONSTRAINT fk_passages_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE,
	CONSTRAINT fk_passages_duplicate_of FOREIGN KEY(duplicate_of) REFERENCES passages (id) ON DELETE SET NULL,
	CONSTRAINT uq_passages_document_id_position UNIQUE (document_id, position)
);

CREATE TABLE settled_gaps (
	"key" VARCHAR(32) NOT NULL,
	settled DOUBLE NOT NULL,
	CONSTRAINT pk_settled_gaps PRIMARY KEY ("key")
);

CREATE TABLE sketches (
	value BIGINT NOT NULL,
	passage_id INTEGER NOT NULL,
	CONSTRAINT pk_sketches PRIMARY KEY (value, passage_id),
	CONSTRAINT fk_sketches_passage_id FOREIGN KEY(passage_id) REFERENCES passages (id) ON DELETE CASCADE
)
 WITHOUT ROWID
;

CREATE TABLE source_files (
	source_id INTEGER NOT NULL,
	path TEXT NOT NULL,
	stem TEXT NOT NULL,
	size BIGINT NOT NULL,
	mtime_ns BIGINT NOT NULL,
	hash VARCHAR(64) NOT NULL,
	settings VARCHAR(64) NOT NULL,
	outcome VARCHAR(16) NOT NULL,
	documents INTEGER NOT NULL,
	state JSON,
	CONSTRAINT pk_source_files PRIMARY KEY (source_id, path),
	CONSTRAINT fk_source_files_source_id FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
)
 WITHOUT ROWID
;

CREATE TABLE sources (
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	kind VARCHAR(16) NOT NULL,
	place TEXT NOT NULL,
	collection TEXT NOT NULL,
	options JSON NOT NULL,
	synced DOUBLE,
	error TEXT NOT NULL, checksum VARCHAR(32),
	CONSTRAINT pk_sources PRIMARY KEY (id),
	CONSTRAINT uq_sources_name UNIQUE (name),
	CONSTRAINT uq_sources_place_collection UNIQUE (place, collection)
);

CREATE TABLE turns (
	id VARCHAR(64) NOT NULL,
	conversation_id VARCHAR(64),
	asked DOUBLE NOT NULL,
	question TEXT NOT NULL,
	rewritten TEXT NOT NULL,
	answer JSON NOT NULL,
	timings JSON NOT NULL,
	created DOUBLE NOT NULL, checksum VARCHAR(32),
	CONSTRAINT pk_turns PRIMARY KEY (id),
	CONSTRAINT fk_turns_conversation_id FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);

CREATE INDEX ix_conversations_updated ON conversations (updated);

CREATE INDEX ix_documents_born ON documents (born);

CREATE INDEX ix_documents_external_id ON documents (external_id);

CREATE INDEX ix_documents_retired ON documents (retired) WHERE retired IS NOT NULL;

CREATE UNIQUE INDEX uq_documents_live ON documents (collection_id, external_id) WHERE retired IS NULL;

CREATE INDEX ix_turns_conversation_id ON turns (conversation_id);

CREATE INDEX ix_turns_created ON turns (created);

CREATE INDEX ix_feedback_turn_id ON feedback (turn_id);

CREATE INDEX ix_passages_duplicate_of ON passages (duplicate_of);

CREATE INDEX ix_sketches_passage_id ON sketches (passage_id);

CREATE INDEX ix_gaps_key ON gaps ("key", created, unanswered, downvoted);

CREATE INDEX ix_source_files_stem ON source_files (stem);

CREATE INDEX ix_documents_source ON documents (source_id, file) WHERE source_id IS NOT NULL;

CREATE INDEX ix_document_aliases_old ON document_aliases (old);

CREATE INDEX ix_departed_files_departed ON departed_files (departed);
