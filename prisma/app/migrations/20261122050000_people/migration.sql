-- slipway: expand-only
-- What people, organizations, sessions and the audit need beyond the first release's columns, and the chain that shows whether the audit was changed.

ALTER TABLE app.org ADD COLUMN settings jsonb NOT NULL DEFAULT '{}';
-- Counts changes of the settings: the ETag.
ALTER TABLE app.org ADD COLUMN settings_version integer NOT NULL DEFAULT 1;
-- Set while somebody has asked to delete it; until then it can be taken back. Nobody but its owners gets in meanwhile.
ALTER TABLE app.org ADD COLUMN deletes_at timestamptz(3);

ALTER TABLE app.user_account ADD COLUMN email_verified boolean NOT NULL DEFAULT false;
ALTER TABLE app.user_account ADD COLUMN settings jsonb NOT NULL DEFAULT '{}';
ALTER TABLE app.user_account ADD COLUMN settings_version integer NOT NULL DEFAULT 1;
ALTER TABLE app.user_account ADD COLUMN terms_version text;
ALTER TABLE app.user_account ADD COLUMN terms_accepted_at timestamptz(3);
ALTER TABLE app.user_account ADD COLUMN last_active_at timestamptz(3);
-- Nothing that this person has proved, nor any key of theirs, is worth anything from then on.
ALTER TABLE app.user_account ADD COLUMN deactivated_at timestamptz(3);

ALTER TABLE app.membership ADD COLUMN source text NOT NULL DEFAULT 'founder';

ALTER TABLE app.session ADD COLUMN user_agent text;
ALTER TABLE app.session ADD COLUMN address text;
ALTER TABLE app.session ADD COLUMN last_seen_at timestamptz(3);
-- The issuer's name for its own session (`sid`): it ends ours by it.
ALTER TABLE app.session ADD COLUMN issuer_session text;
CREATE INDEX session_user_id_idx ON app.session (user_id);
CREATE INDEX session_issuer_session_idx ON app.session (issuer_session);

ALTER TABLE app.audit_entry ADD COLUMN actor_label text;
-- The API key that it was done with.
ALTER TABLE app.audit_entry ADD COLUMN via_key text;
ALTER TABLE app.audit_entry ADD COLUMN address text;
ALTER TABLE app.audit_entry ADD COLUMN before jsonb;
ALTER TABLE app.audit_entry ADD COLUMN after jsonb;

-- Who holds a session, with what the guard must know of the person, and every organization of theirs. No row when there is no such session, it is over, or the person is deactivated.
-- orgs: [{id, slug, name, kind, role, deletesAt}], the personal one first, then by name. One that waits for its deletion is its owners' alone.
-- Works as the system role for its own transaction: a person's memberships lie across organizations.
CREATE FUNCTION app.session_person(p_id text)
RETURNS TABLE (
  user_id text, name text, email text, issuer text, email_verified boolean, terms_version text, access_expires_at timestamptz, expires_at timestamptz, orgs jsonb
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT u.id, u.name, u.email, u.issuer, u.email_verified, u.terms_version, s.access_expires_at::timestamptz, s.expires_at::timestamptz,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', o.id, 'slug', o.slug, 'name', o.name, 'kind', o.kind, 'role', m.role,
                                   'deletesAt', to_char(o.deletes_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                                 ORDER BY (o.kind = 'personal') DESC, o.name, o.id), '[]')
       FROM app.membership m JOIN app.org o ON o.id = m.org_id WHERE m.user_id = u.id AND (o.deletes_at IS NULL OR m.role = 'owner'))
    FROM app.session s JOIN app.user_account u ON u.id = s.user_id
    WHERE s.id = p_id AND s.expires_at > now() AND u.deactivated_at IS NULL;
END $$;

-- One link an audit entry: its hash covers the entry and the link before, so that nothing can be changed, taken out or put in between without showing. Written and read, never changed.
CREATE TABLE app.audit_chain (
  org_id text NOT NULL,
  seq bigint NOT NULL,
  entry_id uuid NOT NULL,
  previous bytea NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (org_id, seq)
);
CREATE UNIQUE INDEX audit_chain_entry_id_key ON app.audit_chain (entry_id);
ALTER TABLE app.audit_chain ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.audit_chain FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.audit_chain USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.audit_chain TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON app.audit_chain TO slipway_app, slipway_app_system;

-- What the hash of an entry is taken over. A column that is added later does not belong to it, or every hash before would be wrong.
CREATE FUNCTION app.audit_hash(p_previous bytea, p_seq bigint, e app.audit_entry) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
  SELECT sha256(p_previous || convert_to(jsonb_build_array(
    p_seq, e.id, e.org_id, e.actor_kind, e.actor_id, e.actor_label, e.via_key, e.action, e.target, e.detail, e.before, e.after, e.request_id, e.address,
    (extract(epoch FROM e.created_at) * 1000)::bigint)::text, 'UTF8'))
$$;

-- At commit, so that the lock of an organization's chain is the last that a transaction takes, and for no longer than the commit itself.
CREATE FUNCTION app.chain_audit() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  v_seq bigint;
  v_previous bytea;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('audit ' || NEW.org_id, 0));
  SELECT c.seq, c.hash INTO v_seq, v_previous FROM app.audit_chain c WHERE c.org_id = NEW.org_id ORDER BY c.seq DESC LIMIT 1;
  v_seq := coalesce(v_seq, 0) + 1;
  v_previous := coalesce(v_previous, '\x'::bytea);
  INSERT INTO app.audit_chain (org_id, seq, entry_id, previous, hash) VALUES (NEW.org_id, v_seq, NEW.id, v_previous, app.audit_hash(v_previous, v_seq, NEW));
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER chain_audit AFTER INSERT ON app.audit_entry DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION app.chain_audit();
