-- slipway: expand-only
-- Who steers an agent by the files and programs of its sandbox, as sandbox-gateway sees it: under four eyes they are askers as those who write messages are.
CREATE TABLE app.sandbox_steering (
  conversation_id uuid NOT NULL REFERENCES app.conversation (id) ON DELETE CASCADE,
  user_id text NOT NULL,
  org_id text NOT NULL,
  -- Until when what sandbox-gateway let through is covered: it asks again after that and not at each byte.
  until timestamptz(3) NOT NULL,
  PRIMARY KEY (conversation_id, user_id)
);
CREATE INDEX sandbox_steering_org_id_idx ON app.sandbox_steering (org_id);
ALTER TABLE app.sandbox_steering ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.sandbox_steering FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.sandbox_steering USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.sandbox_steering TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.sandbox_steering TO slipway_app, slipway_app_system;

GRANT SELECT, INSERT, UPDATE (until) ON app.sandbox_steering TO slipway_sandbox;
CREATE POLICY sandbox ON app.sandbox_steering TO slipway_sandbox USING (true) WITH CHECK (true);
-- Beside every other policy: only who may reach that sandbox now.
CREATE POLICY sandbox_new ON app.sandbox_steering AS RESTRICTIVE FOR INSERT TO slipway_sandbox WITH CHECK (
  EXISTS (SELECT 1 FROM app.sandbox_grant g WHERE g.org_id = sandbox_steering.org_id AND g.conversation_id = sandbox_steering.conversation_id
    AND g.user_id = sandbox_steering.user_id AND g.revoked_at IS NULL AND g.expires_at > now()));
CREATE POLICY sandbox_changed ON app.sandbox_steering AS RESTRICTIVE FOR UPDATE TO slipway_sandbox USING (true) WITH CHECK (
  until > now() AND EXISTS (SELECT 1 FROM app.sandbox_grant g WHERE g.org_id = sandbox_steering.org_id AND g.conversation_id = sandbox_steering.conversation_id
    AND g.user_id = sandbox_steering.user_id AND g.revoked_at IS NULL AND g.expires_at > now()));

-- The holder of an access steers now, and may go on for so many seconds before this is asked again. It names an access and no user. False: the access holds no longer.
CREATE FUNCTION app.steer_through_sandbox(p_grant text, p_seconds double precision) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  INSERT INTO app.sandbox_steering AS s (conversation_id, user_id, org_id, until)
    SELECT g.conversation_id, g.user_id, g.org_id, clock_timestamp() + make_interval(secs => p_seconds)
    FROM app.sandbox_grant g WHERE g.id = p_grant AND g.revoked_at IS NULL AND g.expires_at > now()
    ON CONFLICT (conversation_id, user_id) DO UPDATE SET until = greatest(s.until, excluded.until);
  RETURN FOUND;
END $$;
