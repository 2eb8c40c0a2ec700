import { DeleteUsers, PutUser } from '@slipway/contracts/models';
import { notFound, parseOrThrow } from '@slipway/errors';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type KeyRoutesOptions, keyOfUser, makeKey } from '../keys/key-routes.js';
import { DEFAULT_ORG, type KeyInfo, keysOf } from './keys.queries.js';
import { available, requireMasterKey } from './master-only.js';
import {
  countPeople,
  deletePeople,
  orgsOfUser,
  people,
  putUser,
  type TeamInfo,
  teamInfo,
  type UserInfo,
} from './teams.queries.js';

const UserQuery = z.object({ user_id: z.string().min(1).max(200), team_id: z.string().min(1).max(200).optional() });
const UserListQuery = z.object({
  team_id: z.string().min(1).max(200).default(DEFAULT_ORG),
  page: z.coerce.number().int().min(1).default(1),
  page_size: z.coerce.number().int().min(1).max(100).default(25),
});

/** `/user/…` as LiteLLM has it, with the master key. A user is a member of one organization, which `team_id` names. */
export function addUserRoutes(fastify: FastifyInstance, options: KeyRoutesOptions): void {
  const { pool, keys, isMasterKey, clock, ids } = options;
  const put = (
    orgId: string,
    userId: string,
    { user_alias, user_email, metadata, ...limits }: PutUser,
  ): Promise<UserInfo> =>
    available(
      putUser(pool, orgId, {
        userId,
        change: { alias: user_alias, email: user_email, metadata, limits },
        at: clock.now(),
      }),
    );
  /** Of the organization that is named, or of all that know the user. */
  const orgsOf = async (userId: string, teamId: string | null | undefined): Promise<string[]> =>
    typeof teamId === 'string' ? [teamId] : available(orgsOfUser(pool, userId));

  fastify.post(
    '/user/new',
    async (request): Promise<UserInfo & { key: string | null; expires?: string | null; token?: string }> => {
      requireMasterKey(request, isMasterKey);
      const user = parseOrThrow(PutUser, request.body ?? {});
      const [orgId, userId] = [user.team_id ?? DEFAULT_ORG, user.user_id ?? ids.prefixed('usr')];
      const stored = await put(orgId, userId, user);
      if (!user.auto_create_key) return { ...stored, key: null };
      const { key, expires, token } = await makeKey(options, keyOfUser(user, userId, orgId));
      return { ...stored, key, expires, token };
    },
  );

  fastify.post('/user/update', async (request): Promise<{ user_id: string; data: UserInfo }> => {
    requireMasterKey(request, isMasterKey);
    const user = parseOrThrow(PutUser, request.body);
    if (typeof user.user_id !== 'string') throw notFound();
    const [orgId = DEFAULT_ORG] = await orgsOf(user.user_id, user.team_id);
    return { user_id: user.user_id, data: await put(orgId, user.user_id, user) };
  });

  fastify.get(
    '/user/info',
    async (request): Promise<{ user_id: string; user_info: UserInfo; keys: KeyInfo[]; teams: TeamInfo[] }> => {
      requireMasterKey(request, isMasterKey);
      const { user_id, team_id } = parseOrThrow(UserQuery, request.query);
      const orgs = await orgsOf(user_id, team_id);
      const now = clock.now();
      const [found] = (
        await available(
          Promise.all(orgs.map((org) => people(pool, org, { userId: user_id, at: now, limit: 1, offset: 0 }))),
        )
      ).flat();
      if (found === undefined) throw notFound();
      const owned = await available(Promise.all(orgs.map((org) => keysOf(pool, org, { userId: user_id, at: now }))));
      const teams = await available(Promise.all(orgs.map((org) => teamInfo(pool, org, now))));
      return {
        user_id,
        user_info: found,
        keys: owned.flat(),
        teams: teams.flatMap((team) => (team === null ? [] : [team.team])),
      };
    },
  );

  fastify.get(
    '/user/list',
    async (
      request,
    ): Promise<{ users: UserInfo[]; total: number; page: number; page_size: number; total_pages: number }> => {
      requireMasterKey(request, isMasterKey);
      const { team_id, page, page_size } = parseOrThrow(UserListQuery, request.query);
      const total = await available(countPeople(pool, team_id));
      const users = await available(
        people(pool, team_id, { userId: null, at: clock.now(), limit: page_size, offset: (page - 1) * page_size }),
      );
      return { users, total, page, page_size, total_pages: Math.ceil(total / page_size) };
    },
  );

  fastify.post('/user/delete', async (request): Promise<number> => {
    requireMasterKey(request, isMasterKey);
    const { user_ids, team_id } = parseOrThrow(DeleteUsers, request.body);
    let count = 0;
    for (const userId of user_ids) {
      for (const org of await orgsOf(userId, team_id)) {
        const { deleted, keys: ended } = await available(deletePeople(pool, org, [userId]));
        keys.forget(ended);
        count += deleted;
      }
    }
    if (count === 0) throw notFound();
    return count;
  });
}
