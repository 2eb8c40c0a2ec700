-- Takes from token buckets that fill evenly within a minute, each named once.
-- p_takes: [{o: org, k: name, c: capacity, w: tokens wanted, d: taken unconditionally, or given back when below
-- zero}]. Returns [{g: taken of those wanted, l: level afterwards}].
CREATE OR REPLACE FUNCTION gateway.take_rates(p_takes jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE v_answer jsonb;
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  INSERT INTO gateway.rate_bucket AS b (org_id, name, level, at)
    SELECT t.o, t.k, t.c - t.d, clock_timestamp() FROM jsonb_to_recordset(p_takes) t(o text, k text, c double precision, d double precision) ORDER BY t.o, t.k
  ON CONFLICT (org_id, name) DO UPDATE SET
    level = least((SELECT t.c FROM jsonb_to_recordset(p_takes) t(o text, k text, c double precision) WHERE t.o = b.org_id AND t.k = b.name),
      b.level + (SELECT t.c / 60 * greatest(0, extract(epoch FROM excluded.at - b.at)) - t.d FROM jsonb_to_recordset(p_takes) t(o text, k text, c double precision, d double precision) WHERE t.o = b.org_id AND t.k = b.name)),
    at = greatest(b.at, excluded.at);
  WITH taken AS (
    SELECT e.n, e.t->>'o' AS o, e.t->>'k' AS k, b.level, greatest(0, least((e.t->>'w')::double precision, b.level)) AS g
    FROM jsonb_array_elements(p_takes) WITH ORDINALITY e(t, n) JOIN gateway.rate_bucket b ON b.org_id = e.t->>'o' AND b.name = e.t->>'k'
  ), changed AS (
    UPDATE gateway.rate_bucket b SET level = b.level - t.g FROM taken t WHERE b.org_id = t.o AND b.name = t.k AND t.g > 0
  )
  SELECT jsonb_agg(jsonb_build_object('g', t.g, 'l', t.level - t.g) ORDER BY t.n) INTO v_answer FROM taken t;
  RETURN coalesce(v_answer, '[]');
END $$;
