import type { ProviderId } from '@slipway/contracts/models';
import { SlipwayError } from '@slipway/errors';
import { factsOf, type ModelFacts, type ModelPrice, priceOf } from '@slipway/llm';
import { openAi } from '../providers/openai/provider.js';
import { providerOf } from '../providers/providers.js';
import type { Allowance } from '../wire/admitted-request.js';
import { DIALECTS } from '../wire/dialect.js';
import { Deployment } from './deployment.js';
import { FALLBACK_CLASSES, type FallbackClass } from './failure-class.js';
import type { DeploymentEntry, GroupEntry, ModelsFile } from './models-file.js';
import { MAX_ATTEMPTS, type ModelGroup } from './route.js';

/** @param given of a deployment or a profile, before the provider's own. */
export function baseUrlOf(provider: ProviderId, given: string | undefined, region: string | undefined): string {
  return (given ?? providerOf(provider).baseUrl(region)).replace(/\/+$/, '');
}

/** A model as it is offered. */
export interface OfferedModel {
  readonly group: ModelGroup;
  readonly facts: ModelFacts;
  /** The same with the largest context and the longest answer that a place of it or of its fallbacks has. */
  readonly dearest: ModelFacts;
  /** Of every place of it and of its fallbacks; `null`: one of them has no price. */
  readonly prices: readonly ModelPrice[] | null;
  /** What callers may ask of it beyond the list of fields. */
  readonly allowance: Allowance;
  readonly verified: boolean;
}

/**
 * The groups of a file, linked by their fallbacks. @throws SlipwayError `config.invalid` for a key whose variable is
 * not set.
 */
export function buildGroups(
  file: ModelsFile,
  environment: Readonly<Record<string, string | undefined>>,
): OfferedModel[] {
  const missing: string[] = [];
  const keyOf = (name: string | undefined): string | null => {
    if (name === undefined) return null;
    const key = environment[name]?.trim();
    if (key === undefined || key === '') missing.push(name);
    return key ?? null;
  };
  const built = file.models.map((entry) => ({ entry, model: offered(entry, keyOf) }));
  if (missing.length > 0)
    throw new SlipwayError(
      'config.invalid',
      `LLM_MODELS_FILE wants keys in variables that are not set: ${[...new Set(missing)].join(', ')}`,
    );
  const byName = new Map(built.map(({ model }) => [model.group.name, model.group]));
  for (const { entry, model } of built) {
    const fallbacks = model.group.fallbacks as Record<FallbackClass, ModelGroup[]>;
    for (const kind of FALLBACK_CLASSES)
      fallbacks[kind].push(...entry.fallbacks[kind].flatMap((name) => byName.get(name) ?? []));
  }
  const factsByName = new Map(built.map(({ model }) => [model.group.name, model.facts]));
  return built.map(({ entry, model }) => {
    const prices = pricesOf(model.group);
    return {
      ...model,
      dearest: dearestOf(model, (name) => factsByName.get(name)),
      prices,
      allowance: allowanceOf(placesOf(model.group), entry.fields),
    };
  });
}

/** Of every place that a call to this group may come to. */
export function pricesOf(group: ModelGroup): readonly ModelPrice[] | null {
  const places = placesOf(group);
  const prices = places.flatMap(({ price }) => price ?? []);
  return prices.length < places.length ? null : [...new Set(prices)];
}

function placesOf(group: ModelGroup): readonly Deployment[] {
  return [group, ...FALLBACK_CLASSES.flatMap((kind) => group.fallbacks[kind])].flatMap(
    ({ deployments }) => deployments,
  );
}

/**
 * What costs more than tokens is allowed where every place has a price for it, and a search where each can be given a
 * limit, too.
 */
export function allowanceOf(places: readonly Deployment[], fields: readonly string[]): Allowance {
  const tiers = Object.keys(places[0]?.price?.serviceTiers ?? {}).filter((tier) =>
    places.every(({ price }) => price?.serviceTiers?.[tier] !== undefined),
  );
  const searches = DIALECTS.filter((dialect) =>
    places.every(
      ({ price, target: { provider, speaks } }) =>
        price?.perThousand?.webSearch !== undefined &&
        providerOf(provider).searches.includes(dialect) &&
        speaks.includes(dialect),
    ),
  );
  return {
    fields: new Set(fields),
    serviceTiers: new Set(tiers),
    mediaByUrl: places.every(({ settings }) => settings.mediaByUrl),
    searches: new Set(searches),
  };
}

function dearestOf(
  { group, facts }: Pick<OfferedModel, 'group' | 'facts'>,
  factsOfGroup: (name: string) => ModelFacts | undefined,
): ModelFacts {
  const groups = [group, ...FALLBACK_CLASSES.flatMap((kind) => group.fallbacks[kind])];
  const all = groups.map(({ name }) => factsOfGroup(name) ?? facts);
  // An unknown limit counts as the largest.
  const longest = (of: (one: ModelFacts) => number | null): number | null =>
    all.some((one) => of(one) === null) ? null : Math.max(...all.map((one) => of(one) ?? 0));
  return {
    ...facts,
    imageTokens: Math.max(...all.map((one) => one.imageTokens ?? 0)),
    contextWindow: longest((one) => one.contextWindow),
    maxOutput: longest((one) => one.maxOutput),
  };
}

