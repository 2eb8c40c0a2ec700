-- slipway: expand-only
-- Which repository a conversation may read through a connection of its organization: written when the provider confirmed that who asked may, and by nobody else.
-- The sandbox is given no credential of the connection; app-server adds it outside (apps/app-server/src/sandboxes/git-relay).
CREATE TABLE app.repository_grant (
  org_id text NOT NULL,
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  -- `owner/name`, with as many groups before the name as the host has.
  full_name text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (conversation_id, connection_id, full_name)
);
CREATE INDEX repository_grant_connection_id_idx ON app.repository_grant (connection_id);

ALTER TABLE app.repository_grant ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.repository_grant FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.repository_grant USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.repository_grant TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.repository_grant TO slipway_app, slipway_app_system;
