-- Requests a pass for the holder of a grant on agent-server. False: the grant no longer holds.
-- app.spend_through_sandbox decides whether they may spend.
CREATE OR REPLACE FUNCTION app.request_charge_pass(p_grant text, p_hash bytea) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  INSERT INTO app.charge_pass_request (hash, org_id, conversation_id, user_id, user_label)
    SELECT p_hash, g.org_id, g.conversation_id, g.user_id, left(coalesce(nullif(u.name, ''), nullif(a.name, ''), g.user_id), 200)
    FROM app.sandbox_grant g
    LEFT JOIN app.user_account u ON u.id = g.user_id
    LEFT JOIN app.service_account a ON a.org_id = g.org_id AND a.id = g.user_id
    WHERE g.id = p_grant AND g.port = 8000 AND g.revoked_at IS NULL AND g.expires_at > now();
  RETURN FOUND;
END $$;