function offered(
  entry: GroupEntry,
  keyOf: (name: string | undefined) => string | null,
): Omit<OfferedModel, 'dearest' | 'prices' | 'allowance'> {
  const known = factsOf(entry.deployments[0]?.model ?? '') ?? factsOf(entry.name);
  const facts: ModelFacts = {
    price: entry.facts.price ?? known?.price ?? null,
    contextWindow: entry.facts.contextWindow ?? known?.contextWindow ?? null,
    maxOutput: entry.facts.maxOutput ?? known?.maxOutput ?? null,
    capabilities: entry.facts.capabilities ?? known?.capabilities ?? null,
    ...(entry.facts.defaultOutput === undefined ? {} : { defaultOutput: entry.facts.defaultOutput }),
    ...(entry.facts.maxSearches === undefined ? {} : { maxSearches: entry.facts.maxSearches }),
    ...(known?.imageTokens === undefined ? {} : { imageTokens: known.imageTokens }),
  };
  const places =
    entry.deployments.length + FALLBACK_CLASSES.reduce((sum, kind) => sum + entry.fallbacks[kind].length, 0);
  return {
    group: {
      name: entry.name,
      strategy: entry.strategy,
      attempts: entry.attempts ?? Math.min(MAX_ATTEMPTS, places),
      deployments: entry.deployments.map((deployment, index) =>
        toDeployment(deployment, { index, group: entry, facts, apiKey: keyOf(deployment.apiKeyEnv) }),
      ),
      fallbacks: { context: [], 'content-policy': [], 'rate-limit': [], any: [] },
    },
    facts,
    verified: entry.verified,
  };
}

interface DeploymentFacts {
  readonly index: number;
  readonly group: GroupEntry;
  readonly facts: ModelFacts;
  readonly apiKey: string | null;
}

function toDeployment(entry: DeploymentEntry, { index, group, facts, apiKey }: DeploymentFacts): Deployment {
  const baseUrl = baseUrlOf(entry.provider, entry.baseUrl, entry.region);
  return new Deployment({
    id: entry.id ?? `${group.name}/${index + 1}`,
    target: {
      provider: entry.provider,
      baseUrl,
      apiKey,
      model: entry.model,
      speaks: entry.speaks ?? providerOf(entry.provider).dialects(baseUrl),
      ...(entry.apiVersion === undefined ? {} : { apiVersion: entry.apiVersion }),
      ...(entry.region === undefined ? {} : { region: entry.region }),
      ...(facts.maxOutput === null ? {} : { maxOutputTokens: facts.maxOutput }),
      ...(facts.contextWindow === null ? {} : { contextWindow: facts.contextWindow }),
      ...(entry.reasoning === undefined ? {} : { reasoning: entry.reasoning }),
      ...(entry.chatAdditions === undefined ? {} : { chatAdditions: entry.chatAdditions }),
    },
    weight: entry.weight,
    rpm: entry.rpm ?? null,
    tpm: entry.tpm ?? null,
    price: entry.price ?? group.facts.price ?? priceOf(entry.model) ?? facts.price,
    firstByteTimeoutMs: entry.firstByteTimeoutSeconds === undefined ? null : entry.firstByteTimeoutSeconds * 1000,
    silenceTimeoutMs: entry.silenceTimeoutSeconds === undefined ? null : entry.silenceTimeoutSeconds * 1000,
    guarded: false,
    mediaByUrl: entry.mediaByUrl,
  });
}

/**
 * The one model of LLM_BASE_URL, LLM_API_KEY and LLM_MODEL. It is asked once a call: who calls knows what may be
 * repeated.
 */
export function simplestModel(upstream: {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}): OfferedModel {
  const known = factsOf(upstream.model);
  const facts: ModelFacts = known ?? { price: null, contextWindow: null, maxOutput: null, capabilities: null };
  const deployment = new Deployment({
    id: upstream.model,
    target: {
      provider: openAi.id,
      baseUrl: upstream.baseUrl,
      apiKey: upstream.apiKey,
      model: upstream.model,
      speaks: openAi.dialects(upstream.baseUrl),
      ...(facts.maxOutput === null ? {} : { maxOutputTokens: facts.maxOutput }),
      ...(facts.contextWindow === null ? {} : { contextWindow: facts.contextWindow }),
    },
    weight: 1,
    rpm: null,
    tpm: null,
    price: facts.price,
    firstByteTimeoutMs: null,
    silenceTimeoutMs: null,
    guarded: false,
    mediaByUrl: false,
  });
  const prices = deployment.price === null ? null : [deployment.price];
  return {
    group: {
      name: upstream.model,
      strategy: 'weighted',
      attempts: 1,
      deployments: [deployment],
      fallbacks: { context: [], 'content-policy': [], 'rate-limit': [], any: [] },
    },
    facts,
    dearest: facts,
    prices,
    allowance: allowanceOf([deployment], []),
    verified: known !== null,
  };
}
