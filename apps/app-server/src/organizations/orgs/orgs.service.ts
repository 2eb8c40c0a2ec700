import { Inject, Injectable } from '@nestjs/common';
import { Sessions, type SignedIn } from '@slipway/auth';
import {
  type CreateOrg,
  type Org,
  OrgSlug,
  type Principal,
  ROLE_PERMISSIONS,
  type UpdateOrg,
} from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { isUniqueViolation } from '@slipway/db/store';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { Jobs } from '../../platform/jobs.js';
import { wantJobAs } from '../../platform/outbox.queries.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { presentPermissions } from '../members/granting.js';
import { addMember, assertKept, lockOrg, type OrgRow, roleOf, setRole } from '../members/membership.queries.js';
import { slugCandidates, slugOfName } from './org-slug.js';
import {
  endSandboxGrants,
  insertOrg,
  isActiveAccount,
  markForDeletion,
  readOrg,
  takenSlugs,
  unmarkForDeletion,
  updateOrg,
} from './orgs.queries.js';

/** From the request to delete an organization to its deletion. Hours. */
const GRACE_HOURS = 48;
/** Company organizations that one user may own. */
const MAX_OWNED = 50;

/** Organizations themselves: made, renamed, handed on, deleted. */
@Injectable()
export class OrgsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly jobs: Jobs,
    private readonly sessions: Sessions,
  ) {}

  /**
   * A company with the caller as its owner. Without a wanted address the first free one that the name gives.
   * @throws SlipwayError `org.slug-taken` with a `suggestion`, `org.too-many`
   */
  async create(user: SignedIn, body: CreateOrg): Promise<Org> {
    if (user.orgs.filter(({ kind, role }) => kind === 'company' && role === 'owner').length >= MAX_OWNED)
      throw new SlipwayError('org.too-many', `A user owns at most ${MAX_OWNED} company organizations.`);
    const wanted = body.slug ?? slugOfName(body.name);
    const candidates = body.slug === undefined ? await this.freeSlugs(wanted) : [wanted];
    for (const slug of candidates) {
      const org = await this.insert(user, { name: body.name, slug });
      if (org !== null) return org;
    }
    throw await this.slugTaken(wanted);
  }

  /** @throws SlipwayError `org.slug-taken` with a `suggestion`, `org.being-deleted` */
  async update(caller: Principal, body: UpdateOrg): Promise<Org> {
    try {
      const answer = await inOrg(this.pool, caller.orgId, async (client) => {
        const org = await this.locked(client, caller.orgId);
        assertKept(org);
        const before = { name: org.name, slug: org.slug };
        const after = { name: body.name ?? org.name, slug: body.slug ?? org.slug };
        const changed = (['name', 'slug'] as const).filter((field) => before[field] !== after[field]);
        if (changed.length > 0) {
          await updateOrg(client, org.id, after);
          const only = (values: typeof before) => Object.fromEntries(changed.map((field) => [field, values[field]]));
          await client.query(
            auditOf(this.ids.uuid(), caller, {
              action: 'org.update',
              target: org.id,
              before: only(before),
              after: only(after),
            }),
          );
        }
        return this.asSeenBy(client, caller);
      });
      return this.seenAtOnce(caller, answer);
    } catch (error) {
      if (!isUniqueViolation(error) || body.slug === undefined) throw error;
      throw await this.slugTaken(body.slug);
    }
  }

  /**
   * @throws SlipwayError `org.personal`, `org.being-deleted`, `permission.denied`, `resource.not-found` when `userId`
   * is no member who can sign in.
   */
  async transfer(caller: Principal, userId: string): Promise<Org> {
    const answer = await inOrg(this.pool, caller.orgId, async (client) => {
      const org = await this.locked(client, caller.orgId);
      assertCompany(org);
      assertKept(org);
      if (!(await presentPermissions(client, caller)).has('org:transfer'))
        throw new SlipwayError('permission.denied', 'Only an owner hands an organization on.');
      const before = await roleOf(client, org.id, userId);
      if (before === null || !(await isActiveAccount(client, userId))) throw notFound();
      if (userId !== caller.actor.id) {
        await setRole(client, org.id, userId, 'owner');
        await setRole(client, org.id, caller.actor.id, 'admin');
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'org.transfer',
            target: org.id,
            before: { [caller.actor.id]: 'owner', [userId]: before },
            after: { [caller.actor.id]: 'admin', [userId]: 'owner' },
          }),
        );
      }
      return this.asSeenBy(client, caller);
    });
    this.sessions.changed(userId);
    return this.seenAtOnce(caller, answer);
  }

  /**
   * All but its owners lose access at the next check of a session or key, within a second; what runs is paused by a
   * job. Again is harmless and moves no time.
   * @throws SlipwayError `org.personal`, `request.invalid` when `confirm` is not its name.
   */
  async delete(caller: Principal, confirm: string): Promise<Org> {
    const answer = await inOrg(this.pool, caller.orgId, async (client) => {
      const org = await this.locked(client, caller.orgId);
      assertCompany(org);
      if (!(await presentPermissions(client, caller)).has('org:delete'))
        throw new SlipwayError('permission.denied', 'Only an owner deletes an organization.');
      if (confirm.trim() !== org.name)
        throw new SlipwayError('request.invalid', 'confirm: is not the name of the organization', {
          fields: [{ path: 'confirm', message: 'is not the name of the organization' }],
        });
      if (org.deletes_at === null) {
        const deletesAt = await markForDeletion(client, org.id, GRACE_HOURS);
        await endSandboxGrants(client, org.id);
        await wantJobAs(client, 'org-closing', org.id, { orgId: org.id });
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'org.delete',
            target: org.id,
            before: { deletesAt: null },
            after: { deletesAt: deletesAt.toISOString() },
          }),
        );
      }
      return this.asSeenBy(client, caller);
    });
    this.jobs.enqueueAs('org-closing', caller.orgId, { orgId: caller.orgId });
    return this.seenAtOnce(caller, answer);
  }

  /**
   * Again is harmless. @throws SlipwayError `resource.not-found` once the time is over: what is left of it is going.
   */
  async restore(caller: Principal): Promise<Org> {
    const answer = await inOrg(this.pool, caller.orgId, async (client) => {
      const org = await this.locked(client, caller.orgId);
      if (org.deletes_at !== null) {
        if (!(await presentPermissions(client, caller)).has('org:delete'))
          throw new SlipwayError('permission.denied', 'Only an owner takes a deletion back.');
        if (!(await unmarkForDeletion(client, org.id))) throw notFound();
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'org.restore',
            target: org.id,
            before: { deletesAt: org.deletes_at.toISOString() },
            after: { deletesAt: null },
          }),
        );
      }
      return this.asSeenBy(client, caller);
    });
    return this.seenAtOnce(caller, answer);
  }

  /** The caller reads it next: this process must not answer from its cache. Other replicas do for at most a second. */
  private seenAtOnce({ actor }: Principal, org: Org): Org {
    this.sessions.changed(actor.id);
    return org;
  }

  /** `null`: the address is taken. */
  private async insert(user: SignedIn, { name, slug }: { name: string; slug: string }): Promise<Org | null> {
    const orgId = this.ids.prefixed('org');
    const caller = { orgId, actor: { kind: 'user' as const, id: user.userId, label: user.name } };
    const org = await inOrg(this.pool, orgId, async (client) => {
      if (!(await insertOrg(client, { id: orgId, slug, name }))) return null;
      await addMember(client, orgId, { userId: user.userId, role: 'owner', source: 'founder' });
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'org.create',
          target: orgId,
          after: { kind: 'company', name, slug },
        }),
      );
      return this.asSeenBy(client, caller);
    });
    // Whoever made it goes there next: this process is not to answer from what it knew before.
    if (org !== null) this.sessions.forget(user.sessionId);
    return org;
  }

  private async asSeenBy(client: PoolClient, { orgId, actor }: Pick<Principal, 'orgId' | 'actor'>): Promise<Org> {
    const org = await readOrg(client, orgId, actor.id);
    if (org === null) throw notFound();
    return { ...org, permissions: [...ROLE_PERMISSIONS[org.role]] };
  }

  private async locked(client: PoolClient, orgId: string): Promise<OrgRow> {
    const org = await lockOrg(client, orgId);
    if (org === null) throw notFound();
    return org;
  }

  private async freeSlugs(wanted: string): Promise<string[]> {
    const candidates = slugCandidates(wanted).filter((slug) => OrgSlug.safeParse(slug).success);
    const taken = await takenSlugs(this.pool, candidates);
    return candidates.filter((slug) => !taken.has(slug));
  }

  private async slugTaken(wanted: string): Promise<SlipwayError> {
    const [suggestion] = await this.freeSlugs(wanted);
    return new SlipwayError(
      'org.slug-taken',
      `Another organization has the address ${wanted}.${suggestion === undefined ? '' : ` ${suggestion} is free.`}`,
      {
        fields: [{ path: 'slug', message: 'is taken' }],
        ...(suggestion === undefined ? {} : { extensions: { suggestion } }),
      },
    );
  }
}

function assertCompany({ kind }: OrgRow): void {
  if (kind === 'personal')
    throw new SlipwayError('org.personal', 'A personal organization and its user belong together.');
}
