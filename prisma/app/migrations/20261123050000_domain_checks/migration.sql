-- slipway: expand-only
-- A verified domain is looked up again: who has lost it must not go on letting people in.

-- When its record was last seen; for domains of before, when they were verified.
ALTER TABLE app.org_domain ADD COLUMN confirmed_at timestamptz(3);
-- Since when the DNS has said for certain that the record is not there. Nobody joins meanwhile.
ALTER TABLE app.org_domain ADD COLUMN missing_since timestamptz(3);
CREATE INDEX org_domain_due_idx ON app.org_domain (checked_at) WHERE verified_at IS NOT NULL;

CREATE OR REPLACE FUNCTION app.find_auto_join(p_domain text)
RETURNS TABLE (org_id text, role text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT d.org_id, d.auto_join_role
    FROM app.org_domain d JOIN app.org o ON o.id = d.org_id
    WHERE d.domain = p_domain AND d.verified_at IS NOT NULL AND d.missing_since IS NULL AND d.auto_join_role IS NOT NULL AND o.deletes_at IS NULL;
END $$;
