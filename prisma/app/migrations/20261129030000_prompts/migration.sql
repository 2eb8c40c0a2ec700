-- slipway: expand-only
-- Texts that users put into a message by their name: a user's own, and the organization's.
CREATE TABLE app.prompt (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  -- Whose own it is; empty for the organization's.
  user_id text NOT NULL,
  name text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,63}$'),
  description text NOT NULL,
  text text NOT NULL CHECK (octet_length(text) <= 80000),
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_by text NOT NULL,
  updated_by_label text NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX prompt_org_id_user_id_name_key ON app.prompt (org_id, user_id, name);

ALTER TABLE app.prompt ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.prompt FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.prompt USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.prompt TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.prompt TO slipway_app, slipway_app_system;
