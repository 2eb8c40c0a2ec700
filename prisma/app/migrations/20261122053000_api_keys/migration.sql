-- slipway: expand-only
-- How programs come in: keys, the accounts that belong to no person, and devices that wait for a person to let them in.

CREATE TABLE app.service_account (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Its keys are revoked in the same transaction; the row stays as the name of what it did.
  deleted_at timestamptz(3)
);
CREATE INDEX service_account_org_id_id_idx ON app.service_account (org_id, id);
ALTER TABLE app.service_account ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.service_account FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.service_account USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.service_account TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.service_account TO slipway_app, slipway_app_system;

CREATE TABLE app.api_key (
  id text PRIMARY KEY,
  org_id text NOT NULL,
  name text NOT NULL,
  -- 'user' or 'service-account'.
  owner_kind text NOT NULL,
  owner_id text NOT NULL,
  scopes text[] NOT NULL,
  -- SHA-256 of the 32 random bytes of its secret.
  hash bytea NOT NULL,
  -- The beginning and the last four characters of the token, by which it is recognized.
  prefix text NOT NULL,
  last4 text NOT NULL,
  not_before timestamptz(3),
  expires_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  created_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Written some seconds after the use, all that were used together.
  last_used_at timestamptz(3),
  last_used_address text,
  last_used_route text,
  revoked_at timestamptz(3),
  replaced_by text
);
CREATE INDEX api_key_org_id_id_idx ON app.api_key (org_id, id);
CREATE INDEX api_key_org_id_owner_id_idx ON app.api_key (org_id, owner_id, id);
ALTER TABLE app.api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.api_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.api_key USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.api_key TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.api_key TO slipway_app, slipway_app_system;

