-- Bytes that one event costs beside its text: its row, its ids and its entries in three indexes.
CREATE OR REPLACE FUNCTION app.event_overhead() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 256 $$;
