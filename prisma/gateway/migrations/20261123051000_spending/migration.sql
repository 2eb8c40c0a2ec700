-- slipway: expand-only
-- Says at commit that a key is to be looked at again: whose calls it makes, or whether it may, has changed.
CREATE FUNCTION gateway.tell_key() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('slipway_gateway', 'key ' || NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER tell_key AFTER UPDATE ON gateway.virtual_key FOR EACH ROW
  WHEN (OLD.user_id IS DISTINCT FROM NEW.user_id OR OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION gateway.tell_key();
