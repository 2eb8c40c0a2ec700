-- slipway: expand-only
-- Sessions that say where they are used, begin and end with an entry in the audit, and end with the issuer's; what other providers gave a person, apart from them.

-- The token of another provider (GitHub, GitLab …) that came with a sign-in: the person's own, in no organization.
CREATE TABLE app.provider_token (
  user_id text NOT NULL,
  -- Its name with the issuer.
  provider text NOT NULL,
  -- Encrypted with ENCRYPTION_KEY.
  token bytea NOT NULL,
  scopes text[] NOT NULL DEFAULT '{}',
  connected_at timestamptz(3) NOT NULL DEFAULT now(),
  refreshed_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Null: it does not end by itself.
  expires_at timestamptz(3),
  PRIMARY KEY (user_id, provider)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.provider_token TO slipway_app, slipway_app_system;

-- Ends sessions, each with an entry in the audit of its person's personal organization, and answers those that there were.
-- p_actor: `user`, the person of the session, or `system`, the sign-in service and what watches over it.
-- Works as the system role for its own transaction: a session belongs to a person, not to an organization.
CREATE FUNCTION app.end_sessions(p_ids text[], p_reason text, p_actor text, p_request_id text, p_address text)
RETURNS TABLE (id text, user_id text, tokens bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v record;
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  FOR v IN
    DELETE FROM app.session s WHERE s.id IN (SELECT l.id FROM app.session l WHERE l.id = ANY (p_ids) ORDER BY l.id FOR UPDATE)
    RETURNING s.id, s.user_id, s.tokens, (SELECT u.name FROM app.user_account u WHERE u.id = s.user_id) AS name
  LOOP
    INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail, request_id, address)
      SELECT gen_random_uuid(), o.id, p_actor, CASE p_actor WHEN 'user' THEN v.user_id ELSE 'sign-in' END,
        CASE p_actor WHEN 'user' THEN v.name ELSE 'Sign-in' END, 'session.end', v.id, jsonb_build_object('reason', p_reason), p_request_id, p_address
      FROM app.membership m JOIN app.org o ON o.id = m.org_id AND o.kind = 'personal' WHERE m.user_id = v.user_id AND m.role = 'owner'
      ORDER BY o.created_at, o.id LIMIT 1;
    id := v.id;
    user_id := v.user_id;
    tokens := v.tokens;
    RETURN NEXT;
  END LOOP;
END $$;

-- A sign-in in one step: the account (`app.sign_in`), the new session, its entry in the audit, and the end of the session that the browser had before.
-- No row for a person who is deactivated: nothing begins then.
CREATE FUNCTION app.start_session(
  p_issuer text, p_subject text, p_name text, p_email text, p_email_verified boolean, p_user text, p_org text, p_slug text,
  p_session text, p_tokens bytea, p_access_expires_at timestamptz, p_expires_at timestamptz,
  p_user_agent text, p_address text, p_issuer_session text, p_provider text, p_replaces text, p_request_id text
)
RETURNS TABLE (user_id text, created boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_user text;
  v_created boolean;
BEGIN
  SELECT i.user_id, i.created INTO v_user, v_created FROM app.sign_in(p_issuer, p_subject, p_name, p_email, p_user, p_org, p_slug) i;
  UPDATE app.user_account u SET email_verified = p_email_verified, last_active_at = now() WHERE u.id = v_user AND u.deactivated_at IS NULL;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  INSERT INTO app.session (id, user_id, tokens, access_expires_at, expires_at, user_agent, address, last_seen_at, issuer_session)
    VALUES (p_session, v_user, p_tokens, p_access_expires_at, p_expires_at, p_user_agent, p_address, now(), p_issuer_session);
  INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail, request_id, address)
    SELECT gen_random_uuid(), o.id, 'user', v_user, p_name, 'session.start', p_session,
      jsonb_strip_nulls(jsonb_build_object('provider', p_provider, 'userAgent', p_user_agent)), p_request_id, p_address
    FROM app.membership m JOIN app.org o ON o.id = m.org_id AND o.kind = 'personal' WHERE m.user_id = v_user AND m.role = 'owner'
    ORDER BY o.created_at, o.id LIMIT 1;
  IF p_replaces IS NOT NULL THEN
    PERFORM app.end_sessions(ARRAY[p_replaces], 'replaced', 'user', p_request_id, p_address);
  END IF;
  user_id := v_user;
  created := v_created;
  RETURN NEXT;
END $$;

-- As before, and nothing for a person who is deactivated.
CREATE OR REPLACE FUNCTION app.live_sandbox_grants(p_ids text[])
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
      AND NOT EXISTS (SELECT 1 FROM app.user_account u WHERE u.id = g.user_id AND u.deactivated_at IS NOT NULL)
      AND (g.session_id IS NULL OR EXISTS (SELECT 1 FROM app.session s WHERE s.id = g.session_id AND s.user_id = g.user_id AND s.expires_at > now()));
END $$;
CREATE TRIGGER tell_sandbox_access AFTER UPDATE OF deactivated_at ON app.user_account FOR EACH ROW
  WHEN (OLD.deactivated_at IS DISTINCT FROM NEW.deactivated_at) EXECUTE FUNCTION app.tell_sandbox_access();
