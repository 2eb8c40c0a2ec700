-- Trigger: notifies at commit that a key has to be read again: whose calls it makes, or whether it may, has changed.
CREATE OR REPLACE FUNCTION gateway.tell_key() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('slipway_gateway', 'key ' || NEW.id);
  RETURN NULL;
END $$;
