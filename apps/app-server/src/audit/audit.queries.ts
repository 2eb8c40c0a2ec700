import { type AuditExportQuery, type AuditQuery, conversationOfEntry } from '@slipway/contracts/audit';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { ListPosition } from '../conversations/conversation-cursor.js';
import { type Link, RECORD_SQL } from './audit-record.js';

export interface EntryRow {
  readonly id: string;
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly actor_label: string | null;
  readonly via_key: string | null;
  readonly action: string;
  readonly target: string;
  readonly detail: Record<string, unknown>;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
  readonly request_id: string | null;
  readonly address: string | null;
  readonly created_at: Date;
}
export type LinkedEntryRow = EntryRow & { readonly seq: number | null; readonly hash: Buffer | null };

const ENTRY_COLUMNS = `e.id, e.actor_kind, e.actor_id, e.actor_label, e.via_key, e.action, e.target, e.detail, e.before, e.after, e.request_id, e.address, e.created_at`;

/** Conditions with their values, numbered as they come. */
class Conditions {
  readonly values: unknown[] = [];
  private readonly terms: string[] = [];

  /** @param term with `$` for each of the values. */
  add(term: string, ...values: readonly unknown[]): this {
    let at = this.values.length;
    this.terms.push(term.replaceAll('$', () => `$${++at}`));
    this.values.push(...values);
    return this;
  }

  addIf(value: unknown, term: string, ...values: readonly unknown[]): this {
    return value === undefined ? this : this.add(term, ...(values.length === 0 ? [value] : values));
  }

  toString(): string {
    return this.terms.join(' AND ');
  }
}

export interface EntriesPage {
  readonly filters: Omit<AuditQuery, 'cursor' | 'limit'>;
  readonly before: ListPosition | null;
  readonly limit: number;
}

/**
 * A page of the list, newest first. Each filter has an index that goes on in this order, so that a page costs what it
 * holds; with two filters the one that fewer entries pass. Not a named statement: its plan is to be made for what is
 * asked.
 */
export async function listEntries(
  client: PoolClient,
  orgId: string,
  { filters, before, limit }: EntriesPage,
): Promise<LinkedEntryRow[]> {
  const where = new Conditions()
    .add('e.org_id = $', orgId)
    .addIf(filters.actor, 'e.actor_id = $')
    .addIf(filters.viaKey, 'e.via_key = $')
    .addIf(filters.action, filters.action?.includes('.') === true ? 'e.action = $' : "split_part(e.action, '.', 1) = $")
    .addIf(filters.target, 'e.target = $')
    .addIf(filters.from, 'e.created_at >= $', new Date(filters.from ?? 0))
    .addIf(filters.to, 'e.created_at < $', new Date(filters.to ?? 0));
  if (before !== null) where.add('(e.created_at, e.id) < ($, $::uuid)', new Date(before.createdAt), before.id);
  const { rows } = await client.query<LinkedEntryRow>(
    `SELECT p.*, c.seq, c.hash FROM (SELECT ${ENTRY_COLUMNS} FROM app.audit_entry e WHERE ${where} ORDER BY e.created_at DESC, e.id DESC LIMIT ${Math.trunc(limit)}) p
     LEFT JOIN app.audit_chain c ON c.entry_id = p.id ORDER BY p.created_at DESC, p.id DESC`,
    where.values,
  );
  return rows;
}

/**
 * What the ids of entries are called now: titles of the organization's conversations, names of its service accounts, of
 * its users, also of former ones, and of whoever acted in it.
 */
export async function namesOf(
  client: PoolClient,
  orgId: string,
  rows: readonly EntryRow[],
): Promise<Record<string, string>> {
  const conversations = rows.flatMap((row) => conversationOfEntry(row) ?? []);
  const actors = rows.map((row) => row.actor_id);
  const { rows: found } = await client.query<Columns<'app.user_account', 'id'> & { name: string }>(
    `SELECT id::text, title AS name FROM app.conversation WHERE org_id = $1 AND id = ANY ($2::uuid[])
     UNION ALL SELECT id, name FROM app.service_account WHERE org_id = $1 AND id = ANY ($3 || $4::text[])
     UNION ALL SELECT u.id, u.name FROM app.user_account u WHERE u.id = ANY ($3)
       OR u.id = ANY ($4) AND (EXISTS (SELECT 1 FROM app.membership m WHERE m.org_id = $1 AND m.user_id = u.id)
                               OR EXISTS (SELECT 1 FROM app.former_member f WHERE f.org_id = $1 AND f.user_id = u.id))`,
    [orgId, conversations, actors, rows.map((row) => row.target)],
  );
  return Object.fromEntries(found.flatMap(({ id, name }) => (name === '' ? [] : [[id, name]])));
}

