-- slipway: expand-only
-- Whose budget a conversation's model calls count for now: the author of the message that runs. Without a row it is who made the conversation.
CREATE TABLE app.conversation_spender (
  conversation_id uuid PRIMARY KEY REFERENCES app.conversation (id) ON DELETE CASCADE,
  org_id text NOT NULL,
  user_id text NOT NULL,
  user_label text NOT NULL,
  -- What llm-gateway has acknowledged: user and limit of the conversation, as worker writes them. Null: unknown.
  applied text
);
CREATE INDEX conversation_spender_org_id_idx ON app.conversation_spender (org_id);
ALTER TABLE app.conversation_spender ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.conversation_spender FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.conversation_spender USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.conversation_spender TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.conversation_spender TO slipway_app, slipway_app_system;
