-- slipway: expand-only
-- Invitations, claimed domains and mail on its way; and what lists of members are read by.

-- A link that lets one address join. The token is the link's and nowhere else: only its SHA-256 is here.
CREATE TABLE app.invitation (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  -- In lower case.
  email text NOT NULL,
  role text NOT NULL,
  message text,
  token_hash bytea NOT NULL,
  invited_by text NOT NULL,
  invited_by_label text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  revoked_at timestamptz(3),
  accepted_at timestamptz(3),
  accepted_by text,
  -- The mail that carries the link; null where none is sent.
  mail_id uuid
);
CREATE UNIQUE INDEX invitation_token_hash_key ON app.invitation (token_hash);
-- One that may still be answered, an address. One that has expired is made anew in its place.
CREATE UNIQUE INDEX invitation_open_key ON app.invitation (org_id, email) WHERE accepted_at IS NULL AND revoked_at IS NULL;
CREATE INDEX invitation_org_id_created_at_id_idx ON app.invitation (org_id, created_at DESC, id DESC);
ALTER TABLE app.invitation ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.invitation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.invitation USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.invitation TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.invitation TO slipway_app, slipway_app_system;

-- A mail that is to be sent, written in the transaction that wants it.
CREATE TABLE app.outgoing_mail (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  -- Sealed: it may carry a link that lets somebody in. Null as soon as it is sent or given up.
  body bytea,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Whoever sends it moves this on first, so that nobody else does, and that it is tried again if they die.
  next_try_at timestamptz(3) NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  sent_at timestamptz(3),
  failed_at timestamptz(3),
  last_error text
);
CREATE INDEX outgoing_mail_next_try_at_idx ON app.outgoing_mail (next_try_at) WHERE sent_at IS NULL AND failed_at IS NULL;
CREATE INDEX outgoing_mail_org_id_id_idx ON app.outgoing_mail (org_id, id);
ALTER TABLE app.outgoing_mail ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.outgoing_mail FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.outgoing_mail USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.outgoing_mail TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.outgoing_mail TO slipway_app, slipway_app_system;

-- A domain of e-mail addresses that an organization says is its own. Many may claim one, one can have proved it.
CREATE TABLE app.org_domain (
  org_id text NOT NULL,
  domain text NOT NULL,
  -- What the DNS record must say. No secret: everybody can read it there.
  challenge text NOT NULL,
  auto_join_role text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  verified_at timestamptz(3),
  checked_at timestamptz(3),
  PRIMARY KEY (org_id, domain)
);
CREATE UNIQUE INDEX org_domain_verified_key ON app.org_domain (domain) WHERE verified_at IS NOT NULL;
ALTER TABLE app.org_domain ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.org_domain FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.org_domain USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.org_domain TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.org_domain TO slipway_app, slipway_app_system;

-- Members by when they joined, all of them and those of one role.
CREATE INDEX membership_org_id_created_at_user_id_idx ON app.membership (org_id, created_at DESC, user_id DESC);
CREATE INDEX membership_org_id_role_created_at_user_id_idx ON app.membership (org_id, role, created_at DESC, user_id DESC);
CREATE INDEX conversation_org_id_created_by_idx ON app.conversation (org_id, created_by);
CREATE INDEX org_deletes_at_idx ON app.org (deletes_at) WHERE deletes_at IS NOT NULL;
CREATE INDEX user_account_lower_email_idx ON app.user_account (lower(email));

-- The words by which a person is found: of the name, and the parts of the e-mail address.
CREATE FUNCTION app.person_words(p_name text, p_email text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('pg_catalog.simple'::regconfig, translate(p_name || ' ' || coalesce(p_email, ''), '@._+-/', '      '))
$$;
CREATE INDEX user_account_words_idx ON app.user_account USING gin (app.person_words(name, email));

-- The invitation that a token belongs to, with what whoever holds it may see. Works as the system role for its own transaction: which organization it is, only the token knows.
CREATE FUNCTION app.find_invitation(p_hash bytea)
RETURNS TABLE (
  id uuid, org_id text, org_name text, deletes_at timestamptz, email text, role text, invited_by_label text,
  expires_at timestamptz, revoked_at timestamptz, accepted_at timestamptz, accepted_by text
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT i.id, i.org_id, o.name, o.deletes_at::timestamptz, i.email, i.role, i.invited_by_label,
      i.expires_at::timestamptz, i.revoked_at::timestamptz, i.accepted_at::timestamptz, i.accepted_by
    FROM app.invitation i JOIN app.org o ON o.id = i.org_id
    WHERE i.token_hash = p_hash;
END $$;

-- The organization that a domain was proved to belong to, if it takes in who has an address of it.
CREATE FUNCTION app.find_auto_join(p_domain text)
RETURNS TABLE (org_id text, role text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT d.org_id, d.auto_join_role
    FROM app.org_domain d JOIN app.org o ON o.id = d.org_id
    WHERE d.domain = p_domain AND d.verified_at IS NOT NULL AND d.auto_join_role IS NOT NULL AND o.deletes_at IS NULL;
END $$;

-- Which of these addresses organizations have already.
CREATE FUNCTION app.taken_slugs(p_slugs text[])
RETURNS TABLE (slug text)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY SELECT o.slug FROM app.org o WHERE o.slug = ANY (p_slugs);
END $$;
