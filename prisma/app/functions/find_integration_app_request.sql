-- The organization of a registration whose form is to be shown, for the same session that began it.
CREATE OR REPLACE FUNCTION app.find_integration_app_request(p_id text, p_user text, p_session text, p_now timestamptz)
RETURNS TABLE (org_id text, connection_id text, provider text, detail jsonb)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT r.org_id, r.connection_id, r.provider, r.detail FROM app.integration_app_request r
    WHERE r.id = p_id AND r.user_id = p_user AND r.session_id = p_session AND r.kind = 'register' AND r.taken_at IS NULL AND r.expires_at > p_now;
END $$;
