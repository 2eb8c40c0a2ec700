import type { AUDIT_FAULTS, AuditVerification } from '@slipway/contracts/audit';
import type { PoolClient } from '@slipway/db/sql';
import { type Head, readLink, readLinks, unlinkedEntry } from './audit.queries.js';
import { hashOf, type Link } from './audit-record.js';

/** Links that are read at once. */
const BATCH = 1_000;
const NOTHING: Buffer = Buffer.alloc(0);

/** A link that was there at an earlier time: `seq:hash` of the last line of an export. */
export interface ExpectedLink {
  readonly seq: number;
  readonly hash: string;
}

/** @throws Error for what is not `seq:hash`. */
export function readExpected(text: string): ExpectedLink {
  const [, seq, hash] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new Error(`${text} is not seq:hash, as the last line of an export has them`);
  return { seq: Number(seq), hash };
}

type Fault = NonNullable<AuditVerification['fault']>;
const fault = (
  kind: (typeof AUDIT_FAULTS)[number],
  seq: number | null,
  entryId: string | null,
  detail: string,
): Fault => ({ kind, seq, entryId, detail });

/**
 * Goes through an organization's chain and names the first row that is not as it was written. Reads columns only and
 * takes the hashes itself; entries that come meanwhile are left for another time.
 *
 * What it cannot see without `expected`: a chain that was cut at its end, and one whose every link from some place on
 * was rewritten.
 *
 * @param run gives a client under whose rights the organization's rows are seen; called once a batch, so that nothing
 * is held for long.
 * @param options.after begins behind this link, which is trusted. @param options.limit most links checked.
 */
export async function verifyChain(
  run: <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>,
  orgId: string,
  options: {
    readonly after?: number;
    readonly expected?: ExpectedLink;
    readonly limit?: number;
    readonly signal?: AbortSignal;
  } = {},
): Promise<AuditVerification> {
  const { after = 0, expected, limit = Number.MAX_SAFE_INTEGER, signal } = options;
  const { head, begin, early } = await run(async (client) => ({
    head: await readLink(client, orgId),
    begin: after === 0 ? null : await readLink(client, orgId, after),
    early: expected !== undefined && expected.seq <= after ? await readLink(client, orgId, expected.seq) : null,
  }));
  let last: Head = begin ?? { seq: 0, hash: NOTHING };
  const result = (complete: boolean, found: Fault | null): AuditVerification => ({
    ok: found === null,
    checked: last.seq === after && begin === null ? null : { seq: last.seq, hash: last.hash.toString('hex') },
    complete,
    fault: found,
  });
  if (after > 0 && begin === null)
    return result(true, fault('link-missing', after, null, `There is no link ${after} to go on from.`));
  if (early !== null && expected !== undefined && !isExpected(early, expected))
    return result(true, rewritten(expected));

  const until = Math.min(head?.seq ?? 0, after + limit);
  while (last.seq < until) {
    signal?.throwIfAborted();
    // One more than is checked now: what a link was is also written in the next one.
    const links = await run((client) =>
      readLinks(client, orgId, { after: last.seq, until: head?.seq ?? 0, limit: BATCH + 1 }),
    );
    if (links.length === 0)
      return result(
        true,
        fault('link-missing', last.seq + 1, null, `Link ${last.seq + 1} is not there, and ${head?.seq} was.`),
      );
    for (const [index, link] of links.slice(0, BATCH).entries()) {
      if (last.seq >= until) break;
      const found = faultOf(link, last, links[index + 1]);
      if (found !== null) return result(true, found);
      if (expected?.seq === link.seq && !isExpected(link, expected)) return result(true, rewritten(expected));
      last = { seq: link.seq, hash: link.hash };
    }
  }
  if (last.seq < (head?.seq ?? 0)) return result(false, null);
  if (expected !== undefined && expected.seq > last.seq)
    return result(
      true,
      fault(
        'cut',
        last.seq + 1,
        null,
        `The chain ends with link ${last.seq}, and link ${expected.seq} was there: what came after was taken away.`,
      ),
    );
  const unlinked = await run((client) => unlinkedEntry(client, orgId));
  if (unlinked !== null)
    return result(
      true,
      fault(
        'entry-unlinked',
        null,
        unlinked,
        `Entry ${unlinked} has no link: it was put in past the chain, or its link was taken out of the end.`,
      ),
    );
  return result(true, null);
}

const isExpected = (link: Head, expected: ExpectedLink): boolean => link.hash.toString('hex') === expected.hash;
const rewritten = ({ seq }: ExpectedLink): Fault =>
  fault('rewritten', seq, null, `Link ${seq} has another hash than before: the chain was rewritten at or before it.`);

function faultOf(link: Link, last: Head, next: Link | undefined): Fault | null {
  const { seq, entryId, record } = link;
  if (seq !== last.seq + 1)
    return fault(
      'link-missing',
      last.seq + 1,
      null,
      `Link ${last.seq + 1} is not there: it was taken out with its entry, or moved.`,
    );
  if (!link.previous.equals(last.hash))
    return fault(
      'link-altered',
      seq,
      entryId,
      `Link ${seq} does not go on from link ${last.seq}: one of the two was altered.`,
    );
  if (record === null)
    return fault('entry-missing', seq, entryId, `Entry ${entryId} of link ${seq} is not there: it was deleted.`);
  if (hashOf(last.hash, record).equals(link.hash)) return null;
  return next?.seq === seq + 1 && !next.previous.equals(link.hash)
    ? fault('link-altered', seq, entryId, `Link ${seq} has a hash that link ${next.seq} does not know: it was altered.`)
    : fault(
        'entry-altered',
        seq,
        entryId,
        `Entry ${entryId} is not what link ${seq} was made over: it was altered, or another was put in its place.`,
      );
}
