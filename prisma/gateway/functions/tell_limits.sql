-- Trigger: notifies at commit that the limits of an organization have to be read again.
CREATE OR REPLACE FUNCTION gateway.tell_limits() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('slipway_gateway', 'limits ' || coalesce(NEW.org_id, OLD.org_id));
  RETURN NULL;
END $$;
