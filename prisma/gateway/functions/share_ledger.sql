-- Trigger. Positions are assigned before commit, so a row may become visible after one with a higher position. Writers
-- hold this lock shared until their commit.
-- A reader takes it alone for a moment: every position assigned by then is visible or never will be. A trigger, so
-- that every version of the gateway does it.
CREATE OR REPLACE FUNCTION gateway.share_ledger() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('gateway.ledger', 0));
  RETURN NULL;
END $$;
