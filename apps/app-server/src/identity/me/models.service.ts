import { Inject, Injectable } from '@nestjs/common';
import { GatewayModelList, PROFILE_PREFIX } from '@slipway/contracts/models';
import { type ModelList } from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { listProfiles } from '../../agents/llm-profiles/llm-profiles.queries.js';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, SQL_POOL } from '../../platform/tokens.js';

/** Longest wait for the gateway. Milliseconds. */
const TIMEOUT_MS = 3_000;
/** How old a list may be. Milliseconds. */
const FRESH_MS = 10_000;

type ModelInfo = ModelList['data'][number];

/** The models that the gateway offers, and the profiles of an organization. */
@Injectable()
export class ModelsService {
  private last: { at: number; models: Promise<ModelInfo[]> } | undefined;
  /** The newest list that arrived. */
  private known: ModelInfo[] | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
  ) {}

  /**
   * What conversations of an organization can use: its profiles (never with a key), then the gateway's. At most one is
   * the default. @throws as `list`.
   */
  async offered(orgId: string): Promise<ModelInfo[]> {
    const [profiles, models] = await Promise.all([this.profiles(orgId), this.list()]);
    const hasDefault = profiles.some((profile) => profile.default);
    return [...profiles, ...models.map((model) => (hasDefault ? { ...model, default: false } : model))];
  }

  /**
   * @param usual what the organization's settings say, which may be gone since; after it the default profile, then the
   * gateway's default.
   * @throws SlipwayError `model.unknown`, `service.unavailable` when no list can be had and no profile is named.
   */
  async choose(orgId: string, wanted: string | undefined, usual: string | null): Promise<string> {
    const named = wanted ?? usual;
    const isProfile = named?.startsWith(PROFILE_PREFIX) === true;
    const models = isProfile && wanted !== undefined ? await this.profiles(orgId) : await this.offered(orgId);
    const found = models.find(({ id }) => id === named);
    const model =
      wanted === undefined
        ? (found ?? models.find((each) => each.default) ?? models.find((each) => each.profile !== true))
        : found;
    if (model === undefined)
      throw new SlipwayError(
        'model.unknown',
        wanted === undefined ? 'The gateway offers no model.' : `There is no model ${JSON.stringify(wanted)}.`,
      );
    return model.id;
  }

  private async profiles(orgId: string): Promise<ModelInfo[]> {
    const rows = await inOrg(this.pool, orgId, (client) => listProfiles(client, orgId));
    return rows.map(({ name, model, is_default }) => ({
      id: `${PROFILE_PREFIX}${name}`,
      label: `${name} (${model})`,
      demo: false,
      default: is_default,
      profile: true,
    }));
  }

  /**
   * At most ten seconds old while the gateway answers; after that the last list that it gave: what a model is asked is
   * asked later, by the agent. Callers at the same time share one request. @throws SlipwayError `service.unavailable`
   * when it has never answered; that is not kept.
   */
  list(): Promise<ModelInfo[]> {
    const now = this.clock.now().getTime();
    if (this.last !== undefined && now - this.last.at < FRESH_MS) return this.last.models;
    const models = this.fetch().then(
      (list) => {
        this.known = list;
        return list;
      },
      (error: unknown) => {
        if (this.known !== undefined) return this.known;
        if (this.last?.models === models) this.last = undefined;
        throw error;
      },
    );
    this.last = { at: now, models };
    return models;
  }

  private async fetch(): Promise<ModelInfo[]> {
    try {
      const response = await fetch(new URL('/v1/models', this.config.LLM_GATEWAY_URL), {
        headers: { authorization: `Bearer ${this.config.LLM_GATEWAY_MASTER_KEY}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!response.ok) throw new Error(`llm-gateway answered ${response.status}`);
      const { data } = GatewayModelList.parse(await response.json());
      return data.map(({ id, demo = false, default: isDefault = false }) => ({
        id,
        label: demo ? 'Demo model (scripted, no key needed)' : id,
        demo,
        default: isDefault,
      }));
    } catch (error) {
      throw new SlipwayError('service.unavailable', 'The model gateway does not answer.', {
        cause: error,
        retryAfterSeconds: 3,
      });
    }
  }
}
