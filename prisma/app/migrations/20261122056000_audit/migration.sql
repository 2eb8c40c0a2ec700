-- slipway: expand-only
-- What the audit is asked by, newest first, and a link for each entry that is older than the chain.

CREATE INDEX audit_entry_org_id_actor_id_created_at_idx ON app.audit_entry (org_id, actor_id, created_at DESC);
CREATE INDEX audit_entry_org_id_target_created_at_idx ON app.audit_entry (org_id, target, created_at DESC);
CREATE INDEX audit_entry_org_id_action_created_at_idx ON app.audit_entry (org_id, action, created_at DESC);
-- A noun alone stands for all that is done to such.
CREATE INDEX audit_entry_org_id_noun_created_at_idx ON app.audit_entry (org_id, split_part(action, '.', 1), created_at DESC);
CREATE INDEX audit_entry_org_id_via_key_created_at_idx ON app.audit_entry (org_id, via_key, created_at DESC) WHERE via_key IS NOT NULL;

-- The owner of the tables is under the policies too, and this is about every organization's rows.
ALTER TABLE app.audit_entry NO FORCE ROW LEVEL SECURITY;
ALTER TABLE app.audit_chain NO FORCE ROW LEVEL SECURITY;
DO $$
DECLARE
  e app.audit_entry;
  v_seq bigint;
  v_previous bytea;
BEGIN
  FOR e IN SELECT a.* FROM app.audit_entry a WHERE NOT EXISTS (SELECT 1 FROM app.audit_chain c WHERE c.entry_id = a.id) ORDER BY a.org_id, a.created_at, a.id LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('audit ' || e.org_id, 0));
    SELECT c.seq, c.hash INTO v_seq, v_previous FROM app.audit_chain c WHERE c.org_id = e.org_id ORDER BY c.seq DESC LIMIT 1;
    v_seq := coalesce(v_seq, 0) + 1;
    v_previous := coalesce(v_previous, '\x'::bytea);
    INSERT INTO app.audit_chain (org_id, seq, entry_id, previous, hash) VALUES (e.org_id, v_seq, e.id, v_previous, app.audit_hash(v_previous, v_seq, e));
  END LOOP;
END $$;
ALTER TABLE app.audit_entry FORCE ROW LEVEL SECURITY;
ALTER TABLE app.audit_chain FORCE ROW LEVEL SECURITY;
