-- The connection that an account of the platform's app belongs to.
CREATE OR REPLACE FUNCTION app.find_integration_of_account(p_provider text, p_host text, p_account text)
RETURNS TABLE (id text, org_id text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT c.id, c.org_id FROM app.integration_connection c
    WHERE c.provider = p_provider AND c.host = p_host AND c.account = p_account AND c.platform;
END $$;
