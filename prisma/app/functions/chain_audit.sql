-- Constraint trigger, deferred to the commit: the lock of an organization's chain is the last that a transaction
-- takes, and is held no longer than the commit.
CREATE OR REPLACE FUNCTION app.chain_audit() RETURNS trigger
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
