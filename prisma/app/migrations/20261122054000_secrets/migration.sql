-- slipway: expand-only
-- What an organization keeps sealed, under a data key of its own, and what else it has set up for its agents.

-- The data keys of an organization, wrapped by the master key (ENCRYPTION_KEY). Values are sealed under the newest; older ones stay while a value is under them.
CREATE TABLE app.org_data_key (
  org_id text NOT NULL,
  version integer NOT NULL,
  wrapped bytea NOT NULL,
  -- Which master key it is wrapped by; tells nothing of that key.
  master_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, version)
);
CREATE INDEX org_data_key_master_id_idx ON app.org_data_key (master_id);

CREATE TABLE app.secret (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  name text NOT NULL,
  -- `variable` or `git`.
  kind text NOT NULL,
  -- `org`, `environment`, `repository`, `person` or `conversation`.
  scope text NOT NULL,
  -- Environment, repository (as `repositoryKey` writes it), person or conversation; empty for `org`.
  scope_value text NOT NULL,
  -- Of `git`: where it is sent, and as whom.
  host text,
  username text,
  description text NOT NULL,
  sealed bytea NOT NULL,
  key_version integer NOT NULL,
  -- Whether it is long enough to be hidden in what agents print.
  masked boolean NOT NULL,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_by text NOT NULL,
  updated_by_label text NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  -- At the end of the transaction, so that all of an organization can be deleted in any order.
  FOREIGN KEY (org_id, key_version) REFERENCES app.org_data_key (org_id, version) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX secret_org_id_scope_scope_value_name_key ON app.secret (org_id, scope, scope_value, name);
CREATE INDEX secret_org_id_name_idx ON app.secret (org_id, name, id);
CREATE INDEX secret_org_id_key_version_idx ON app.secret (org_id, key_version);

CREATE TABLE app.llm_profile (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  name text NOT NULL,
  model text NOT NULL,
  base_url text,
  temperature double precision,
  max_output_tokens integer,
  is_default boolean NOT NULL DEFAULT false,
  sealed_api_key bytea,
  key_version integer,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (org_id, key_version) REFERENCES app.org_data_key (org_id, version) DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX llm_profile_org_id_name_key ON app.llm_profile (org_id, name);
CREATE UNIQUE INDEX llm_profile_default_key ON app.llm_profile (org_id) WHERE is_default;

CREATE TABLE app.mcp_server (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  name text NOT NULL,
  transport text NOT NULL,
  enabled boolean NOT NULL,
  -- Command, arguments and environment, or URL and headers. Secrets stand in it by name.
  config jsonb NOT NULL,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX mcp_server_org_id_name_key ON app.mcp_server (org_id, name);

ALTER TABLE app.org_data_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.org_data_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.org_data_key USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.org_data_key TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.org_data_key TO slipway_app, slipway_app_system;

ALTER TABLE app.secret ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.secret FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.secret USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.secret TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.secret TO slipway_app, slipway_app_system;

ALTER TABLE app.llm_profile ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.llm_profile FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.llm_profile USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.llm_profile TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.llm_profile TO slipway_app, slipway_app_system;

ALTER TABLE app.mcp_server ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.mcp_server FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.mcp_server USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.mcp_server TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.mcp_server TO slipway_app, slipway_app_system;

-- Which environment's secrets the conversation gets.
ALTER TABLE app.conversation ADD COLUMN environment text;
