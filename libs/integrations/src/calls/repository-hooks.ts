import { z } from 'zod';
import { fields, flag, id, list, name } from '../reading/fields.js';
import type { FullName } from './code-host.js';
import type { ProviderClient } from './provider-client.js';
import { ProviderRefusal } from './provider-refusal.js';
import { part, repo } from './repository-path.js';

export interface HookSettings {
  readonly url: string;
  readonly secret: string;
  /** Name of the signature scheme of its deliveries, of `Provider.signatures`. */
  readonly signature: string;
  /** Confidential items are delivered too, where the host distinguishes them. */
  readonly confidential: boolean;
}

export interface MadeHook {
  readonly id: string;
  /** As the host writes it. */
  readonly fullName: FullName;
  /** Scheme of its deliveries: another than requested where the host does not support that one. */
  readonly signature: string;
}

/** `disabled`: it is there, and the host delivers nothing by it. */
export type HookHealth = 'active' | 'disabled' | 'missing';

/** Webhooks of repositories at a git host. Each call throws `ProviderRefusal`; none is repeated here. */
export interface RepositoryHooks {
  /**
   * Afterwards there is one active webhook to this address, with these events and this secret, whatever was there
   * before. Repeatable at any point.
   */
  install(repository: FullName, settings: HookSettings): Promise<MadeHook>;
  /** Of the webhooks to this address the best. */
  look(repository: FullName, url: string): Promise<HookHealth>;
  /** Every webhook to this address. No-op when there is none, or no such repository any more. */
  remove(repository: FullName, url: string): Promise<void>;
}

export interface ForgeHooksOptions {
  /** What the host wants of a new one beside. */
  readonly type: Readonly<Record<string, string>>;
  /** In the host's names. */
  readonly events: readonly string[];
  /** Whether a webhook can be given another secret; else another webhook takes its place. */
  readonly changesSecret: boolean;
}

const PAGE = 50;
/** Of a repository; GitHub allows 20 of an event, Gitea any number. */
const MAX_PAGES = 10;

interface HookThere {
  readonly id: string;
  readonly active: boolean;
}

/** GitHub and Gitea. */
export function forgeHooks(
  client: ProviderClient,
  { type, events, changesSecret }: ForgeHooksOptions,
): RepositoryHooks {
  const bodyOf = ({ url, secret }: HookSettings) => ({
    active: true,
    events,
    config: { url, secret, content_type: 'json' },
  });
  const removeOne = async (repository: FullName, hookId: string): Promise<void> => {
    await client
      .call({ method: 'DELETE', path: `${repo(repository)}/hooks/${part(hookId)}`, answer: z.unknown() })
      .catch(unlessMissing);
  };
  const there = async (repository: FullName, url: string): Promise<HookThere[]> => {
    const found: HookThere[] = [];
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const path = `${repo(repository)}/hooks?limit=${PAGE}&per_page=${PAGE}&page=${page}`;
      const { body } = await client.call({
        method: 'GET',
        path,
        answer: list(fields({ id, active: flag, config: fields({ url: z.string().catch('') }) })),
      });
      found.push(...body.filter((each) => each.config.url === url));
      if (body.length < PAGE) break;
    }
    return found;
  };
  return {
    install: async (repository, settings) => {
      const { full_name: fullName } = (
        await client.call({ method: 'GET', path: repo(repository), answer: fields({ full_name: name }) })
      ).body;
      const before = await there(fullName, settings.url);
      const [first] = before;
      const isChanged = changesSecret && first !== undefined;
      const path = `${repo(fullName)}/hooks${isChanged ? `/${part(first.id)}` : ''}`;
      const body = isChanged ? bodyOf(settings) : { ...type, ...bodyOf(settings) };
      const kept = (await client.call({ method: isChanged ? 'PATCH' : 'POST', path, body, answer: fields({ id }) }))
        .body.id;
      // Last, so that there is no moment without one; what both deliver meanwhile is one deed.
      for (const each of before) if (each.id !== kept) await removeOne(fullName, each.id);
      return { id: kept, fullName, signature: settings.signature };
    },
    look: async (repository, url) => healthOf(await there(repository, url)),
    remove: async (repository, url) => {
      const found = await there(repository, url).catch(noneWhereMissing);
      for (const each of found) await removeOne(repository, each.id);
    },
  };
}

export function healthOf(found: readonly { readonly active: boolean }[]): HookHealth {
  return found.length === 0 ? 'missing' : found.some(({ active }) => active) ? 'active' : 'disabled';
}

export function unlessMissing(error: unknown): void {
  if (!(error instanceof ProviderRefusal && error.kind === 'missing')) throw error;
}

export function noneWhereMissing(error: unknown): [] {
  unlessMissing(error);
  return [];
}
