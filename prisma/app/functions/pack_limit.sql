-- Bytes of packs that an organization may hold: its own limit, else p_seat a member. NULL: no limit.
CREATE OR REPLACE FUNCTION app.pack_limit(p_org text, p_own bigint, p_seat bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(p_own, p_seat * greatest(1, (SELECT count(*) FROM app.membership m WHERE m.org_id = p_org)))
$$;
