-- The connection of an address, with the secrets that may sign its deliveries now. Takes the system role for its
-- transaction: a delivery names no organization.
CREATE OR REPLACE FUNCTION app.find_integration(p_id text)
RETURNS TABLE (org_id text, provider text, host text, signature text, secret_ids text[], sealed bytea[], key_versions integer[])
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT c.org_id, c.provider, c.host, c.signature, s.ids, s.sealed, s.versions
    FROM app.integration_connection c
    CROSS JOIN LATERAL (
      SELECT array_agg(k.id ORDER BY k.created_at DESC) AS ids, array_agg(k.sealed ORDER BY k.created_at DESC) AS sealed, array_agg(k.key_version ORDER BY k.created_at DESC) AS versions
      FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = 'webhook' AND (k.valid_until IS NULL OR k.valid_until > now())
    ) s
    WHERE c.id = p_id AND NOT c.platform;
END $$;
