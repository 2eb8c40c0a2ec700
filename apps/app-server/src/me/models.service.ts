import { Inject, Injectable } from '@nestjs/common';
import { GatewayModelList, type ModelList } from '@slipway/contracts';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Config } from '../config.js';
import { CLOCK, CONFIG } from '../platform/tokens.js';

/** Longest wait for the gateway. Milliseconds. */
const TIMEOUT_MS = 3_000;
/** How old a list may be. Milliseconds. */
const FRESH_MS = 10_000;

type ModelInfo = ModelList['data'][number];

/** The models that the gateway offers. */
@Injectable()
export class ModelsService {
  private last: { at: number; models: Promise<ModelInfo[]> } | undefined;
  /** The newest list that arrived. */
  private known: ModelInfo[] | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * At most ten seconds old while the gateway answers; after that the last list that it gave: what a model is asked is asked later, by the agent.
   * Callers at the same time share one request. @throws SlipwayError `service.unavailable` when it has never answered; that is not kept.
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
      throw new SlipwayError('service.unavailable', 'The model gateway does not answer.', { cause: error, retryAfterSeconds: 3 });
    }
  }
}
