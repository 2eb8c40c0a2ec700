import {
  DEMO_MODEL,
  type GatewayModelList,
  MANAGED_PREFIXES,
  type OwnProviders,
  PROVIDER_IDS,
  type ProviderId,
} from '@slipway/contracts/models';
import { SlipwayError } from '@slipway/errors';
import { factsOf, type ModelFacts, type ModelPrice } from '@slipway/llm';
import type { z } from 'zod';
import type { StoredKey } from '../keys/keys.queries.js';
import { providerOf } from '../providers/providers.js';
import type { Allowance } from '../wire/admitted-request.js';
import { allowanceOf, baseUrlOf, type OfferedModel } from './build-groups.js';
import { Deployment } from './deployment.js';
import { openOwnProviders } from './own-keys.js';
import type { ModelGroup } from './route.js';

const UNKNOWN: ModelFacts = { price: null, contextWindow: null, maxOutput: null, capabilities: null };

/** Where a call goes. */
export type Destination =
  | { readonly kind: 'demo' }
  | {
      readonly kind: 'group';
      readonly group: ModelGroup;
      /** The largest context and the longest answer of its places. */
      readonly dearest: ModelFacts;
      /** Of all its places; `null`: one has none. */
      readonly prices: readonly ModelPrice[] | null;
      readonly allowance: Allowance;
    };

/**
 * Models by the names that callers use. `openhands/…` and `litellm_proxy/…` are the managed ones without the prefix; a
 * name with a provider's prefix goes to that provider with the caller's own key, when the virtual key brings one, and
 * else to the managed model of exactly that name.
 */
export class ModelDirectory {
  private readonly byName: ReadonlyMap<string, OfferedModel>;
  /** Opened keys of providers, as long as the row of the virtual key is in memory. */
  private readonly opened = new WeakMap<StoredKey, OwnProviders>();

  constructor(
    private readonly models: readonly OfferedModel[],
    /** When the gateway started: providers do not say when a model was made. */
    private readonly startedAt: Date,
  ) {
    this.byName = new Map(models.map((model) => [model.group.name, model]));
  }

  get offered(): readonly OfferedModel[] {
    return this.models;
  }

  /**
   * @param token of the virtual key. @throws SlipwayError `model.unknown`, or `permission.denied` when the key is for
   * other models.
   */
  destination(name: string, key: StoredKey, token: string): Destination {
    const direct = this.direct(name, key, token);
    if (direct !== null) {
      this.permit(name, null, key);
      return direct;
    }
    const managed = withoutManagedPrefix(name);
    const offered = this.byName.get(managed);
    if (offered === undefined && managed !== DEMO_MODEL) throw this.unknown(name);
    this.permit(name, managed, key);
    return offered === undefined ? { kind: 'demo' } : { kind: 'group', ...offered };
  }

  list(key: StoredKey | null): z.infer<typeof GatewayModelList> {
    const created = Math.floor(this.startedAt.getTime() / 1000);
    const [first] = this.models;
    const data = this.models.map(({ group: { name }, facts, verified }) => ({
      id: name,
      object: 'model' as const,
      created,
      owned_by: 'upstream',
      demo: false,
      default: name === first?.group.name,
      verified,
      context_window: facts.contextWindow,
      max_output_tokens: facts.maxOutput,
      capabilities: facts.capabilities,
    }));
    const demo = {
      id: DEMO_MODEL,
      object: 'model' as const,
      created,
      owned_by: 'slipway',
      demo: true,
      default: first === undefined,
    };
    const allowed = (id: string): boolean =>
      key === null || key.models.length === 0 || key.models.some((name) => withoutManagedPrefix(name) === id);
    return {
      object: 'list',
      data: [...data, ...(this.byName.has(DEMO_MODEL) ? [] : [demo])].filter(({ id }) => allowed(id)),
    };
  }

  /**
   * @param managed its name without a prefix of ours; `null` for a provider asked with the caller's own key: that a key
   * must name as it is.
   */
  private permit(asked: string, managed: string | null, key: StoredKey): void {
    if (key.models.length === 0 || key.models.includes(asked)) return;
    if (managed === null || !key.models.some((allowed) => withoutManagedPrefix(allowed) === managed))
      throw new SlipwayError('permission.denied', `This key is not for the model "${asked}".`);
  }

  private direct(name: string, key: StoredKey, token: string): Destination | null {
    const slash = name.indexOf('/');
    const prefix = PROVIDER_IDS.find((one) => slash === one.length && name.startsWith(one));
    if (prefix === undefined || key.sealedProviders === undefined || key.sealedProviders === null) return null;
    const own = this.providersOf(key, token, key.sealedProviders)[prefix];
    if (own === undefined) return null;
    const model = name.slice(slash + 1);
    const facts = factsOf(model) ?? UNKNOWN;
    const prices = facts.price === null ? null : [facts.price];
    const group = directGroup(name, { prefix, model, own, facts });
    return { kind: 'group', group, dearest: facts, prices, allowance: allowanceOf(group.deployments, []) };
  }

  private providersOf(key: StoredKey, token: string, sealed: Uint8Array): OwnProviders {
    const known = this.opened.get(key);
    if (known !== undefined) return known;
    const providers = openOwnProviders(token, sealed);
    this.opened.set(key, providers);
    return providers;
  }

  private unknown(name: string): SlipwayError {
    const prefix = PROVIDER_IDS.find((one) => name.startsWith(`${one}/`));
    const names = [...this.byName.keys(), ...(this.byName.has(DEMO_MODEL) ? [] : [DEMO_MODEL])];
    const hint =
      prefix === undefined ? '' : ` Models of ${prefix}/… are asked with a key of your own, and there is none.`;
    return new SlipwayError(
      'model.unknown',
      `There is no model "${name.slice(0, 100)}" here.${hint} There is: ${names.slice(0, 50).join(', ')}.`,
    );
  }
}

function withoutManagedPrefix(name: string): string {
  const prefix = MANAGED_PREFIXES.find((one) => name.startsWith(one));
  return prefix === undefined ? name : name.slice(prefix.length);
}

interface DirectModel {
  readonly prefix: ProviderId;
  readonly model: string;
  readonly own: NonNullable<OwnProviders[ProviderId]>;
  readonly facts: ModelFacts;
}

/** One place, asked once; how it fares with one user's key says nothing to anybody else, so its health is not kept. */
function directGroup(name: string, { prefix, model, own, facts }: DirectModel): ModelGroup {
  const region = own.region ?? 'us-east-1';
  const baseUrl = baseUrlOf(prefix, own.baseUrl, region);
  if (baseUrl === '')
    throw new SlipwayError('model.unknown', `The key for ${prefix} has no address; correct its profile.`);
  const deployment = new Deployment({
    id: `own:${prefix}`,
    target: {
      provider: prefix,
      baseUrl,
      apiKey: own.apiKey,
      model,
      speaks: providerOf(prefix).dialects(baseUrl),
      region,
      ...(own.apiVersion === undefined ? {} : { apiVersion: own.apiVersion }),
      ...(facts.maxOutput === null ? {} : { maxOutputTokens: facts.maxOutput }),
      ...(facts.contextWindow === null ? {} : { contextWindow: facts.contextWindow }),
    },
    weight: 1,
    rpm: null,
    tpm: null,
    price: facts.price,
    firstByteTimeoutMs: null,
    silenceTimeoutMs: null,
    guarded: true,
    mediaByUrl: false,
  });
  return {
    name,
    strategy: 'weighted',
    attempts: 1,
    deployments: [deployment],
    fallbacks: { context: [], 'content-policy': [], 'rate-limit': [], any: [] },
  };
}
