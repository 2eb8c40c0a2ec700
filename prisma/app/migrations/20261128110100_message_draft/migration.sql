-- slipway: expand-only
-- What users have written and not sent, to be continued on another device.
CREATE TABLE app.message_draft (
  org_id text NOT NULL,
  user_id text NOT NULL,
  -- A conversation's id, or 'new-task'.
  subject text NOT NULL,
  -- NULL for a new task.
  conversation_id uuid REFERENCES app.conversation (id) ON DELETE CASCADE,
  text text NOT NULL CHECK (octet_length(text) <= 65536),
  -- Milliseconds of the clock of its last change, and more than before: what follows a deleted draft is newer than it.
  version bigint NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, user_id, subject)
);
CREATE INDEX message_draft_conversation_id_idx ON app.message_draft (conversation_id);

ALTER TABLE app.message_draft ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.message_draft FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.message_draft USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.message_draft TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.message_draft TO slipway_app, slipway_app_system;
