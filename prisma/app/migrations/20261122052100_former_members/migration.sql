-- slipway: expand-only
-- Who has left an organization or was removed from it: an address of its domain does not bring them back, an invitation does.
CREATE TABLE app.former_member (
  org_id text NOT NULL,
  user_id text NOT NULL,
  left_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, user_id)
);
ALTER TABLE app.former_member ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.former_member FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.former_member USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.former_member TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.former_member TO slipway_app, slipway_app_system;
