-- slipway: expand-only
-- Checkpoints of conversations' files, the packs that hold their contents, and how many bytes of packs an organization
-- has. A checkpoint's row is there once it is durable.
--
-- Lock order: conversations by id, checkpoints by id, packs by id, pack_storage.

CREATE TABLE app.checkpoint (
  org_id text NOT NULL,
  id uuid NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  -- Place in the log: of the event after which the files were so.
  seq bigint NOT NULL,
  after_event_id uuid NOT NULL,
  epoch integer NOT NULL,
  -- Of the same conversation, or what that was forked from. That may have been deleted.
  parent_id uuid,
  -- SHA-256 of the root tree: with modification times, and without.
  root bytea NOT NULL CHECK (length(root) = 32),
  content_hash bytea NOT NULL CHECK (length(content_hash) = 32),
  state text NOT NULL DEFAULT 'durable' CHECK (state IN ('durable', 'expired')),
  reason text NOT NULL,
  -- No program of the agent ran.
  quiet boolean NOT NULL,
  -- Nothing was left out for size or time; `skipped` has the counts and first names.
  complete boolean NOT NULL,
  skipped jsonb NOT NULL DEFAULT '{}',
  -- Names and paths of secrets found in files, never values.
  secrets jsonb NOT NULL DEFAULT '[]',
  files bigint NOT NULL CHECK (files >= 0),
  logical_bytes bigint NOT NULL CHECK (logical_bytes >= 0),
  -- Bytes of the packs that came with it.
  new_bytes bigint NOT NULL CHECK (new_bytes >= 0),
  name text,
  pinned_by text,
  taken_at timestamptz(3) NOT NULL,
  durable_at timestamptz(3) NOT NULL DEFAULT now(),
  -- NULL: so many days after the last activity as the organization has set.
  expires_at timestamptz(3),
  PRIMARY KEY (org_id, id)
);
CREATE INDEX checkpoint_conversation_id_idx ON app.checkpoint (conversation_id, seq DESC, durable_at DESC);
CREATE INDEX checkpoint_parent_id_idx ON app.checkpoint (org_id, parent_id);

-- live: a checkpoint refers to it. doomed: none does; a commit may take it back. deleting: its object may be gone.
CREATE TABLE app.pack (
  org_id text NOT NULL,
  -- Random, and the name of its object below the organization's prefix.
  id text NOT NULL CHECK (id ~ '^[0-9a-f]{32}$'),
  bytes bigint NOT NULL CHECK (bytes > 0),
  -- Of contents that a durable checkpoint reaches, as last counted.
  live_bytes bigint NOT NULL CHECK (live_bytes >= 0),
  -- Sealed under the organization's data key; NULL: what it was for was deleted, and nothing can read it.
  wrapped_key bytea,
  key_version integer,
  -- Conversation that stored it, for its share of the quota. Forks refer to packs of others.
  stored_by uuid NOT NULL,
  state text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'doomed', 'deleting')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  doomed_at timestamptz(3),
  PRIMARY KEY (org_id, id),
  CHECK ((wrapped_key IS NULL) = (key_version IS NULL)),
  CHECK (state <> 'live' OR (wrapped_key IS NOT NULL AND doomed_at IS NULL)),
  FOREIGN KEY (org_id, key_version) REFERENCES app.org_data_key (org_id, version) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX pack_id_key ON app.pack (id);
CREATE INDEX pack_org_id_stored_by_idx ON app.pack (org_id, stored_by);
CREATE INDEX pack_org_id_key_version_idx ON app.pack (org_id, key_version) WHERE key_version IS NOT NULL;
CREATE INDEX pack_doomed_at_idx ON app.pack (doomed_at) WHERE state <> 'live';

-- What a checkpoint's contents are in: all of it, also what came with its ancestors.
CREATE TABLE app.checkpoint_pack (
  org_id text NOT NULL,
  checkpoint_id uuid NOT NULL,
  pack_id text NOT NULL,
  PRIMARY KEY (org_id, checkpoint_id, pack_id),
  FOREIGN KEY (org_id, checkpoint_id) REFERENCES app.checkpoint (org_id, id) ON DELETE CASCADE,
  -- Checked at the commit: a pack's row never goes while one refers to it.
  FOREIGN KEY (org_id, pack_id) REFERENCES app.pack (org_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX checkpoint_pack_pack_id_idx ON app.checkpoint_pack (org_id, pack_id);

CREATE TABLE app.pack_storage (
  org_id text PRIMARY KEY,
  -- Sum over the rows of its packs, doomed ones among them.
  used_bytes bigint NOT NULL DEFAULT 0,
  -- Of its own; NULL: by its members.
  limit_bytes bigint CHECK (limit_bytes >= 0)
);

DO $$
DECLARE v_table text;
BEGIN
  FOREACH v_table IN ARRAY ARRAY['checkpoint', 'pack', 'checkpoint_pack', 'pack_storage'] LOOP
    EXECUTE format('ALTER TABLE app.%I ENABLE ROW LEVEL SECURITY', v_table);
    EXECUTE format('ALTER TABLE app.%I FORCE ROW LEVEL SECURITY', v_table);
    EXECUTE format('CREATE POLICY tenant ON app.%I USING (org_id = current_setting(''app.org'', true)) WITH CHECK (org_id = current_setting(''app.org'', true))', v_table);
    EXECUTE format('CREATE POLICY system ON app.%I TO slipway_app_system USING (true) WITH CHECK (true)', v_table);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON app.%I TO slipway_app, slipway_app_system', v_table);
  END LOOP;
END $$;
