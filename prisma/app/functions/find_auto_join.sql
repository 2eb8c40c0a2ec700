-- The organization that has verified a domain, if it admits users with an address there. None while the domain's
-- record is missing from DNS.
-- Takes the system role for its transaction: the user is no member yet.
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