export type Head = Columns<'app.audit_chain', 'seq' | 'hash'>;

/** The last link of the organization's chain, or with `seq` that one; `null` when there is none. */
export async function readLink(client: PoolClient, orgId: string, seq?: number): Promise<Head | null> {
  const { rows } = await client.query<Head>(
    `SELECT seq, hash FROM app.audit_chain WHERE org_id = $1 AND ($2::bigint IS NULL OR seq = $2) ORDER BY seq DESC LIMIT 1`,
    [orgId, seq ?? null],
  );
  return rows[0] ?? null;
}

/**
 * First and last link of what an export asks for: all between them belongs to it, so that its part of the chain has no
 * gap. `null` when there is nothing.
 */
export async function exportRange(
  client: PoolClient,
  orgId: string,
  { from, to, after }: AuditExportQuery,
): Promise<{ first: number; last: number } | null> {
  const where = new Conditions()
    .add('c.org_id = $', orgId)
    .add('c.seq > $', after ?? 0)
    .addIf(from, 'e.created_at >= $', new Date(from ?? 0))
    .addIf(to, 'e.created_at < $', new Date(to ?? 0));
  const entries = from === undefined && to === undefined ? '' : 'JOIN app.audit_entry e ON e.id = c.entry_id';
  const { rows } = await client.query<{ first: number | null; last: number | null }>(
    `SELECT min(c.seq) AS first, max(c.seq) AS last FROM app.audit_chain c ${entries} WHERE ${where}`,
    where.values,
  );
  const { first, last } = rows[0] ?? { first: null, last: null };
  return first === null || last === null ? null : { first, last };
}

export interface LinksRange {
  readonly after: number;
  readonly until: number;
  readonly limit: number;
}

/** Links in order, `seq` above `after` and at most `until`. */
export async function readLinks(
  client: PoolClient,
  orgId: string,
  { after, until, limit }: LinksRange,
): Promise<Link[]> {
  const { rows } = await client.query<Link>(
    `SELECT c.seq, c.entry_id AS "entryId", c.previous, c.hash, CASE WHEN e.id IS NULL THEN NULL ELSE ${RECORD_SQL} END AS record
     FROM app.audit_chain c LEFT JOIN app.audit_entry e ON e.id = c.entry_id WHERE c.org_id = $1 AND c.seq > $2 AND c.seq <= $3 ORDER BY c.seq LIMIT $4`,
    [orgId, after, until, limit],
  );
  return rows;
}

/** Links with their entries, for an export. */
export async function readLinkedEntries(
  client: PoolClient,
  orgId: string,
  { after, until, limit }: LinksRange,
): Promise<Array<Link & { readonly entry: EntryRow | null }>> {
  const { rows } = await client.query<Link & EntryRow>(
    `SELECT c.seq, c.entry_id AS "entryId", c.previous, c.hash, CASE WHEN e.id IS NULL THEN NULL ELSE ${RECORD_SQL} END AS record, ${ENTRY_COLUMNS}
     FROM app.audit_chain c LEFT JOIN app.audit_entry e ON e.id = c.entry_id WHERE c.org_id = $1 AND c.seq > $2 AND c.seq <= $3 ORDER BY c.seq LIMIT $4`,
    [orgId, after, until, limit],
  );
  return rows.map((row) => ({
    seq: row.seq,
    entryId: row.entryId,
    previous: row.previous,
    hash: row.hash,
    record: row.record,
    entry: row.record === null ? null : row,
  }));
}

/** An entry of the organization that has no link: the oldest. */
export async function unlinkedEntry(client: PoolClient, orgId: string): Promise<string | null> {
  const { rows } = await client.query<Columns<'app.audit_entry', 'id'>>(
    `SELECT e.id FROM app.audit_entry e WHERE e.org_id = $1 AND NOT EXISTS (SELECT 1 FROM app.audit_chain c WHERE c.entry_id = e.id AND c.org_id = e.org_id)
     ORDER BY e.created_at, e.id LIMIT 1`,
    [orgId],
  );
  return rows[0]?.id ?? null;
}
