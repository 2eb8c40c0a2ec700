-- Trigger: counts a change of an organization's limits. The version shows which change llm-gateway has applied.
CREATE OR REPLACE FUNCTION app.count_limits() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  NEW.limits_version := OLD.limits_version + 1;
  RETURN NEW;
END $$;
