-- The limit in force, from the organization's own. NULL: no limit.
CREATE OR REPLACE FUNCTION app.storage_limit(p_own bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT nullif(coalesce(p_own, (SELECT d.limit_bytes FROM app.storage_default d)), 0)
$$;
