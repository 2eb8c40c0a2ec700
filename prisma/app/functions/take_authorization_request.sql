-- The authorization request of a state, once. Takes the system role for its transaction: the caller has no
-- organization yet.
CREATE OR REPLACE FUNCTION app.take_authorization_request(p_state bytea, p_now timestamptz)
RETURNS TABLE (id text, org_id text, user_id text, session_id text, connection_id text, nonce_hash bytea, usable boolean)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    UPDATE app.authorization_request r SET taken_at = p_now WHERE r.state_hash = p_state AND r.taken_at IS NULL AND r.expires_at > p_now
    RETURNING r.id, r.org_id, r.user_id, r.session_id, r.connection_id, r.nonce_hash, true;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT r.id, r.org_id, r.user_id, r.session_id, r.connection_id, r.nonce_hash, false FROM app.authorization_request r WHERE r.state_hash = p_state;
END $$;
