-- Connections of a user's organizations by which an account can be linked.
CREATE OR REPLACE FUNCTION app.linkable_connections(p_user text)
RETURNS TABLE (connection_id text, org_id text, org_name text, name text, provider text, host text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT c.id, c.org_id, o.name, c.name, c.provider, c.host
    FROM app.membership m JOIN app.org o ON o.id = m.org_id AND o.deletes_at IS NULL
    JOIN app.integration_connection c ON c.org_id = m.org_id AND c.state <> 'disabled'
    WHERE m.user_id = p_user AND EXISTS (SELECT 1 FROM app.integration_secret k WHERE k.connection_id = c.id AND k.kind = 'oauth-client')
    ORDER BY o.name, c.name, c.id;
END $$;
