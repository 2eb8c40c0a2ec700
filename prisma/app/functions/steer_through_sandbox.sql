-- The holder of a grant steers now, and may go on for so many seconds before this is checked again. Takes a grant and
-- no user. False: the grant no longer holds.
CREATE OR REPLACE FUNCTION app.steer_through_sandbox(p_grant text, p_seconds double precision) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  INSERT INTO app.sandbox_steering AS s (conversation_id, user_id, org_id, until)
    SELECT g.conversation_id, g.user_id, g.org_id, clock_timestamp() + make_interval(secs => p_seconds)
    FROM app.sandbox_grant g WHERE g.id = p_grant AND g.revoked_at IS NULL AND g.expires_at > now()
    ON CONFLICT (conversation_id, user_id) DO UPDATE SET until = greatest(s.until, excluded.until);
  RETURN FOUND;
END $$;
