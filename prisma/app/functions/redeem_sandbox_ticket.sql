-- Spends a ticket. Returns the id of its grant the first time, and no row ever after, when it came too late, or for
-- another conversation or port.
-- A ticket that is shown for the wrong conversation or port stays unspent, and is good for its own only.
CREATE OR REPLACE FUNCTION app.redeem_sandbox_ticket(p_hash bytea, p_conversation uuid, p_port integer)
RETURNS TABLE (id text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  RETURN QUERY
    UPDATE app.sandbox_grant g SET ticket_hash = NULL
    WHERE g.ticket_hash = p_hash AND g.ticket_expires_at > now() AND g.revoked_at IS NULL AND g.conversation_id = p_conversation AND g.port = p_port
    RETURNING g.id;
END $$;
