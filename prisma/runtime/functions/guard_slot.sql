-- Trigger: allows only the edges of libs/domain/src/slot-lifecycle.ts. A slot keeps its first claim for ever.
CREATE OR REPLACE FUNCTION runtime.guard_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> OLD.state AND NOT (OLD.state || '>' || NEW.state) = ANY (ARRAY[
    'intent>provisioning', 'intent>doomed', 'provisioning>ready', 'provisioning>doomed', 'ready>bound', 'ready>doomed',
    'bound>active', 'bound>releasing', 'active>releasing', 'releasing>gone', 'doomed>gone'
  ]) THEN
    RAISE EXCEPTION 'slot %: % does not follow %', OLD.slot_id, NEW.state, OLD.state USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.claim_id IS NOT NULL AND NEW.claim_id IS DISTINCT FROM OLD.claim_id THEN
    RAISE EXCEPTION 'slot % belongs to claim %', OLD.slot_id, OLD.claim_id USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.pod_uid IS NOT NULL AND NEW.pod_uid IS DISTINCT FROM OLD.pod_uid THEN
    RAISE EXCEPTION 'slot % is sandbox %', OLD.slot_id, OLD.pod_uid USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
