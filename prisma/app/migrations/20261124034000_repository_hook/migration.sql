-- slipway: expand-only
-- Webhooks that Slipway has made at a git host with the access token of a connection, one a repository.
CREATE TABLE app.integration_hook (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  connection_id text NOT NULL REFERENCES app.integration_connection (id) ON DELETE CASCADE,
  -- `owner/name`, as the host writes it.
  repository text NOT NULL,
  -- At the host.
  hook_id text NOT NULL,
  -- The webhook secret that it signs with: another one than the newest means that the hook is to be repaired.
  secret_id text NOT NULL,
  installed_by text NOT NULL,
  installed_by_label text NOT NULL,
  installed_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX integration_hook_repository_key ON app.integration_hook (connection_id, lower(repository));
CREATE INDEX integration_hook_org_id_idx ON app.integration_hook (org_id);

ALTER TABLE app.integration_hook ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.integration_hook FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.integration_hook USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.integration_hook TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.integration_hook TO slipway_app, slipway_app_system;
