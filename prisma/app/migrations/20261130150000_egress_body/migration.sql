-- slipway: expand-only
-- What was in the bodies of requests to opened hosts, as credential-broker saw it, by hour, host, content type and
-- folder of the workspace.

CREATE TABLE app.egress_body (
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  hour timestamptz(3) NOT NULL,
  host text NOT NULL,
  port integer NOT NULL,
  type text NOT NULL,
  -- '': of all bodies; else of the part that is text of this folder.
  folder text NOT NULL DEFAULT '',
  requests bigint NOT NULL DEFAULT 0,
  bytes bigint NOT NULL DEFAULT 0,
  workspace_bytes bigint NOT NULL DEFAULT 0,
  -- Of `bytes`, those that were compared with nothing.
  unread_bytes bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org_id, conversation_id, hour, host, port, type, folder)
);
CREATE INDEX egress_body_conversation_id_idx ON app.egress_body (conversation_id);
CREATE INDEX egress_body_org_id_hour_idx ON app.egress_body (org_id, hour);

ALTER TABLE app.egress_body ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.egress_body FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.egress_body USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.egress_body TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.egress_body TO slipway_app, slipway_app_system;
