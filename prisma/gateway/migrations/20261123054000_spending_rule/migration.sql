-- slipway: expand-only
-- What an organization's admins say of its budgets beside their amounts. Told by the worker.
CREATE TABLE gateway.spending_rule (
  org_id text PRIMARY KEY,
  allow_unpriced boolean NOT NULL
);
ALTER TABLE gateway.spending_rule ENABLE ROW LEVEL SECURITY;
ALTER TABLE gateway.spending_rule FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON gateway.spending_rule USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON gateway.spending_rule TO slipway_gateway_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON gateway.spending_rule TO slipway_gateway, slipway_gateway_system;
