-- Trigger: a key keeps its maker. Replicas of an older version still write the column when they rotate a key.
CREATE OR REPLACE FUNCTION app.keep_key_maker() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  NEW.made_by_key := OLD.made_by_key;
  RETURN NEW;
END $$;
