-- slipway: expand-only
-- When the replica that leads the pools last looked at all of them: what readiness and its metric go by, whoever leads. Of no organization.
CREATE TABLE runtime.lead_run (
  name text PRIMARY KEY,
  completed_at timestamptz(3) NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON runtime.lead_run TO slipway_runtime, slipway_runtime_system;