-- The key that a token names, with what its owner may do at this moment. No row when there is no such key, it is revoked or over, its organization waits for its deletion, or its
-- owner is no member any more, deactivated or deleted. Works as the system role for its own transaction: what the organization is, only the key knows.
CREATE FUNCTION app.find_api_key(p_id text)
RETURNS TABLE (
  id text, org_id text, org_slug text, org_name text, org_kind text, owner_kind text, owner_id text, owner_label text, owner_email text, owner_email_verified boolean, role text,
  scopes text[], hash bytea, not_before timestamptz, expires_at timestamptz
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT k.id, k.org_id, o.slug, o.name, o.kind, k.owner_kind, k.owner_id, coalesce(u.name, a.name), u.email, coalesce(u.email_verified, false), coalesce(m.role, a.role),
      k.scopes, k.hash, k.not_before::timestamptz, k.expires_at::timestamptz
    FROM app.api_key k
    JOIN app.org o ON o.id = k.org_id
    LEFT JOIN app.user_account u ON k.owner_kind = 'user' AND u.id = k.owner_id AND u.deactivated_at IS NULL
    LEFT JOIN app.membership m ON m.org_id = k.org_id AND m.user_id = u.id
    LEFT JOIN app.service_account a ON k.owner_kind = 'service-account' AND a.id = k.owner_id AND a.org_id = k.org_id AND a.deleted_at IS NULL
    WHERE k.id = p_id AND k.revoked_at IS NULL AND k.expires_at > now() AND o.deletes_at IS NULL AND (m.role IS NOT NULL OR a.role IS NOT NULL);
END $$;

-- Notes uses of keys of any organization: [{id, at, address, route}]. A note that is older than what is known changes nothing.
CREATE FUNCTION app.note_api_key_uses(p_uses jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  -- Locked in one order, so that replicas that note the same keys do not wait for each other in a ring.
  PERFORM 1 FROM app.api_key k WHERE k.id IN (SELECT u ->> 'id' FROM jsonb_array_elements(p_uses) u) ORDER BY k.id FOR NO KEY UPDATE;
  UPDATE app.api_key k SET last_used_at = u.at, last_used_address = u.address, last_used_route = u.route
  FROM jsonb_to_recordset(p_uses) AS u(id text, at timestamptz, address text, route text)
  WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at);
END $$;

-- A program that waits for a person (RFC 8628). Belongs to no organization until somebody has approved it for one.
CREATE TABLE app.device_authorization (
  id uuid PRIMARY KEY,
  -- SHA-256 of what the device holds, and HMAC of what it shows.
  device_code_hash bytea NOT NULL,
  user_code_hash bytea NOT NULL,
  client text NOT NULL,
  scopes text[] NOT NULL,
  address text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  -- The device may ask again this long after it last did. Seconds.
  interval_seconds integer NOT NULL,
  last_asked_at timestamptz(3),
  -- waiting, then approved or denied; approved, then delivered.
  state text NOT NULL DEFAULT 'waiting',
  -- What was approved: the key is made when the device fetches it, so that no token is kept.
  org_id text,
  user_id text,
  granted text[] NOT NULL DEFAULT '{}',
  key_days integer
);
CREATE UNIQUE INDEX device_authorization_device_code_hash_key ON app.device_authorization (device_code_hash);
CREATE UNIQUE INDEX device_authorization_user_code_hash_key ON app.device_authorization (user_code_hash);
CREATE INDEX device_authorization_expires_at_idx ON app.device_authorization (expires_at);
ALTER TABLE app.device_authorization ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.device_authorization FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.device_authorization USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.device_authorization TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.device_authorization TO slipway_app, slipway_app_system;

-- The key that an access to a sandbox was made with: it ends with that.
ALTER TABLE app.sandbox_grant ADD COLUMN api_key_id text;
CREATE TRIGGER tell_sandbox_access AFTER DELETE OR UPDATE OF revoked_at, expires_at ON app.api_key FOR EACH ROW EXECUTE FUNCTION app.tell_sandbox_access();
CREATE TRIGGER tell_sandbox_access AFTER DELETE OR UPDATE OF role, deleted_at ON app.service_account FOR EACH ROW EXECUTE FUNCTION app.tell_sandbox_access();

-- Those of the grants that still hold, with the role that their person or service account has now: not revoked, not over, neither the sign-in nor the key that it was made with
-- ended, the owner still there and the organization too. Works as the system role for its own transaction: grants of all organizations are looked at together.
CREATE OR REPLACE FUNCTION app.live_sandbox_grants(p_ids text[])
RETURNS TABLE (id text, org_id text, user_id text, conversation_id uuid, port integer, expires_at timestamptz, role text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT g.id, g.org_id, g.user_id, g.conversation_id, g.port, g.expires_at::timestamptz, coalesce(m.role, a.role)
    FROM app.sandbox_grant g
    JOIN app.conversation c ON c.id = g.conversation_id AND c.org_id = g.org_id
    LEFT JOIN app.membership m ON m.org_id = g.org_id AND m.user_id = g.user_id
      AND NOT EXISTS (SELECT 1 FROM app.user_account u WHERE u.id = g.user_id AND u.deactivated_at IS NOT NULL)
    LEFT JOIN app.service_account a ON a.id = g.user_id AND a.org_id = g.org_id AND a.deleted_at IS NULL
    WHERE g.id = ANY (p_ids) AND g.revoked_at IS NULL AND g.expires_at > now() AND (m.role IS NOT NULL OR a.role IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM app.org o WHERE o.id = g.org_id AND o.deletes_at IS NOT NULL)
      AND (g.session_id IS NULL OR EXISTS (SELECT 1 FROM app.session s WHERE s.id = g.session_id AND s.user_id = g.user_id AND s.expires_at > now()))
      AND (g.api_key_id IS NULL OR EXISTS (
        SELECT 1 FROM app.api_key k WHERE k.id = g.api_key_id AND k.org_id = g.org_id AND k.owner_id = g.user_id AND k.revoked_at IS NULL AND k.expires_at > now()
          AND 'sandbox:access' = ANY (k.scopes)));
END $$;
