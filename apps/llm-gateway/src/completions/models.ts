import { DEMO_MODEL, type GatewayModelList } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';

/** The models that this gateway answers to. */
export class Models {
  constructor(
    private readonly upstreamModel: string | null,
    /** When the gateway started: providers do not say when a model was made. */
    private readonly startedAt: Date,
  ) {}

  /** @throws SlipwayError `model.unknown`, or `permission.denied` when the key is for other models. */
  route(model: string, allowed: readonly string[]): 'demo' | 'upstream' {
    const place = model === DEMO_MODEL ? 'demo' : model === this.upstreamModel ? 'upstream' : null;
    if (place === null) throw new SlipwayError('model.unknown', `There is no model "${model.slice(0, 100)}" here. There is: ${this.names().join(', ')}.`);
    if (allowed.length > 0 && !allowed.includes(model)) throw new SlipwayError('permission.denied', `This key is not for the model "${model}".`);
    return place;
  }

  list(): z.infer<typeof GatewayModelList> {
    const created = Math.floor(this.startedAt.getTime() / 1000);
    return {
      object: 'list',
      data: this.names().map((id, index) => ({
        id,
        object: 'model',
        created,
        owned_by: id === DEMO_MODEL ? 'slipway' : 'upstream',
        demo: id === DEMO_MODEL,
        default: index === 0,
      })),
    };
  }

  /** The default first. */
  private names(): string[] {
    return this.upstreamModel === null || this.upstreamModel === DEMO_MODEL ? [DEMO_MODEL] : [this.upstreamModel, DEMO_MODEL];
  }
}
