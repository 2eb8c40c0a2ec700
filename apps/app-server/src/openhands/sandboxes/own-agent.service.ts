import { Inject, Injectable } from '@nestjs/common';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { gatewayModelOf, profileNameOf } from '@slipway/contracts/models';
import { type SandboxSecretNames, type SandboxUser } from '@slipway/contracts/openhands';
import { type Principal, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { notFound, SlipwayError } from '@slipway/errors';
import { listProfiles } from '../../agents/llm-profiles/llm-profiles.queries.js';
import type { Config } from '../../config.js';
import { ModelsService } from '../../identity/me/models.service.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { CONFIG, SQL_POOL } from '../../platform/tokens.js';
import { liveRoleOf, namesOfSecrets } from './own-agent.queries.js';

/**
 * What a client that brings its own agent into a sandbox asks the app for: a model's name and the names of secrets. The
 * key and the values are in the sandbox, and go nowhere else.
 */
@Injectable()
export class OwnAgentService {
  private readonly tokens: SandboxTokens | null;

  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CONFIG) config: Config,
    private readonly models: ModelsService,
  ) {
    this.tokens = config.SANDBOX_ACCESS_SECRET === undefined ? null : new SandboxTokens(config.SANDBOX_ACCESS_SECRET);
  }

  /** @throws SlipwayError `model.unknown`, `service.unavailable` */
  async user({ orgId, actor }: Principal): Promise<SandboxUser> {
    const [settings, profiles] = await inOrg(
      this.pool,
      orgId,
      async (client) => [await readOrgSettings(client, orgId), await listProfiles(client, orgId)] as const,
    );
    const chosen = await this.models.choose(orgId, undefined, settings.defaultModel);
    const used = profiles.find(({ name }) => name === profileNameOf(chosen));
    const routed = profiles.map((profile) => ({
      ...profile,
      routed: gatewayModelOf({ ...profile, baseUrl: profile.base_url, hasKey: profile.has_key }),
    }));
    const manner = ({ temperature, max_output_tokens }: (typeof profiles)[number]): object => ({
      ...(temperature === null ? {} : { temperature }),
      ...(max_output_tokens === null ? {} : { max_output_tokens }),
    });
    return {
      id: actor.id,
      llm_model: routed.find(({ id }) => id === used?.id)?.routed.model ?? chosen,
      llm_api_key: null,
      llm_base_url: null,
      // The key of a sandbox is good for the profile that it was started with, and for what the gateway has itself.
      llm_profiles: {
        profiles: Object.fromEntries(
          routed
            .filter(({ routed: { own }, id }) => !own || id === used?.id)
            .map((each) => [each.name, { model: each.routed.model, ...manner(each) }]),
        ),
      },
      mcp_config: null,
    };
  }

  /**
   * @param key of a sandbox, as the app gives it to clients. @throws SlipwayError `auth.missing`, `resource.not-found`
   * for the key of another sandbox.
   */
  async secrets(key: string | undefined, conversation: string): Promise<SandboxSecretNames> {
    const denied = new SlipwayError('auth.missing', 'X-Session-API-Key holds no key of a sandbox that is good now.');
    if (this.tokens === null) throw denied;
    const { claims } = await this.tokens.verify(key ?? '');
    if (claims.conversation !== conversation) throw notFound();
    const found = await inOrg(this.pool, claims.org, async (client) => {
      const secrets = await namesOfSecrets(client, claims.org, conversation);
      // The last: it makes the transaction the system's.
      const role = await liveRoleOf(client, claims.jti);
      return role !== null && (ROLE_PERMISSIONS[role] as readonly string[]).includes('sandbox:access') ? secrets : null;
    });
    if (found === null) throw denied;
    return { secrets: found };
  }
}
