import { z } from 'zod';
import { fields, id, list, name } from '../reading/fields.js';
import type { FullName } from './code-host.js';
import { part, repo } from './forge-calls.js';
import type { ProviderClient } from './provider-client.js';
import { ProviderRefusal } from './provider-refusal.js';

export interface HookSettings {
  readonly url: string;
  readonly secret: string;
}

/** Webhooks of repositories at a git host. Each call throws `ProviderRefusal`; none is repeated here. */
export interface RepositoryHooks {
  /**
   * Afterwards there is one active webhook to this address, with these events and this secret, whatever was there before. Repeatable at any point.
   * @returns its id, and the repository's name as the host writes it.
   */
  install(repository: FullName, settings: HookSettings): Promise<{ readonly id: string; readonly fullName: FullName }>;
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

/** GitHub and Gitea. */
export function forgeHooks(client: ProviderClient, { type, events, changesSecret }: ForgeHooksOptions): RepositoryHooks {
  const bodyOf = ({ url, secret }: HookSettings) => ({ active: true, events, config: { url, secret, content_type: 'json' } });
  const unlessMissing = (error: unknown): void => {
    if (!(error instanceof ProviderRefusal && error.kind === 'missing')) throw error;
  };
  const removeOne = async (repository: FullName, hookId: string): Promise<void> => {
    await client.call({ method: 'DELETE', path: `${repo(repository)}/hooks/${part(hookId)}`, answer: z.unknown() }).catch(unlessMissing);
  };
  const there = async (repository: FullName, url: string): Promise<string[]> => {
    const found: string[] = [];
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const path = `${repo(repository)}/hooks?limit=${PAGE}&per_page=${PAGE}&page=${page}`;
      const { body } = await client.call({ method: 'GET', path, answer: list(fields({ id, config: fields({ url: z.string().catch('') }) })) });
      found.push(...body.filter((each) => each.config.url === url).map((each) => each.id));
      if (body.length < PAGE) break;
    }
    return found;
  };
  return {
    install: async (repository, settings) => {
      const { full_name: fullName } = (await client.call({ method: 'GET', path: repo(repository), answer: fields({ full_name: name }) })).body;
      const before = await there(fullName, settings.url);
      const [first] = before;
      const isChanged = changesSecret && first !== undefined;
      const path = `${repo(fullName)}/hooks${isChanged ? `/${part(first)}` : ''}`;
      const body = isChanged ? bodyOf(settings) : { ...type, ...bodyOf(settings) };
      const kept = (await client.call({ method: isChanged ? 'PATCH' : 'POST', path, body, answer: fields({ id }) })).body.id;
      // Last, so that there is no moment without one; what both deliver meanwhile is one deed.
      for (const each of before) if (each !== kept) await removeOne(fullName, each);
      return { id: kept, fullName };
    },
    remove: async (repository, url) => {
      const found = await there(repository, url).catch((error: unknown) => {
        unlessMissing(error);
        return [];
      });
      for (const each of found) await removeOne(repository, each);
    },
  };
}
