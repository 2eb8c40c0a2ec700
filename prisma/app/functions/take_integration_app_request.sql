-- The app registration of a state, once. The caller checks afterwards whether it is theirs, and has no organization
-- yet.
CREATE OR REPLACE FUNCTION app.take_integration_app_request(p_state bytea, p_now timestamptz)
RETURNS TABLE (id text, org_id text, user_id text, session_id text, kind text, connection_id text, provider text, detail jsonb, nonce_hash bytea)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    UPDATE app.integration_app_request r SET taken_at = p_now WHERE r.state_hash = p_state AND r.taken_at IS NULL AND r.expires_at > p_now
    RETURNING r.id, r.org_id, r.user_id, r.session_id, r.kind, r.connection_id, r.provider, r.detail, r.nonce_hash;
END $$;
