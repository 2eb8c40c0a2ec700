-- slipway: expand-only
-- How far each conversation's trace has left over OTLP: turns that ended up to this position of the log. Only where an endpoint is configured.
CREATE TABLE app.trace_export (
  conversation_id uuid PRIMARY KEY REFERENCES app.conversation (id) ON DELETE CASCADE,
  org_id text NOT NULL,
  upto bigint NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX trace_export_org_id_idx ON app.trace_export (org_id);
ALTER TABLE app.trace_export ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.trace_export FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.trace_export USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.trace_export TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.trace_export TO slipway_app, slipway_app_system;
