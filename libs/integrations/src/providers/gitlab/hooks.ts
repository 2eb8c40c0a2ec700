import { z } from 'zod';
import type { ProviderClient } from '../../calls/provider-client.js';
import { ProviderRefusal } from '../../calls/provider-refusal.js';
import {
  type HookSettings,
  healthOf,
  noneWhereMissing,
  type RepositoryHooks,
  unlessMissing,
} from '../../calls/repository-hooks.js';
import { fields, flag, id, list, maybe, name } from '../../reading/fields.js';
import { part, project } from './paths.js';

const PAGE = 100;
/** Of a project; gitlab.com allows a hundred webhooks of one. */
const MAX_PAGES = 5;

const hook = fields({ id, url: z.string().catch(''), alert_status: maybe(name), signing_token_present: flag });
type Hook = z.output<typeof hook>;

/**
 * GitLab has switched it off for good after many failures in a row. One that waits for a while is tried again by GitLab
 * itself.
 */
const isActive = ({ alert_status }: Hook): boolean => alert_status !== 'disabled';

/** Webhooks of projects, whose token has to be of a maintainer. */
export function gitlabHooks(client: ProviderClient): RepositoryHooks {
  const there = async (repository: string, url: string): Promise<Hook[]> => {
    const found: Hook[] = [];
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const { body } = await client.call({
        method: 'GET',
        path: `${project(repository)}/hooks?per_page=${PAGE}&page=${page}`,
        answer: list(hook),
      });
      found.push(...body.filter((each) => each.url === url));
      if (body.length < PAGE) break;
    }
    return found;
  };
  const removeOne = async (repository: string, hookId: string): Promise<void> => {
    await client
      .call({ method: 'DELETE', path: `${project(repository)}/hooks/${part(hookId)}`, answer: z.unknown() })
      .catch(unlessMissing);
  };
  return {
    install: async (repository, settings) => {
      const answer = fields({ path_with_namespace: name });
      const fullName = (await client.call({ method: 'GET', path: project(repository), answer })).body
        .path_with_namespace;
      const before = await there(fullName, settings.url);
      // One that is switched off stays so whatever is written to it: another takes its place.
      const first = before.find(isActive);
      const path = `${project(fullName)}/hooks`;
      const write = async (body: object, at: string | undefined): Promise<Hook> =>
        (
          await client.call({
            method: at === undefined ? 'POST' : 'PUT',
            path: at === undefined ? path : `${path}/${part(at)}`,
            body,
            answer: hook,
          })
        ).body;
      let kept = await write(bodyOf(settings), first?.id);
      let { signature } = settings;
      if (signature === 'signed' && !kept.signing_token_present) {
        // An older GitLab takes a signing token without a word and signs nothing.
        signature = 'token';
        kept = await write(bodyOf({ ...settings, signature }), kept.id);
      }
      // Last, so that there is no moment without one; what both deliver meanwhile is one deed.
      for (const each of before) if (each.id !== kept.id) await removeOne(fullName, each.id);
      return { id: kept.id, fullName, signature };
    },
    look: async (repository, url) =>
      healthOf((await there(repository, url)).map((each) => ({ active: isActive(each) }))),
    remove: async (repository, url) => {
      const found = await there(repository, url).catch(noneWhereMissing);
      for (const each of found) await removeOne(repository, each.id);
    },
  };
}

/** @throws ProviderRefusal `invalid` for a secret that GitLab does not sign with. */
function bodyOf({ url, secret, signature, confidential }: HookSettings): object {
  if (signature === 'signed' && !/^whsec_[A-Za-z0-9+/]{43}=$/.test(secret))
    throw new ProviderRefusal(
      'The webhook secret is no signing token of GitLab: whsec_ and 32 bytes in base64. Make a new one.',
      {
        ...{ kind: 'invalid', status: null, retryAt: null, outcomeUnknown: false },
      },
    );
  return {
    url,
    name: 'Slipway',
    ...(signature === 'signed' ? { signing_token: secret } : { token: secret }),
    ...{ issues_events: true, note_events: true, merge_requests_events: true, pipeline_events: true },
    // GitLab sends pushes by default.
    ...{
      push_events: false,
      tag_push_events: false,
      job_events: false,
      wiki_page_events: false,
      deployment_events: false,
      releases_events: false,
    },
    ...{ confidential_issues_events: confidential, confidential_note_events: confidential },
    enable_ssl_verification: url.startsWith('https:'),
  };
}
