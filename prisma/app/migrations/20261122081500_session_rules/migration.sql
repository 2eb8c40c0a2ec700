-- slipway: expand-only
-- What an organization asks of the sign-ins by which its members come: how long ago, how long unused, with a second factor.

-- Null: no rule. Minutes since the person proved themself, and the longest time without a request.
ALTER TABLE app.org ADD COLUMN session_max_minutes integer;
ALTER TABLE app.org ADD COLUMN session_idle_minutes integer;
ALTER TABLE app.org ADD COLUMN second_factor boolean NOT NULL DEFAULT false;
-- Counts changes of the three: the ETag.
ALTER TABLE app.org ADD COLUMN security_version integer NOT NULL DEFAULT 1;

-- When the person last proved themself to the issuer (`auth_time`); null: with the beginning of the session.
ALTER TABLE app.session ADD COLUMN authenticated_at timestamptz(3);
ALTER TABLE app.session ADD COLUMN second_factor boolean NOT NULL DEFAULT false;
-- The longest that it was unused, so that one use after a long pause does not make it fresh again.
ALTER TABLE app.session ADD COLUMN longest_idle_seconds integer NOT NULL DEFAULT 0;
CREATE INDEX session_created_at_id_idx ON app.session (created_at, id);

-- What a person of this session has to do before this organization answers them: `sign-in`, `second-factor` (a sign-in with one), or null: nothing.
-- A minute is forgiven: that is how often a use is written.
CREATE FUNCTION app.session_needs(s app.session, o app.org) RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN o.second_factor AND NOT s.second_factor THEN 'second-factor'
    WHEN coalesce(s.authenticated_at, s.created_at) <= now() - make_interval(mins => o.session_max_minutes)
      OR greatest(s.longest_idle_seconds, extract(epoch FROM now() - coalesce(s.last_seen_at, s.created_at))) > o.session_idle_minutes * 60 + 60
    THEN CASE WHEN o.second_factor THEN 'second-factor' ELSE 'sign-in' END
  END
$$;

-- As before, with what each organization still asks for.
CREATE OR REPLACE FUNCTION app.session_person(p_id text)
RETURNS TABLE (
  user_id text, name text, email text, issuer text, email_verified boolean, terms_version text, access_expires_at timestamptz, expires_at timestamptz, orgs jsonb
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT u.id, u.name, u.email, u.issuer, u.email_verified, u.terms_version, s.access_expires_at::timestamptz, s.expires_at::timestamptz,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'slug', o.slug, 'name', o.name, 'kind', o.kind, 'role', m.role, 'needs', app.session_needs(s, o),
                                   'deletesAt', to_char(o.deletes_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                                 ORDER BY (o.kind = 'personal') DESC, o.name, o.id), '[]')
       FROM app.membership m JOIN app.org o ON o.id = m.org_id WHERE m.user_id = u.id AND (o.deletes_at IS NULL OR m.role = 'owner'))
    FROM app.session s JOIN app.user_account u ON u.id = s.user_id
    WHERE s.id = p_id AND s.expires_at > now() AND u.deactivated_at IS NULL;
END $$;

-- As before, with when and how the person proved themself.
CREATE FUNCTION app.start_session(
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

-- As before, and none of a session that the organization does not take any more.
CREATE OR REPLACE FUNCTION app.live_sandbox_grants(p_ids text[])
RETURNS TABLE (id text, org_id text, user_id text, conversation_id uuid, port integer, expires_at timestamptz, role text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT g.id, g.org_id, g.user_id, g.conversation_id, g.port, g.expires_at::timestamptz, coalesce(m.role, a.role)
    FROM app.sandbox_grant g
    JOIN app.conversation c ON c.id = g.conversation_id AND c.org_id = g.org_id
    JOIN app.org o ON o.id = g.org_id AND o.deletes_at IS NULL
    LEFT JOIN app.membership m ON m.org_id = g.org_id AND m.user_id = g.user_id
      AND NOT EXISTS (SELECT 1 FROM app.user_account u WHERE u.id = g.user_id AND u.deactivated_at IS NOT NULL)
    LEFT JOIN app.service_account a ON a.id = g.user_id AND a.org_id = g.org_id AND a.deleted_at IS NULL
    WHERE g.id = ANY (p_ids) AND g.revoked_at IS NULL AND g.expires_at > now() AND (m.role IS NOT NULL OR a.role IS NOT NULL)
      AND (g.session_id IS NULL OR EXISTS (
        SELECT 1 FROM app.session s WHERE s.id = g.session_id AND s.user_id = g.user_id AND s.expires_at > now() AND app.session_needs(s, o) IS NULL))
      AND (g.api_key_id IS NULL OR EXISTS (
        SELECT 1 FROM app.api_key k WHERE k.id = g.api_key_id AND k.org_id = g.org_id AND k.owner_id = g.user_id AND k.revoked_at IS NULL AND k.expires_at > now()
          AND 'sandbox:access' = ANY (k.scopes)));
END $$;
CREATE TRIGGER tell_sandbox_access_of_rules AFTER UPDATE OF session_max_minutes, session_idle_minutes, second_factor ON app.org FOR EACH ROW EXECUTE FUNCTION app.tell_sandbox_access();
