-- A sign-in in one step: the account (`app.sign_in`), the new session, its audit entry, and the end of the session
-- that the browser had before.
-- No row for a user who is deactivated: no session begins.
CREATE OR REPLACE FUNCTION app.start_session(
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

-- With the time and the factors of the authentication. Replicas of an older version call the other one.
CREATE OR REPLACE FUNCTION app.start_session(
  p_issuer text, p_subject text, p_name text, p_email text, p_email_verified boolean, p_user text, p_org text, p_slug text,
  p_session text, p_tokens bytea, p_access_expires_at timestamptz, p_expires_at timestamptz,
  p_user_agent text, p_address text, p_issuer_session text, p_provider text, p_replaces text, p_request_id text,
  p_authenticated_at timestamptz, p_second_factor boolean
)
RETURNS TABLE (user_id text, created boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT b.user_id, b.created
    FROM app.start_session(p_issuer, p_subject, p_name, p_email, p_email_verified, p_user, p_org, p_slug, p_session, p_tokens, p_access_expires_at, p_expires_at,
      p_user_agent, p_address, p_issuer_session, p_provider, p_replaces, p_request_id) b;
  UPDATE app.session s SET authenticated_at = p_authenticated_at, second_factor = p_second_factor WHERE s.id = p_session;
END $$;
