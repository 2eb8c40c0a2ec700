-- slipway: expand-only
-- Hosts that sandboxes reached under the setting `observe`.

CREATE TABLE app.egress_observed (
  org_id text NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  connections integer NOT NULL DEFAULT 1,
  first_at timestamptz(3) NOT NULL DEFAULT now(),
  last_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, host, port, conversation_id)
);
CREATE INDEX egress_observed_conversation_id_idx ON app.egress_observed (conversation_id);
CREATE INDEX egress_observed_org_id_last_at_idx ON app.egress_observed (org_id, last_at);

ALTER TABLE app.egress_observed ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.egress_observed FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.egress_observed
  USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.egress_observed TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.egress_observed TO slipway_app, slipway_app_system;
