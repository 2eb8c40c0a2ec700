import { DeleteTeams, PutTeam, UpdateTeamMember } from '@slipway/contracts/models';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { KeyRoutesOptions } from '../keys/key-routes.js';
import type { KeyInfo } from './keys.queries.js';
import { available, requireMasterKey } from './master-only.js';
import { deleteTeams, listTeams, putTeam, putUser, type TeamInfo, teamInfo, type UserInfo } from './teams.queries.js';

const MAX_TEAMS = 1_000;
const TeamQuery = z.object({ team_id: z.string().min(1).max(200) });

/** `/team/…` as LiteLLM has it, with the master key. A team is an organization. */
export function addTeamRoutes(
  fastify: FastifyInstance,
  { pool, keys, isMasterKey, clock, ids }: KeyRoutesOptions,
): void {
  const put = (
    teamId: string,
    { team_alias, models, metadata, blocked, team_member_budget, ...limits }: PutTeam,
  ): Promise<TeamInfo> =>
    available(
      putTeam(
        pool,
        teamId,
        {
          alias: team_alias,
          models,
          metadata,
          blocked: blocked ?? undefined,
          memberBudget: team_member_budget,
          limits,
        },
        clock.now(),
      ),
    );

  fastify.post('/team/new', async (request): Promise<TeamInfo> => {
    requireMasterKey(request, isMasterKey);
    const team = parseOrThrow(PutTeam, request.body ?? {});
    const teamId = team.team_id ?? ids.prefixed('org');
    if ((await available(teamInfo(pool, teamId, clock.now()))) !== null)
      throw new SlipwayError(
        'request.invalid',
        `team_id: there is a team ${teamId} already; change it by /team/update`,
      );
    return put(teamId, team);
  });

  fastify.post('/team/update', async (request): Promise<{ team_id: string; data: TeamInfo }> => {
    requireMasterKey(request, isMasterKey);
    const team = parseOrThrow(PutTeam, request.body);
    if (typeof team.team_id !== 'string' || (await available(teamInfo(pool, team.team_id, clock.now()))) === null)
      throw notFound();
    return { team_id: team.team_id, data: await put(team.team_id, team) };
  });

  fastify.get(
    '/team/info',
    async (
      request,
    ): Promise<{ team_id: string; team_info: TeamInfo; keys: KeyInfo[]; team_memberships: UserInfo[] }> => {
      requireMasterKey(request, isMasterKey);
      const { team_id } = parseOrThrow(TeamQuery, request.query);
      const found = await available(teamInfo(pool, team_id, clock.now()));
      if (found === null) throw notFound();
      return { team_id, team_info: found.team, keys: found.keys, team_memberships: found.members };
    },
  );

  fastify.get('/team/list', async (request): Promise<TeamInfo[]> => {
    requireMasterKey(request, isMasterKey);
    return available(listTeams(pool, clock.now(), MAX_TEAMS));
  });

  fastify.post('/team/delete', async (request): Promise<{ deleted_teams: string[] }> => {
    requireMasterKey(request, isMasterKey);
    const { deleted, keys: ended } = await available(
      deleteTeams(pool, parseOrThrow(DeleteTeams, request.body).team_ids),
    );
    if (deleted.length === 0) throw notFound();
    keys.forget(ended);
    return { deleted_teams: deleted };
  });

  fastify.post('/team/member_update', async (request): Promise<z.infer<typeof UpdateTeamMember>> => {
    requireMasterKey(request, isMasterKey);
    const member = parseOrThrow(UpdateTeamMember, request.body);
    await available(
      putUser(pool, member.team_id, {
        userId: member.user_id,
        change: { limits: { max_budget: member.max_budget_in_team, budget_duration: '1mo' } },
        at: clock.now(),
      }),
    );
    return { team_id: member.team_id, user_id: member.user_id, max_budget_in_team: member.max_budget_in_team };
  });
}
