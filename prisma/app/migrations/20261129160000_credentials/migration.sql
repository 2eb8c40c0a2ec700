-- slipway: expand-only
-- Brokered credentials: values that credential-broker puts into requests at their places, and that no sandbox has.

CREATE TABLE app.credential (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  name text NOT NULL,
  description text NOT NULL,
  form text NOT NULL CHECK (form IN ('bearer', 'basic', 'header', 'oauth-client-credentials', 'aws-sigv4', 'placeholder')),
  scope text NOT NULL CHECK (scope IN ('org', 'environment', 'repository')),
  -- Environment, or repository as `repositoryKey` writes it; empty for `org`.
  scope_value text NOT NULL,
  -- `CredentialUse`. Its hash is part of what the value is sealed for: other places, and it does not open.
  use jsonb NOT NULL,
  -- `host:port` of each place, for looking up.
  hosts text[] NOT NULL,
  sealed bytea NOT NULL,
  key_version integer NOT NULL,
  -- Makes the references of conversations, for `placeholder`. They are worth nothing but at the places.
  reference_key bytea NOT NULL,
  -- `resting`: a place has sent the value back.
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'resting')),
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_by text NOT NULL,
  updated_by_label text NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  CHECK ((scope = 'org') = (scope_value = '')),
  -- At the end of the transaction, so that all of an organization can be deleted in any order.
  FOREIGN KEY (org_id, key_version) REFERENCES app.org_data_key (org_id, version) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX credential_org_id_scope_scope_value_name_key ON app.credential (org_id, scope, scope_value, name);
CREATE INDEX credential_org_id_name_idx ON app.credential (org_id, name, id);
CREATE INDEX credential_org_id_key_version_idx ON app.credential (org_id, key_version);

ALTER TABLE app.credential ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.credential FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.credential USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.credential TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.credential TO slipway_app, slipway_app_system;
