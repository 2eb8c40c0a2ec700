-- slipway: expand-only
-- Pull requests that are due are taken organization by organization, so that none waits for another's many. pull_request_outcome_next_at_idx is not read any more.
CREATE INDEX pull_request_outcome_org_id_next_at_idx ON app.pull_request_outcome (org_id, next_at) WHERE next_at IS NOT NULL;
