-- Who may reach into the sandbox of a conversation, through sandbox-gateway: one row a grant, made by app-server, looked at by the gateway twice a second.
CREATE TABLE app.sandbox_grant (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  user_id text NOT NULL,
  -- The sign-in that it was made with: it ends with that. Null: it was made without one.
  session_id text,
  conversation_id uuid NOT NULL,
  port integer NOT NULL,
  -- SHA-256 of the ticket that a browser exchanges for its cookie; null as soon as that has happened.
  ticket_hash bytea,
  ticket_expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  revoked_at timestamptz(3)
);
CREATE UNIQUE INDEX sandbox_grant_ticket_hash_key ON app.sandbox_grant (ticket_hash);
CREATE INDEX sandbox_grant_org_id_conversation_id_idx ON app.sandbox_grant (org_id, conversation_id);
CREATE INDEX sandbox_grant_org_id_expires_at_idx ON app.sandbox_grant (org_id, expires_at);

ALTER TABLE app.sandbox_grant ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.sandbox_grant FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.sandbox_grant USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.sandbox_grant TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.sandbox_grant TO slipway_app, slipway_app_system;

-- Those of the grants that still hold, with the role that their person has now: not revoked, not over, the sign-in not ended, still a member.
-- A grant that is not answered holds no longer, whatever the reason. Works as the system role for its own transaction: grants of all organizations are looked at together.
CREATE FUNCTION app.live_sandbox_grants(p_ids text[])
RETURNS TABLE (id text, org_id text, user_id text, conversation_id uuid, port integer, expires_at timestamptz, role text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT g.id, g.org_id, g.user_id, g.conversation_id, g.port, g.expires_at::timestamptz, m.role
    FROM app.sandbox_grant g
    JOIN app.membership m ON m.org_id = g.org_id AND m.user_id = g.user_id
    JOIN app.conversation c ON c.id = g.conversation_id AND c.org_id = g.org_id
    WHERE g.id = ANY (p_ids) AND g.revoked_at IS NULL AND g.expires_at > now()
      AND (g.session_id IS NULL OR EXISTS (SELECT 1 FROM app.session s WHERE s.id = g.session_id AND s.user_id = g.user_id AND s.expires_at > now()));
END $$;

-- Spends a ticket: the id of its grant the first time, no row ever after, nor when it came too late or for another conversation or port.
-- One that is shown at the wrong door stays unspent there and is good for nothing but its own.
CREATE FUNCTION app.redeem_sandbox_ticket(p_hash bytea, p_conversation uuid, p_port integer)
RETURNS TABLE (id text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    UPDATE app.sandbox_grant g SET ticket_hash = NULL
    WHERE g.ticket_hash = p_hash AND g.ticket_expires_at > now() AND g.revoked_at IS NULL AND g.conversation_id = p_conversation AND g.port = p_port
    RETURNING g.id;
END $$;

-- Says at commit that grants are to be looked at again; what exactly has changed is read from the rows.
CREATE FUNCTION app.tell_sandbox_access() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('slipway_sandbox_access', '');
  RETURN NULL;
END $$;
CREATE TRIGGER tell_sandbox_access AFTER UPDATE OF revoked_at ON app.sandbox_grant FOR EACH ROW
  WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION app.tell_sandbox_access();
CREATE TRIGGER tell_sandbox_access AFTER DELETE ON app.session FOR EACH ROW EXECUTE FUNCTION app.tell_sandbox_access();
CREATE TRIGGER tell_sandbox_access AFTER DELETE OR UPDATE ON app.membership FOR EACH ROW EXECUTE FUNCTION app.tell_sandbox_access();
