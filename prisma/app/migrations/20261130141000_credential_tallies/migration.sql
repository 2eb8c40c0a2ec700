-- slipway: expand-only
-- How often credentials were used, by conversation, place and day.

CREATE TABLE app.credential_tally (
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  credential_id text NOT NULL,
  -- Host and place in words.
  place text NOT NULL,
  -- Of UTC.
  day date NOT NULL,
  uses bigint NOT NULL,
  last_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, conversation_id, credential_id, place, day)
);
CREATE INDEX credential_tally_org_id_credential_id_idx ON app.credential_tally (org_id, credential_id, day);
CREATE INDEX credential_tally_org_id_day_idx ON app.credential_tally (org_id, day);
CREATE INDEX credential_tally_conversation_id_idx ON app.credential_tally (conversation_id);

ALTER TABLE app.credential_tally ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.credential_tally FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.credential_tally USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.credential_tally TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.credential_tally TO slipway_app, slipway_app_system;
