-- Trigger: an organization's rules, requests, credentials or settings for connections of sandboxes have changed. Notifies
-- at commit; egress-proxy asks again, and credential-broker forgets what it was given.
CREATE OR REPLACE FUNCTION app.egress_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'org' THEN
    PERFORM pg_notify('slipway_egress', NEW.id);
  ELSE
    PERFORM pg_notify('slipway_egress', coalesce(NEW.org_id, OLD.org_id));
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER egress_change AFTER INSERT OR UPDATE OR DELETE ON app.egress_rule FOR EACH ROW EXECUTE FUNCTION app.egress_change();
CREATE OR REPLACE TRIGGER egress_change AFTER UPDATE OF state ON app.egress_request FOR EACH ROW EXECUTE FUNCTION app.egress_change();
CREATE OR REPLACE TRIGGER egress_change AFTER UPDATE OF deleted_at ON app.conversation FOR EACH ROW EXECUTE FUNCTION app.egress_change();
CREATE OR REPLACE TRIGGER egress_gone AFTER DELETE ON app.conversation FOR EACH ROW EXECUTE FUNCTION app.egress_change();
CREATE OR REPLACE TRIGGER egress_change AFTER UPDATE OF settings ON app.org FOR EACH ROW EXECUTE FUNCTION app.egress_change();
-- Not of what says only when it was used. A value that is sealed again counts: the broker keeps opened ones.
CREATE OR REPLACE TRIGGER egress_change AFTER UPDATE OF name, form, scope, scope_value, use, hosts, sealed, reference_key, state, expires_at ON app.credential FOR EACH ROW EXECUTE FUNCTION app.egress_change();
CREATE OR REPLACE TRIGGER egress_made_or_gone AFTER INSERT OR DELETE ON app.credential FOR EACH ROW EXECUTE FUNCTION app.egress_change();
