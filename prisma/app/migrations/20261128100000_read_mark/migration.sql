-- slipway: expand-only
-- How far a user has looked into a conversation, on whichever device, and what they did with its row of their Desk.
CREATE TABLE app.read_mark (
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  user_id text NOT NULL,
  org_id text NOT NULL,
  -- Position of the log that was looked at last. Never goes back.
  seq bigint NOT NULL DEFAULT 0,
  -- Of the workspace as it was seen at `seq`; null: not known.
  tree_hash text,
  -- Key of the decision that is done for now; another decision is not.
  done_key text,
  snoozed_until timestamptz(3),
  muted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (conversation_id, user_id)
);
CREATE INDEX read_mark_org_id_user_id_idx ON app.read_mark (org_id, user_id);
ALTER TABLE app.read_mark ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.read_mark FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.read_mark USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.read_mark TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.read_mark TO slipway_app, slipway_app_system;
