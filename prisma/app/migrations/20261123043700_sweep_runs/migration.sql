-- slipway: expand-only
-- When any worker last completed a sweep: what a worker's readiness and its metric go by. Of no organization.
CREATE TABLE app.sweep_run (
  name text PRIMARY KEY,
  completed_at timestamptz(3) NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON app.sweep_run TO slipway_app, slipway_app_system;
