-- slipway: expand-only
-- Files of messages. `content` is kept uncompressed, so that a stretch of it is read without the rest.
CREATE TABLE app.attachment (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  name text NOT NULL,
  media_type text NOT NULL,
  bytes integer NOT NULL CHECK (bytes > 0),
  content bytea NOT NULL,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The message that it was sent with, and its place there; null: not sent.
  message_id uuid,
  place integer NOT NULL DEFAULT 0,
  -- When it is deleted; null: with its conversation.
  expires_at timestamptz(3)
);
ALTER TABLE app.attachment ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX attachment_org_id_idx ON app.attachment (org_id);
CREATE INDEX attachment_conversation_id_idx ON app.attachment (conversation_id);
CREATE INDEX attachment_expires_at_idx ON app.attachment (expires_at);

ALTER TABLE app.attachment ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.attachment FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.attachment USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.attachment TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.attachment TO slipway_app, slipway_app_system;
